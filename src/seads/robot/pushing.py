"""Pushes of many arms at once: the points gone through, where the pen meets the glass, how long.

What the arm does one push at a time on its line, or on its twin, a batched environment does with
these in one call; the twin itself uses `first_crossing`, so the two cannot disagree.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seads.robot import kinematics
from seads.robot.calibration import FULL_HEIGHT, Calibration
from seads.robot.kinematics import Angles, Speed
from seads.robot.tablet import HEIGHT, WIDTH, Tablet

Places = Float[np.ndarray, "rows 2"]
Ways = Float[np.ndarray, "rows points 3"]

PUSH_HEIGHT = 0.2
"""z from which an absolute push comes down (paper S.5.1)."""
HOVER = 0.3
"""z at which the displacement environment moves (paper S.5.2)."""
PRESS = 0.6
"""mm that a push goes on below the plane, which is only as good as its touches. The paper goes to
z = 0 and says nothing of this."""
TIP_RADIUS = 2.0
"""Of the pen's soft tip, in mm: at the very edge of the screen it is still felt."""
_SHARES = np.linspace(0.0, 1.0, 65)


def push_ways(calibration: Calibration, places: Places, height: float = PUSH_HEIGHT) -> Ways:
    """The three points in mm of each push: above its place, on the glass, above it again.

    With two decimals, as they are sent.
    """
    high = np.column_stack([places, np.full(len(places), height)])
    low = np.column_stack([places, np.full(len(places), -PRESS / FULL_HEIGHT)])
    above, glass = calibration.points(high), calibration.points(low)
    return np.round(np.stack([above, glass, above], axis=1), 2)


def seconds(ways: Ways, speed: Speed) -> Float[np.ndarray, "rows"]:
    """How long each way takes from standstill to standstill at every point (without answers)."""
    legs = [
        kinematics.duration(ways[:, i], ways[:, i + 1], speed) for i in range(ways.shape[1] - 1)
    ]
    return np.sum(legs, axis=0)


def contacts(tablet: Tablet, ways: Ways) -> Places:
    """Where each push is felt on the screen, in [0, 1]²; NaN where it is not."""
    start, end = (kinematics.inverse(ways[:, point]) for point in (0, 1))
    _, places = first_crossing(tablet, start, end, 0.0)
    return felt(places)


def felt(places: Places) -> Places:
    """The places that a screen reports for a tip there: NaN beside it, the edge just beside it."""
    over = np.maximum(-places, places - 1.0) * [WIDTH, HEIGHT]
    with np.errstate(invalid="ignore"):
        beside = ~(over.max(1, keepdims=True) <= TIP_RADIUS)
    return np.where(beside, np.nan, np.clip(places, 0.0, 1.0))


def first_crossing(
    tablet: Tablet, start: Angles, end: Angles, level: float
) -> tuple[Float[np.ndarray, "rows"], Places]:
    """The share of a way at which the tip first passes a height over the screen, and where.

    The way is one of the joints, so the tip drifts sideways a little. NaN where it never passes.
    """
    points = kinematics.path(start, end, _SHARES)
    places = tablet.places(points.reshape(-1, 3)).reshape(points.shape)
    height = places[..., 2] - level
    passes = (height[:, :-1] > 0.0) != (height[:, 1:] > 0.0)
    row, i = np.arange(len(start)), passes.argmax(1)
    before, after = height[row, i], height[row, i + 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(passes.any(1), before / (before - after), np.nan)
    share = _SHARES[i] + part * (_SHARES[i + 1] - _SHARES[i])
    a, b = places[row, i, :2], places[row, i + 1, :2]
    return share, a + part[:, None] * (b - a)
