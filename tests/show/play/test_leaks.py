"""`seads play` for hours: closed tabs leave nothing behind, and playing does not grow memory."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.exact_agent import exact_agent
from tests.show.play.play_process import MEGABYTE, resident
from tests.show.play.thin_viewer import ThinViewer

from seads.show.play.server import PlayServer

PATIENCE = 120
BOARDS = 8
TABS = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayServer]:
    home = tmp_path_factory.mktemp("taught") / "taught-cursor"
    exact_agent().save(home)
    served = PlayServer(str(home), port=18800)
    yield served
    served.stop()


def wait(condition: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE} s in vain for {what}"
        time.sleep(0.01)


def opened(server: PlayServer) -> Any:
    """The page of the only tab, once its first plan is there."""
    wait(lambda: len(server.pages) == 1, "a page")
    (page,) = server.pages.values()
    wait(lambda: page.session is not None and page.session.plan_left, "a first plan")
    return page


def open_and_close(server: PlayServer, boards: int = 0) -> None:
    with ThinViewer(server.address):
        page = opened(server)
        page.speed = 0.0
        play(page, boards)
    wait(lambda: not server.pages, "the page to be closed")


def play(page: Any, boards: int) -> None:
    """Solve boards, disturbing them, as fast as possible."""
    for _ in range(boards):
        page._do(lambda session: session.draw(2))
        page._go(lambda session: session.solve())
        page._do(lambda session: session.disturb())
        wait(lambda: not page.session.busy, "the end of a solution")


def objects() -> int:
    """How many objects Python keeps, once all garbage is gone."""
    for _ in range(3):
        gc.collect()
    return len(gc.get_objects())


def play_threads() -> int:
    return sum(thread.name == "seads-play" for thread in threading.enumerate())


def test_closed_tabs_leave_nothing_behind(server: PlayServer) -> None:
    for _ in range(3):  # what is made once: caches, viser's own threads
        open_and_close(server)
    before, held = objects(), resident()
    for _ in range(TABS):
        open_and_close(server)
    wait(lambda: play_threads() == 0, "the pages' threads to end")
    assert not server._server.get_clients()
    # one page is some two thousand objects
    assert objects() - before < 1000
    assert resident() - held < 40 * MEGABYTE


def test_closed_tabs_give_their_memory_back() -> None:
    """The arm's scene is ten times the cursor's: what the C library kept of it would show."""
    server = PlayServer("lightsout-jaco", port=18850)
    try:
        open_and_close(server, boards=1)
        held = resident()
        for _ in range(TABS):
            open_and_close(server, boards=1)
        wait(lambda: play_threads() == 0, "the pages' threads to end")
        assert resident() - held < 25 * MEGABYTE
    finally:
        server.stop()


def test_playing_on_does_not_grow_memory(server: PlayServer) -> None:
    with ThinViewer(server.address) as viewer:
        page = opened(server)
        page.speed = 0.0
        play(page, BOARDS)
        counted, held, sent = [objects()], resident(), viewer.received
        for _ in range(3):
            play(page, BOARDS)
            counted.append(objects())
        # a board's plan, moves and episodes are hundreds of objects, and a leak grows with every
        # round; the test runner keeps one or two a board itself (the log it captures)
        grown = [after - before for before, after in itertools.pairwise(counted)]
        assert min(grown) < 10 * BOARDS
        assert resident() - held < 20 * MEGABYTE
        assert viewer.received > sent  # someone looked on
    wait(lambda: not server.pages, "the page to be closed")
