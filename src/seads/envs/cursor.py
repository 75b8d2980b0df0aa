"""The cursor: a point on the board that moves by small displacements and can push."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Float, Float32, Int

from seads.envs.interface import Rows
from seads.envs.manipulator import Manipulator
from seads.errors import check_choice
from seads.games.game import Game

PUSH_THRESHOLD = 0.6


class Cursor(Manipulator):
    """A batch of points in the unit square; the body's state is (x, y).

    An action is (dx, dy, push). The displacement comes first, the position is clipped to
    the board, and a push above 0.6 touches the board where the cursor then is. A move
    leaves the cursor where it is.

    `observation="scaled"` shows (x, y) mapped to [-1, 1], `"raw"` as they are.
    """

    name = "cursor"
    num_uniforms = 2
    observation_size = 2
    action_low = (-0.2, -0.2, -1.0)
    action_high = (0.2, 0.2, 1.0)
    step_limit = 10

    def __init__(
        self, num_envs: int, game: Game, observation: Literal["scaled", "raw"] = "scaled"
    ) -> None:
        super().__init__(num_envs, game)
        check_choice("observation", observation, ("scaled", "raw"))
        self._scaled = observation == "scaled"
        self._position = np.zeros((num_envs, 2))

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        self._position[rows] = uniforms

    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        position = self._position[rows] + actions[:, :2]
        # np.clip costs several times as much as these two on a small batch.
        position = np.minimum(np.maximum(position, 0.0), 1.0)
        self._position[rows] = position
        return np.where(actions[:, 2:] > PUSH_THRESHOLD, position, np.nan)

    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        position = self._position[rows].astype(np.float32)
        return 2 * position - 1 if self._scaled else position

    def pose(self, row: int) -> Float[np.ndarray, "2"]:
        """The cursor's (x, y) on the board."""
        return self._position[row].copy()
