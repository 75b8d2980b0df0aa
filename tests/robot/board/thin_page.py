"""A page without a browser: says what a page says, when the test wants it to."""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from seads.robot.board.server import BoardServer

PATIENCE = 20.0


class ThinPage:
    """Connects when made; `page` is its name, by which the host knows it again."""

    def __init__(self, server: BoardServer, page: str | None = None, **report: Any) -> None:
        self.page = secrets.token_hex(16) if page is None else page
        # without a limit: what is not read must not keep it from answering pings
        self.socket = connect(socket_address(server), origin=origin(server), max_queue=None)
        self.report(**report)
        self.state = json.loads(self.socket.recv(PATIENCE))

    def report(self, **changes: Any) -> None:
        report = dict(
            page=self.page, next=1, watching=False, visible=True, full_screen=False,
            awake=False, width=800, height=600, dropped=0,
        )  # fmt: skip
        self.socket.send(json.dumps(report | changes))

    def send(self, number: int, kind: str = "down", x: float = 0.5, y: float = 0.5) -> None:
        self.socket.send(json.dumps(dict(number=number, kind=kind, x=x, y=y)))

    def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first state for which the condition holds."""
        while not condition(self.state):
            self.state = json.loads(self.socket.recv(PATIENCE))
        return self.state

    def closed(self) -> ConnectionClosed:
        """How the host closed the connection, once it did."""
        return closed(self.socket)

    def drop(self) -> None:
        """Lose the connection, without a word."""
        self.socket.socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> ThinPage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()


def closed(socket: ClientConnection) -> ConnectionClosed:
    """How the other side closed a connection, once it did."""
    try:
        while True:
            socket.recv(PATIENCE)
    except ConnectionClosed as error:
        return error


def origin(server: BoardServer) -> Origin:
    return Origin(f"http://127.0.0.1:{server.port}")


def socket_address(server: BoardServer, query: str | None = None) -> str:
    if query is None:
        query = "" if server.code is None else f"?code={server.code}"
    return f"ws://127.0.0.1:{server.port}/socket{query}"


def wait(condition: Callable[[], object], what: str) -> None:
    """Until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE} s in vain for {what}"
        time.sleep(0.01)
