"""A finger for the board without an arm: straight to the host, or on the page in Chromium."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Protocol

from seads.errors import SeadsError
from seads.robot.board.chromium import Chromium, Tab
from seads.robot.board.touches import Kind, PageReport, TouchBoard

_Point = tuple[float, float]
_PATIENCE = 20.0
"""Seconds for the page to be connected."""


class Screen(Protocol):
    """What a pen can do to a touch screen; places are in the unit square, origin top left."""

    def touch(self, x: float, y: float) -> None:
        """The pen comes down; while it is down already, a second finger does."""

    def release(self) -> None:
        """Everything that is down goes up."""

    def cancel(self) -> None:
        """The system takes away what is down."""

    def close(self) -> None:
        """The screen is gone."""


class InProcessScreen:
    """A screen without a page: its events are counted by the host as those of a page are."""

    def __init__(self, board: TouchBoard) -> None:
        self._board, self._number = board, 0
        self._report = PageReport(page=secrets.token_hex(16), full_screen=True, awake=True)
        self._down: _Point | None = None
        board.join(self._report)

    def touch(self, x: float, y: float) -> None:
        if self._down is not None:
            self._tell("second", x, y)
            return
        self._down = x, y
        self._tell("down", x, y)

    def release(self) -> None:
        self._end("up")

    def cancel(self) -> None:
        self._end("cancel")

    def close(self) -> None:
        self._board.leave(self._report.page)

    def _end(self, kind: Kind) -> None:
        if self._down is not None:
            (x, y), self._down = self._down, None
            self._tell(kind, x, y)

    def _tell(self, kind: Kind, x: float, y: float) -> None:
        self._number += 1
        self._board.receive(self._report.page, self._number, kind, x, y)


class ChromiumScreen:
    """The page in a real browser, touched by the browser's own touch events; connected once made.

    Needs Chromium, and raises SeadsError where it is missing. A browser of its own by
    default; with `browser`, one more window in that one.
    """

    def __init__(
        self,
        address: str,
        size: tuple[int, int] = (1280, 800),
        browser: Chromium | None = None,
        shown: bool = False,
    ) -> None:
        self._width, self._height = size
        self._down: list[_Point] = []
        self._own = Chromium(shown) if browser is None else None
        bare = f"{address}{'&' if '?' in address else '?'}bare"  # no button over the board
        try:
            self.tab: Tab = (browser or self._own).open(bare, size)  # type: ignore[union-attr]
            self._wait_for_host(address)
        except BaseException:
            if self._own is not None:
                self._own.close()
            raise

    def touch(self, x: float, y: float) -> None:
        # the last pixel is the edge: a pen is broader than that
        self._down.append((min(x * self._width, self._width - 1.0),
                           min(y * self._height, self._height - 1.0)))  # fmt: skip
        self._dispatch("touchStart")

    def release(self) -> None:
        self._end("touchEnd")

    def cancel(self) -> None:
        self._end("touchCancel")

    def screenshot(self, path: Path) -> None:
        """A picture of the page."""
        path.write_bytes(self.tab.screenshot())

    def close(self) -> None:
        self.tab.close()
        if self._own is not None:
            self._own.close()

    def _wait_for_host(self, address: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not self.tab.evaluate("typeof ready !== 'undefined' && ready"):
            if time.monotonic() > end:
                raise SeadsError(f"the page at {address} did not reach the board")
            time.sleep(0.02)

    def _end(self, kind: str) -> None:
        if self._down:
            self._down.clear()
            self._dispatch(kind)

    def _dispatch(self, kind: str) -> None:
        points = [dict(x=x, y=y, id=i) for i, (x, y) in enumerate(self._down)]
        self.tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
