"""A line straight into a twin, without a terminal and without real time: thousands of moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seads.robot import kinematics, protocol
from seads.robot.arm import Arm
from seads.robot.faults import NoAnswer
from seads.robot.guard import Envelope, Guard
from seads.robot.guarded_arm import Observation
from seads.robot.kinematics import Speed
from seads.robot.protocol import Dialect, Event, Reply
from seads.robot.screen import RecordingScreen
from seads.robot.twin.body import Move
from seads.robot.twin.firmware import Twin


class DirectLine:
    """What `Line` does, in virtual time."""

    port, stale = "direct", 0

    def __init__(self, twin: Twin) -> None:
        self.twin, self.now = twin, 0.0
        self.on_event: Callable[[Event], None] = lambda event: None
        self.on_tick: Callable[[], None] = lambda: None
        self._number = 0
        self._lines: list[protocol.Line] = []
        twin.boot(0.0)

    def request(self, command: str, seconds: float) -> Reply:
        self._number += 1
        self.write(protocol.encode(self._number, command))
        while (found := self._next()) is not None:
            if isinstance(found, Reply) and found.number == self._number:
                return found
            self._stray(found)
        raise NoAnswer(command)

    def wait_for(self, kind: type[Event], seconds: float) -> Event | None:
        while (found := self._next()) is not None:
            if isinstance(found, kind):
                return found
            self._stray(found)
        return None

    def write(self, data: bytes) -> None:
        self.twin.receive(data, self.now)

    def rest(self, seconds: float) -> None:
        self.now += 10.0
        self.twin.advance(self.now)

    def drain(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _stray(self, found: protocol.Line) -> None:
        if isinstance(found, Event):
            self.on_event(found)

    def _next(self) -> protocol.Line | None:
        while not self._lines:
            due = self.twin.next_time()
            if due is None:
                return None
            self.now = max(self.now, due)
            said = self.twin.advance(self.now).split(b"\n")
            self._lines = [protocol.parse(line) for line in said if line]
        return self._lines.pop(0)


class Recorded:
    """An arm on a direct line, and every way that its joints were sent along."""

    def __init__(self, dialect: Dialect, speed: Speed | None = None, **settings: Any) -> None:
        self.screen = RecordingScreen()
        self.twin = Twin(self.screen, dialect, **settings)
        self.line = DirectLine(self.twin)
        self.ways: list[Move] = []
        begin = self.twin.body._begin

        def note(now: float) -> None:
            begin(now)
            assert self.twin.body.current is not None
            self.ways.append(self.twin.body.current)

        self.twin.body._begin = note  # type: ignore[method-assign]
        self.arm = Arm(self.line, speed, pace=1e9)
        self.arm.connect()

    def way(self) -> np.ndarray:
        """Points on the last way, from its beginning to its end."""
        last, shares = self.ways[-1], np.linspace(0.0, 1.0, 100)
        return kinematics.path(last.start[None], last.end[None], shares)[0]


class LocalArm:
    """What `GuardedArm` does, in this process and in virtual time."""

    def __init__(self, recorded: Recorded, envelope: Envelope) -> None:
        self.recorded, self.envelope = recorded, envelope
        self._guard = Guard(recorded.arm, envelope)

    @property
    def position(self) -> np.ndarray | None:
        return self.recorded.arm.known

    @property
    def unsure(self) -> bool:
        return self._guard.unsure

    def get_observation(self) -> Observation:
        return Observation(self._guard.position())

    def send_action(self, target: Any, feed: float | None = None, probing: bool = False) -> Any:
        self._guard.move(target, None if feed is None else Speed(feed=feed), probing)
        return target

    def follow(self, points: Any, feed: float | None = None, probing: bool = False) -> None:
        for point in points:
            self.send_action(point, feed, probing)

    def __getattr__(self, name: str) -> Any:  # stop, recover, trust, let_go, hold
        return getattr(self._guard, name)
