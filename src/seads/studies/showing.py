"""How a sweep shows itself: a live table in a terminal, a line for each change elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

from seads.planning.words import count
from seads.studies.runs import StudyRun
from seads.studies.sweep import Sweep
from seads.training.progress import time_text

LINE_EVERY = 60.0
"""Seconds between lines of progress where there is no terminal."""
ROWS = 24
"""Rows of the live table; what is under way and what failed come first."""


class SweepProgress:
    """Takes a sweep now and then, and shows it on stderr."""

    def __init__(self) -> None:
        self._live: Any = None
        self._said: dict[str, str] = {}
        self._next = 0.0

    def __enter__(self) -> SweepProgress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=2, transient=False)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, sweep: Sweep) -> None:
        """Show where it stands."""
        if self._live is not None:
            self._live.update(table_of(sweep, self._live.console.width))
            return
        regular = time.monotonic() >= self._next
        if regular:
            self._next = time.monotonic() + LINE_EVERY
        for run in sweep.runs:
            state = state_of(run, sweep)
            new = state != self._said.get(run.name, "waiting")
            self._said[run.name] = state
            if new or (regular and state == "running"):
                print(f"{run.name}: {text_of(run, sweep)}", file=sys.stderr, flush=True)
        if regular:
            print(total_text(sweep), file=sys.stderr, flush=True)


def state_of(run: StudyRun, sweep: Sweep) -> str:
    """waiting, running, measuring, done or failed."""
    now = sweep.standings[run.name]
    if run.name in sweep.failed:
        return "failed"
    if now.done:
        return "done"
    if run.name in sweep.running:
        return "measuring" if now.trained else "running"
    return "waiting"


def text_of(run: StudyRun, sweep: Sweep) -> str:
    """The state of a run with what there is to say of it."""
    state, now = state_of(run, sweep), sweep.standings[run.name]
    if state == "failed":
        return f"failed: {sweep.failed[run.name]}"
    if state == "waiting" and now.trained:
        return "trained, and waiting to be measured"
    if state == "waiting" and now.begun:
        return f"waiting, {now.env_steps:,} of {run.config.env_steps:,} env steps made"
    if state != "running":
        return state
    left = time_left(run, sweep)
    ahead = "" if left is None else f", {time_text(left)} left"
    return f"running, {now.env_steps:,} of {run.config.env_steps:,} env steps{ahead}"


def time_left(run: StudyRun, sweep: Sweep) -> float | None:
    """Seconds until a run is trained, at its speed so far; None before it is known."""
    now = sweep.standings[run.name]
    if not now.steps_per_second:
        return None
    return max(0, run.config.env_steps - now.env_steps) / now.steps_per_second


def total_text(sweep: Sweep) -> str:
    """How many runs are in which state."""
    counts = Counter(state_of(run, sweep) for run in sweep.runs)
    order = ("done", "measuring", "running", "waiting", "failed")
    told = ", ".join(f"{counts[state]} {state}" for state in order if counts[state])
    return f"{count(len(sweep.runs), 'run')}: {told}" + ("; stopping" if sweep.stopping else "")


def table_of(sweep: Sweep, width: int) -> Any:
    """The live table, for a terminal of so many columns; names have at most half of them."""
    from rich.table import Table

    first = {"failed": 0, "running": 1, "measuring": 1, "waiting": 2, "done": 3}
    ordered = sorted(sweep.runs, key=lambda run: first[state_of(run, sweep)])
    table = Table(box=None, pad_edge=False, caption=total_text(sweep), caption_justify="left")
    rows = [(_shortened(run.name, width // 2), text_of(run, sweep)) for run in ordered[:ROWS]]
    if len(ordered) > ROWS:
        rows.append((f"and {len(ordered) - ROWS} more", ""))
    names = max((len(name) for name, _ in rows), default=0)
    table.add_column("run", width=names, no_wrap=True)
    table.add_column("state", overflow="ellipsis", no_wrap=True, max_width=width - names - 1)
    for row in rows:
        table.add_row(*row)
    return table


def _shortened(name: str, most: int) -> str:
    """A name without its middle: the beginning tells the environment, the end the seed."""
    end = most // 2
    return name if len(name) <= most else f"{name[: most - end - 1]}…{name[-end:]}"
