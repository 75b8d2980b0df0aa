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

BOARD_HALF_WIDTH = 0.15  # paper S.7.2: the board spans [-0.15, 0.15] in x and y
ACTION_REPEAT = 2  # paper S.7.2: 0.02 s of simulation, twice for each action
_TIME = 1  # the physics state is (time, two joint angles, two joint velocities)


def load_model() -> mujoco.MjModel:
    """The suite's reacher, without its target; read as a file because importing it needs OpenGL."""
    package = importlib.util.find_spec("dm_control")
    if package is None or not package.submodule_search_locations:
        raise ImportError("the reacher needs dm_control, which brings its model")
    path = Path(package.submodule_search_locations[0]) / "suite" / "reacher.xml"
    spec = mujoco.MjSpec.from_file(str(path))
    spec.delete(spec.geom("target"))
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
            raise ValueError(f"unknown observation {observation!r}; choose from scaled, raw")
        if threads < 0:
            raise ValueError(f"threads is {threads}; it must be 0 or more")
        self.model = load_model()
        self._scaled = observation == "scaled"
        self.observation_size = 6 if self._scaled else 4
        self._upper_arm = float(self.model.body("hand").pos[0])
        self._forearm = float(self.model.body("finger").pos[0])
        self._state = np.zeros((num_envs, 5))
        self._rollout = Rollout(nthread=threads)
        self._scratch = [mujoco.MjData(self.model) for _ in range(max(threads, 1))]

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Both joints uniform in [0, 2 pi) (paper S.7.2), so the wrist may start past its limit."""
        self._state[rows] = 0.0
        self._state[rows, _TIME : _TIME + 2] = 2 * np.pi * uniforms

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
        point = (self._finger(state[:, 1], state[:, 2]) + BOARD_HALF_WIDTH) / (2 * BOARD_HALF_WIDTH)
        touching = (
            (actions[:, 2] > PUSH_THRESHOLD)
            & (point >= 0.0).all(axis=1)
            & (point <= 1.0).all(axis=1)
        )
        return np.where(touching[:, None], point, np.nan)

    def _finger(
        self, shoulder: Float[np.ndarray, "picked"], wrist: Float[np.ndarray, "picked"]
    ) -> Float[np.ndarray, "picked 2"]:
        # Fresh contiguous arrays: numpy may take another, differently rounded path for strided
        # ones, and a row's numbers must not depend on the size of the batch.
        first = shoulder.copy()
        both = shoulder + wrist
        x = self._upper_arm * np.cos(first) + self._forearm * np.cos(both)
        y = self._upper_arm * np.sin(first) + self._forearm * np.sin(both)
        return np.stack([x, y], axis=1)

    def observe(self, rows: Int[np.ndarray, "picked"]) -> Float32[np.ndarray, "picked obs"]:
        state = self._state[rows]
        if not self._scaled:
            return state[:, _TIME:].astype(np.float32)
        angles = state[:, 1:3].copy()
        return np.concatenate(
            [np.cos(angles), np.sin(angles), 0.1 * state[:, 3:5]], axis=1, dtype=np.float32
        )

    def pose(self, row: int) -> Any:
        """The joint angles (shoulder, wrist), for `model`."""
        return self._state[row, 1:3].copy()

    def close(self) -> None:
        self._rollout.close()
