"""The page in a real browser, touched by real touch events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.robot.board.thin_page import wait
from tests.robot.board.wire import Wire

from seads.errors import SeadsError
from seads.games.tile_swap import TileSwap
from seads.robot.board import touching
from seads.robot.board.chromium import Chromium, Tab
from seads.robot.board.server import BoardServer
from seads.robot.board.touches import Counters
from seads.robot.board.touching import ChromiumScreen

SIZE = (1000, 600)
LIT = "[...document.querySelectorAll('.field')].map(f => Number(f.classList.contains('on')))"
STATUS = "document.getElementById('status').textContent"

Open = Callable[..., ChromiumScreen]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


@pytest.fixture
def server() -> Iterator[BoardServer]:
    with BoardServer(port=0) as server:
        yield server


@pytest.fixture
def show(browser: Chromium) -> Iterator[Open]:
    """`show(server)`: opens the board's page."""
    opened: list[ChromiumScreen] = []

    def open_page(server: BoardServer, address: str | None = None) -> ChromiumScreen:
        opened.append(ChromiumScreen(address or server.address, SIZE, browser))
        return opened[-1]

    yield open_page
    for screen in opened:
        screen.close()


def shows(tab: Tab, server: BoardServer) -> bool:
    """Whether the page has the host's board on it."""
    return bool(tab.evaluate(LIT) == server.board.tolist())


def test_100_touches_arrive_once_each_where_they_were_made(server: BoardServer, show: Open) -> None:
    screen = show(server)
    points = np.random.default_rng(0).random((100, 2))
    board = server.game.goal[None]
    for x, y in points:
        screen.touch(x, y)
        screen.release()
        board = server.game.play(board, server.game.move_at(np.array([[x, y]]), board))
    wait(lambda: server.counters.touches >= 100, "100 touches")
    wait(lambda: shows(screen.tab, server), "the board on the page")
    touches = [touch for touch in server.take_touches() if touch.kind == "down"]
    np.testing.assert_allclose([(touch.x, touch.y) for touch in touches], points, atol=2e-3)
    assert np.array_equal(server.board, board[0])
    assert server.counters == Counters(touches=100)


def test_the_screen_is_the_unit_square_to_its_edges(server: BoardServer, show: Open) -> None:
    screen = show(server)
    for x, y in ((0, 0), (1, 0), (0, 1), (1, 1)):
        screen.touch(x, y)
        screen.release()
    corners = [server.wait_for_touch(20) for _ in range(4)]
    assert [corner and corner.field for corner in corners] == [0, 4, 20, 24]


def test_a_cancelled_touch_and_a_second_finger_are_told(server: BoardServer, show: Open) -> None:
    screen = show(server)
    screen.touch(0.1, 0.1)
    screen.touch(0.9, 0.9)
    screen.cancel()
    wait(lambda: server.counters.cancelled, "the cancelled touch")
    assert "taken away" in screen.tab.evaluate(STATUS)
    screen.touch(0.5, 0.5)
    screen.release()
    wait(lambda: server.wait_for_touch(0, ("up",)), "the finger to go up")
    fields = [(touch.kind, touch.field) for touch in server.take_touches()]
    assert fields == [("down", 0), ("second", -1), ("cancel", -1), ("down", 12)]
    assert server.counters == Counters(touches=2, cancelled=1, dropped=1)


def test_a_mouse_plays_as_well(server: BoardServer, show: Open) -> None:
    tab = show(server).tab
    for kind in ("mousePressed", "mouseReleased"):
        for button in ("left", "right"):
            tab.call(
                "Input.dispatchMouseEvent", type=kind, x=500, y=300, button=button, clickCount=1
            )
    wait(lambda: server.counters.touches, "the click")
    wait(lambda: shows(tab, server), "the board on the page")
    assert np.flatnonzero(server.board).tolist() == [7, 11, 12, 13, 17]


def test_a_page_opened_again_shows_the_true_board(server: BoardServer, show: Open) -> None:
    first = show(server)
    first.touch(0.5, 0.5)
    first.close()  # with the finger down
    wait(lambda: not server.pages, "the page to be missed")
    server.set_board([1, 0, 1] + [0] * 22)
    again = show(server)
    assert shows(again.tab, server)
    assert server.visible
    again.touch(0.5, 0.5)
    wait(lambda: server.counters.touches == 2, "a touch on the new page")
    assert server.counters == Counters(touches=2, cancelled=1, reconnects=1)


def test_a_hidden_page_is_told(server: BoardServer, browser: Chromium, show: Open) -> None:
    screen = show(server)
    assert server.wait_for_page(20)
    screen.tab.evaluate("awake && awake.release()")  # as where the browser keeps no screen on
    wait(lambda: not server.pages[0].awake, "the lock to be gone")
    other = browser.open("about:blank", SIZE)
    other.front()
    wait(lambda: not server.visible, "the hidden page")
    assert server.pages
    screen.tab.front()
    assert server.wait_for_page(20)
    other.close()


@pytest.mark.parametrize("lost", ["deaf", "mute"])
def test_a_touch_or_its_acknowledgement_that_is_lost_counts_once(
    server: BoardServer, show: Open, lost: str
) -> None:
    wire = Wire(server.port)
    screen = show(server, f"http://127.0.0.1:{wire.port}/")
    setattr(wire, lost, True)
    screen.touch(0.5, 0.5)
    if lost == "deaf":
        wait(lambda: server.counters.touches == 1, "the touch")
    wire.broken = True
    wire.cut()
    wait(lambda: not screen.tab.evaluate("ready"), "the page to notice")
    assert "connection lost" in screen.tab.evaluate(STATUS)
    assert server.counters.touches == (lost == "deaf")
    screen.release()  # is told when the host is back
    screen.touch(0.1, 0.1)  # does not count, and that is told
    screen.release()
    setattr(wire, lost, False)
    wire.broken = False
    wait(lambda: server.wait_for_touch(0, ("up",)), "the page to come back")
    wait(lambda: server.counters.dropped, "what it dropped")
    wait(lambda: shows(screen.tab, server), "the board on the page")
    assert server.counters == Counters(touches=1, dropped=1, reconnects=1)
    assert np.flatnonzero(server.board).tolist() == [7, 11, 12, 13, 17]
    wire.close()


def test_a_host_that_is_only_silent_is_left_and_found_again(
    server: BoardServer, show: Open
) -> None:
    wire = Wire(server.port)
    screen = show(server, f"http://127.0.0.1:{wire.port}/")
    wire.deaf = True
    screen.touch(0.5, 0.5)
    wait(lambda: not screen.tab.evaluate("ready"), "the page to lose its patience")
    wire.deaf = False
    screen.release()
    wait(lambda: screen.tab.evaluate("ready"), "the page to come back")
    wait(lambda: not screen.tab.evaluate("unacknowledged.length"), "all to be acknowledged")
    assert shows(screen.tab, server)
    assert server.counters == Counters(touches=1, reconnects=1)
    wire.close()


def test_two_players_and_one_who_watches_see_one_board(server: BoardServer, show: Open) -> None:
    first, second = show(server), show(server)
    watcher = show(server, server.watch_address)
    for screen, x in ((watcher, 0.5), (first, 0.1), (second, 0.9)):
        screen.tab.front()
        screen.touch(x, x)
        screen.release()
    wait(lambda: server.counters.touches == 2, "two touches")
    for screen in (first, second, watcher):
        wait(lambda screen=screen: shows(screen.tab, server), "the board on the page")  # type: ignore[misc]
    assert server.counters == Counters(touches=2)
    assert server.board[12] == 0


def test_the_button_fills_the_screen_and_is_no_field(
    server: BoardServer, browser: Chromium
) -> None:
    tab = browser.open(server.address, SIZE)
    assert server.wait_for_page(20)
    wait(lambda: tab.evaluate("ready && !full.hidden"), "the button")
    box = tab.evaluate("full.getBoundingClientRect().toJSON()")
    spot = [dict(x=box["x"] + box["width"] / 2, y=box["y"] + box["height"] / 2)]
    tab.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=spot)
    tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    wait(lambda: server.pages[0].full_screen, "the full screen")
    wait(lambda: server.pages[0].awake, "the lock that keeps the screen on")
    assert tab.evaluate("full.hidden")
    assert [touch.kind for touch in server.take_touches()] == ["button"]
    assert server.counters == Counters(dropped=1)
    tab.close()


def test_the_button_leaves_with_the_first_touch(server: BoardServer, browser: Chromium) -> None:
    tab = browser.open(server.address, SIZE)
    wait(lambda: tab.evaluate("ready && !full.hidden"), "the button")
    tab.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[dict(x=5, y=5)])
    wait(lambda: server.counters.touches, "the touch")
    assert tab.evaluate("full.hidden")
    tab.close()


def test_solved_is_shown(server: BoardServer, show: Open) -> None:
    screen = show(server)
    server.set_board([1, 1, 0, 0, 0, 1] + [0] * 19)
    wait(lambda: shows(screen.tab, server), "the board on the page")
    shown = "document.getElementById('solved').classList.contains('shown')"
    assert not screen.tab.evaluate(shown)
    screen.touch(0.1, 0.1)
    wait(lambda: screen.tab.evaluate(shown), "the word")
    assert screen.tab.evaluate(STATUS).startswith("solved")


def test_other_sizes_and_games_are_drawn(browser: Chromium, show: Open) -> None:
    with BoardServer(9, port=0) as server:
        tab = show(server).tab
        assert tab.evaluate("document.querySelectorAll('.field').length") == 81
        box = tab.evaluate("fields[80].getBoundingClientRect().toJSON()")
        assert (round(box["right"]), round(box["bottom"])) == SIZE
        # the policy lets the page's own style through
        assert tab.evaluate("getComputedStyle(fields[0].firstChild).backgroundColor") == (
            "rgb(190, 194, 200)"
        )
    game = TileSwap(3)
    with BoardServer(port=0, game=game) as server:
        tab = show(server).tab
        texts = tab.evaluate("fields.map(f => Number(f.textContent))")
        assert texts == game.goal.tolist()


def test_a_page_that_is_not_the_board_is_no_screen(
    server: BoardServer, browser: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(touching, "_PATIENCE", 0.1)
    with pytest.raises(SeadsError, match="did not reach the board"):
        ChromiumScreen(f"{server.address}elsewhere", SIZE, browser)
    server.stop()
    with pytest.raises(SeadsError, match="cannot open"):
        ChromiumScreen(server.address, SIZE, browser)


def test_an_address_of_an_earlier_host_says_so(show: Open) -> None:
    with BoardServer(host="0.0.0.0", port=0) as server:
        address = f"http://127.0.0.1:{server.port}/?code={server.code}"
        tab = show(server, address).tab
    with BoardServer(host="0.0.0.0", port=server.port) as later:
        assert later.port == server.port
        wait(lambda: "no longer right" in tab.evaluate(STATUS), "the page to be told")
        assert later.pages == []


def test_a_host_that_starts_anew_does_not_play_old_touches(show: Open) -> None:
    with BoardServer(port=0) as server:
        wire = Wire(server.port)
        screen = show(server, f"http://127.0.0.1:{wire.port}/")
        screen.touch(0.1, 0.1)
        screen.release()
        wait(lambda: server.wait_for_touch(0, ("up",)), "the first touch")
        wire.deaf = True
        screen.touch(0.5, 0.5)
        screen.release()
        wait(lambda: server.counters.touches == 2, "the touch")
        wire.broken = True
        wire.cut()
    with BoardServer(port=server.port) as later:
        wire.deaf = wire.broken = False
        wait(lambda: later.counters.dropped == 1, "what it could not tell")
        assert not later.board.any()
        screen.touch(0.5, 0.5)
        wait(lambda: later.counters.touches == 1, "a new touch")
        wait(lambda: shows(screen.tab, later), "the board on the page")
    wire.close()
