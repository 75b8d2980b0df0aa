"""Hosts and browsers that say what they should not: a sentence, not a traceback, and no end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.sync.server import ServerConnection, serve

from seads.errors import SeadsError
from seads.robot.board.chromium import Tab
from seads.robot.board.page_client import PageScreen

RUBBISH = ["", "[]", "{", '{"acknowledged": "one"}', "[" * 100_000, b"\xff", '{"id": "1"}']


@contextmanager
def saying(*words: str | bytes) -> Iterator[str]:
    """A host at an address that answers whatever it hears with the next of some words."""
    left = list(words)

    def talk(line: ServerConnection) -> None:
        for _ in line:
            line.send(left.pop(0) if len(left) > 1 else left[0])

    with serve(talk, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_a_host_that_is_none(rubbish: str | bytes) -> None:
    with saying(rubbish, '{"acknowledged": 0, "board": "what else it says"}') as address:
        screen = PageScreen(f"http://{address}/")
        until = time.monotonic() + 60.0
        while screen._socket is None and time.monotonic() < until:  # it comes back, and is heard
            time.sleep(0.01)
        assert screen._socket is not None
        assert "says is no board's state: " in screen.refusal
        assert len(screen.refusal) < 600
        screen.close()


@pytest.mark.parametrize("rubbish", [one for one in RUBBISH if "acknowledged" not in str(one)])
def test_a_browser_that_is_none(rubbish: str | bytes) -> None:
    with saying(rubbish) as address:
        tab = Tab(f"ws://{address}/")
        with pytest.raises(SeadsError, match=r"Page\.enable: the browser says what it should not"):
            tab.call("Page.enable")
        tab.hang_up()


def test_a_browser_that_refuses() -> None:
    words = ('{"id": 1, "error": {"message": "no such method"}}', '{"id": 2, "result": {"a": 1}}')
    with saying(*words) as address:
        tab = Tab(f"ws://{address}/")
        with pytest.raises(SeadsError, match=r"Page\.fly: no such method"):
            tab.call("Page.fly")
        assert tab.call("Page.enable") == {"a": 1}
        tab.hang_up()
