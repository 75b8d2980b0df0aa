"""The reacher: dm_control's planar two-link arm over the board, stepped in C for a whole batch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
from jaxtyping import Float, Float32, Int
from mujoco.rollout import Rollout

from seads.envs.cursor import PUSH_THRESHOLD
from seads.errors import SeadsError

BOARD_HALF_WIDTH = 0.15  # paper S.7.2: the board spans [-0.15, 0.15] in x and y
ACTION_REPEAT = 2  # paper S.7.2: 0.02 s of simulation, twice for each action
_TIME = 1  # the physics state is (time, two joint angles, two joint velocities)

# Arrays rather than numbers: numpy converts a number anew in every operation.
_LOW, _HIGH, _THRESHOLD = np.array(0.0), np.array(1.0), np.array(PUSH_THRESHOLD)
_BOARD_HALF_WIDTH, _BOARD_WIDTH = np.array(BOARD_HALF_WIDTH), np.array(2 * BOARD_HALF_WIDTH)
_VELOCITY_SCALE = np.array(0.1)


def load_model() -> mujoco.MjModel:
    """The suite's reacher alone; read as a file because importing it needs OpenGL."""
    package = importlib.util.find_spec("dm_control")
    if package is None or not package.submodule_search_locations:
        raise ImportError("the reacher needs dm_control, which brings its model")
    path = Path(package.submodule_search_locations[0]) / "suite" / "reacher.xml"
    spec = mujoco.MjSpec.from_file(str(path))
    # The target, the floor and the walls only cost time: nothing can touch them.
    for geom in spec.worldbody.geoms:
        spec.delete(geom)
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
    velocities; `"raw"` angles and velocities. `threads=0` steps on the calling thread,
    which is the fastest here: an arm costs less than handing it to another thread.
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
        threads: int = 0,
    ) -> None:
        if observation not in ("scaled", "raw"):
            raise SeadsError(f"unknown observation {observation!r}; choose from scaled, raw")
        if threads < 0:
            raise SeadsError(f"threads is {threads}; it must be 0 or more")
        self.model = load_model()
        self._scaled = observation == "scaled"
        self.observation_size = 6 if self._scaled else 4
        self._lengths = np.array([self.model.body(name).pos[0] for name in ("hand", "finger")])
        self._state = np.zeros((num_envs, 5))
        self._rollout = Rollout(nthread=threads)
        self._scratch = [mujoco.MjData(self.model) for _ in range(max(threads, 1))]

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Both joints uniform in [0, 2 pi) (paper S.7.2), so the wrist may start past its limit."""
        start = np.zeros((len(rows), 5))
        start[:, _TIME : _TIME + 2] = 2 * np.pi * uniforms
        self._state[rows] = start

    def after_move(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Nothing: the arm keeps its pose and its swing (paper S.7.2)."""

    def step(
        self, rows: Int[np.ndarray, "picked"], actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        count = len(rows)
        if count == 0:
            return np.zeros((0, 2))
        states = np.empty((count, ACTION_REPEAT, 5))
        torques = np.empty((count, ACTION_REPEAT, 2))
        torques[:] = actions[:, None, :2]
        # No warmstart is passed, so the solver starts every row from zero: what the scratch
        # data computed before, for this row or another, cannot be seen.
        self._rollout.rollout(
            [self.model] * count,
            self._scratch,
            self._state[rows],
            torques,
            nstep=ACTION_REPEAT,
            state=states,
            skip_checks=True,
        )
        state = states[:, -1]
        self._state[rows] = state
        touched = np.empty((count, 2))
        touched.fill(np.nan)
        pushing = (actions[:, 2] > _THRESHOLD).nonzero()[0]
        point = self._finger(state[:, 1:3].take(pushing, axis=0))
        point += _BOARD_HALF_WIDTH
        point /= _BOARD_WIDTH
        inside = (point >= _LOW) & (point <= _HIGH)
        on_board = inside[:, 0] & inside[:, 1]
        touched[pushing[on_board]] = point[on_board]
        return touched

    def _finger(self, angles: Float[np.ndarray, "picked 2"]) -> Float[np.ndarray, "picked 2"]:
        """The finger's (x, y): the two links, each turned by the joints up to it."""
        # Sines and cosines of fresh contiguous arrays: numpy may take another, differently
        # rounded path for strided ones, and a row must not depend on the size of the batch.
        turned = np.add.accumulate(angles, axis=1)
        links = np.empty((2, *angles.shape))
        np.cos(turned, out=links[0])
        np.sin(turned, out=links[1])
        links *= self._lengths
        return (links[..., 0] + links[..., 1]).T

    def observe(self, rows: Int[np.ndarray, "picked"]) -> Float32[np.ndarray, "picked obs"]:
        state = self._state.take(rows, axis=0)
        if not self._scaled:
            return state[:, _TIME:].astype(np.float32)
        angles = state[:, 1:3].copy()
        seen = np.empty((len(rows), 6), np.float32)
        seen[:, 0:2] = np.cos(angles)
        seen[:, 2:4] = np.sin(angles)
        seen[:, 4:6] = _VELOCITY_SCALE * state[:, 3:5]
        return seen

    def pose(self, row: int) -> Any:
        """The joint angles (shoulder, wrist), for `model`."""
        return self._state[row, 1:3].copy()

    def close(self) -> None:
        self._rollout.close()
