"""A Chromium of our own, driven by its DevTools protocol: open pages, touch them, look at them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from msgspec import Struct
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from seads.errors import SeadsError
from seads.reading import Text, as_kind

NO_BROWSER = "not on this machine: a browser; apt-get install chromium chromium-driver"
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-quic",
    "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--mute-audio",
    "--touch-events=enabled", "--remote-debugging-port=0",
)  # fmt: skip
_MOST_BYTES = 2**26
"""Of what the browser says at once, such as a picture."""
_PATIENCE = 60.0
"""Seconds for the browser to start and to answer; a busy machine is slow."""


def find_chromium() -> str:
    """The browser's program; raises SeadsError where there is none."""
    for program in _PROGRAMS:
        found = shutil.which(program)
        if found is not None:
            return found
    raise SeadsError(NO_BROWSER)


class Chromium:
    """A browser with an empty profile, without a window unless `shown`; ends with `close`."""

    def __init__(self, shown: bool = False) -> None:
        program = find_chromium()
        self._profile = tempfile.TemporaryDirectory(
            prefix="seads-board-", ignore_cleanup_errors=True
        )
        flags = [*_FLAGS, f"--user-data-dir={self._profile.name}"]
        flags += [] if shown else ["--headless=new"]
        flags += ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses to run as root else
        self._process = subprocess.Popen(
            [program, *flags, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        try:
            self._base, path = self._wait_for_port()
            self._browser: Tab | None = Tab(f"{self._base}{path}")
        except BaseException:
            self._browser = None
            self.close()
            raise

    def open(self, address: str, size: tuple[int, int]) -> Tab:
        """A page in front of all others, its inside that many pixels wide and high."""
        if self._browser is None:
            raise SeadsError("the browser is closed")
        target = self._browser.call("Target.createTarget", url="about:blank")["targetId"]
        tab = Tab(f"{self._base}/devtools/page/{target}")
        tab.call("Page.enable")
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0], height=size[1], deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        tab.go_to(address)
        return tab

    def close(self) -> None:
        """End the browser and remove its profile; more than once does no harm."""
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._browser is not None:
            self._browser.hang_up()
            self._browser = None
        self._profile.cleanup()

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _wait_for_port(self) -> tuple[str, str]:
        written = Path(self._profile.name) / "DevToolsActivePort"
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                lines = written.read_text().split()
                if len(lines) == 2:
                    return f"ws://127.0.0.1:{lines[0]}", lines[1]
            time.sleep(0.05)
        raise SeadsError(f"{find_chromium()} did not start")


class _Error(Struct):
    message: Text = ""


class _Said(Struct):
    """An answer to a command, by its number, or an event."""

    id: int | None = None
    method: Text = ""
    error: _Error | None = None
    result: dict[str, Any] = {}


class Tab:
    """One page of the browser; one request at a time."""

    def __init__(self, address: str) -> None:
        self._socket = connect(address, max_size=_MOST_BYTES, ping_interval=None, compression=None)
        self._number = 0
        self._loaded = False

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the DevTools protocol."""
        self._number += 1
        self._socket.send(json.dumps(dict(id=self._number, method=method, params=parameters)))
        while (answer := self._hear(method)).id != self._number:
            pass
        if answer.error is not None:
            raise SeadsError(f"{method}: {answer.error.message}")
        return answer.result

    def go_to(self, address: str) -> None:
        """Load another page, or the same one anew; it is there when this returns."""
        self._loaded = False
        failed = self.call("Page.navigate", url=address).get("errorText")
        if failed:
            raise SeadsError(f"the browser cannot open {address}: {failed}")
        while not self._loaded:
            self._hear(address)

    def evaluate(self, expression: str) -> Any:
        """The value of JavaScript on the page; of a promise, what it resolves to."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise SeadsError(f"{expression}: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")

    def front(self) -> None:
        """Bring the page before all others, which hides them."""
        self.call("Page.bringToFront")

    def close(self) -> None:
        """Close the page."""
        with contextlib.suppress(SeadsError, ConnectionClosed):
            self.call("Page.close")
        self.hang_up()

    def hang_up(self) -> None:
        """Leave the page as it is."""
        self._socket.close()

    def _hear(self, what: str) -> _Said:
        """The next thing that the browser says."""
        try:
            message = self._socket.recv(timeout=_PATIENCE)
        except (TimeoutError, ConnectionClosed):
            raise SeadsError(f"the browser did not answer: {what}") from None
        content = message.encode() if isinstance(message, str) else message
        said: _Said = as_kind(content, _Said, f"{what}: the browser says what it should not")
        self._loaded |= said.method == "Page.loadEventFired"
        return said
