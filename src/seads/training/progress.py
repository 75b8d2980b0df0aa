"""How a training run shows itself: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import suppress
from typing import Any

from seads.envs.own import is_own
from seads.terminal import Unfailing
from seads.training.config import TrainConfig

LINE_EVERY = 30.0
"""Seconds between lines where there is no terminal."""
LOOKED_BACK = 180.0
"""Seconds over which the speed is taken: the first ones compile, and the last ones tell."""


class Pace:
    """How fast a run has been of late, and so how long it will take."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._seen: deque[tuple[float, int, int]] = deque()

    def note(self, now: float, epoch: int, env_steps: int) -> None:
        """The run was there at this time, in seconds."""
        self._seen.append((now, epoch, env_steps))
        while len(self._seen) > 2 and now - self._seen[1][0] >= LOOKED_BACK:
            self._seen.popleft()

    @property
    def epochs_per_second(self) -> float | None:
        """None as long as nothing is known."""
        return self._rate(1)

    @property
    def seconds_left(self) -> float | None:
        """None as long as nothing is known."""
        rate = self._rate(2)
        return None if not rate else max(0.0, (self._budget - self._seen[-1][2]) / rate)

    def _rate(self, of: int) -> float | None:
        if len(self._seen) < 2:
            return None
        first, last = self._seen[0], self._seen[-1]
        return (last[of] - first[of]) / max(last[0] - first[0], 1e-9)


class TrainingProgress:
    """Receives the events of `seads.training.runner` and prints them to stderr."""

    def __init__(self, config: TrainConfig):
        self._config = config
        self._stream: Any = Unfailing(sys.stderr)
        self._last: dict[str, Any] = {}
        self._next_line = 0.0
        self._pace = Pace(config.env_steps)
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> TrainingProgress:
        if is_own(self._config.env):  # nobody knows how long that takes
            self._print(f"training on {self._config.env}: building its rows")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: str, facts: dict[str, Any]) -> None:
        """Take one event; epochs are shown at a bearable rate, everything else at once."""
        if event == "begin":
            self._begin()
        elif event == "start":  # a resumed run starts where it was
            self._pace.note(time.monotonic(), facts["epoch"], facts["env_steps"])
            if self._bar is not None:
                self._bar.update(self._task, completed=facts["env_steps"])
        elif event == "epoch":
            self._last |= facts
            self._pace.note(time.monotonic(), facts["epoch"], facts["env_steps"])
            if self._bar is not None:
                text = self._text(short=True)
                self._bar.update(self._task, completed=facts["env_steps"], text=text)
            elif time.monotonic() >= self._next_line:
                self._next_line = time.monotonic() + LINE_EVERY
                self._print(self._text())
        elif event == "warning":
            self._print(f"warning: {facts['message']}")
        elif event == "stopping":
            with suppress(RuntimeError):  # the signal came in the middle of another line
                self._print("stopping after this epoch; Ctrl-C once more stops at once")
        elif event == "end":
            self._print(f"{facts['status']} after {facts['env_steps']:,} env steps: {facts['out']}")

    def _begin(self) -> None:
        """The environments are there."""
        if not self._stream.isatty():
            self._print(f"training on {self._config.env}: compiling")
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        # in 80 columns: the name may be cut, the rest may not
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=12),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[text]}"),
            console=Console(file=self._stream),
        )
        self._bar.start()
        total = self._config.env_steps
        name = _shortened(self._config.env, 22)
        self._task = self._bar.add_task(name, total=total, text="compiling")

    def _text(self, short: bool = False) -> str:
        last, rate, left = self._last, self._pace.epochs_per_second, self._pace.seconds_left
        parts = []
        if left is not None:
            parts.append(f"{time_text(left)} left")
        if not short:
            parts.insert(0, f"{last['env_steps']:,}/{self._config.env_steps:,} env steps")
            parts += [] if rate is None else [f"{rate:.1f} epochs/s"]
        if "coverage" in last:
            parts.append(f"coverage {last['coverage']:.1f}")
        if "success" in last:
            parts.append(f"boards solved {last['success']:.0%}")
        if "skill_success" in last and not short:
            parts.append(f"skills succeed {last['skill_success']:.0%}")
        return ", ".join(parts)

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            self._stream.write(f"{text}\n")
            self._stream.flush()


def time_text(seconds: float) -> str:
    """A time to wait, as short as it can be said."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 100:
        return f"{minutes} min"
    hours = f"{minutes // 60} h {minutes % 60:02} min"
    return hours if minutes < 100 * 60 else f"{seconds / 86400:.0f} days"


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
