"""The tables: results over seeds, steps to all moves, means over environments, and all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from seads.evaluation import comparing
from seads.show.report.paper import ROBOT, PaperValue
from seads.show.tables.comparisons import NAMES, ablation_tables, comparison_tables
from seads.show.tables.document import Table
from seads.show.tables.fixed import fixed_tables
from seads.show.tables.kinds import (
    Kinds,
    Measure,
    changes_notes,
    kinds_of,
    mean_text,
    papers,
    spread_text,
    values_of,
    without_trials,
)
from seads.show.tables.lengths import length_tables
from seads.solving.patience import SHORT
from seads.studies.results import Results, RunResult

LEVEL = 0.95
"""Share of the moves that a run has learned when it counts as having learned them."""


def all_tables(results: Results) -> Iterator[Table]:
    """Every table that the results allow; those of boards and settings need none."""
    every = kinds_of(results)
    kinds = without_trials(every)
    if every:
        yield summary_table(every, results.beyond_common())
    if kinds:
        yield from ablation_tables(kinds)
        yield from comparison_tables(kinds)
        yield steps_table(kinds, results)
        yield overall_table(kinds)
        yield from length_tables(kinds, results)
    yield from fixed_tables()


def summary_table(kinds: Kinds, beyond_common: Sequence[str] = ()) -> Table:
    """Every kind of run, each measure with its interval, and the paper's."""
    rows = []
    for (env, group), runs in kinds.items():
        paper = papers(env, group, runs)
        for measure, name in NAMES.items():
            values = values_of(runs, measure)
            if not values:
                continue
            digits = 2 if measure == "coverage" else 3
            theirs = getattr(paper, measure, None)  # which says nothing of first plans
            rows.append(
                (
                    env, group, name, str(len(values)), mean_text(values, digits),
                    f"{np.median(values):.{digits}f}",
                    spread_text(values, digits),
                    _steps(runs, measure),
                    *_papers(env, theirs, measure),
                )
            )  # fmt: skip
    return Table(
        "results",
        "Results over seeds",
        (
            "environment", "runs", "measure", "n", "mean ± std", "median",
            "95 % interval of the mean", "env steps of the agents used", "paper",
            "env steps, paper",
        ),
        rows,
        (
            "Mean and sample standard deviation over seeds; the interval is a percentile bootstrap "
            "of the mean, or for fewer than five runs their range. Agents are those of the last "
            f"checkpoints below the budget, for boards solved the last common ones (paper S.8.1)"
            f"{_except(kinds, beyond_common)}.",
            *_gave_up(kinds),
            *changes_notes(kinds),
        ),
    )  # fmt: skip


def _papers(env: str, value: PaperValue | None, measure: Measure) -> tuple[str, str]:
    """The paper's number, in the units of ours, and its env steps."""
    if value is None:
        return "", ""
    text = value.text if measure == "coverage" else f"{value.value:.3f}"
    return text + " (real arm)" * (env in ROBOT), f"{value.env_steps:,}"


def _except(kinds: Kinds, late: Sequence[str]) -> str:
    """What is not true of all runs, and of how many of each kind."""
    told = _counted(kinds, lambda run: run.run in late)
    return f", but later ones of runs whose boards were not solved there: {told}" if told else ""


def _gave_up(kinds: Kinds) -> Iterator[str]:
    """Of which runs the boards solved depend on a clock, in a sentence."""
    told = _counted(kinds, lambda run: any(one in NAMES for one in run.gave_up.split()))
    if told:
        yield (
            f"Planning gave up after {SHORT:g} s a board, since the model was not ready, in "
            f"{told}: how many boards these solve depends on the machine and on its load."
        )


def _counted(kinds: Kinds, having: Callable[[RunResult], bool]) -> str:
    """How many runs of each kind have something, in words."""
    counted = {kind: sum(map(having, runs)) for kind, runs in kinds.items()}
    told = (f"{n} of {len(kinds[kind])} of {' '.join(kind)}" for kind, n in counted.items() if n)
    return ", ".join(told)


def _steps(runs: Sequence[Any], measure: str) -> str:
    name = "coverage_env_steps" if measure == "coverage" else "success_env_steps"
    found = [value for run in runs if (value := getattr(run, name)) is not None]
    return f"{np.mean(found):,.0f}" if found else ""


def steps_table(kinds: Kinds, results: Results) -> Table:
    """Env steps until 95 % of the moves are learned; a run that never gets there takes for ever."""
    rows = []
    curves = results.curves("coverage")
    for (env, group), runs in kinds.items():
        moves = next((run.moves for run in runs if run.moves is not None), None)
        found = [curves[run.run] for run in runs if len(curves.get(run.run, ())) > 1]
        if moves is None or not found:
            continue
        reached = [comparing.steps_to(curve, LEVEL * moves) for curve in found]
        steps = [np.inf if one is None else one for one in reached]
        arrived = f"{np.isfinite(steps).sum()} of {len(steps)}"
        middle, last = (
            f"{one:,.0f}" if np.isfinite(one) else "never"
            for one in (np.median(steps), np.max(steps))
        )
        apart = np.concatenate([np.diff([at for at, _ in curve]) for curve in found])
        rows.append((env, group, arrived, middle, last, f"{np.median(apart):,.0f}"))
    return Table(
        "steps",
        "Env steps to 95 % of the moves",
        ("environment", "runs", "got there", "median", "slowest", "checkpoints about every"),
        rows,
        (
            "The first checkpoint that has them, on test boards: a run may have had them since "
            "the one before. Of runs that were measured along the way. The median "
            "is over all of them, with those that do not get there as slower than any other. "
            "Never: half of the runs, or the slowest, do not get there.",
        ),
    )


def overall_table(kinds: Kinds) -> Table:
    """Interquartile means over all environments that a group was trained in."""
    rows = []
    for group in dict.fromkeys(group for _, group in kinds):
        for measure in ("coverage", "success"):
            shares = _shares(kinds, group, measure)
            if not shares:
                continue
            groups = list(shares.values())
            low, high = comparing.interquartile_interval(groups)
            sizes = [len(one) for one in groups]
            few = min(sizes) == 1 or sum(sizes) < comparing.FEWEST_TO_RESAMPLE
            rows.append(
                (
                    group, NAMES[measure], ", ".join(shares),
                    ", ".join(map(str, sizes)),
                    f"{comparing.interquartile_mean(groups):.4f}",
                    "" if few else f"{low:.4f} to {high:.4f}",
                )
            )  # fmt: skip
    return Table(
        "overall",
        "Over environments: interquartile means",
        ("runs", "measure", "environments", "n in each", "interquartile mean", "95 % interval"),
        rows,
        (
            "Shares of the moves, or of the boards. Environments weigh alike, whatever the number "
            "of their runs; the interval is a stratified bootstrap, and left out where an "
            "environment has a single run, or all together have fewer than five. Rows over "
            "different environments do not compare. Trials of searches are left out.",
        ),
    )


def _shares(kinds: Kinds, group: str, measure: Measure) -> dict[str, list[float]]:
    """By environment, of the runs that were measured."""
    found: dict[str, list[float]] = {}
    for (env, one), runs in kinds.items():
        moves = next((run.moves for run in runs if run.moves), None)
        values = values_of(runs, measure) if one == group else []
        if values and measure != "coverage":
            found[env] = values
        elif values and moves is not None:
            found[env] = [value / moves for value in values]
    return found
