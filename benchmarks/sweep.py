"""What a sweep costs and gains, as JSON: two workers against one, what Ray adds, who compiles.

python benchmarks/sweep.py                     four short runs with one worker, then with two
python benchmarks/sweep.py --env-steps 20000   longer ones, which tell more
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from seads.jax_setup import prepare_jax
from seads.studies.engine import started
from seads.studies.runs import runs_of
from seads.studies.search import Searches
from seads.studies.study import read_study
from seads.studies.sweep import Sweep, run_sweep

STUDY = """
[evaluate]
tasks = []
along = []

[[groups]]
envs = ["lightsout-cursor"]
presets = ["default"]
seeds = "0-{last}"
budget = {budget}
"""


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--env-steps", type=int, default=8_000)
    asked = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="seads-bench-"))
    try:
        print(json.dumps(measured(home, asked.runs, asked.env_steps), indent=2))
    finally:
        shutil.rmtree(home)


def measured(home: Path, runs: int, env_steps: int) -> dict[str, Any]:
    """Runs an hour with one worker and with two; both held to one core a run."""
    path = home / "study.toml"
    path.write_text(STUDY.format(last=runs - 1, budget=env_steps))
    os.environ["SEADS_CACHE"] = str(home / "cache")  # in which nothing has been compiled yet
    prepare_jax()
    sweep_once(path, home / "first", 2, 1)  # compiles: what follows reads the cache
    one = sweep_once(path, home / "one", 1, 1)
    two = sweep_once(path, home / "two", 2, 1)
    training = [_seconds(directory, -1) for directory in sorted((home / "one").glob("*-seed*"))]
    return {
        "runs": runs,
        "env_steps": env_steps,
        "start_seconds": one["start_seconds"],
        "one_worker": one,
        "two_workers": two,
        "two_against_one": one["seconds"] / two["seconds"],
        "seconds_a_run_besides_training": (one["seconds"] - sum(training)) / runs,
        "compiling": compiling(home / "first", home / "two"),
        "ray_seconds_a_run": finished_tasks(next((home / "one").glob("*-seed0"))),
    }


def sweep_once(path: Path, home: Path, workers: int, cores: int) -> dict[str, float]:
    """A whole sweep: how long Ray took to start, and how long the runs took then."""
    study = read_study(path)
    sweep = Sweep(runs_of(study), home)
    searches = Searches(study)
    began = time.monotonic()
    with started(workers, None) as engine:
        engine.cores = cores
        ready = time.monotonic()
        run_sweep(sweep, engine, lambda _: None, searches.more)
        ended = time.monotonic()
    if sweep.failed or sweep.stopping:
        raise SystemExit(f"stopped; runs that failed: {sweep.failed}")
    hours = (ended - ready) / 3600
    return {
        "start_seconds": ready - began,
        "seconds": ended - ready,
        "runs_per_hour": len(sweep.runs) / hours,
    }


def compiling(cold: Path, warm: Path) -> dict[str, Any]:
    """Seconds of training until each run's first line, which tells those that compiled.

    Runs began two at a time, once with nothing compiled and once with everything.
    """
    before, after = (
        sorted((_seconds(run, 0) for run in home.glob("*-seed*")), reverse=True)
        for home in (cold, warm)
    )
    between = (before[0] + after[0]) / 2
    return {
        "seconds_to_first_line": before,
        "seconds_to_first_line_compiled": after,
        "runs_that_compiled": sum(one > between for one in before),
    }


def _seconds(directory: Path, line: int) -> float:
    """Of training until a line of its log."""
    lines = (directory / "timing.jsonl").read_text().splitlines()
    return float(json.loads(lines[line])["seconds"])


def finished_tasks(directory: Path, count: int = 20) -> float:
    """What a run with nothing left to do costs, from being handed over to its answer."""
    with started(1, None) as engine:
        order = {"directory": str(directory), "config": {}, "evaluations": []}
        engine.submit("first", order)  # which brings in JAX
        while engine.running:
            engine.ended(1.0)
        began = time.monotonic()
        for number in range(count):
            engine.submit(str(number), order)
            while engine.running:
                engine.ended(1.0)
        return (time.monotonic() - began) / count


if __name__ == "__main__":
    main()
