"""Who may have the page of `seads play`, and what becomes of those who send it nonsense."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from seads.robot.board.access import Access, is_loopback, new_code
from seads.robot.board.listening import Connection, listen
from seads.robot.board.log import OneLineLog

MOST_TABS = 24
"""Each has a game of its own, with physics."""
LONGEST_MESSAGE = 2**18
"""Bytes that a tab may send at once; a camera or a click needs hundreds."""

Answer = Callable[[ServerConnection, Request], Response | None]


class Guard:
    """Lets in what comes from the page's own address, with its code where others reach it."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.code = host, None if is_loopback(host) else new_code()
        self._socket = listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        self._cookie = f"seads-{self.port}"
        self._access = Access(host, self.code, self._cookie)
        self.log = OneLineLog()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it the server that viser starts is a guarded one.

        Viser hands no options on to the server it makes, and names it by its module: so that name
        stands for a guarded server meanwhile.
        """
        plain = websockets.asyncio.server.serve

        def serve(handler: Any, host: str, port: int, **options: Any) -> Any:
            options |= {
                "sock": self._socket,
                "process_request": self._asking_first(options["process_request"]),
                "max_size": LONGEST_MESSAGE,
                "logger": self.log.for_websockets,
                "create_connection": Connection,
            }
            return plain(handler, **options)

        websockets.asyncio.server.serve = serve  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            websockets.asyncio.server.serve = plain  # type: ignore[misc]
        # what a message upsets in viser's own tasks
        logging.getLogger("asyncio").addHandler(self.log)
        logging.getLogger("asyncio").propagate = False

    def finish(self) -> None:
        """Say what was only counted, and leave things as they were; nobody listens any more."""
        self._socket.close()
        logging.getLogger("asyncio").removeHandler(self.log)
        logging.getLogger("asyncio").propagate = True
        self.log.finish()

    def _asking_first(self, answer: Answer) -> Answer:
        def guarded(connection: ServerConnection, request: Request) -> Response | None:
            query = request.path.partition("?")[2]
            why = self._access.refusal(request.headers, query, connection.local_address[0])
            wants_socket = "Upgrade" in request.headers
            if why is None and wants_socket:
                why = self._access.foreign(request.headers)
            if why is None and wants_socket and len(connection.server.connections) >= MOST_TABS:
                why = f"there are {MOST_TABS} tabs already; close one"
            if why is not None:
                self.log.say("refused", why)
                return _refusal(why)
            response = answer(connection, request)
            if response is not None and self.code is not None:
                # the page opens its WebSocket without the code that was in its address
                remember = f"{self._cookie}={self.code}; HttpOnly; SameSite=Strict"
                response.headers["Set-Cookie"] = remember
            return response

        return guarded


def _refusal(why: str) -> Response:
    body = why.encode() + b"\n"
    headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Connection": "close"})
    headers["Content-Length"] = str(len(body))
    return Response(403, "Forbidden", headers, body)
