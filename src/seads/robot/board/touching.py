"""A finger on the board's page without an arm: in Chromium."""

from __future__ import annotations

import time

from seads.errors import SeadsError
from seads.robot.board.chromium import Chromium, Tab

_Point = tuple[float, float]
_PATIENCE = 20.0
"""Seconds for the page to be connected."""


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
