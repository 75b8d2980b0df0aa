"""The tables of comparisons: the paper's S.1 with its tests, and every group beside SEADS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from seads.show.report.paper import ENVIRONMENTS, RED_CELLS, SEADS, TABLE_S1, paper_result
from seads.show.tables.document import Table
from seads.show.tables.kinds import (
    CELLS_OF_S1,
    SIGNIFICANT,
    TOO_FEW,
    Comparison,
    Kinds,
    Measure,
    ablation_cells,
    budget_of,
    changes_notes,
    compare,
    mean_text,
    p_text,
    values_of,
)

NAMES: dict[Measure, str] = {
    "coverage": "moves", "success": "boards solved", "success_no_replan": "first plan solves"
}  # fmt: skip


def ablation_tables(kinds: Kinds) -> Iterator[Table]:
    """Table S.1: moves of SEADS and its ablations; ours above the paper's in each cell's row."""
    envs = [env for env in ENVIRONMENTS if any((env, row) in kinds for row in [*TABLE_S1, "paper"])]
    if not envs:
        return
    shown = {
        (env, group): runs
        for (env, group), runs in kinds.items()
        if env in envs and group in [*TABLE_S1, "paper"] and values_of(runs, "coverage")
    }
    tests = {(one.env, one.group): one for one in ablation_cells(kinds)}
    rows = []
    for variant in TABLE_S1:
        group = "paper" if variant == SEADS else variant
        ours, theirs = [f"{variant}, here"], [f"{variant}, paper"]
        printed = dict(zip(ENVIRONMENTS, TABLE_S1[variant].split(", "), strict=True))
        for env in envs:
            values = values_of(shown.get((env, group), []), "coverage")
            test = tests.get((env, group))
            mark = {"worse": " *", "better": " +"}.get(test.verdict if test else "", "")
            ours.append(mean_text(values) + mark)
            theirs.append(printed[env] + " *" * (env in RED_CELLS.get(variant, ())))
        rows += [ours, theirs]
    yield Table(
        "S.1",
        "Distinct moves of SEADS and its ablations",
        ("", *envs),
        rows,
        (
            "Here: the preset paper and its ablations. * significantly worse than SEADS, + better: "
            f"one-sided Mann-Whitney U, p < {SIGNIFICANT}, here after Holm over the {CELLS_OF_S1} "
            "cells of the paper's table, in the paper's rows, its red cells, without a correction.",
            *_budgets(shown),
            *changes_notes(shown),
            *_undecidable(list(tests.values())),
        ),
    )


def _budgets(kinds: Kinds) -> Iterator[str]:
    """After how many env steps, here and in the paper."""
    told = []
    for env in dict.fromkeys(env for env, _ in kinds):
        here = sorted({budget_of(runs) for (one, _), runs in kinds.items() if one == env})
        paper = paper_result(env, "paper")
        if paper and paper.coverage:
            steps = " to ".join(f"{one:,}" for one in dict.fromkeys((here[0], here[-1])))
            told.append(f"{env} {steps} here, {paper.coverage.env_steps:,} in the paper")
    if told:
        yield f"Env steps: {'; '.join(told)}."


def _undecidable(tests: Sequence[Comparison]) -> Iterator[str]:
    few = sorted({min(len(one.ours), len(one.theirs)) for one in tests if one.verdict == TOO_FEW})
    if few:
        yield (
            f"With {', '.join(map(str, few))} seeds no difference can by itself reach p < "
            f"{SIGNIFICANT} after the correction: such cells have no mark whatever they show."
        )


def comparison_tables(kinds: Kinds) -> Iterator[Table]:
    """Every group beside its reference: difference, probability, tests raw and corrected."""
    found = {measure: compare(kinds, measure) for measure in get_args(Measure)[:2]}
    rows = [
        (
            one.env, one.group, one.reference, NAMES[measure],
            f"{len(one.ours)} and {len(one.theirs)}",
            f"{one.difference:+.{2 if measure == 'coverage' else 3}f}", one.spread,
            f"{one.improvement:.2f}", p_text(one.p_worse), p_text(one.p_better),
            p_text(one.holm_worse), p_text(one.holm_better), one.raw_verdict, one.verdict,
        )
        for measure, tests in found.items()
        for one in tests
    ]  # fmt: skip
    families = [f"{len(tests)} of {NAMES[one]}" for one, tests in found.items() if tests]
    if not rows:
        return
    yield Table(
        "comparisons",
        "Differences from SEADS",
        (
            "environment", "runs", "compared with", "measure", "n", "difference", "95 % interval",
            "P(better)", "p worse", "p better", "p worse, Holm", "p better, Holm", "verdict, raw",
            "verdict, Holm",
        ),
        rows,
        (
            "Difference: Hodges-Lehmann, with the exact interval of a two-sided Mann-Whitney U "
            "test (where many values are equal it may end at 0 though the test rejects); of so few "
            "runs that there is none the range of all differences. p: one-sided "
            "Mann-Whitney U, exact with ties, raw as in the paper and after Holm; the family is "
            f"all lines of a measure in one direction ({', '.join(families)}). Verdicts are at p < "
            f"{SIGNIFICANT}; {TOO_FEW}: no outcome could by itself be below that. Runs of another "
            "number of env steps than their reference, and trials of searches, are left out.",
            *changes_notes(
                {
                    (one.env, group): kinds[one.env, group]
                    for tests in found.values()
                    for one in tests
                    for group in (one.reference, one.group)
                }
            ),
        ),
    )  # fmt: skip
