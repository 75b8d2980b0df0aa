"""What the arm's side needs of a touch screen; places are in the unit square, origin top left.

The board's page and its stand-ins fit these; a `RecordingScreen` is the least that does.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from msgspec import Struct

from seads.errors import SeadsError
from seads.reading import Name, as_kind


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

    def take_touches(self) -> list[SeenTouch]:
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


class WritingScreen:
    """Writes what touches it into a file, a line of JSON each, for a `StreamScreen` to read."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a")
        self._last = (0.0, 0.0)

    def touch(self, x: float, y: float) -> None:
        self._last = (x, y)
        self._write("down")

    def release(self) -> None:
        self._write("up")

    def cancel(self) -> None:
        self._write("cancel")

    def close(self) -> None:
        self._write("close")

    def _write(self, kind: str) -> None:
        x, y = self._last
        self._file.write(json.dumps({"kind": kind, "x": x, "y": y}) + "\n")
        self._file.flush()


class _TouchLine(Struct):
    """A line of the file of touches."""

    kind: Name
    x: float
    y: float


class StreamScreen:
    """The touches that a twin in another process writes into a file, a line of JSON each.

    The twin writes a touch before it answers the move that caused it, so whoever asks after a
    move has seen all of it.
    """

    def __init__(self, file: Path) -> None:
        if not file.exists():
            raise SeadsError(f"{file} does not exist; `seads robot twin --touches {file}` makes it")
        self._file = file
        self._descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self._descriptor, 0, os.SEEK_END)  # what was touched before is not ours
        self._rest = b""
        self.visible = True

    def take_touches(self) -> list[SeenTouch]:
        taken: list[SeenTouch] = []
        while more := os.read(self._descriptor, 65536):
            self._rest += more
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            told = as_kind(line, _TouchLine, f"{self._file} holds no touches")
            if told.kind == "close":
                self.visible = False
            else:
                taken.append(Place(told.x, told.y, told.kind))
        return taken

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def wait_for_touches(screen: TouchReader, seconds: float) -> list[SeenTouch]:
    """All events until one touch counts, or until the time is over: a page needs some 15 ms."""
    end = time.monotonic() + seconds
    seen = screen.take_touches()
    while not any(one.kind == "down" for one in seen) and time.monotonic() < end:
        time.sleep(0.002)
        seen += screen.take_touches()
    return seen
