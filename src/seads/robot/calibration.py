"""Where the screen lies under the arm: a plane by least squares and a perspective map onto it.

As in the paper (S.5): the touched points are projected onto the plane that fits them best, a
perspective transform pairs them with places (x, y) on the screen, and a target is transform(x, y)
plus the plane's normal times z. Unlike there, more than the four corners may be touched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float
from msgspec import Meta, Struct

from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.reading import read_json
from seads.robot import kinematics
from seads.robot.guard import LARGEST, MOST_TILT, Envelope
from seads.robot.kinematics import Points, Speed
from seads.robot.tablet import combine

FILE_VERSION = 1
FULL_HEIGHT = 100.0
"""mm above the screen at z = 1 (paper S.5: about 10 cm)."""
DEEPEST = 1.5
"""mm below the fitted plane that the guard still allows."""
MARGIN = 40.0
"""mm beside the screen, and above z = 1, where the arm may be."""
CORNERS = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
NINE = tuple((x, y) for y in (0.1, 0.5, 0.9) for x in (0.1, 0.5, 0.9))
SIDES = (60.0, 320.0)
"""Lengths in mm that a side of a screen may have."""


@dataclass(frozen=True)
class Touched:
    """One pair: a place on the screen, and where the tip was, in mm."""

    place: tuple[float, float]
    tip: tuple[float, float, float]


class CalibrationFile(Struct, forbid_unknown_fields=True):
    """The file of `seads robot calibrate`; what was fitted is fitted anew when it is read."""

    version: Literal[1]
    touches: Annotated[list[Touched], Meta(min_length=4, max_length=100)]
    residuals_mm: dict[str, float] | None = None


@dataclass(frozen=True)
class Calibration:
    """The map between places (x, y, z) over the screen and points in mm in the arm's frame."""

    touches: tuple[Touched, ...]
    origin: Float[np.ndarray, "3"]
    """On the plane, in the middle of the touches."""
    axes: Float[np.ndarray, "3 3"]
    """Rows: two directions in the plane and its upward normal, each of length 1."""
    matrix: Float[np.ndarray, "3 3"]
    """Perspective map from (x, y, 1) to mm along the plane's two directions."""

    @classmethod
    def fit(cls, touches: Sequence[Touched]) -> Calibration:
        """From at least four touches, no three of them in a line."""
        if not 4 <= len(touches) <= 100:
            raise SeadsError(f"{len(touches)} touches; allowed: 4 to 100, four of them the corners")
        places = np.array([one.place for one in touches], float)
        tips = np.array([one.tip for one in touches], float)
        if not (np.isfinite(places).all() and np.isfinite(tips).all()):
            raise SeadsError("a touch that is no number; allowed: finite places and points in mm")
        if (np.abs(places - 0.5) > 1.0).any():
            raise SeadsError("a touch far beside the screen; allowed: places from 0 to 1")
        origin = tips.mean(0)
        # the direction in which the points vary least is the plane's normal
        _, spread, axes = np.linalg.svd(tips - origin)
        if spread[1] < 20.0:
            raise SeadsError(
                "the touches lie in a line; allowed: touches that span the screen, as its corners"
            )
        axes[2] *= 1.0 if axes[2, 2] >= 0.0 else -1.0
        flat = (tips - origin) @ axes[:2].T
        found = cls(tuple(touches), origin, axes, _perspective(places, flat))
        found.check()
        return found

    def points(self, places: Points) -> Points:
        """Points in mm of places: x and y on the screen, z = 1 is 10 cm above it."""
        flat = _mapped(self.matrix, places[:, :2])
        height = FULL_HEIGHT * places[:, 2:]
        return self.origin + combine(self.axes, np.column_stack([flat, height]))

    def places(self, points: Points) -> Points:
        """Places over the screen of points in mm."""
        seen = combine(self.axes.T, points - self.origin)
        flat = _mapped(np.linalg.inv(self.matrix), seen[:, :2])
        return np.column_stack([flat, seen[:, 2] / FULL_HEIGHT])

    @property
    def residuals(self) -> dict[str, float]:
        """How far the touches are from the fit, in mm: off the plane, and along it."""
        tips = np.array([one.tip for one in self.touches])
        places = np.array([[*one.place, 0.0] for one in self.touches])
        off = np.abs((tips - self.origin) @ self.axes[2])
        along = np.linalg.norm((tips - self.points(places)) @ self.axes[:2].T, axis=1)
        return {"plane": float(off.max()), "map": float(along.max())}

    def check(self) -> None:
        """Raise a sentence for a map that no tablet under the arm can have."""
        if not all(np.isfinite(part).all() for part in (self.origin, self.axes, self.matrix)):
            raise SeadsError("a calibration with numbers that are none; calibrate again")
        if np.abs(self.axes @ self.axes.T - np.eye(3)).max() > 1e-6:
            raise SeadsError("a calibration whose axes are not at right angles; calibrate again")
        tilt = float(np.degrees(np.arccos(np.clip(self.axes[2, 2], -1.0, 1.0))))
        if tilt > MOST_TILT:
            raise SeadsError(
                f"the screen leans by {tilt:.0f} degrees; allowed: up to {MOST_TILT:.0f}"
            )
        grid = np.array([[x, y, 0.0] for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)])
        scale = np.column_stack([grid[:, :2], np.ones(9)]) @ self.matrix[2]
        if not (scale > 0.2 * np.abs(scale).max()).all():  # a horizon crosses the screen
            raise SeadsError("the touches do not fit a flat screen; touch the corners anew")
        corners = self.points(np.array([[*corner, 0.0] for corner in CORNERS]))
        right, down = corners[1] - corners[0], corners[3] - corners[0]
        if np.cross(right, down) @ self.axes[2] > 0.0:  # as seen from below
            raise SeadsError("the corners were touched the wrong way round; touch them as named")
        sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
        if not ((sides >= SIDES[0]) & (sides <= SIDES[1])).all():
            raise SeadsError(
                f"a screen with sides of {', '.join(f'{side:.0f}' for side in sides)} mm; allowed: "
                f"{SIDES[0]:.0f} to {SIDES[1]:.0f}"
            )
        if (corners < LARGEST[0]).any() or (corners > LARGEST[1]).any():
            raise SeadsError(f"a screen at {corners.round().tolist()} mm; the arm cannot be there")

    def unreachable(self, height: float) -> list[tuple[float, float]]:
        """The corners and middles of sides that the arm cannot reach at z = 0 or this height."""
        grid = [(x, y) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)]
        low = kinematics.reachable(self.points(np.array([[*place, 0.0] for place in grid])))
        top = kinematics.reachable(self.points(np.array([[*place, height] for place in grid])))
        return [place for place, fine in zip(grid, low & top, strict=True) if not fine]

    def envelope(self, speed: Speed | None = None) -> Envelope:
        """The box around the screen and the floor just under it, for the guard."""
        low, high = self._box()
        normal = self.axes[2] / np.linalg.norm(self.axes[2])
        return Envelope(
            low=tuple(low.tolist()),
            high=tuple(high.tolist()),
            floor=(*normal.tolist(), float(normal @ self.origin) - DEEPEST),
            speed=speed or Speed(),
        )

    def save(self, file: Path) -> None:
        """Write it as JSON, aside and then in place."""
        write_text_aside(file, json.dumps(self.as_json(), indent=1) + "\n")

    def as_json(self) -> dict[str, Any]:
        return {
            "version": FILE_VERSION,
            "touches": [{"place": list(one.place), "tip": list(one.tip)} for one in self.touches],
            "residuals_mm": {name: round(mm, 3) for name, mm in self.residuals.items()},
        }

    @classmethod
    def load(cls, file: Path) -> Calibration:
        """Read the touches and fit them anew: so a file cannot contradict itself."""
        what = "a file of `seads robot calibrate`"
        try:
            found = read_json(file, CalibrationFile, what)
        except OSError as error:
            raise SeadsError(f"{file} cannot be read ({error.strerror}); give {what}") from None
        try:
            return cls.fit(found.touches)
        except SeadsError as error:
            raise SeadsError(f"{file}: {error}") from None

    def _box(self) -> tuple[np.ndarray, np.ndarray]:
        corners = [[*corner, z] for corner in CORNERS for z in (0.0, 1.0)]
        points = self.points(np.array(corners))
        low, high = points.min(0) - MARGIN, points.max(0) + MARGIN
        # beside and above there is room; nearer to the base than the largest box is not
        return np.maximum(low, LARGEST[0]), np.minimum(high, LARGEST[1])


def _mapped(
    matrix: Float[np.ndarray, "3 3"], flat: Float[np.ndarray, "rows 2"]
) -> Float[np.ndarray, "rows 2"]:
    """A perspective map of points in a plane."""
    mapped = combine(matrix.T, np.column_stack([flat, np.ones(len(flat))]))
    return mapped[:, :2] / mapped[:, 2:]


def _perspective(
    places: Float[np.ndarray, "rows 2"], flat: Float[np.ndarray, "rows 2"]
) -> Float[np.ndarray, "3 3"]:
    """The map of the least squares (the direct linear transform, with the last entry 1).

    Exact for four touches; both sides are scaled to about 1 so that it is well conditioned.
    """
    scale = float(np.abs(flat).max())
    x, y = (places - 0.5).T
    one, none = np.ones_like(x), np.zeros((len(x), 3))
    base = np.column_stack([x, y, one])
    rows, right = [], []
    for column, other in ((0, (base, none)), (1, (none, base))):
        to = flat[:, column] / scale
        rows.append(np.column_stack([*other, -to * x, -to * y]))
        right.append(to)
    solved, _, rank, _ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)
    if rank < 8:
        raise SeadsError("the touches do not fit a flat screen; touch the corners anew")
    matrix = np.append(solved, 1.0).reshape(3, 3)
    middle = np.array([[1.0, 0.0, -0.5], [0.0, 1.0, -0.5], [0.0, 0.0, 1.0]])
    return np.diag([scale, scale, 1.0]) @ matrix @ middle
