"""A film of a rollout: an environment that takes a picture of its first row at every step."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Float32

from seads.envs.embedding import EmbeddedEnv
from seads.envs.interface import BatchedEnv, EnvSpec, Step
from seads.errors import SeadsError

FRAMES_PER_SECOND = 12
WIDTH, HEIGHT = 640, 480
PAUSE_FRAMES = 4
"""How long a board stands still after a skill, so that one can see what it did."""


class Film:
    """A `BatchedEnv` that passes everything on and writes what row 0 does to an mp4 file.

    Use it as a context: the file is complete when it is left. The environment stays open.
    """

    def __init__(self, env: BatchedEnv, path: Path, width: int = WIDTH, height: int = HEIGHT):
        self._env, self._path = env, path
        self.spec: EnvSpec = env.spec
        self.num_envs: int = env.num_envs
        self._size = (width, height)
        self._renderer: Any = None
        self._writer: Any = None
        self.frames = 0

    def __enter__(self) -> Film:
        import imageio.v2 as imageio
        from imageio_ffmpeg import get_ffmpeg_exe  # type: ignore[import-untyped]

        from seads.envs.render import Renderer

        try:
            get_ffmpeg_exe()
        except RuntimeError:
            raise SeadsError(
                "there is no ffmpeg to write the video with; apt-get install ffmpeg"
            ) from None
        self._renderer = Renderer(cast(EmbeddedEnv, self._env), *self._size)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = imageio.get_writer(
            self._path, format="FFMPEG", fps=FRAMES_PER_SECOND, macro_block_size=8
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.frames and kind is None:
            self._shoot(PAUSE_FRAMES)
        self._writer.close()
        self._renderer.close()
        if kind is not None:
            self._path.unlink(missing_ok=True)

    @property
    def symbols(self) -> Bool[np.ndarray, "rows bits"]:
        return self._env.symbols

    def reset(
        self,
        seeds: np.ndarray,
        rows: np.ndarray | None = None,
        symbols: np.ndarray | None = None,
    ) -> Float32[np.ndarray, "rows obs"]:
        """Reset, and show the start for a moment."""
        observations = self._env.reset(seeds, rows, symbols)
        self._shoot(PAUSE_FRAMES)
        return observations

    def resume(self, rows: np.ndarray | None = None) -> Float32[np.ndarray, "rows obs"]:
        """Resume, and show for a moment where the next skill starts."""
        observations = self._env.resume(rows)
        self._shoot(PAUSE_FRAMES)
        return observations

    def step(self, actions: np.ndarray, active: np.ndarray | None = None) -> Step:
        """Step, and take a picture."""
        step = self._env.step(actions, active)
        self._shoot()
        return step

    def close(self) -> None:
        """Close the environment; the film is finished by leaving the context."""
        self._env.close()

    def _shoot(self, count: int = 1) -> None:
        frame = self._renderer.frame(0)
        with warnings.catch_warnings():
            # the first frame starts ffmpeg: JAX warns of the fork, but another program follows it
            warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)
            for _ in range(count):
                self._writer.append_data(frame)
        self.frames += count
