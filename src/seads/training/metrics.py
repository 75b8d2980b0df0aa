"""Metric lines: JSON first, TensorBoard (and wandb, if asked) as mirrors of it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from seads.files import write_text_aside


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
        self._files = [path.open("a", buffering=1) for path in self._paths]
        self._board = SummaryWriter(str(directory / "tensorboard"), purge_step=env_steps + 1)
        self._wandb = wandb_run

    def write(self, metrics: dict[str, Any], timing: dict[str, Any]) -> None:
        """One line to each file; `epoch` and `env_steps` must be among the metrics."""
        epoch = metrics["epoch"]
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
    """Drop the lines after an epoch, and a half-written last line."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text().splitlines():
        try:
            if json.loads(line)["epoch"] > last_epoch:
                break
        except (json.JSONDecodeError, KeyError, TypeError):
            break
        kept.append(line + "\n")
    write_text_aside(path, "".join(kept))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics file; a damaged one costs itself alone."""
    lines = []
    for line in path.read_text(errors="replace").splitlines():
        with suppress(json.JSONDecodeError):
            lines.append(json.loads(line))
    return lines
