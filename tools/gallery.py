"""Pictures and short clips of the packaged agents at work, small enough to be committed.

`python tools/gallery.py DIR` (or `make gallery`) writes ENV.webp, which moves, for every agent
that comes with the package; `python tools/gallery.py DIR RUN... --still` for these runs, and
ENV.png beside it, which does not.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seads.agent.card import packaged
from seads.envs.render import Renderer
from seads.errors import SeadsError
from seads.show.play.session import PlaySession, Status
from seads.solving import load

WIDTH, HEIGHT = 400, 300
PAUSE_SECONDS = 1.0
TRIES = 10
"""Boards tried until one is solved without a miss: a clip shows what usually happens."""


def record(session: PlaySession, depth: int) -> list[np.ndarray]:
    """Frames of a board of this depth being solved, the first and last held for a moment."""
    renderer = Renderer(session.env, WIDTH, HEIGHT)
    try:
        for _ in range(TRIES):
            session.draw(depth)
            hold = round(PAUSE_SECONDS * session.env.manipulator.clip_frames_per_second)
            frames = [renderer.frame()] * hold
            session.solve()
            while session.busy:
                steps = session.env_steps
                session.tick()
                if session.env_steps > steps:  # and not a decision alone
                    frames += renderer.step_frames()
            if session.status is Status.SOLVED and session.skills_run == depth:
                return frames + [frames[-1]] * hold
    finally:
        renderer.close()
    raise SeadsError(f"no board of depth {depth} was solved without a miss in {TRIES} tries")


def write_clip(frames: Sequence[np.ndarray], path: Path, frames_per_second: int) -> None:
    """An animated WebP that plays for ever."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    first, *rest = [Image.fromarray(frame) for frame in frames]
    first.save(
        path,
        save_all=True,
        append_images=rest,
        duration=round(1000 / frames_per_second),
        loop=0,
        quality=55,
        method=4,
    )


def write_gallery(
    directory: Path, runs: Sequence[str], depth: int = 3, still: bool = False
) -> list[Path]:
    """A clip of each run or packaged agent; and the picture in its middle, if wanted."""
    from PIL import Image

    written = []
    for name in runs:
        session = PlaySession(load(name))
        try:
            frames = record(session, depth)
            files = [directory / f"{session.agent.env}.webp"]
            write_clip(frames, files[0], session.env.manipulator.clip_frames_per_second)
            if still:
                files.append(files[0].with_suffix(".png"))
                Image.fromarray(frames[len(frames) // 2]).save(files[1])
        finally:
            session.close()
        for path in files:
            print(f"{path}: {path.stat().st_size // 1024} kB", flush=True)
        written += files
    return written


def main() -> None:
    """`python tools/gallery.py DIR [RUN...]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("runs", nargs="*", help="run directories; the packaged agents by default")
    parser.add_argument("--still", action="store_true", help="a picture beside each clip")
    parser.add_argument("--depth", type=int, default=3, help="moves that the boards need")
    options = parser.parse_args()
    try:
        runs = options.runs or packaged()
        written = write_gallery(options.directory, runs, options.depth, options.still)
    except SeadsError as error:  # what a user can mend needs no traceback
        raise SystemExit(f"gallery: {error}") from None
    if not written:
        print("no trained agents come with this installation; nothing was drawn")


if __name__ == "__main__":
    main()
