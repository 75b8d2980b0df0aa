"""The tables: results over seeds, the paper's S.1 with its tests, boards, hyper-parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from seads.evaluation import comparing
from seads.show.report.paper import ENVIRONMENTS, SEADS, TABLE_S1
from seads.show.tables.document import Table
from seads.show.tables.fixed import fixed_tables
from seads.show.tables.kinds import (
    SIGNIFICANT,
    Comparison,
    Kinds,
    Measure,
    compare,
    interval_text,
    kinds_of,
    mean_text,
    p_text,
    papers,
    values_of,
)
from seads.studies.results import Results

LEVEL = 0.95
"""Share of the moves that a run has learned when it counts as having learned them."""
NAMES = {"coverage": "moves", "success": "boards solved", "success_no_replan": "first plan solves"}


def all_tables(results: Results) -> Iterator[Table]:
    """Every table that the results allow; those of boards and settings need none."""
    kinds = kinds_of(results)
    if kinds:
        yield summary_table(kinds)
        yield from ablation_tables(kinds)
        yield comparison_table(kinds)
        yield steps_table(kinds, results)
        yield overall_table(kinds)
    yield from fixed_tables()


def summary_table(kinds: Kinds) -> Table:
    """Every kind of run, each measure with its interval, and the paper's."""
    rows = []
    for (env, group), runs in kinds.items():
        paper = papers(env, group, runs)
        for measure, name in NAMES.items():
            values = values_of(runs, measure)  # type: ignore[arg-type]
            if not values:
                continue
            said = paper and (paper.coverage if measure == "coverage" else paper.success)
            theirs = said.text if said and measure != "success_no_replan" else ""
            digits = 2 if measure == "coverage" else 3
            rows.append(
                (
                    env, group, name, str(len(values)), mean_text(values, digits),
                    f"{np.median(values):.{digits}f}",
                    interval_text(comparing.mean_interval(values), digits),
                    _steps(runs, measure), theirs,
                )
            )  # fmt: skip
    return Table(
        "results",
        "Results over seeds",
        (
            "environment", "runs", "measure", "n", "mean ± std", "median",
            "95 % interval of the mean", "env steps of the agents used", "paper",
        ),
        rows,
        (
            "Mean and sample standard deviation over seeds; the interval is a percentile bootstrap "
            "of the mean. Agents are those of the last checkpoints below the budget, for boards "
            "solved the last common ones (paper S.8.1).",
        ),
    )  # fmt: skip


def _steps(runs: Sequence[Any], measure: str) -> str:
    name = "coverage_env_steps" if measure == "coverage" else "success_env_steps"
    found = [value for run in runs if (value := getattr(run, name)) is not None]
    return f"{np.mean(found):,.0f}" if found else ""


def ablation_tables(kinds: Kinds) -> Iterator[Table]:
    """Table S.1: moves of SEADS and its ablations; ours above the paper's in each cell's row."""
    envs = [env for env in ENVIRONMENTS if any((env, row) in kinds for row in [*TABLE_S1, "paper"])]
    if not envs:
        return
    tests = {
        (one.env, one.group): one
        for one in compare(kinds, take=lambda group: group in TABLE_S1)
        if one.reference == "paper"
    }
    rows = []
    for variant in TABLE_S1:
        group = "paper" if variant == SEADS else variant
        ours, theirs = [f"{variant}, here"], [f"{variant}, paper"]
        printed = dict(zip(ENVIRONMENTS, TABLE_S1[variant].split(", "), strict=True))
        for env in envs:
            values = values_of(kinds.get((env, group), []), "coverage")
            test = tests.get((env, group))
            mark = {"worse": " *", "better": " +"}.get(test.verdict if test else "", "")
            ours.append(mean_text(values) + mark)
            theirs.append(printed[env])
        rows += [ours, theirs]
    yield Table(
        "S.1",
        "Distinct moves of SEADS and its ablations",
        ("", *envs),
        rows,
        (
            "Here: the preset paper and its ablations. * significantly worse than SEADS, + better "
            f"(p < {SIGNIFICANT} after Holm over the {len(tests)} cells here). "
            f"{_undecidable(list(tests.values()))}",
        ),
    )


def _undecidable(tests: Sequence[Comparison]) -> str:
    few = sorted({min(len(one.ours), len(one.theirs)) for one in tests if not one.decidable})
    if not few:
        return ""
    return (
        f"With {', '.join(map(str, few))} seeds no difference can reach p < {SIGNIFICANT} after "
        "the correction: such cells have no mark whatever they show."
    )


def comparison_table(kinds: Kinds) -> Table:
    """Every group beside its reference: difference, probability, tests raw and corrected."""
    rows = []
    family = 0
    for measure in ("coverage", "success"):
        found = compare(kinds, measure)
        family = max(family, len(found))
        for one in found:
            digits = 2 if measure == "coverage" else 3
            rows.append(
                (
                    one.env, one.group, one.reference, NAMES[measure],
                    f"{len(one.ours)} and {len(one.theirs)}",
                    f"{one.difference:+.{digits}f}", interval_text(one.interval, digits),
                    f"{one.improvement:.2f}", p_text(one.p_worse), p_text(one.p_better),
                    p_text(one.holm_worse), p_text(one.holm_better), one.verdict,
                )
            )  # fmt: skip
    return Table(
        "comparisons",
        "Differences from SEADS",
        (
            "environment", "runs", "compared with", "measure", "n", "difference", "95 % interval",
            "P(better)", "p worse", "p better", "p worse, Holm", "p better, Holm", "verdict",
        ),
        rows,
        (
            "Difference: Hodges-Lehmann, with a bootstrap interval. p: one-sided Mann-Whitney U, "
            "exact with ties, raw as in the paper and after Holm; the family is all lines of a "
            f"measure in one direction (at most {family}). Too few seeds: no outcome could be "
            f"below {SIGNIFICANT} after Holm.",
        ),
    )  # fmt: skip


def steps_table(kinds: Kinds, results: Results) -> Table:
    """Env steps until 95 % of the moves are learned, for the runs that get there."""
    rows = []
    curves: dict[str, list[tuple[int, float]]] = {}
    for point in results.points:
        if point.measure == "coverage":
            curves.setdefault(point.run, []).append((point.env_steps, point.value))
    for (env, group), runs in kinds.items():
        moves = runs[0].moves
        found = [curves[run.run] for run in runs if run.run in curves]
        if moves is None or not found:
            continue
        steps = [comparing.steps_to(curve, LEVEL * moves) for curve in found]
        reached = [one for one in steps if one is not None]
        middle = f"{np.median(reached):,.0f}" if len(reached) > len(steps) / 2 else "never"
        last = f"{max(reached):,}" if len(reached) == len(steps) else "never"
        rows.append((env, group, f"{len(reached)} of {len(steps)}", middle, last))
    return Table(
        "steps",
        "Env steps to 95 % of the moves",
        ("environment", "runs", "got there", "median", "slowest"),
        rows,
        (
            "At checkpoints, on test boards. Never: half of the runs, or the slowest, do not get "
            "there.",
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
            low, high = comparing.interquartile_interval(shares)
            rows.append(
                (
                    group, NAMES[measure], str(len(shares)), str(sum(map(len, shares))),
                    f"{comparing.interquartile_mean(shares):.4f}", f"{low:.4f} to {high:.4f}",
                )
            )  # fmt: skip
    return Table(
        "overall",
        "Over environments: interquartile means",
        ("runs", "measure", "environments", "n", "interquartile mean", "95 % interval"),
        rows,
        ("Shares of the moves, or of the boards; stratified bootstrap.",),
    )


def _shares(kinds: Kinds, group: str, measure: Measure) -> list[list[float]]:
    found = []
    for (_, one), runs in kinds.items():
        values = values_of(runs, measure) if one == group else []
        of = (runs[0].moves or 1) if measure == "coverage" else 1
        found += [[value / of for value in values]] if values else []
    return found
