"""The twin as a program: `python -m seads.robot.twin`, or `seads robot twin`."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from seads.errors import SeadsError, require
from seads.robot.protocol import Dialect
from seads.robot.screen import PenScreen, RecordingScreen
from seads.robot.tablet import Tablet
from seads.robot.twin.firmware import Twin
from seads.robot.twin.schedule import RECOVERABLE, Schedule
from seads.robot.twin.terminal import Terminal

LAST_MOVE = 1_000_000


@dataclass(frozen=True)
class TwinSettings:
    """What the twin is like."""

    firmware: Literal["fw4", "fw3"] = "fw4"
    """Whose habits it has: firmware 4.x or 3.x."""
    pace: float = 1.0
    """How much faster than real its clock runs; inf: as fast as it goes."""
    faults: str = ""
    """Faults by the number of the move that they strike, such as reboot@3,lost-reply@10."""
    fault_every: int = 0
    """Instead: a random fault in each run of so many moves; 0 for none. Only faults after which a
    program goes on by itself."""
    missed: float = 0.0
    """Share of touches that the screen does not see."""
    doubled: float = 0.0
    """Share of touches that the screen sees twice."""
    seed: int = 0
    """Of the random faults and touches."""
    near: float = 160.0
    """How far the tablet's near edge is from the arm's middle, in mm."""
    page: str | None = None
    """Address of the board's page, which the pen then touches as on a tablet; it need not be served
    yet. By default the screen is an empty one."""
    browser: Literal["none", "hidden", "shown"] = "none"
    """Open the page in Chromium, without a window or in one, and touch it with real touch events;
    none: the twin speaks to the page's host as the page would."""
    log: Path | None = None
    """Write everything that happens into this file, a line of JSON each."""
    link: Path | None = None
    """Make this a link to the line, so that it has the same name every time."""

    def check(self) -> None:
        """Raise a sentence for what no twin can be."""
        require(self, self.pace > 0.0, "pace", "above 0")
        require(self, self.fault_every >= 0, "fault_every", "from 0")
        require(self, 100.0 <= self.near <= 204.0, "near", "100 to 204: else it is out of reach")
        if self.browser != "none" and self.page is None:
            raise SeadsError(f"--browser {self.browser} needs --page, which it is to open")
        if self.faults and self.fault_every:
            raise SeadsError("--faults and --fault-every; allowed: one of them")
        if self.link is not None and self.link.exists() and not self.link.is_symlink():
            raise SeadsError(f"--link {self.link} is there already, and no link; name another")

    def schedule(self) -> Schedule:
        rates = dict(missed=self.missed, doubled=self.doubled)
        if self.fault_every:
            return Schedule.drawn(self.seed, self.fault_every, LAST_MOVE, RECOVERABLE, **rates)
        read = Schedule.read(self.faults, **rates)
        return Schedule(read.by_move, seed=self.seed, **rates)


def run_twin(
    settings: TwinSettings,
    say: Callable[[str], None],
    screen: PenScreen | None = None,
) -> dict[str, Any]:
    """Play the arm until Ctrl-C, a SIGTERM or a cut cable; what happened."""
    settings.check()
    with contextlib.ExitStack() as stack:
        log = _log_into(settings.log, stack)
        if screen is None:
            screen = _screen(settings)
            stack.callback(screen.close)
        twin = Twin(
            screen,
            Dialect.FW4 if settings.firmware == "fw4" else Dialect.FW3,
            Tablet.lying(settings.near),
            settings.schedule(),
            log=log,
        )
        terminal = Terminal(twin, settings.pace)
        if settings.link is not None:
            settings.link.unlink(missing_ok=True)
            settings.link.symlink_to(terminal.port)
            stack.callback(settings.link.unlink, missing_ok=True)
        signal.signal(signal.SIGTERM, lambda *_: terminal.stop())
        say(f"the twin's line: {terminal.port} (Ctrl-C ends it)")
        with contextlib.suppress(KeyboardInterrupt):
            terminal.serve()
    return {"port": terminal.port, "moves": twin.moves, "touches": twin.pen.touches}


def _screen(settings: TwinSettings) -> PenScreen:
    if settings.page is None:
        return RecordingScreen()
    if settings.browser != "none":
        from seads.robot.board.browser import BrowserScreen

        return BrowserScreen(settings.page, settings.browser == "shown")
    from seads.robot.board.page_client import PageScreen

    return PageScreen(settings.page)


def _log_into(file: Path | None, stack: contextlib.ExitStack) -> Callable[..., None]:
    if file is None:
        return lambda *_, **__: None
    written = stack.enter_context(file.open("a", buffering=1, encoding="utf-8"))

    def log(kind: str, when: float, **rest: object) -> None:
        written.write(json.dumps({"kind": kind, "when": round(when, 4), **rest}) + "\n")

    return log
