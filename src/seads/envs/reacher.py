"""The reacher: dm_control's planar two-link arm over the board, stepped in C for a whole batch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
from jaxtyping import Float, Float32, Int
from mujoco.batch import Batch

from seads.envs.checks import check_count
from seads.envs.cursor import PUSH_THRESHOLD
from seads.envs.interface import Rows
from seads.envs.manipulator import Manipulator, Point
from seads.errors import check_choice
from seads.games.game import Game

BOARD_HALF_WIDTH = 0.15  # paper S.7.2: the board spans [-0.15, 0.15] in x and y
ACTION_REPEAT = 2  # paper S.7.2: 0.02 s of simulation, twice for each action
_VELOCITY_SCALE = 0.1


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


class Reacher(Manipulator):
    """A batch of two-link arms; the body's state is (shoulder, wrist) and their velocities.

    An action is two torques in [-1, 1] and a push. Above 0.6 the push touches the board
    under the finger where the arm has got to, if the finger is over the board at all:
    the board's x and y are (finger + 0.15) / 0.3. A move leaves the arm
    its pose and its swing (paper S.7.2).

    `observation="scaled"` shows the joints' cosines and sines and a tenth of their
    velocities; `"raw"` angles and velocities. By default all arms are stepped on the calling
    thread: a small batch costs hardly more than waking another.
    """

    name = "reacher"
    num_uniforms = 2
    action_low = (-1.0, -1.0, -1.0)
    action_high = (1.0, 1.0, 1.0)
    step_limit = 50

    board_share = 0.58
    steps_per_second, frames_per_step = 25.0, 1
    clip_frames_per_second = 20
    camera = (0.0, -0.4, 0.62)

    def __init__(
        self,
        num_envs: int,
        game: Game,
        observation: Literal["scaled", "raw"] = "scaled",
        threads: int = 1,
    ) -> None:
        super().__init__(num_envs, game)
        check_choice("observation", observation, ("scaled", "raw"))
        check_count("threads", threads, most=256)
        self.model = load_model()
        self._scaled = observation == "scaled"
        self.observation_size = 6 if self._scaled else 4
        self._lengths = [float(self.model.body(name).pos[0]) for name in ("hand", "finger")]
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
        angles = 2 * np.pi * uniforms
        self._qpos[rows], self._qvel[rows] = angles, 0.0
        self._seen_directions[..., rows] = cosines_and_sines(angles.T.copy())
        self._seen_velocities[:, rows] = 0.0

    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        self._ctrl[rows] = actions[:, :2]
        self._warm_start[rows] = 0.0  # an action does not see the solutions before it
        self._batch.step(None if isinstance(rows, slice) else np.sort(rows), ACTION_REPEAT)
        angles = np.empty((3, len(actions)))  # of the shoulder, the wrist and, by both, the finger
        angles[:2] = self._qpos[rows].T
        np.add(angles[0], angles[1], angles[2])
        directions = cosines_and_sines(angles)
        self._seen_directions[..., rows] = directions[:, :2]
        self._seen_velocities[:, rows] = self._qvel[rows].T * _VELOCITY_SCALE
        upper, lower = self._lengths
        point = directions[:, 0] * upper + directions[:, 2] * lower
        point = (point + BOARD_HALF_WIDTH) / (2 * BOARD_HALF_WIDTH)
        inside = (point >= 0.0) & (point <= 1.0)
        touching = (actions[:, 2] > PUSH_THRESHOLD) & inside[0] & inside[1]
        return np.where(touching, point, np.nan).T

    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        if self._scaled:
            return self._seen[:, rows].T.copy()
        return np.concatenate([self._qpos[rows], self._qvel[rows]], axis=1, dtype=np.float32)

    def pose(self, row: int) -> Any:
        """The joint angles (shoulder, wrist), for `model`."""
        return self._qpos[row].copy()

    def joints(self, pose: Float[np.ndarray, "2"]) -> list[Point]:
        """Shoulder, wrist and finger; the board's y points down, so the arm is seen from below."""
        directions = np.cumsum(pose)
        links = np.stack([np.cos(directions), np.sin(directions)], axis=1)
        ends = np.cumsum(links * np.array(self._lengths)[:, None], axis=0)
        points = np.concatenate([np.zeros((1, 2)), ends]) / BOARD_HALF_WIDTH
        return [(float(x), float(y)) for x, y in (points + 1) / 2]

    def close(self) -> None:
        """Free the threads."""
        del self._batch


def cosines_and_sines(
    angles: Float[np.ndarray, "angles picked"],
) -> Float[np.ndarray, "2 angles picked"]:
    """Of a contiguous array, an angle in each row: many short rows are slow.

    For a strided one numpy may take another, differently rounded path, and a row must not
    depend on the size of the batch.
    """
    both = np.empty((2, *angles.shape))
    np.cos(angles, both[0])
    np.sin(angles, both[1])
    return both
