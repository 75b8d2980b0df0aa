"""An hour of `seads play`: one tab of a real browser solves boards, others come and go."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.show.play.browser import choose, chromium, press, read, wait
from tests.show.play.play_process import MEGABYTE, addresses, play_command, resident

MINUTES = 60
TAB_EVERY = 6
"""Minutes between visits of a second tab."""
SETTLED = 10
"""Minutes until caches are full."""
ENDS = ("solved", "not solved")
RECORD = Path(__file__).parents[2] / ".cache" / "play-hour.json"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Address and process of the command with its default agent, the Jaco arm."""
    out = tmp_path / "out.txt"
    command = play_command("--port", "18900", "--no-open")
    with out.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
        try:
            (address,) = wait(lambda: addresses(out.read_text()), "the address of the page")
            yield address, process.pid
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0, out.read_text()
        finally:
            process.kill()


@pytest.mark.slow
def test_an_hour_of_play_does_not_grow_memory(served: tuple[str, int], tmp_path: Path) -> None:
    address, server = served
    began, boards, solved = time.monotonic(), 0, 0
    records: list[dict[str, Any]] = []
    with chromium(tmp_path / "profile") as browser:
        browser.get(address)
        wait(lambda: "plan: " in read(browser, "seads-message"), "the page and a first plan")
        choose(browser, "Speed", "as fast as possible")
        while len(records) <= MINUTES:
            solved += solve_a_board(browser, disturb=boards % 3 == 0)
            boards += 1
            minute = int((time.monotonic() - began) / 60)
            if minute < len(records):
                continue
            if minute % TAB_EVERY == TAB_EVERY - 1:
                visit(browser, address)
            records.append(
                dict(
                    minute=minute,
                    boards=boards,
                    solved=solved,
                    server_mb=round(resident(server) / MEGABYTE, 1),
                    page_mb=round(heap(browser) / MEGABYTE, 1),
                )
            )
            RECORD.parent.mkdir(exist_ok=True)
            RECORD.write_text("\n".join(map(json.dumps, records)) + "\n")
    assert solved > 0.9 * boards  # it did play
    assert growth(records, "server_mb") < 20
    assert growth(records, "page_mb") < 20


def solve_a_board(browser: Any, disturb: bool) -> bool:
    """Whether a new board was solved; with a move made under the arm's hand on the way."""
    press(browser, "New")
    wait(lambda: read(browser, "seads-status") == "ready", "a board")
    press(browser, "Solve")
    # the page sends the last of several clicks at one moment only
    wait(lambda: read(browser, "seads-status") != "ready", "the start of a solution")
    if disturb:
        press(browser, "Disturb")
    return wait(lambda: ended(browser), "the end of a solution") == "solved"


def ended(browser: Any) -> str:
    """How the board ended, or nothing; one that was disturbed after its solution goes on."""
    status = read(browser, "seads-status")
    if status == "ready":
        press(browser, "Solve")
    return status if status in ENDS else ""


def visit(browser: Any, address: str) -> None:
    """A second tab that looks, has a board solved too, and goes."""
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    browser.get(address)
    wait(lambda: "plan: " in read(browser, "seads-message"), "the second tab's plan")
    solve_a_board(browser, disturb=False)
    browser.close()
    browser.switch_to.window(first)


def heap(browser: Any) -> int:
    """Bytes that the page's scripts hold, without their garbage."""
    browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return int(browser.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"])


def growth(records: list[dict[str, Any]], what: str) -> float:
    """Megabytes gained between the first and the last ten minutes of settled play."""
    early = records[SETTLED : 2 * SETTLED]
    late = records[-SETTLED:]
    return min(one[what] for one in late) - min(one[what] for one in early)
