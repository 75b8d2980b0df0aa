"""Forward and inverse kinematics of the Jaco arm for many rows at once, in plain numpy.

The chain is read from the compiled model: six hinges that turn about their own z axis. A row's
result depends on that row alone, bit for bit, so a pose is a function of its random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Bool, Float

Rotations = Float[np.ndarray, "rows 3 3"]
Points = Float[np.ndarray, "rows 3"]
Angles = Float[np.ndarray, "rows 6"]

HAND_DOWN = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""The tool's rotation when the hand points straight down, at angle 0 about the vertical."""

ELBOW_UP = (-1.678, 3.472, 1.556, -0.418, 1.452, 1.046)
"""A pose over the board's middle, hand down at angle 0, from which the whole start region can
be reached without passing a singularity; inverse kinematics stays on this branch."""

_TOOL = "jaco_arm/jaco_hand/pinchsite"
_JOINTS = tuple(f"jaco_arm/joint_{i}" for i in range(1, 7))
_POSITION_TOLERANCE = 1e-5  # metres
_ANGLE_TOLERANCE = 1e-4  # radians
_DAMPING = 1e-4
_LARGEST_TURN = 0.5  # radians a joint may turn in one iteration
_ITERATIONS = 30
_NEXT, _NEXT2 = np.array([1, 2, 0]), np.array([2, 0, 1])


@dataclass(frozen=True)
class Pose:
    """Where the tool is, and about which axes the joints turn, a row per arm."""

    position: Points
    rotation: Rotations
    axes: Float[np.ndarray, "rows 6 3"]
    anchors: Float[np.ndarray, "rows 6 3"]


class ArmKinematics:
    """The arm's chain from the world to the tool centre point (the hand's pinch site)."""

    def __init__(self, model: mujoco.MjModel) -> None:
        joints = [model.joint(name).id for name in _JOINTS]
        bodies = [int(model.jnt_bodyid[joint]) for joint in joints]
        limited = model.jnt_limited[joints].astype(bool)
        self.low = np.where(limited, model.jnt_range[joints, 0], -np.inf)
        self.high = np.where(limited, model.jnt_range[joints, 1], np.inf)
        # What is rigid between two joints does not depend on the angles: read it off at zero.
        data = mujoco.MjData(model)
        data.qpos[:] = 0.0
        mujoco.mj_kinematics(model, data)
        tool = model.site(_TOOL).id
        positions = np.array([np.zeros(3), *data.xpos[bodies], data.site_xpos[tool]])
        rotations = np.array([np.eye(3).ravel(), *data.xmat[bodies], data.site_xmat[tool]])
        rotations = rotations.reshape(-1, 3, 3)
        self._offsets = np.einsum("lji,lj->li", rotations[:-1], np.diff(positions, axis=0))
        self._turns = np.einsum("lji,ljk->lik", rotations[:-1], rotations[1:])
        self._seeds = self._solve_seeds()

    def forward(self, angles: Angles) -> Pose:
        """The tool's pose and the joints' axes for each row of joint angles."""
        angles = np.ascontiguousarray(angles)
        rows = len(angles)
        cos, sin = np.cos(angles)[..., None], np.sin(angles)[..., None]
        # R Rz(q): only the first two columns of R mix.
        first, second = self._turns[:-1, :, 0], self._turns[:-1, :, 1]
        links = np.empty((rows, 6, 3, 3))
        links[..., 0] = cos * first + sin * second
        links[..., 1] = cos * second - sin * first
        links[..., 2] = self._turns[:-1, :, 2]
        axes, anchors = np.empty((rows, 6, 3)), np.empty((rows, 6, 3))
        position = np.broadcast_to(self._offsets[0], (rows, 3))
        rotation = links[:, 0]
        for joint in range(6):
            if joint > 0:
                position = position + rotation @ self._offsets[joint]
                rotation = rotation @ links[:, joint]
            axes[:, joint], anchors[:, joint] = rotation[..., 2], position
        position = position + rotation @ self._offsets[6]
        return Pose(position, rotation @ self._turns[6], axes, anchors)

    def inverse(self, positions: Points, turns: Float[np.ndarray, "rows"]) -> Angles:
        """Joint angles that bring the tool to the positions, hand down, turned about the vertical.

        Starts from the nearest of a fixed set of poses, then the next nearest where that fails.
        """
        rows = len(positions)
        angles = np.empty((rows, 6))
        seed_positions, seed_angles = self._seeds
        order = ((positions[:, None] - seed_positions) ** 2).sum(-1).argsort(1, kind="stable")
        todo = np.arange(rows)
        for attempt in range(len(seed_positions)):
            start = seed_angles[order[todo, attempt]].copy()
            # The last joint turns about the vertical too when the hand points down.
            start[:, 5] += turns[todo]
            angles[todo], solved = self.solve(start, positions[todo], hand_down(turns[todo]))
            todo = todo[~solved]
            if not len(todo):
                return angles
        row = todo[0]
        raise ValueError(
            f"no arm pose reaches {positions[row]} turned by {turns[row]}; the tool must stay "
            "within the arm's reach over the board"
        )

    def solve(
        self, start: Angles, positions: Points, rotations: Rotations
    ) -> tuple[Angles, Bool[np.ndarray, "rows"]]:
        """Damped least squares from the start angles; also which rows ended on their target."""
        angles = start.copy()
        solved = np.zeros(len(angles), bool)
        todo = np.arange(len(angles))
        for _ in range(_ITERATIONS):
            pose = self.forward(angles[todo])
            shift = positions[todo] - pose.position
            between = rotations[todo] @ pose.rotation.swapaxes(1, 2)
            turn = 0.5 * (between[:, _NEXT2, _NEXT] - between[:, _NEXT, _NEXT2])
            off = (np.abs(shift) > _POSITION_TOLERANCE).any(1)
            off |= (np.abs(turn) > _ANGLE_TOLERANCE).any(1)
            # Half a turn away this error vanishes too; the trace tells the two apart.
            off |= np.trace(between, axis1=1, axis2=2) < 0.0
            solved[todo[~off]] = True
            todo, shift, turn = todo[off], shift[off], turn[off]
            if not len(todo):
                break
            axes, arms = pose.axes[off], (pose.position[:, None] - pose.anchors)[off]
            transposed = np.concatenate([np.cross(axes, arms), axes], -1)
            jacobian = np.swapaxes(transposed, 1, 2)
            error = np.concatenate([shift, turn], -1)[..., None]
            step = transposed @ np.linalg.solve(jacobian @ transposed + _DAMPING * np.eye(6), error)
            angles[todo] += np.clip(step[..., 0], -_LARGEST_TURN, _LARGEST_TURN)
        return angles, solved & (angles >= self.low).all(1) & (angles <= self.high).all(1)

    def _solve_seeds(self) -> tuple[Points, Angles]:
        """Poses on a grid over the start region, all on the elbow-up branch, at angle 0."""
        side, height = np.linspace(-0.1, 0.1, 3), np.linspace(0.2, 0.4, 3)
        positions = np.stack(np.meshgrid(side, side, height, indexing="ij"), -1).reshape(-1, 3)
        start = np.tile(ELBOW_UP, (len(positions), 1))
        angles, solved = self.solve(start, positions, hand_down(np.zeros(len(positions))))
        return positions[solved], angles[solved]


def hand_down(turns: Float[np.ndarray, "rows"]) -> Rotations:
    """The tool's rotation with the hand pointing down, turned about the vertical."""
    cos, sin = np.cos(turns), np.sin(turns)
    about_vertical = np.zeros((len(turns), 3, 3))
    about_vertical[:, 0, 0], about_vertical[:, 0, 1] = cos, -sin
    about_vertical[:, 1, 0], about_vertical[:, 1, 1] = sin, cos
    about_vertical[:, 2, 2] = 1.0
    return about_vertical @ HAND_DOWN
