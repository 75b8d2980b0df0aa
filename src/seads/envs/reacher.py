"""The reacher: dm_control's planar two-link arm over the board, stepped in C for a whole batch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
from jaxtyping import Float, Float32, Int
from mujoco.batch import Batch

from seads.envs.cursor import PUSH_THRESHOLD
from seads.envs.interface import Rows
from seads.errors import SeadsError

BOARD_HALF_WIDTH = 0.15  # paper S.7.2: the board spans [-0.15, 0.15] in x and y
ACTION_REPEAT = 2  # paper S.7.2: 0.02 s of simulation, twice for each action

# Arrays rather than numbers: numpy converts a number anew in every operation.
_LOW, _HIGH, _THRESHOLD, _NOWHERE = (np.array(x) for x in (0.0, 1.0, PUSH_THRESHOLD, np.nan))
_BOARD_HALF_WIDTH, _BOARD_WIDTH = np.array(BOARD_HALF_WIDTH), np.array(2 * BOARD_HALF_WIDTH)
_ZERO, _VELOCITY_SCALE, _FULL_TURN = (np.array(x) for x in (0.0, 0.1, 2 * np.pi))


def load_model() -> mujoco.MjModel:
    """The suite's reacher as masses and joints; read as a file, for importing it needs OpenGL.

    Nothing in it can collide, so shapes, cameras and lights only cost time: a tenth, and the
    arms move the same, bit for bit.
    """
    package = importlib.util.find_spec("dm_control")
    if package is None or not package.submodule_search_locations:
        raise ImportError("the reacher needs dm_control, which brings its model")
    path = Path(package.submodule_search_locations[0]) / "suite" / "reacher.xml"
    spec = mujoco.MjSpec.from_file(str(path))
    shaped = spec.compile()
    for body in spec.bodies[1:]:  # all but the world
        compiled = shaped.body(body.name)
        body.explicitinertial = True
        body.mass, body.inertia = compiled.mass[0], compiled.inertia
        body.ipos, body.iquat = compiled.ipos, compiled.iquat
    for unused in (*spec.geoms, *spec.cameras, *spec.lights):
        spec.delete(unused)
    model = spec.compile()
    # One arm is one island: looking for others costs 6 % and changes no bit.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    return model


class Reacher:
    """A batch of two-link arms; the body's state is (shoulder, wrist) and their velocities.

    An action is two torques in [-1, 1] and a push. Above 0.6 the push touches the board
    under the finger where the arm has got to, if the finger is over the board at all:
    the board's x and y are (finger + 0.15) / 0.3. A move leaves the arm as it is.

    `observation="scaled"` shows the joints' cosines and sines and a tenth of their
    velocities; `"raw"` angles and velocities. By default all arms are stepped on the calling
    thread: a small batch costs hardly more than waking another.
    """

    name = "reacher"
    num_uniforms = 2
    action_low = (-1.0, -1.0, -1.0)
    action_high = (1.0, 1.0, 1.0)
    step_limit = 50

    def __init__(
        self,
        num_envs: int,
        observation: Literal["scaled", "raw"] = "scaled",
        threads: int = 1,
    ) -> None:
        if observation not in ("scaled", "raw"):
            raise SeadsError(f"unknown observation {observation!r}; choose from scaled, raw")
        if threads < 1:
            raise SeadsError(f"threads is {threads}; it must be at least 1")
        self.model = load_model()
        self._scaled = observation == "scaled"
        self.observation_size = 6 if self._scaled else 4
        self._upper_length, self._lower_length = (
            np.array(self.model.body(name).pos[0]) for name in ("hand", "finger")
        )
        self._batch = Batch(self.model, num_envs, threads)
        self._qpos, self._qvel = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._ctrl = self._batch.bind("ctrl")
        self._warm_start = self._batch.bind("qacc_warmstart")
        # The scaled observation, and its parts as views: cosines and sines, and velocities.
        self._seen = np.zeros((6, num_envs), np.float32)
        self._seen_directions = self._seen[:4].reshape(2, 2, num_envs)
        self._seen_velocities = self._seen[4:]

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Both joints uniform in [0, 2 pi) (paper S.7.2), so the wrist may start past its limit."""
        angles = _FULL_TURN * uniforms
        self._qpos[rows] = angles
        self._qvel[rows] = _ZERO
        self._seen_directions[..., rows] = _directions(angles.T.copy())
        self._seen_velocities[:, rows] = _ZERO

    def after_move(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Nothing: the arm keeps its pose and its swing (paper S.7.2)."""

    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        self._ctrl[rows] = actions[:, :2]
        self._warm_start[rows] = _ZERO  # an action does not see the solutions before it
        self._batch.step(None if isinstance(rows, slice) else np.sort(rows), ACTION_REPEAT)
        # Copies with a joint in each row: numpy is slow along many short rows.
        velocities = self._qvel[rows].T.copy()
        angles = np.empty((3, len(actions)))  # of the shoulder, the wrist, and the finger
        angles[:2] = self._qpos[rows].T
        np.add(angles[0], angles[1], angles[2])
        directions = _directions(angles)
        self._seen_directions[..., rows] = directions[:, :2]
        self._seen_velocities[:, rows] = velocities * _VELOCITY_SCALE
        # The finger's (x, y): the two links, each turned by the joints up to it.
        point = directions[:, 0] * self._upper_length
        point += directions[:, 2] * self._lower_length
        point += _BOARD_HALF_WIDTH
        point /= _BOARD_WIDTH
        inside = (point >= _LOW) & (point <= _HIGH)
        touching = actions[:, 2] > _THRESHOLD
        touching &= inside[0]
        touching &= inside[1]
        return np.where(touching, point, _NOWHERE).T

    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        if self._scaled:
            return self._seen[:, rows].T.copy()
        return np.concatenate([self._qpos[rows], self._qvel[rows]], axis=1, dtype=np.float32)

    def pose(self, row: int) -> Any:
        """The joint angles (shoulder, wrist), for `model`."""
        return self._qpos[row].copy()

    def close(self) -> None:
        """Free the threads."""
        del self._batch


def _directions(angles: Float[np.ndarray, "angles picked"]) -> Float[np.ndarray, "2 angles picked"]:
    """Cosines and sines, of a contiguous array.

    For a strided one numpy may take another, differently rounded path, and a row must not
    depend on the size of the batch.
    """
    directions = np.empty((2, *angles.shape))
    np.cos(angles, directions[0])
    np.sin(angles, directions[1])
    return directions
