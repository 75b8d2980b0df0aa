"""Pictures of any environment of the table: a view per manipulator, the board in all of them."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
from jaxtyping import UInt8

from seads.envs.embedding import EmbeddedEnv
from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError, unknown


class View(Protocol):
    """How one kind of body is drawn over its board."""

    def frame(
        self, board: UInt8[np.ndarray, "fields"], pose: Any, touching: bool
    ) -> UInt8[np.ndarray, "height width 3"]: ...

    def close(self) -> None: ...


VIEWS = {
    "cursor": "seads.envs.render_flat:FlatView",
    "reacher": "seads.envs.render_flat:FlatView",
    "jaco": "seads.envs.render_jaco:JacoView",
}
"""The view of each manipulator, called as `View(env, width, height)`."""


class Renderer:
    """Draws rows of an environment as they are now; close it to free OpenGL's memory.

    Cursor and reacher are drawn in two dimensions; the Jaco arm needs OpenGL, but no
    screen (see `seads.envs.render_gl`).
    """

    def __init__(self, env: BatchedEnv, width: int = 640, height: int = 480) -> None:
        if not isinstance(env, EmbeddedEnv):
            raise SeadsError(
                f"cannot draw a {type(env).__name__}; pictures are made of the table's environments"
            )
        if width < 16 or height < 16:
            raise SeadsError(f"a picture of {width}x{height} pixels; choose at least 16x16")
        body = env.manipulator.name
        if body not in VIEWS:
            raise unknown("manipulator to draw", body, VIEWS)
        module, _, view = VIEWS[body].partition(":")
        self._env = env
        self._view: View | None = getattr(importlib.import_module(module), view)(env, width, height)

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
