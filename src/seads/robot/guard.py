"""The guard: a box, a floor and a speed that no command leaves, and what is allowed when unsure.

It runs in the process that holds the line (`keeper`), so no program can pass around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from seads.errors import SeadsError
from seads.robot import kinematics
from seads.robot.faults import CornerFirst, Rebooted, Refused, RobotFault
from seads.robot.kinematics import SLOW, Point, Points, Speed

if TYPE_CHECKING:  # the simulated arm has an envelope and needs no serial line
    from seads.robot.arm import Arm

LARGEST = np.array([[60.0, -300.0, -60.0], [365.0, 300.0, 250.0]])
"""The box that no envelope may exceed, in mm."""
MOST_TILT = 25.0
"""Degrees by which a floor may lean."""
PROBE_STEP = 0.5
"""The most, in mm, that a probing move may go down near the floor."""
CLEAR = 12.0
"""mm above the floor from which a probing move may go anywhere."""
WAY = np.linspace(0.0, 1.0, 65)


@dataclass(frozen=True)
class Envelope:
    """Where the tip may be: in a box and on the upper side of a plane, the floor."""

    low: tuple[float, float, float] = (75.0, -250.0, -10.0)
    high: tuple[float, float, float] = (360.0, 250.0, 200.0)
    floor: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 0.0)
    """Its upward normal and its distance from the origin along that, in mm."""
    speed: Speed = field(default_factory=Speed)
    """The most that any move gets."""

    def __post_init__(self) -> None:
        numbers = np.array([*self.low, *self.high, *self.floor], float)
        if numbers.shape != (10,) or not np.isfinite(numbers).all():
            raise SeadsError(f"envelope {numbers.tolist()}; allowed: ten finite numbers")
        box = np.array([self.low, self.high])
        inside = (box[0] >= LARGEST[0]).all() and (box[1] <= LARGEST[1]).all()
        if not inside or not (box[0] < box[1]).all():
            raise SeadsError(
                f"envelope from {self.low} to {self.high} mm; allowed: from {LARGEST[0].tolist()} "
                f"to {LARGEST[1].tolist()}, each low below its high"
            )
        normal = np.array(self.floor[:3])
        upright = normal[2] >= np.cos(np.radians(MOST_TILT))
        if abs(np.linalg.norm(normal) - 1.0) > 1e-6 or not upright:
            raise SeadsError(
                f"floor {self.floor}; allowed: a normal of length 1, {MOST_TILT:.0f} degrees at "
                "most from upright"
            )

    @classmethod
    def above(cls, height: float, speed: Speed | None = None) -> Envelope:
        """Everything the arm reaches above a level floor, for as long as no plane is known."""
        floor = (0.0, 0.0, 1.0, height)
        return cls(low=(75.0, -250.0, height), floor=floor, speed=speed or Speed())

    def excesses(self, points: Points) -> Float[np.ndarray, "rows 7"]:
        """How many mm outside each of the six sides, and below the floor; NaN is far outside."""
        below = self.floor[3] - points @ np.array(self.floor[:3])
        parts = [self.low - points, points - np.array(self.high), below[:, None]]
        return np.nan_to_num(np.concatenate(parts, axis=1), nan=np.inf)

    def excess(self, points: Points) -> Float[np.ndarray, "rows"]:
        """How many mm outside; 0 or less inside."""
        return self.excesses(points).max(1)

    def height(self, point: Point) -> float:
        """How far above the floor."""
        return float(point @ np.array(self.floor[:3]) - self.floor[3])


class Guard:
    """Lets an arm do what stays inside the envelope, and refuses everything else."""

    def __init__(self, arm: Arm, envelope: Envelope) -> None:
        self._arm, self._envelope = arm, envelope
        self._asked: Point | None = None
        self.unsure = False
        """Whether a corner must be touched before anything but probing."""

    def move(self, target: Any, speed: Speed | None = None, probing: bool = False) -> Point:
        """Go to a point; where the arm stands. The command is sent as checked, or not at all."""
        point = self._point(target)
        start = self._arm.known if self._arm.known is not None else self._arm.position()
        if self._asked is not None:
            start = self._asked  # what the firmware goes from; the encoders are coarser
        self._check_way(start, point)
        if probing or self.unsure:
            self._check_probing(start, point, probing)
        try:
            stands = self._arm.move(point, self._capped(speed, probing))
        except RobotFault as fault:
            self._asked = None
            self.unsure |= isinstance(fault, Rebooted)
            raise
        self._asked = point
        return stands

    def position(self) -> Point:
        return self._arm.position()

    def stop(self) -> Point:
        self._asked = None
        return self._arm.stop()

    def recover(self) -> Point:
        """Configure the arm anew after a fault; a corner must be touched next."""
        self._asked, self.unsure = None, True
        return self._arm.recover()

    def trust(self) -> None:
        """A corner was touched where it should be: all moves are allowed again."""
        self.unsure = False

    def let_go(self) -> None:
        self._asked = None
        self._arm.let_go()

    def hold(self) -> Point:
        return self._arm.hold()

    def _point(self, target: Any) -> Point:
        try:
            point = np.asarray(target, float)
        except (TypeError, ValueError, OverflowError):
            raise Refused(f"target {str(target)[:60]!r}; allowed: three numbers in mm") from None
        if point.shape != (3,) or not (np.abs(point) < 1e4).all():
            raise Refused(f"target {str(target)[:60]!r}; allowed: three numbers in mm")
        # what is sent has two decimals: only that is checked, so only that can be sent
        point = np.round(point, 2)
        if (over := float(self._envelope.excess(point[None])[0])) > 0.0:
            raise Refused(
                f"target ({point[0]:.1f}, {point[1]:.1f}, {point[2]:.1f}) mm lies {over:.2f} mm "
                "outside the guard's envelope or under its floor; nothing was sent"
            )
        if not kinematics.reachable(point[None])[0]:
            raise Refused(
                f"target ({point[0]:.1f}, {point[1]:.1f}, {point[2]:.1f}) mm is out of the arm's "
                "reach; nothing was sent"
            )
        return point

    def _check_way(self, start: Point, target: Point) -> None:
        """No point on the way may be further outside than where the arm already stands."""
        angles = kinematics.inverse(np.stack([start, target]))
        if np.isnan(angles[0]).any():
            raise Refused(
                f"the arm says that it stands at {start.round(1).tolist()} mm, which it cannot "
                "reach; lead it by hand to above the tablet"
            )
        over = self._envelope.excesses(kinematics.path(angles[:1], angles[1:], WAY)[0])
        # each side for itself: who stands beside the box must not go below the floor for that
        further = over - np.maximum(over[0], 0.0)
        if further.max() > 1e-9:
            raise Refused(
                f"the way to {target.tolist()} mm leads {over.max():.2f} mm outside the guard's "
                "envelope or under its floor; nothing was sent"
            )

    def _check_probing(self, start: Point, target: Point, probing: bool) -> None:
        if not probing:
            raise CornerFirst(
                "the arm's board has started anew: touch a corner first; nothing was sent"
            )
        drop = self._envelope.height(start) - self._envelope.height(target)
        if self._envelope.height(target) < CLEAR and drop > PROBE_STEP + 0.011:
            raise Refused(
                f"a probing move down by {drop:.2f} mm near the floor; allowed: {PROBE_STEP} mm"
            )

    def _capped(self, speed: Speed | None, probing: bool) -> Speed:
        most = SLOW if probing else self._envelope.speed
        wanted = speed or self._envelope.speed
        feed = min(wanted.feed, most.feed, self._envelope.speed.feed)
        # the firmware's acceleration is set once, when it is configured
        return Speed(self._arm.speed.acceleration, feed)
