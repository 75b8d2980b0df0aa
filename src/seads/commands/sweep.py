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
    from seads.studies.directory import check_directories
    from seads.studies.engine import started
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
    runs = picked(searches.with_groups(study), options.only)
    sweep = Sweep(runs, home.absolute(), check_directories(runs, home))
    if options.dry_run:
        listed = _listed(sweep, options.workers)
        for search in (search for search in study.searches if search.trials):
            count = search.trials * len(search.seeds)
            print(f"and {count} runs of search {search.name}: its trials are not known yet")
        return listed
    with full_disk_in_words(home, "give the same command again"), only_driver(home):
        earlier = searches.begin(home)
        runs += earlier
        sweep.failed |= check_directories(earlier, home)
        sweep.look()
        waiting = searches.more(sweep, 1)
        if waiting or any(map(sweep.goes_on, runs)):
            with started(options.workers, options.address) as engine, SweepProgress() as show:
                run_sweep(sweep, engine, show, searches.more)
        found = searches.to_json()
    print(total_text(sweep))
    for one in found:
        print(_best(one))
    for name, why in sweep.failed.items():
        print(f"{name} failed: {why}")
    if len(sweep.finished) < len(runs):
        words = ["seads", "sweep", str(options.study), "--out", str(home)]
        for option, values in (("--allow", options.allow), ("--only", options.only)):
            words += [word for value in values for word in (option, value)]
        print(f"go on with: {shlex.join(words)}")
    else:
        print(f"next: seads tables {home}")
    status = STOPPED if sweep.stopping else SOME_FAILED if sweep.failed else 0
    told = {"searches": found} if found else {}
    return {"study": str(options.study), **sweep.to_json(), **told, "exit_status": status}


def _best(search: dict[str, Any]) -> str:
    """The best trial of a search in a line."""
    head = f"search {search['search']} on {search['env']}, {search['finished']} trials"
    if search["best"] is None:
        return head
    values = ", ".join(f"{name}={value}" for name, value in search["best"].items())
    return f"{head}: best {values} ({search['success_on_training_boards']:.1%} of training boards)"


def _listed(sweep: Any, workers: int | None) -> dict[str, Any]:
    """The runs with what is done of each, and how long the rest will take."""
    from seads.cores import cores
    from seads.studies.estimate import estimate
    from seads.studies.showing import state_of
    from seads.tables import table_text
    from seads.training.progress import time_text

    sweep.look()
    count = workers or cores()
    seconds = estimate(sweep, max(1, cores() // count))
    rows = [
        (
            one.name,
            f"{one.config.env_steps:,}",
            state_of(one, sweep),
            time_text(seconds[one.name]) if seconds[one.name] else "",
        )
        for one in sweep.runs
    ]
    total = sum(seconds.values())
    print(table_text(("run", "env steps", "state", "about"), rows, left=("run", "state")))
    print(
        f"{len(rows)} runs, about {time_text(total)} of work: {time_text(total / count)} "
        f"with {count} worker{'s' * (count > 1)}"
    )
    listed = [
        {"run": one.name, "env_steps": one.config.env_steps, "seconds": round(seconds[one.name])}
        for one in sweep.runs
    ]
    return {**sweep.to_json(), "dry_run": listed, "seconds": round(total), "workers": count}
