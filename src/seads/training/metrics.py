"""Metric lines: JSON first, TensorBoard (and wandb, if asked) as mirrors of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.reading import Count, Name, as_kind, raw_lines, read_lines


class _Line(Struct):
    """What every line of metrics or timing has; the rest of it are numbers with names."""

    epoch: Count


class MetricLine(_Line):
    """A line of metrics.jsonl."""

    env_steps: Count


class TimingLine(_Line):
    """A line of timing.jsonl."""

    seconds: Annotated[float, Meta(ge=0.0, le=1e12)]
    """Of training so far; after a resume the clock goes on where the last line left it."""


class MetricLog:
    """Appends to metrics.jsonl; resuming drops the lines that the checkpoint has not seen.

    A line holds only what the seed decides, so that a resumed run repeats it exactly;
    wall-clock times go to timing.jsonl.
    """

    def __init__(self, directory: Path, last_epoch: int, env_steps: int, wandb_run: Any = None):
        from tensorboardX import SummaryWriter

        self._paths = [directory / "metrics.jsonl", directory / "timing.jsonl"]
        for path in self._paths:
            keep_until(path, last_epoch)
        before = read_counted(self._paths[1], TimingLine)[0]
        self._seconds_before = before[-1]["seconds"] if before else 0.0
        self._files = [path.open("a", buffering=1, encoding="utf-8") for path in self._paths]
        self._board = SummaryWriter(str(directory / "tensorboard"), purge_step=env_steps + 1)
        self._wandb = wandb_run

    def write(self, metrics: dict[str, Any], timing: dict[str, Any]) -> None:
        """One line to each file; `epoch` and `env_steps` must be among the metrics.

        `seconds`, of the timing, count from the start or the resume.
        """
        epoch = metrics["epoch"]
        timing = {**timing, "seconds": self._seconds_before + timing["seconds"]}
        for file, values in zip(self._files, (metrics, {"epoch": epoch, **timing}), strict=True):
            file.write(json.dumps(values) + "\n")
        for name, value in {**metrics, **timing}.items():
            if isinstance(value, int | float):
                self._board.add_scalar(name, value, metrics["env_steps"])
        if self._wandb is not None:
            self._wandb.log({**metrics, **timing}, step=metrics["env_steps"])

    def close(self) -> None:
        """Flush everything."""
        for file in self._files:
            file.close()
        self._board.close()
        if self._wandb is not None:
            self._wandb.finish()


def keep_until(path: Path, last_epoch: int) -> None:
    """Drop the lines after an epoch, and those that are damaged."""
    if not path.exists():
        return
    kept = []
    for line in raw_lines(path):
        try:
            epoch = as_kind(line, _Line, "").epoch
        except SeadsError:
            continue
        if epoch > last_epoch:
            break
        kept.append(line.decode() + "\n")
    write_text_aside(path, "".join(kept))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics or timing file; a damaged one costs itself alone."""
    return read_counted(path, _Line)[0]


def read_counted(path: Path, *kinds: Any) -> tuple[list[dict[str, Any]], int]:
    """The lines that are of every kind, and how many others there are."""
    return read_lines(path, dict[Name, int | float], *kinds)
