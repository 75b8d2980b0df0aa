"""The twin's joints and pen: moves one after the other in virtual time, touches as they happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seads.robot import kinematics
from seads.robot.kinematics import Motion, Speed
from seads.robot.pushing import felt, first_crossing
from seads.robot.screen import PenScreen
from seads.robot.tablet import Tablet
from seads.robot.twin.schedule import Schedule

Joints = Float[np.ndarray, "3"]

LIFTED = 0.3
"""How far above the screen, in mm, a pen that was down counts as up."""
SAMPLES = 64
REST = np.array([0.0, 90.0, 0.0])
"""Where the arm stands when the power comes on."""


@dataclass
class Move:
    """One way of the joints, and what the pen will do on it."""

    start: Joints
    end: Joints
    motion: Motion
    begun: float
    finished: float
    cut: float = 1.0
    """Share of the way at which it ends: less than all where it was stopped."""
    braking_since: float = np.inf

    def at(self, now: float) -> Joints:
        share = float(self.motion.share(np.array([min(now, self.braking_since) - self.begun]))[0])
        if now > self.braking_since:  # evenly slower, until it stands
            left = (self.finished - now) / max(self.finished - self.braking_since, 1e-9)
            share = self.cut - (self.cut - share) * max(left, 0.0) ** 2
        return self.start + min(share, self.cut) * (self.end - self.start)


class Pen:
    """The pen over the tablet: tells the screen, or fails to, as the schedule says."""

    def __init__(self, tablet: Tablet, screen: PenScreen, schedule: Schedule) -> None:
        self.tablet, self.screen, self.schedule = tablet, screen, schedule
        self.down = False
        self.touches = 0
        self.deepest = np.inf
        """The least height over the screen so far, in mm; below 0 it was pressed."""
        self.next_fault: str | None = None

    def crossing(self, move: Move) -> list[tuple[float, float, float]]:
        """When and where the pen will cross the screen's height, as (time, x, y); empty if not."""
        # a pen that is down goes up only once it has left the screen by a little
        level = LIFTED if self.down else 0.0
        share, place = first_crossing(self.tablet, move.start[None], move.end[None], level)
        if np.isnan(share[0]):
            return []
        times = np.linspace(0.0, float(move.motion.duration[0]), SAMPLES)
        many = Motion(*(np.repeat(part, SAMPLES) for part in vars(move.motion).values()))
        when = move.begun + np.interp(share[0], many.share(times), times)
        return [(float(when), float(place[0, 0]), float(place[0, 1]))]

    def cross(self, x: float, y: float) -> None:
        """Come down, or go up; beside the screen nothing feels it."""
        self.down = not self.down
        if not self.down:
            self.screen.release()
        elif not np.isnan(where := felt(np.array([[x, y]]))[0]).any():
            self._touch(float(where[0]), float(where[1]))

    def _touch(self, x: float, y: float) -> None:
        self.touches += 1
        fault, self.next_fault = self.next_fault or self.schedule.touch(self.touches), None
        if fault == "missed":
            return
        if fault == "page-gone":
            self.screen.close()
            return
        if fault == "misplaced":
            x = x + 0.25 if x < 0.5 else x - 0.25
        self.screen.touch(x, y)
        if fault == "cancelled":
            self.screen.cancel()
        if fault == "doubled":
            self.screen.release()
            self.screen.touch(x, y)


class Body:
    """Joints that go from move to move; `advance` brings them to a time and tells what ended."""

    def __init__(self, pen: Pen, log: Callable[..., None]) -> None:
        self.pen, self._log = pen, log
        self.rest = REST
        self.current: Move | None = None
        self.queue: deque[tuple[Joints, Speed]] = deque()
        self._crossings: list[tuple[float, float, float]] = []

    @property
    def moving(self) -> bool:
        return self.current is not None

    def joints(self, now: float) -> Joints:
        """The true angles."""
        return self.rest if self.current is None else self.current.at(now)

    def tip(self, now: float) -> Float[np.ndarray, "3"]:
        """Where the pen really is."""
        return kinematics.forward(self.joints(now)[None])[0]

    def go(self, end: Joints, speed: Speed, now: float) -> None:
        """Put a move at the end of the queue."""
        self.queue.append((end, speed))
        if self.current is None:
            self._begin(now)

    def stop(self, now: float, braking: bool) -> None:
        """Stop the move under way, slowing down first or at once; the queue stays."""
        if (move := self.current) is None:
            return
        since = np.array([now - move.begun])
        share, when = (
            move.motion.stopping_share(since) if braking else (move.motion.share(since),) * 2
        )
        move.cut = min(move.cut, float(share[0]))
        move.finished = min(move.finished, move.begun + float(when[0]) if braking else now)
        if braking:
            move.braking_since = min(move.braking_since, now)
        ends = move.start + move.cut * (move.end - move.start)
        height = self.pen.tablet.places(kinematics.forward(ends[None]))[0, 2]
        # what lies beyond the cut never happens; what does, happens before the arm stands
        ends_down = height <= (LIFTED if self.pen.down else 0.0)
        kept = self._crossings[:1] if self.pen.down != ends_down else []
        self._crossings = [(min(when, move.finished), x, y) for when, x, y in kept]

    def advance(self, now: float) -> list[float]:
        """Go to a time; the times at which moves ended, each with nothing left in the queue."""
        stood = []
        while self.current is not None:
            while self._crossings and self._crossings[0][0] <= min(now, self.current.finished):
                when, x, y = self._crossings.pop(0)
                self.pen.cross(x, y)
                self._log("down" if self.pen.down else "up", when, x=x, y=y)
            if self.current.finished > now:
                break
            begun, ended = self.current.begun, self.current.finished
            self.rest = self.current.at(ended)
            self.current, self._crossings = None, []
            height = float(self.pen.tablet.places(self.tip(ended)[None])[0, 2])
            self.pen.deepest = min(self.pen.deepest, height)
            self._log("stood", ended, height=height, seconds=ended - begun)
            if self.queue:
                self._begin(ended)
            else:
                stood.append(ended)
        return stood

    def next_time(self) -> float | None:
        """When something happens by itself."""
        if self.current is None:
            return None
        first = self._crossings[0][0] if self._crossings else self.current.finished
        return min(first, self.current.finished)

    def _begin(self, now: float) -> None:
        end, speed = self.queue.popleft()
        motion = kinematics.motion(self.rest[None], end[None], speed)
        self.current = Move(self.rest, end, motion, now, now + float(motion.duration[0]))
        self._crossings = self.pen.crossing(self.current)
