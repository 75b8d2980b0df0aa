"""Serves the board to any touch screen: one page, one WebSocket, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import threading
from types import TracebackType

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from seads.games import make_game
from seads.games.game import Game
from seads.robot.board.access import (
    Access,
    is_loopback,
    new_code,
    page,
    page_headers,
    reachable_address,
)
from seads.robot.board.listening import Connection, listen
from seads.robot.board.log import OneLineLog
from seads.robot.board.messages import Event, read_message
from seads.robot.board.touches import BadMessage, PageReport, TouchBoard

PORT = 8090
_LONGEST_MESSAGE = 1024
_UNREAD_BYTES = 2**16
_MOST_PAGES = 32
_HEARTBEAT = 2.0
"""Seconds after which a page hears from us though nothing changed; it gives up after more."""
_PATIENCE = 5.0
"""Seconds for a page to say who it is, to answer a ping, to read what it is sent."""
_MAKES_NO_SENSE = 1008  # the code to close a WebSocket with


class _Link:
    """The connection of one page, and whether there is news for it."""

    def __init__(self, connection: ServerConnection, name: str) -> None:
        self.connection, self.name = connection, name
        self.news = asyncio.Event()


class BoardServer(TouchBoard):
    """A board of LightsOut, or of another game of touches, on every page that opens `address`.

    Only this machine reaches it by default. With another `host` the address holds a code,
    new for each server, without which nothing is answered. If the port is taken, the next
    free one; 0 for any. Usable as a context manager; `stop` ends it.
    """

    def __init__(
        self, game_size: int = 5, host: str = "127.0.0.1", port: int = PORT, *,
        game: Game | None = None,
    ) -> None:  # fmt: skip
        super().__init__(make_game("lightsout", size=game_size) if game is None else game)
        self.code = None if is_loopback(host) else new_code()
        self._session = secrets.token_hex(8)
        self._access = Access(host, self.code)
        self._log = OneLineLog()
        self._links: dict[str, _Link] = {}
        self._socket = listen(host, port)
        # connections inherit it: little piles up for a page that does not read
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(
            lambda _, context: self._log.say("server", str(context.get("message"))[:200])
        )
        self._end = asyncio.Event()
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(self._serve(started)),
            name="board-server",
            daemon=True,
        )
        self._thread.start()
        started.wait()

    @property
    def address(self) -> str:
        """What to open on the screen that is touched."""
        base = f"http://{reachable_address(self.host)}:{self.port}/"
        return base if self.code is None else f"{base}?code={self.code}"

    @property
    def watch_address(self) -> str:
        """What to open elsewhere, to look on: touches there do nothing."""
        return f"{self.address}{'?' if self.code is None else '&'}watch"

    def stop(self) -> None:
        """Close every page and the server; more than once does no harm."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._loop.close()
        self._log.finish()

    def __enter__(self) -> BoardServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _notify(self) -> None:
        super()._notify()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._tell_all)

    def _tell_all(self) -> None:
        for link in self._links.values():
            link.news.set()

    async def _serve(self, started: threading.Event) -> None:
        async with serve(
            self._page_connected,
            sock=self._socket,
            process_request=self._answer,
            compression=None,
            server_header=None,
            max_size=_LONGEST_MESSAGE,
            open_timeout=_PATIENCE,
            ping_interval=_PATIENCE,
            ping_timeout=_PATIENCE,
            close_timeout=2,
            logger=self._log.for_websockets,
            create_connection=Connection,
        ) as serving:
            started.set()
            await self._end.wait()
            for connection in set(serving.handlers) - serving.connections:
                connection.transport.abort()  # browsers connect ahead, and then ask for nothing

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page, a refusal, or None: go on to the WebSocket."""
        path, _, query = request.path.partition("?")
        refusal = self._access.refusal(request.headers, query, connection.local_address[0])
        if refusal is None and path == "/socket":
            refusal = self._access.foreign(request.headers)
            if refusal is None:
                return None
        if refusal is not None:
            self._log.say("refused", refusal)
            return _response(403, "Forbidden", refusal)
        if path == "/":
            return _response(200, "OK", page(), page_headers(request.headers["Host"]))
        return _response(404, "Not Found", "there is only one page here: /")

    async def _page_connected(self, connection: ServerConnection) -> None:
        link = writer = None
        try:
            async with asyncio.timeout(_PATIENCE):
                said = read_message(await connection.recv())
            link = self._open(connection, said)
            writer = asyncio.create_task(self._write(link))
            async for message in connection:
                self._hear(link, message)
        except BadMessage as error:
            self._log.say("a page was closed", str(error))
            await connection.close(_MAKES_NO_SENSE, "this makes no sense")
        except TimeoutError:
            self._log.say("a page was closed", "it did not say who it is")
            await connection.close(_MAKES_NO_SENSE, "who are you?")
        except ConnectionClosed as error:
            if error.sent is not None and error.sent.code not in (1000, 1001):
                self._log.say("a page was closed", f"{error}"[:200])
        finally:
            if writer is not None:
                writer.cancel()
            if link is not None and self._links.get(link.name) is link:
                del self._links[link.name]
                self.leave(link.name)

    async def _write(self, link: _Link) -> None:
        """Send the state whenever it is news; a page that is slow gets the latest one only."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                link.news.clear()
                try:
                    async with asyncio.timeout(_PATIENCE):
                        await link.connection.send(self._state(link.name))
                except TimeoutError:
                    self._log.say("a page was closed", "it does not read what it is sent")
                    link.connection.transport.abort()
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_HEARTBEAT):
                        await link.news.wait()

    def _open(self, connection: ServerConnection, report: Event | PageReport) -> _Link:
        if isinstance(report, Event):
            raise BadMessage("a touch from a page that did not say who it is")
        old = self._links.pop(report.page, None)
        if old is not None:  # it lost us before we lost it
            old.connection.transport.abort()
            self.leave(report.page)
        if len(self._links) >= _MOST_PAGES:
            raise BadMessage(f"more than {_MOST_PAGES} pages at once")
        self.join(report)
        link = self._links[report.page] = _Link(connection, report.page)
        return link

    def _hear(self, link: _Link, message: str | bytes) -> None:
        said = read_message(message)
        if isinstance(said, Event):
            self.receive(link.name, *said)
        elif said.page == link.name:
            self.join(said)
        else:
            raise BadMessage("a page that says it is another one")

    def _state(self, name: str) -> str:
        """All that a page shows, and the last of its events that was counted."""
        with self._changed:
            return json.dumps(
                {
                    "session": self._session,
                    "game": self.game.name,
                    "size": self.game.size,
                    "board": self._board.tolist(),
                    "solved": bool((self._board == self.game.goal).all()),
                    "touches": self._counters.touches,
                    "acknowledged": self.acknowledged(name),
                }
            )


def _response(
    status: int, reason: str, body: str | bytes, headers: dict[str, str] | None = None
) -> Response:
    octets = body.encode() + b"\n" if isinstance(body, str) else body
    given = headers or {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
    length = {"Content-Length": str(len(octets)), "Connection": "close"}
    return Response(status, reason, Headers(given | length), octets)
