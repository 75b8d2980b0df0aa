"""The cursor: a point on the board that moves by small displacements and can push."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Float, Float32, Int

from seads.envs.interface import Rows
from seads.errors import SeadsError

PUSH_THRESHOLD = 0.6

# Arrays rather than numbers: numpy converts a number anew in every operation.
_LOW, _HIGH, _THRESHOLD, _NOWHERE = (np.array(x) for x in (0.0, 1.0, PUSH_THRESHOLD, np.nan))
_ONE, _TWO = np.array(1, np.float32), np.array(2, np.float32)


class Cursor:
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

    def __init__(self, num_envs: int, observation: Literal["scaled", "raw"] = "scaled") -> None:
        if observation not in ("scaled", "raw"):
            raise SeadsError(f"unknown observation {observation!r}; choose from scaled, raw")
        self._scaled = observation == "scaled"
        self._position = np.zeros((num_envs, 2))

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        self._position[rows] = uniforms

    def after_move(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Nothing: the cursor stays where it pushed."""

    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        position = self._position[rows] + actions[:, :2]
        # np.clip costs several times as much as these two on a small batch.
        position = np.minimum(np.maximum(position, _LOW), _HIGH)
        self._position[rows] = position
        return np.where(actions[:, 2:] > _THRESHOLD, position, _NOWHERE)

    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        position = self._position[rows].astype(np.float32)
        if self._scaled:
            position *= _TWO
            position -= _ONE
        return position

    def pose(self, row: int) -> Float[np.ndarray, "2"]:
        """The cursor's (x, y) on the board."""
        return self._position[row].copy()

    def close(self) -> None:
        """A cursor holds nothing."""
