"""Pictures of any environment of the table: the manipulator's view of itself over the board."""

from __future__ import annotations

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

    def frame(self, row: int = 0) -> UInt8[np.ndarray, "height width 3"]:
        """The picture of a row; the array is the caller's own."""
        if self._view is None:
            raise SeadsError("the renderer is closed; make a new one")
        if not 0 <= row < self._env.num_envs:
            raise SeadsError(f"row {row} is not there; choose from 0 to {self._env.num_envs - 1}")
        touching = bool(np.isfinite(self._env.touch[row]).all())
        return self._view.frame(self._env.boards[row], self._env.manipulator.pose(row), touching)

    def close(self) -> None:
        """Free what the drawing holds; closing again does nothing."""
        if self._view is not None:
            self._view.close()
            self._view = None
