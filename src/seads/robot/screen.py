"""What the arm's side needs of a touch screen; places are in the unit square, origin top left.

The board's page and its stand-ins fit these; a `RecordingScreen` is the least that does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class PenScreen(Protocol):
    """What a pen does to a screen: the twin calls these."""

    def touch(self, x: float, y: float) -> None:
        """The pen comes down."""

    def release(self) -> None:
        """The pen goes up."""

    def cancel(self) -> None:
        """The system takes the touch away."""

    def close(self) -> None:
        """The screen is locked, or its page gone."""


class SeenTouch(Protocol):
    """One event at the screen, as the host learns of it."""

    @property
    def x(self) -> float: ...
    @property
    def y(self) -> float: ...
    @property
    def kind(self) -> str:
        """ "down" for a touch that counts; "up", "cancel" and others do not."""


class TouchReader(Protocol):
    """What the host asks a screen: calibration and pushes need no more."""

    @property
    def visible(self) -> bool:
        """Whether there is a screen that can be touched."""

    def take_touches(self) -> Sequence[SeenTouch]:
        """Take all unread events, oldest first."""


@dataclass(frozen=True)
class Place:
    """An event at the screen."""

    x: float
    y: float
    kind: str = "down"


class RecordingScreen:
    """A screen without a board: keeps what touches it until somebody asks."""

    def __init__(self) -> None:
        self.visible = True
        self._unread: list[Place] = []
        self._down: Place | None = None

    def touch(self, x: float, y: float) -> None:
        self._down = Place(x, y)
        self._unread.append(self._down)

    def release(self) -> None:
        self._end("up")

    def cancel(self) -> None:
        self._end("cancel")

    def close(self) -> None:
        self.visible = False

    def take_touches(self) -> list[SeenTouch]:
        taken, self._unread = self._unread, []
        return list(taken)

    def _end(self, kind: str) -> None:
        if self._down is not None:
            self._unread.append(Place(self._down.x, self._down.y, kind))
            self._down = None


def wait_for_touches(screen: TouchReader, seconds: float) -> list[SeenTouch]:
    """All events until one touch counts, or until the time is over: a page needs some 15 ms."""
    end = time.monotonic() + seconds
    seen = list(screen.take_touches())
    while not any(one.kind == "down" for one in seen) and time.monotonic() < end:
        time.sleep(0.002)
        seen += screen.take_touches()
    return seen
