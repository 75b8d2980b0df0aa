"""Where the arm's joints put the pen, how it gets from point to point, and how long that takes.

Points are in mm in the arm's frame (x ahead, y to the left, z up), angles in degrees: the base,
the lower arm (alpha) and the upper arm (beta). All functions work on rows and each row on its
own, so that a batched environment, the guard and the twin share them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seads.errors import require

Point = Float[np.ndarray, "3"]
Points = Float[np.ndarray, "rows 3"]
Angles = Float[np.ndarray, "rows 3"]
Seconds = Float[np.ndarray, "rows"]

LOWER, UPPER = 142.07, 158.81
SHOULDER_HEIGHT, SHOULDER_OFFSET = 107.4, 13.2
LOWEST_ANGLES = np.array([-90.0, -4.0, -4.0])
HIGHEST_ANGLES = np.array([90.0, 135.6, 119.9])
ELBOW = (10.0, 151.0)
"""Between the two arms: 180 - alpha - beta."""
DEGREES_PER_TURN = 80.0
"""Of a joint, for one turn of its motor: the gear is 4.5 to 1."""
ENCODER_STEPS = 4096
"""Per turn of a joint: at the tip 0.25 to 0.46 mm."""

NO_WAY = 1e-9
"""Turns of a motor that count as standing still."""


@dataclass(frozen=True)
class Tool:
    """How far the tip lies ahead of the wrist and below it, in mm."""

    front: float
    height: float


PEN = Tool(front=54.5, height=77.2)
"""FW4's touch-pen mode (M2400 S6)."""


@dataclass(frozen=True)
class Speed:
    """How fast the planner drives; a move that is too short for its speed never reaches it."""

    acceleration: float = 1.3
    """Of each motor in turns/s²; 1.3 is the maker's advice, 10 the most."""
    feed: float = 200.0
    """Of the motors together in turns/min, up to 200."""

    def __post_init__(self) -> None:
        require(self, 0.05 <= self.acceleration <= 10.0, "acceleration", "0.05 to 10")
        require(self, 0.1 <= self.feed <= 200.0, "feed", "0.1 to 200")


SLOW = Speed(feed=5.0)
"""For feeling a way down to the screen."""


def inverse(points: Points, tool: Tool = PEN) -> Angles:
    """The angles that bring the tip to the points; NaN where no angles do."""
    x, y, z = _columns(points)
    stretch = np.hypot(x, y) - SHOULDER_OFFSET - tool.front
    height = z + tool.height - SHOULDER_HEIGHT
    square = stretch**2 + height**2
    distance = np.sqrt(square)
    with np.errstate(invalid="ignore", divide="ignore"):
        lower = np.arccos((LOWER**2 + square - UPPER**2) / (2 * LOWER * distance))
        upper = np.arccos((UPPER**2 + square - LOWER**2) / (2 * UPPER * distance))
    rise = np.arctan2(height, stretch)
    base = np.arctan2(y, x)
    angles = np.degrees(np.stack([base, rise + lower, upper - rise], axis=1))
    angles[~np.isfinite(angles).all(1)] = np.nan
    return angles


def forward(angles: Angles, tool: Tool = PEN) -> Points:
    """Where the tip is."""
    base, lower, upper = np.radians(_columns(angles))
    reach = LOWER * np.cos(lower) + UPPER * np.cos(upper) + SHOULDER_OFFSET + tool.front
    height = LOWER * np.sin(lower) - UPPER * np.sin(upper) + SHOULDER_HEIGHT - tool.height
    return np.stack([reach * np.cos(base), reach * np.sin(base), height], axis=1)


def skeleton(angles: Float[np.ndarray, "3"], tool: Tool = PEN) -> Float[np.ndarray, "6 3"]:
    """Base, shoulder, elbow, wrist, the pen's holder and its tip, for drawing an arm."""
    base, lower, upper = np.radians(angles)
    elbow = SHOULDER_OFFSET + LOWER * np.cos(lower)
    wrist = elbow + UPPER * np.cos(upper)
    raised = SHOULDER_HEIGHT + LOWER * np.sin(lower)
    front, sunk = wrist + tool.front, raised - UPPER * np.sin(upper)
    reach = np.array([0.0, SHOULDER_OFFSET, elbow, wrist, front, front])
    height = np.array([0.0, SHOULDER_HEIGHT, raised, sunk, sunk, sunk - tool.height])
    return np.stack([reach * np.cos(base), reach * np.sin(base), height], axis=1)


def _columns(rows: Float[np.ndarray, "rows 3"]) -> Float[np.ndarray, "3 rows"]:
    """Contiguous, for numpy rounds a strided array otherwise: a row must not see its batch."""
    return np.ascontiguousarray(rows.T)


def legal(angles: Angles) -> Bool[np.ndarray, "rows"]:
    """Whether the joints allow the angles; NaN is not allowed."""
    elbow = 180.0 - angles[:, 1] - angles[:, 2]
    inside = ((angles >= LOWEST_ANGLES) & (angles <= HIGHEST_ANGLES)).all(1)
    return inside & (elbow >= ELBOW[0]) & (elbow <= ELBOW[1])


def reachable(points: Points, tool: Tool = PEN) -> Bool[np.ndarray, "rows"]:
    """Whether the arm can bring the tip to the points."""
    return legal(inverse(points, tool))


def read_back(angles: Angles) -> Angles:
    """The angles as the encoders see them."""
    step = 360.0 / ENCODER_STEPS
    return np.round(angles / step) * step


def path(
    start: Angles, end: Angles, shares: Float[np.ndarray, "shares"], tool: Tool = PEN
) -> Float[np.ndarray, "rows shares 3"]:
    """Points on the way, at shares from 0 to 1: all joints turn in proportion.

    So the tip does not go straight: it bulges upwards by 1 to 13 mm over the screen.
    """
    angles = start[:, None] + shares[:, None] * (end - start)[:, None]
    return forward(angles.reshape(-1, 3), tool).reshape(len(start), len(shares), 3)


@dataclass(frozen=True)
class Motion:
    """Moves from standstill to standstill, one a row: speed up, go steadily, slow down."""

    turns: Seconds
    """Length of the way in turns of the motors together (the Euclidean norm)."""
    speed: Seconds
    """The highest speed, turns/s."""
    acceleration: Seconds

    @property
    def duration(self) -> Seconds:
        """Seconds from standstill to standstill."""
        steady = np.maximum(self.turns / self.speed - self.speed / self.acceleration, 0.0)
        return 2.0 * self.speed / self.acceleration + steady

    def share(self, seconds: Seconds) -> Seconds:
        """Which share of the way is behind, after so many seconds."""
        total = self.duration
        ramp = self.speed / self.acceleration
        since, left = np.clip(seconds, 0.0, total), np.clip(total - seconds, 0.0, total)
        done = np.where(
            since < ramp,
            0.5 * self.acceleration * since**2,
            np.where(
                left < ramp,
                self.turns - 0.5 * self.acceleration * left**2,
                self.speed * (since - 0.5 * ramp),
            ),
        )
        return np.where(self.turns > NO_WAY, done / np.maximum(self.turns, NO_WAY), 1.0)

    def stopping_share(self, seconds: Seconds) -> tuple[Seconds, Seconds]:
        """Which share is behind when a stop asked for at this time is complete, and when it is."""
        ramp = self.speed / self.acceleration
        left = np.clip(self.duration - seconds, 0.0, None)
        braking = np.minimum(np.minimum(np.clip(seconds, 0.0, None), left), ramp)
        further = 0.5 * self.acceleration * braking**2 / np.maximum(self.turns, NO_WAY)
        return np.minimum(self.share(seconds) + further, 1.0), seconds + braking


def motion(start: Angles, end: Angles, speed: Speed) -> Motion:
    """How the planner drives each row: no motor accelerates faster than the speed's limit."""
    turns = np.abs(end - start) / DEGREES_PER_TURN
    length = np.linalg.norm(turns, axis=1)
    furthest = np.maximum(turns.max(1), NO_WAY)
    acceleration = speed.acceleration * np.maximum(length, NO_WAY) / furthest
    highest = np.minimum(speed.feed / 60.0, np.sqrt(acceleration * np.maximum(length, NO_WAY)))
    return Motion(length, highest, acceleration)


def duration(start: Points, end: Points, speed: Speed, tool: Tool = PEN) -> Seconds:
    """How many seconds a move from point to point takes; NaN where it cannot be made."""
    return motion(inverse(start, tool), inverse(end, tool), speed).duration


def millimetre_feed(start: Points, end: Points, speed: Speed, tool: Tool = PEN) -> Seconds:
    """The feed in mm/min along the straight line that takes as long as `speed.feed` (for FW3)."""
    turns = np.linalg.norm(inverse(end, tool) - inverse(start, tool), axis=1) / DEGREES_PER_TURN
    return np.linalg.norm(end - start, axis=1) / np.maximum(turns, NO_WAY) * speed.feed
