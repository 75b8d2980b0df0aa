"""How a training run shows itself: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from seads.envs.own import is_own
from seads.training.config import TrainConfig

LINE_EVERY = 30.0
"""Seconds between lines where there is no terminal."""


class TrainingProgress:
    """Receives the events of `seads.training.runner` and prints them to stderr."""

    def __init__(self, config: TrainConfig):
        self._config = config
        self._last: dict[str, Any] = {}
        self._next_line = 0.0
        self._epochs: tuple[int, float] | None = None
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> TrainingProgress:
        if is_own(self._config.env):  # nobody knows how long that takes
            print(f"training on {self._config.env}: building its rows", file=sys.stderr, flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: str, facts: dict[str, Any]) -> None:
        """Take one event; epochs are shown at a bearable rate, everything else at once."""
        if event == "begin":
            self._begin()
        elif event == "epoch":
            self._last |= facts
            if self._bar is not None:
                self._bar.update(self._task, completed=facts["env_steps"], text=self._text())
            elif time.monotonic() >= self._next_line:
                self._next_line = time.monotonic() + LINE_EVERY
                self._print(self._text(with_steps=True))
        elif event == "warning":
            self._print(f"warning: {facts['message']}")
        elif event == "end":
            self._print(f"{facts['status']} after {facts['env_steps']:,} env steps: {facts['out']}")

    def _begin(self) -> None:
        """The environments are there."""
        if not sys.stderr.isatty():
            self._print(f"training on {self._config.env}: compiling")
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} steps"),
            TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.start()
        self._task = self._bar.add_task(
            self._config.env, total=self._config.env_steps, text="compiling"
        )

    def _text(self, with_steps: bool = False) -> str:
        last = self._last
        now = time.monotonic()
        if self._epochs is None:  # a resumed run does not start at zero
            self._epochs = (last["epoch"] - 1, now - last["seconds"])
        epoch, since = self._epochs
        rate = (last["epoch"] - epoch) / max(now - since, 1e-9)
        parts = [f"{rate:.1f} epochs/s"]
        if with_steps:
            left = (self._config.env_steps - last["env_steps"]) / last["env_steps_per_second"]
            parts = [f"{last['env_steps']:,}/{self._config.env_steps:,} env steps", *parts]
            parts.append(f"{max(left, 0) / 60:.1f} min left")
        if "coverage" in last:
            parts.append(f"coverage {last['coverage']:.1f}")
        if "success" in last:
            parts.append(f"boards solved {last['success']:.0%}")
        if "skill_success" in last:
            parts.append(f"skills succeed {last['skill_success']:.0%}")
        self._epochs = (last["epoch"], now) if now - since > LINE_EVERY else self._epochs
        return ", ".join(parts)

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            print(text, file=sys.stderr, flush=True)
