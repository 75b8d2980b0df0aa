"""Pictures of any environment of the table: the manipulator's view of itself over the board."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import UInt8

from seads.envs.embedding import EmbeddedEnv
from seads.envs.interface import BatchedEnv
from seads.envs.manipulator import View
from seads.errors import SeadsError


class Renderer:
    """Draws rows of an environment as they are now; close it to free OpenGL's memory.

    Most manipulators are drawn in two dimensions; the Jaco arm needs OpenGL, but no
    screen (see `seads.envs.render_gl`).
    """

    def __init__(self, env: BatchedEnv, width: int = 640, height: int = 480) -> None:
        if not isinstance(env, EmbeddedEnv):
            raise SeadsError(
                f"cannot draw {env.spec.name}: pictures are made of those that 'seads envs' lists"
            )
        if width < 16 or height < 16:
            raise SeadsError(f"a picture of {width}x{height} pixels; choose at least 16x16")
        self._env = env
        self._view: View | None = env.manipulator.view(width, height)
        self._last: dict[int, tuple[UInt8[np.ndarray, "fields"], Any]] = {}
        """Board and pose of each row when it was last drawn."""

    def frame(self, row: int = 0) -> UInt8[np.ndarray, "height width 3"]:
        """The picture of a row; the array is the caller's own."""
        view = self._open_view(row)
        board, pose = self._env.boards[row], self._env.manipulator.pose(row)
        self._last[row] = board.copy(), pose
        return view.frame(board, pose, self._touching(row))

    def step_frames(self, row: int = 0) -> list[UInt8[np.ndarray, "height width 3"]]:
        """Pictures of the step that a row has just made, from where it was last drawn."""
        arm = self._env.manipulator
        if arm.pictures_per_step == 1 or row not in self._last:
            return [self.frame(row)]
        view, touching = self._open_view(row), self._touching(row)
        before, start = self._last[row]
        board, end = self._env.boards[row].copy(), arm.pose(row)
        way = arm.way(start, end, arm.pictures_per_step, touching)
        touch = len(way) - 1 - (arm.poses_after_touch if touching else 0)
        self._last[row] = board, end
        return [
            view.frame(board if number >= touch else before, pose, touching and number == touch)
            for number, pose in enumerate(way)
        ]

    def _touching(self, row: int) -> bool:
        return bool(np.isfinite(self._env.touch[row]).all())

    def _open_view(self, row: int) -> View:
        if self._view is None:
            raise SeadsError("the renderer is closed; make a new one")
        if not 0 <= row < self._env.num_envs:
            raise SeadsError(f"row {row} is not there; choose from 0 to {self._env.num_envs - 1}")
        return self._view

    def close(self) -> None:
        """Free what the drawing holds; closing again does nothing."""
        if self._view is not None:
            self._view.close()
            self._view = None
