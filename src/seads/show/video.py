"""A film of a rollout: a picture of the environment's first row at every step."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError

FRAMES_PER_SECOND = 12
WIDTH, HEIGHT = 640, 480
PAUSE_FRAMES = 4
"""How long a board stands still before a skill, so that one can see what the last one did."""


class Film:
    """Looks on while boards are solved, and writes what row 0 does to an mp4 file.

    Use it as a context: the file is there, and complete, when it is left. One that was there before
    stays if something goes wrong.
    """

    def __init__(self, env: BatchedEnv, path: Path, width: int = WIDTH, height: int = HEIGHT):
        self._env, self._path = env, path
        self._aside = path.with_name(f".{path.stem}.part{path.suffix}")
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
        self._renderer = Renderer(self._env, *self._size)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = not self._path.exists()
        self._path.open("ab").close()  # where it cannot be written, that is said now
        if new:
            self._path.unlink()
        self._writer = imageio.get_writer(
            self._aside, format="FFMPEG", fps=FRAMES_PER_SECOND, macro_block_size=8
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._shoot(PAUSE_FRAMES)
        self._writer.close()
        self._renderer.close()
        if kind is None:
            self._aside.replace(self._path)
        else:
            self._aside.unlink(missing_ok=True)

    def skills_begin(self) -> None:
        """Show for a moment where the next skill starts."""
        self._shoot(PAUSE_FRAMES)

    def stepped(self) -> None:
        """Take a picture, or several of a long way."""
        self._add(self._renderer.step_frames(0))

    def _shoot(self, count: int) -> None:
        self._add([self._renderer.frame(0)] * count)

    def _add(self, frames: list[Any]) -> None:
        with warnings.catch_warnings():
            # the first frame starts ffmpeg: JAX warns of the fork, but another program follows it
            warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)
            for frame in frames:
                self._writer.append_data(frame)
        self.frames += len(frames)
