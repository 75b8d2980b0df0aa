"""The board's page without a browser: a screen for a twin in another process.

It speaks to the host as the page does: every touch has a number, and counts once the host has
acknowledged it. When the host goes, it waits for the next one at the same address.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from dataclasses import asdict
from urllib.parse import urlsplit

from msgspec import Struct
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Origin

from seads.errors import SeadsError
from seads.reading import Count, as_kind
from seads.robot.board.touches import Kind, PageReport

_RETRY = 0.1
_ANSWER = 2.0
"""Seconds that a touch waits until the host has counted it."""


class _Counted(Struct):
    """What of the host's words is heeded here: the last touch that it has counted."""

    acknowledged: Count


class PageScreen:
    """A `PenScreen` at an address that `BoardServer` printed; connects by itself, again and again.

    `touch` returns once the host has counted the touch, so whoever asks the host after the move
    that caused it knows of it. Without a connection touches are lost, as on a tablet.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.netloc:
            raise SeadsError(f"{address!r} is no page's address; allowed: http://HOST:PORT/…")
        query = f"?{parts.query}" if parts.query else ""
        self._uri, self._origin = f"ws://{parts.netloc}/socket{query}", f"http://{parts.netloc}"
        self._name = secrets.token_hex(16)
        self._number, self._acknowledged = 0, 0
        self._down: tuple[float, float] | None = None
        self._socket: Connection | None = None
        self._closed = False
        self._changed = threading.Condition()
        self.refusal = ""
        """Why the host does not want us, in its words; or why it is no host of a board."""
        threading.Thread(target=self._keep_connected, name="page", daemon=True).start()

    def touch(self, x: float, y: float) -> None:
        kind: Kind = "down" if self._down is None else "second"
        self._down = self._down or (x, y)
        self._tell(kind, x, y)

    def release(self) -> None:
        self._end("up")

    def cancel(self) -> None:
        self._end("cancel")

    def close(self) -> None:
        self._closed = True
        if self._socket is not None:
            self._socket.close()

    def _end(self, kind: Kind) -> None:
        if self._down is not None:
            (x, y), self._down = self._down, None
            self._tell(kind, x, y)

    def _tell(self, kind: Kind, x: float, y: float) -> None:
        with self._changed:
            if self._socket is None:
                return
            self._number += 1
            number = self._number
            try:
                self._socket.send(json.dumps(dict(number=number, kind=kind, x=x, y=y)))
            except WebSocketException:
                return
            self._changed.wait_for(lambda: self._acknowledged >= number, _ANSWER)

    def _keep_connected(self) -> None:
        while not self._closed:
            try:
                with connect(
                    self._uri, origin=Origin(self._origin), proxy=None, close_timeout=0.5
                ) as line:
                    self._talk(line)
            except InvalidStatus as refused:
                self.refusal = (refused.response.body or b"").decode(errors="replace").strip()
            except SeadsError as error:
                self.refusal = str(error)
            except (OSError, WebSocketException):
                pass  # nobody there yet, or no more
            with self._changed:
                self._socket = None
            time.sleep(_RETRY)

    def _talk(self, line: Connection) -> None:
        report = PageReport(page=self._name, next=self._number + 1, full_screen=True, awake=True)
        line.send(json.dumps(asdict(report)))
        for message in line:
            content = message.encode() if isinstance(message, str) else message
            counted = as_kind(content, _Counted, f"what {self._uri} says is no board's state")
            with self._changed:
                self._socket, self._acknowledged = line, counted.acknowledged
                self._changed.notify_all()
