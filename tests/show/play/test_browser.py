"""`seads play` in a real browser: open the page, set a board, solve it, read that it is solved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exact_agent import exact_agent
from tests.show.play.browser import choose, chromium, press, read, wait

from seads.show.play.server import PlayServer

SCREENSHOTS = Path(__file__).parents[2] / ".cache" / "screenshots"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayServer]:
    home = tmp_path_factory.mktemp("taught") / "taught-cursor"
    exact_agent().save(home)
    served = PlayServer(str(home), port=18700)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def test_set_a_board_and_solve_it(server: PlayServer, browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    browser.get(server.address)
    wait(lambda: "plan: 5 skills" in read(browser, "seads-message"), "the page and a first plan")
    page: Any = next(iter(server.pages.values()))
    page.speed = 0.0  # as fast as possible
    assert page.session is not None

    press(browser, "Empty")
    wait(lambda: read(browser, "seads-status") == "solved", "the empty board")
    # the camera looks at the middle of the board: a click there switches the middle field
    (canvas, *_) = browser.find_elements(By.TAG_NAME, "canvas")
    ActionChains(browser).move_to_element(canvas).click().perform()
    wait(lambda: page.session.env.boards[0].sum() == 1, "the click on the middle field")
    assert page.session.env.boards[0][12] == 1
    wait(lambda: read(browser, "seads-status") == "ready", "the plan for the new board")

    press(browser, "Solve")
    wait(lambda: read(browser, "seads-status") == "solved", "the solution")
    assert read(browser, "seads-message").startswith("solved with ")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(SCREENSHOTS / "play.png"))
    assert (SCREENSHOTS / "play.png").stat().st_size > 10_000


def test_the_controls_do_what_they_say(server: PlayServer, browser: Any) -> None:
    """Another planner, another speed, a pause, a disturbance and another agent, all by hand."""
    if not browser.current_url.startswith(server.address):
        browser.get(server.address)
    wait(lambda: read(browser, "seads-facts"), "the page")
    page: Any = next(iter(server.pages.values()))

    press(browser, "New")
    wait(lambda: read(browser, "seads-status") == "ready", "a board")
    choose(browser, "Planner", "bidirectional")  # the plan that is there was gf2's
    wait(lambda: read(browser, "seads-message").endswith(" by bidirectional"), "another plan")

    choose(browser, "Speed", "0.25×")
    wait(lambda: page.speed == 0.25, "the slow speed")
    press(browser, "Solve")
    wait(lambda: page.session.env_steps > 0, "the first step")
    press(browser, "Pause")
    wait(lambda: read(browser, "seads-status") == "paused", "the pause")
    choose(browser, "Speed", "as fast as possible")  # a pause that does not hold would run away
    wait(lambda: page.speed == 0.0, "the fast speed")
    board, steps = page.session.symbol, page.session.env_steps
    press(browser, "Disturb")
    wait(lambda: (page.session.symbol != board).any(), "the disturbance")
    wait(lambda: "someone changed" in read(browser, "seads-notice"), "word of the disturbance")
    time.sleep(2.0)  # longer than the slow step that the pause fell into is shown
    assert page.session.env_steps == steps, "it went on while paused"

    press(browser, "Go on")
    wait(lambda: read(browser, "seads-status") == "solved", "the solution in spite of it")
    assert "planning again" in "".join(page.session.log)

    press(browser, "Reset")
    wait(lambda: read(browser, "seads-status") == "ready", "the board again")
    choose(browser, "Agent", "tileswap-cursor")
    wait(lambda: "tileswap-cursor" in read(browser, "seads-facts"), "the other agent")
    assert page.session.agent.env == "tileswap-cursor"
    assert "by bidirectional" in read(browser, "seads-message"), (
        "the planner chosen before still plans"
    )
    press(browser, "Solve")
    wait(lambda: read(browser, "seads-status") == "solved", "its solution")
    browser.save_screenshot(str(SCREENSHOTS / "tileswap.png"))


def test_the_speed_is_the_speed(server: PlayServer, browser: Any) -> None:
    if not browser.current_url.startswith(server.address):
        browser.get(server.address)
    wait(lambda: read(browser, "seads-facts"), "the page")
    page: Any = next(iter(server.pages.values()))
    # eight steps a second; a busy machine is late, but never early
    slow = seconds_a_step(browser, page, "2×", 2.0)
    assert slow > 0.08
    assert seconds_a_step(browser, page, "as fast as possible", 0.0) < slow


def seconds_a_step(browser: Any, page: Any, speed: str, multiple: float) -> float:
    """How long an environment step takes while a board is solved at this speed."""
    choose(browser, "Speed", speed)
    wait(lambda: page.speed == multiple, f"speed {speed}")
    press(browser, "New")
    wait(lambda: read(browser, "seads-status") == "ready", "a board")
    press(browser, "Solve")
    wait(lambda: page.session.env_steps > 0, "the first step")
    began, before = time.monotonic(), page.session.env_steps
    wait(lambda: page.session.solved, "the solution")
    return (time.monotonic() - began) / (page.session.env_steps - before + 1)


def test_nothing_is_fetched_from_outside(server: PlayServer, browser: Any) -> None:
    if not browser.current_url.startswith(server.address):
        browser.get(server.address)
        wait(lambda: read(browser, "seads-status"), "the page")
    names = browser.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name);"
    )
    outside = [n for n in names if not n.startswith((server.address, "data:", "blob:"))]
    assert outside == []


def test_two_viewers_and_a_closed_tab(server: PlayServer, browser: Any) -> None:
    if not server.pages:
        browser.get(server.address)
    wait(lambda: server.pages and all(p.session for p in server.pages.values()), "the page")
    first = browser.current_window_handle
    page: Any = next(iter(server.pages.values()))
    before = page.session.symbol
    browser.switch_to.new_window("tab")
    browser.get(server.address)
    wait(lambda: len(server.pages) == 2, "a second page")
    other = next(one for one in server.pages.values() if one is not page)
    wait(lambda: other.session is not None, "a second session")
    press(browser, "New")
    wait(lambda: "plan" in read(browser, "seads-message"), "a plan in the second tab")
    assert other.session is not page.session
    assert (page.session.symbol == before).all()
    thread = other._thread
    browser.close()
    browser.switch_to.window(first)
    wait(lambda: len(server.pages) == 1, "the second page to be freed")
    wait(lambda: other.session is None and not thread.is_alive(), "its thread and its physics")
