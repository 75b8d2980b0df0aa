"""The board's page in a browser of the twin's own, as the tablet of an arm that is not there.

What the pen does becomes Chromium's real touch events, so the page is tried as it is. It is opened
as soon as somebody serves it; afterwards it finds its host again by itself, as on a tablet.
"""

from __future__ import annotations

import contextlib
import threading

from seads.errors import SeadsError
from seads.robot.board.chromium import Chromium
from seads.robot.board.touching import ChromiumScreen

_RETRY = 0.2
_COUNTED = """new Promise(done => {
  const end = performance.now() + 2000;
  const look = () =>
    unacknowledged.length && performance.now() < end ? setTimeout(look, 1) : done();
  look();
})"""
"""Resolves once the host has counted every touch, or has had two seconds for it."""


class BrowserScreen:
    """A `PenScreen` at an address that `BoardServer` printed, or is about to; needs Chromium.

    `touch` returns once the host has counted the touch, so whoever asks the host after the move
    that caused it knows of it. Before the page is open touches are lost, as on a tablet.
    """

    def __init__(self, address: str, shown: bool = False) -> None:
        self._browser = Chromium(shown)
        self._address = address
        self._page: ChromiumScreen | None = None
        self._closed = threading.Event()
        self._opening = threading.Thread(target=self._open, name="browser", daemon=True)
        self._opening.start()

    def touch(self, x: float, y: float) -> None:
        if self._page is not None:
            self._page.touch(x, y)
            self._page.tab.evaluate(_COUNTED)

    def release(self) -> None:
        if self._page is not None:
            self._page.release()

    def cancel(self) -> None:
        if self._page is not None:
            self._page.cancel()

    def close(self) -> None:
        """End the browser."""
        self._closed.set()
        self._browser.close()
        self._opening.join()

    def _open(self) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(SeadsError):  # nobody serves it yet
                self._page = ChromiumScreen(self._address, browser=self._browser)
                return
            self._closed.wait(_RETRY)
