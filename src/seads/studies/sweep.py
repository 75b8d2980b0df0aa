"""A sweep: the runs of a study, so many at once, until all are done or one is asked to stop."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seads.errors import SeadsError
from seads.studies.directory import UNKNOWN, Standing, damage, standing
from seads.studies.engine import Engine
from seads.studies.runs import StudyRun
from seads.studies.work import FAILED, STOPPED, as_order
from seads.training.lock import lock_file

LOCK = "sweep.lock"
LOOK_EVERY = 1.0
"""Seconds between looks at the runs' directories."""


@dataclass
class Sweep:
    """Where a sweep stands; what is known of a run its directory says."""

    runs: list[StudyRun]
    """Those of groups and grids from the start; a search by tpe adds more."""
    home: Path
    failed: dict[str, str] = field(default_factory=dict)
    """Why runs failed, by name, in this sweep."""
    running: set[str] = field(default_factory=set)
    stopping: bool = False
    standings: dict[str, Standing] = field(default_factory=dict)

    def look(self) -> None:
        """Read how far the runs have got that are new or under way; the others stand still."""
        for run in self.runs:
            if run.name not in self.standings or run.name in self.running:
                self.look_at(run)

    def look_at(self, run: StudyRun) -> Standing:
        """Read how far one run has got; a damaged file fails the run that it belongs to."""
        try:
            now = standing(run, self.home, self.siblings(run))
        except (SeadsError, OSError):
            for one in {run.name: run, **{one.name: one for one in self.siblings(run)}}.values():
                why = damage(self.home / one.name)
                if why is not None:
                    self.failed[one.name] = why
            known = run.name not in self.failed
            now = standing(run, self.home, self.siblings(run)) if known else UNKNOWN
        self.standings[run.name] = now
        return now

    def goes_on(self, run: StudyRun) -> bool:
        """Whether there is something left to do for a run, which has been looked at."""
        return run.name not in self.failed and not self.standings[run.name].done

    def siblings(self, run: StudyRun) -> list[StudyRun]:
        """The runs that differ from one by their seed alone, itself too; failed ones left out."""
        return [one for one in self.runs if one.kind == run.kind and one.name not in self.failed]

    @property
    def finished(self) -> list[str]:
        """Runs that are trained and measured."""
        done = (run.name for run in self.runs if self.standings[run.name].done)
        return [name for name in done if name not in self.failed]

    def to_json(self) -> dict[str, Any]:
        """As `seads sweep --json` prints it."""
        return {
            "out": str(self.home),
            "runs": len(self.runs),
            "finished": len(self.finished),
            "failed": [{"run": name, "why": why} for name, why in self.failed.items()],
            "unfinished": [run.name for run in self.runs if self.goes_on(run)],
        }


Show = Callable[[Sweep], None]
More = Callable[[Sweep, int], list[StudyRun]]
"""Runs to add while fewer than so many wait: a search's next trials."""


def run_sweep(sweep: Sweep, engine: Engine, show: Show, more: More) -> Sweep:
    """Carry out all that is left of the runs; a failure costs its run alone.

    SIGINT and SIGTERM make the runs under way save and end; a second SIGINT interrupts at once.
    """
    sweep.look()
    waiting = deque(run for run in sweep.runs if sweep.goes_on(run))
    with _asked_to_stop() as asked:
        waiting.extend(more(sweep, engine.workers - len(waiting)))
        sweep.look()
        while waiting or engine.running:
            while waiting and len(engine.running) < engine.workers and not asked:
                run = waiting.popleft()
                now = sweep.look_at(run)
                if sweep.goes_on(run):
                    engine.submit(run.name, as_order(run, sweep.home, now.missing))
            if asked and not sweep.stopping:
                sweep.stopping = True
                waiting.clear()
                engine.stop()
            for name, outcome in engine.ended(LOOK_EVERY).items():
                if outcome["status"] == FAILED:
                    sweep.failed[name] = outcome["why"]
                elif outcome["status"] != STOPPED and not asked:
                    waiting.extend(_made_ready(sweep, name, engine.running, waiting))
            sweep.look()
            sweep.running = engine.running
            if not asked:
                added = more(sweep, engine.workers - len(waiting) - len(engine.running))
                waiting.extend(added)
                sweep.look()
            show(sweep)
    return sweep


def _made_ready(
    sweep: Sweep, name: str, running: set[str], waiting: Sequence[StudyRun]
) -> list[StudyRun]:
    """Runs for which there is more to measure, now that all of their kind are trained."""
    [ended] = [run for run in sweep.runs if run.name == name]
    busy = running | {run.name for run in waiting}
    found = [run for run in sweep.siblings(ended) if run.name not in busy]
    for run in found:
        sweep.look_at(run)
    return [run for run in found if sweep.goes_on(run)]


@contextmanager
def only_driver(home: Path) -> Iterator[None]:
    """Within it no other sweep works in the directory; a killed one leaves nothing behind."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / LOCK
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            lock_file(handle)  # where there are no locks, those of the runs must do
        except BlockingIOError:
            holder = os.read(handle, 200).decode(errors="replace").strip()
            raise SeadsError(
                f"another sweep is at work in {home} ({holder or 'just started'}); "
                "wait for it, or choose another --out"
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(handle)


@contextmanager
def _asked_to_stop() -> Iterator[list[float]]:
    """Within it SIGINT and SIGTERM are noted; a second SIGINT, a second later, interrupts."""
    asked: list[float] = []

    def note(number: int, _: Any) -> None:
        if asked and number == signal.SIGINT and time.monotonic() > asked[0] + 1:
            raise KeyboardInterrupt
        asked.append(time.monotonic())

    previous = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
