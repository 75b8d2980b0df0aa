"""The arm as capsules in metres over its tablet: no mesh of it has a clear licence."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seads.envs.manipulator import Mesh, MeshPose
from seads.robot import kinematics
from seads.robot.calibration import Calibration

GLASS = 0.006
"""How high above the table the screen is drawn, in m."""
PARTS = (
    ("pillar", 34.0, (60, 66, 78)),
    ("lower arm", 13.0, (228, 230, 235)),
    ("upper arm", 12.0, (228, 230, 235)),
    ("hand", 9.0, (60, 66, 78)),
    ("pen", 4.0, (38, 44, 56)),
)
"""Name, radius in mm and colour of what joins each point of the skeleton with the next."""
_ROUND, _RINGS = 20, 5


class Drawing:
    """Where a calibrated arm and its parts are in the scene: the screen's middle is the origin."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        corners = np.array([[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [0.5, 0.0, 0.0]])
        self._middle, right, top = calibration.points(corners)
        across, up = right - self._middle, calibration.axes[2]
        self.half_width = float(np.linalg.norm(across)) / 1e3
        self.half_depth = float(np.linalg.norm(top - self._middle)) / 1e3
        across = across / np.linalg.norm(across)
        self._axes = np.stack([across, np.cross(up, across), up])

    def points(self, angles: Float[np.ndarray, "3"]) -> Float[np.ndarray, "6 3"]:
        """The skeleton in the scene."""
        seen = (kinematics.skeleton(angles) - self._middle) @ self._axes.T / 1e3
        return seen + np.array([0.0, 0.0, GLASS])

    def on_glass(self, angles: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """The angles with the pen straight below, on the glass."""
        place = self._calibration.places(kinematics.forward(angles[None]))
        return kinematics.inverse(self._calibration.points(place * [1.0, 1.0, 0.0]))[0]

    def meshes(self) -> list[Mesh]:
        """A capsule along its own x axis for each part."""
        lengths = np.linalg.norm(np.diff(self.points(np.array([0.0, 90.0, 0.0])), axis=0), axis=1)
        found = []
        for (name, radius, colour), length in zip(PARTS, lengths, strict=True):
            vertices, faces = capsule(float(length), radius / 1e3)
            found.append(Mesh(name, "capsule", vertices, faces, colour))
        return found

    def poses(self, angles: Float[np.ndarray, "3"]) -> dict[str, MeshPose]:
        """Where each part is."""
        points = self.points(angles)
        return {
            name: MeshPose(start, _turned_to(end - start))
            for (name, _, _), start, end in zip(PARTS, points[:-1], points[1:], strict=True)
        }


def capsule(length: float, radius: float) -> tuple[Float[np.ndarray, "vertices 3"], np.ndarray]:
    """A cylinder with round ends around the x axis from 0 to its length: vertices, triangles."""
    angles = np.linspace(0.0, np.pi / 2, _RINGS)
    along = np.concatenate([-radius * np.cos(angles), length + radius * np.sin(angles)])
    wide = np.concatenate([radius * np.sin(angles), radius * np.cos(angles)])
    around = np.linspace(0.0, 2 * np.pi, _ROUND, endpoint=False)
    rings = [
        np.stack([np.full(_ROUND, x), r * np.cos(around), r * np.sin(around)], axis=1)
        for x, r in zip(along, wide, strict=True)
    ]
    faces = []
    for ring in range(len(rings) - 1):
        for i in range(_ROUND):
            a, b = ring * _ROUND + i, ring * _ROUND + (i + 1) % _ROUND
            faces += [(a, b, a + _ROUND), (b, b + _ROUND, a + _ROUND)]
    return np.concatenate(rings), np.array(faces)


def _turned_to(direction: Float[np.ndarray, "3"]) -> Float[np.ndarray, "4"]:
    """The shortest turn of the x axis to a direction, as a quaternion wxyz."""
    x, y, z = direction / np.linalg.norm(direction)
    if x < -1.0 + 1e-9:
        return np.array([0.0, 0.0, 0.0, 1.0])
    turn = np.array([1.0 + x, 0.0, -z, y])
    return turn / np.linalg.norm(turn)
