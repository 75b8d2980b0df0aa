"""The directories of a run's checkpoints, each named for its environment steps."""

from __future__ import annotations

from pathlib import Path

_STEP = "step_"


def checkpoint_at(home: Path, env_steps: int) -> Path:
    """Where the checkpoint of so many steps is, or would be."""
    return home / f"{_STEP}{env_steps:09d}"


def checkpoints(home: Path) -> list[Path]:
    """Those that are there, oldest first; what else lies there is left alone."""
    found = [path for path in home.glob(f"{_STEP}*") if _digits(path).isdecimal()]
    return sorted(found, key=steps_of)


def steps_of(checkpoint: Path) -> int:
    """The environment steps of a checkpoint."""
    return int(_digits(checkpoint))


def _digits(path: Path) -> str:
    return path.name.removeprefix(_STEP)
