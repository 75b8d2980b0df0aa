"""Arms on twins, for tests: real pseudo-terminals, a fast clock, short patience."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seads.robot.arm import Arm
from seads.robot.guard import Envelope
from seads.robot.guarded_arm import GuardedArm
from seads.robot.line import Line
from seads.robot.protocol import Dialect
from seads.robot.screen import RecordingScreen
from seads.robot.twin.firmware import Twin
from seads.robot.twin.schedule import Schedule
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES, TwinThread

GRACE = 2.0
"""Seconds of patience beside twice the predicted time: this machine may be busy."""
SHORT = 0.5
"""The same where answers are lost on purpose."""
PACE = 5.0
"""Of clocks that leave time to interfere with a move."""
SLOWLY = 2.0
"""Turns a minute: from LEFT to RIGHT it takes about 3.4 s on such a clock."""
MIDDLE = np.array([220.0, 0.0, 40.0])
LEFT = np.array([220.0, 80.0, 40.0])
RIGHT = np.array([220.0, -80.0, 40.0])


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@dataclass
class Bench:
    """A twin and what it told of itself."""

    twin: Twin
    screen: RecordingScreen
    port: str = ""
    log: list[dict[str, Any]] = field(default_factory=list)

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.log if one["kind"] == kind]

    def lines(self, command: str = "") -> list[str]:
        """What the twin received, by the command that it starts with."""
        texts = [one["text"] for one in self.told("line")]
        return [text for text in texts if command in text]

    def tip(self) -> np.ndarray:
        """Where the pen really is."""
        return self.twin.body.tip(1e9)


@contextmanager
def bench(
    dialect: Dialect = Dialect.FW4,
    faults: str = "",
    pace: float = AS_FAST_AS_IT_GOES,
    **settings: Any,
) -> Iterator[Bench]:
    """A twin in a thread, with the faults that are named."""
    log: list[dict[str, Any]] = []

    def note(kind: str, when: float, **rest: Any) -> None:
        log.append({"kind": kind, "when": when, **rest})

    screen = RecordingScreen()
    schedule = settings.pop("schedule", None) or Schedule.read(faults)
    twin = Twin(screen, dialect, schedule=schedule, log=note, **settings)
    with TwinThread(twin, pace) as thread:
        yield Bench(twin, screen, thread.port, log)


@contextmanager
def connected(
    where: Bench, pace: float = AS_FAST_AS_IT_GOES, grace: float = GRACE, **settings: Any
) -> Iterator[Arm]:
    """An arm, connected and ready."""
    with Line(where.port) as line:
        arm = Arm(line, pace=pace, grace=grace, **settings)
        arm.connect()
        yield arm


@contextmanager
def guarded(where: Bench, **settings: float) -> Iterator[GuardedArm]:
    """An arm whose line a process of its own holds."""
    wanted = {"pace": PACE, "grace": GRACE, "deadman": 0.3} | settings
    with GuardedArm(where.port, Envelope.above(0.0), **wanted) as arm:
        yield arm


def stood_between(where: Bench) -> bool:
    """Whether the arm stands in the middle of the long way, and not because it got there."""
    return bool(RIGHT[1] + 5.0 < where.tip()[1] < LEFT[1] - 2.0)
