"""The tablet under the pen: where its screen lies, and where a pen touches it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

WIDTH, HEIGHT = 217.0, 136.0
"""Of a 10.1 inch screen, in mm."""


@dataclass(frozen=True)
class Tablet:
    """A flat screen anywhere under the arm; all vectors in mm in the arm's frame."""

    corner: Float[np.ndarray, "3"]
    """Of the screen's top left, (0, 0)."""
    across: Float[np.ndarray, "3"]
    """To the top right, (1, 0)."""
    down: Float[np.ndarray, "3"]
    """To the bottom left, (0, 1)."""

    @classmethod
    def lying(
        cls,
        near: float = 160.0,
        side: float = 0.0,
        height: float = 8.0,
        turn: float = 1.5,
        tilt: tuple[float, float] = (1.0, -0.7),
    ) -> Tablet:
        """Crosswise before the arm, as seen from behind it; turned and tilted by some degrees.

        `near` is how far its near edge is, `side` how far its middle is to the left.
        """
        turned, ahead, aside = np.radians([turn, *tilt])
        about_z = np.array(
            [[np.cos(turned), -np.sin(turned), 0], [np.sin(turned), np.cos(turned), 0], [0, 0, 1.0]]
        )
        across = about_z @ np.array([0.0, -np.cos(aside), np.sin(aside)])
        down = about_z @ np.array([-np.cos(ahead), 0.0, np.sin(ahead)])
        down -= across * (across @ down)
        down /= np.linalg.norm(down)
        middle = np.array([near + HEIGHT / 2, side, height])
        corner = middle - 0.5 * (WIDTH * across + HEIGHT * down)
        return cls(corner, WIDTH * across, HEIGHT * down)

    @property
    def normal(self) -> Float[np.ndarray, "3"]:
        """Away from the screen, of length 1."""
        normal = np.cross(self.across, self.down)
        normal *= np.sign(normal[2])
        return normal / np.linalg.norm(normal)

    def points(self, places: Float[np.ndarray, "rows 3"]) -> Float[np.ndarray, "rows 3"]:
        """Points in the arm's frame of places (x, y, mm above the screen)."""
        flat = places[:, :1] * self.across + places[:, 1:2] * self.down
        return self.corner + flat + places[:, 2:] * self.normal

    def places(self, points: Float[np.ndarray, "rows 3"]) -> Float[np.ndarray, "rows 3"]:
        """Places (x, y, mm above the screen) of points in the arm's frame."""
        frame = np.stack([self.across, self.down, self.normal], axis=1)
        return combine(np.linalg.inv(frame).T, points - self.corner)


def combine(
    vectors: Float[np.ndarray, "3 3"], parts: Float[np.ndarray, "rows 3"]
) -> Float[np.ndarray, "rows 3"]:
    """Sums of three vectors, each row with its own parts of them.

    Not as a product of matrices: that rounds a row by the size of its batch.
    """
    return parts[:, :1] * vectors[0] + parts[:, 1:2] * vectors[1] + parts[:, 2:] * vectors[2]
