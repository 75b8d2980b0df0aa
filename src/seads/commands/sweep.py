"""`seads sweep`: the runs of a study, trained and evaluated side by side."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from seads.errors import SeadsError

SOME_FAILED, STOPPED = 1, 130


@dataclass(frozen=True)
class Options:
    """Which study, where to, and on how many workers."""

    study: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="STUDY.toml")]
    """The study's file: groups of runs, or searches."""
    out: Path | None = None
    """Where the run directories go; runs/STUDY by default. The same command goes on there."""
    workers: int | None = None
    """Runs at once, each with its share of the cores; as many as there are cores by default."""
    address: str | None = None
    """HOST:PORT of a running Ray cluster; without it, this machine alone, on loopback."""
    allow: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="MODULE:FACTORY")
    ] = ()
    """Import this environment, which the study names; once for each such environment."""
    only: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="PATTERN")
    ] = ()
    """Of the groups' runs those whose names fit, such as '*-seed[0-4]', and no searches."""
    dry_run: bool = False
    """Start nothing: list the runs, and about how long they will take."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Carry the study out, or list its runs."""
    from seads.studies.cluster import check_answers
    from seads.studies.directory import check_directories
    from seads.studies.engine import check_workers, started
    from seads.studies.runs import check_code, picked
    from seads.studies.search import Searches
    from seads.studies.showing import SweepProgress, total_text
    from seads.studies.study import read_study
    from seads.studies.sweep import Sweep, only_driver, run_sweep
    from seads.training.runner import full_disk_in_words

    if options.workers is not None and options.workers < 1:
        raise SeadsError(f"--workers {options.workers}; allowed: 1 or more")
    study = read_study(options.study)
    if options.only:
        study = study.without_searches
    check_code(study, options.allow)
    home = options.out or Path("runs") / options.study.stem
    searches = Searches(study)
    sweep = Sweep(picked(searches.with_groups(study), options.only), home.absolute())
    sweep.failed |= check_directories(sweep.runs, home)
    if options.dry_run:
        return {"study": str(options.study), **_listed(sweep, searches, options.workers)}
    if options.address is None:
        check_workers(options.workers)
    elif not home.exists():  # else it is asked when it is needed
        check_answers(options.address)
    with full_disk_in_words(home, "give the same command again"), only_driver(home):
        earlier = searches.begin(home)
        sweep.runs += earlier
        sweep.failed |= check_directories(earlier, home)
        sweep.look()
        waiting = searches.more(sweep, 1)
        if waiting or any(map(sweep.goes_on, sweep.runs)):
            with started(options.workers, options.address) as engine, SweepProgress() as show:
                run_sweep(sweep, engine, show, searches.more)
        found = searches.to_json()
    print(total_text(sweep))
    for one in found:
        print(_best(one))
    for name, why in sweep.failed.items():
        print(f"{name} failed: {why}")
    if len(sweep.finished) < len(sweep.runs):
        print(f"go on with: {_command(options, home)}")
    else:
        print(f"next: seads tables {home}")
    status = STOPPED if sweep.stopping else SOME_FAILED if sweep.failed else 0
    told = {"searches": found} if found else {}
    return {"study": str(options.study), **sweep.to_json(), **told, "exit_status": status}


def _command(options: Options, home: Path) -> str:
    """The same once more."""
    words = ["seads", "sweep", str(options.study), "--out", str(home)]
    words += ["--workers", str(options.workers)] if options.workers else []
    words += ["--address", options.address] if options.address else []
    for option, values in (("--allow", options.allow), ("--only", options.only)):
        words += [word for value in values for word in (option, value)]
    return shlex.join(words)


def _best(search: dict[str, Any]) -> str:
    """The best trial of a search in a line."""
    from seads.planning.words import count

    head = f"search {search['search']} on {search['env']}, {count(search['finished'], 'trial')}"
    if search["best"] is None:
        return head
    values = ", ".join(f"{name}={value}" for name, value in search["best"].items())
    return f"{head}: best {values} ({search['success_on_training_boards']:.1%} of training boards)"


def _listed(sweep: Any, searches: Any, workers: int | None) -> dict[str, Any]:
    """The runs with what is done of each, and how long the rest will take."""
    from seads.cores import cores
    from seads.planning.words import count
    from seads.studies.estimate import estimate
    from seads.studies.showing import state_of
    from seads.tables import table_text
    from seads.training.progress import time_text

    sweep.look()
    at_once = workers or cores()
    share = max(1, cores() // at_once)
    seconds = estimate(sweep, share)
    rows = [
        (
            one.name,
            f"{one.config.env_steps:,}",
            state_of(one, sweep),
            time_text(seconds[one.name]) if seconds[one.name] else "",
        )
        for one in sweep.runs
    ]
    if rows:
        print(table_text(("run", "env steps", "state", "about"), rows, left=("run", "state")))
    listed = [
        {"run": one.name, "env_steps": one.config.env_steps, "seconds": round(seconds[one.name])}
        for one in sweep.runs
    ]
    ahead = searches.ahead(sweep.home, share)
    for one in ahead:
        print(
            f"search {one['search']} on {one['env']}: {count(one['runs'], 'run')} that are not "
            f"known yet, about {time_text(one['seconds'])}"
        )
    total = sum(seconds.values()) + sum(one["seconds"] for one in ahead)
    runs = len(rows) + sum(one["runs"] for one in ahead)
    print(
        f"{count(runs, 'run')}, about {time_text(total)} of work: "
        f"{time_text(total / at_once)} with {count(at_once, 'worker')}"
    )
    found = {"dry_run": listed, "searches": ahead, "seconds": round(total), "workers": at_once}
    return {**sweep.to_json(), "runs": runs, **found}
