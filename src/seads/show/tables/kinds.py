"""Runs of one kind as numbers: summaries beside the paper's, and comparisons with a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seads.evaluation import comparing
from seads.show.report.paper import ENVIRONMENTS, TABLE_S1, PaperResult, paper_result
from seads.studies.results import Results, RunResult, same_budget

Measure = Literal["coverage", "success", "success_no_replan"]
SIGNIFICANT = 0.01
"""The paper's level."""
TOO_FEW = "too few seeds"
REFERENCES = ("paper", "default")
"""Groups that others are compared with: the paper's loop, and the package's preset."""

CELLS_OF_S1 = (len(TABLE_S1) - 1) * len(ENVIRONMENTS)
"""Comparisons with SEADS in the paper's table, measured here or not."""

Kinds = dict[tuple[str, str], list[RunResult]]


def kinds_of(results: Results) -> Kinds:
    """The runs by environment and group; the paper's environments and rows first."""
    envs = [*ENVIRONMENTS, *sorted({run.env for run in results.runs} - set(ENVIRONMENTS))]
    groups = list(dict.fromkeys(run.group for run in results.runs))
    first = [*REFERENCES[::-1], *TABLE_S1]
    ordered = [*(one for one in first if one in groups), *(g for g in groups if g not in first)]
    found: Kinds = {}
    for env in envs:
        for group in ordered:
            runs = [run for run in results.runs if run.kind == (env, group)]
            if runs:
                found[env, group] = runs
    return found


def without_trials(kinds: Kinds) -> Kinds:
    """All but what searches tried: a trial is chosen from, and stands for no algorithm."""
    return {kind: runs for kind, runs in kinds.items() if not runs[0].is_trial}


def values_of(runs: Sequence[RunResult], measure: Measure) -> list[float]:
    """What was measured, over the seeds, as one number each."""
    found = [getattr(run, measure) for run in runs]
    return [float(value) for value in found if value is not None]


def changes_notes(kinds: Kinds) -> Iterator[str]:
    """Which groups have other settings than their preset's, in a sentence; trials name theirs."""
    given: dict[str, dict[str, str]] = {}
    for (env, group), runs in without_trials(kinds).items():
        given.setdefault(group, {})[env] = runs[0].settings
    having: dict[str, list[str]] = {}
    for group, settings in given.items():
        alike = len(set(settings.values())) == 1
        for env, own in list(settings.items())[: 1 if alike else None]:
            having.setdefault(own, []).append(group if alike else f"{group} on {env}")
    having.pop("", None)
    if having:
        told = "; ".join(f"{own} in {', '.join(names)}" for own, names in having.items())
        yield f"Other settings than the preset's: {told}."


def budget_of(runs: Sequence[RunResult]) -> int:
    """The env steps that all of the measured runs were given."""
    return min(run.budget for run in runs if run.measured)


def papers(env: str, group: str, runs: Sequence[RunResult]) -> PaperResult | None:
    """What the paper reports of such runs; of a name that a study chose, nothing."""
    known = group in REFERENCES or group in TABLE_S1
    return paper_result(env, group) if known and runs[0].algorithm == "seads" else None


@dataclass(frozen=True)
class Comparison:
    """Runs of a group beside those of the reference, in one environment."""

    env: str
    group: str
    reference: str
    measure: Measure
    ours: list[float]
    theirs: list[float]
    p_worse: float
    """One-sided Mann-Whitney, exact, ties and all: the reference is larger."""
    p_better: float
    holm_worse: float
    holm_better: float
    family: int
    """Tests that the correction is over, in each direction."""

    @property
    def difference(self) -> float:
        """Hodges-Lehmann: how much larger ours are."""
        return comparing.hodges_lehmann(self.ours, self.theirs)

    @property
    def spread(self) -> str:
        """Of the difference: its 95 % interval, or the range of all differences of few runs."""
        return difference_text(self.ours, self.theirs, 2 if self.measure == "coverage" else 3)

    @property
    def improvement(self) -> float:
        """Probability that one of ours is larger than one of the reference."""
        return comparing.probability_of_improvement(self.ours, self.theirs)

    @property
    def decidable(self) -> bool:
        """Whether so few runs could show anything after the correction."""
        return self._least(self.family) < SIGNIFICANT

    @property
    def verdict(self) -> str:
        """What the tests say after Holm."""
        return _verdict(self.holm_worse, self.holm_better, self.decidable)

    @property
    def raw_verdict(self) -> str:
        """What they say as the paper takes them, without a correction."""
        return _verdict(self.p_worse, self.p_better, self._least(1) < SIGNIFICANT)

    def _least(self, family: int) -> float:
        return comparing.smallest_p(len(self.ours), len(self.theirs), family)


def _verdict(p_worse: float, p_better: float, decidable: bool) -> str:
    # first, since Holm steps down: fewer seeds may do than its first step asks
    if p_worse < SIGNIFICANT:
        return "worse"
    if p_better < SIGNIFICANT:
        return "better"
    return "no difference shown" if decidable else TOO_FEW


def reference_of(kinds: Kinds, env: str, group: str, measure: Measure) -> str | None:
    """What runs are compared with, if that was measured after as many env steps.

    Ablations, and the preset default, with paper; changes of default with default; all else with
    the first of the two that has values.
    """
    paper, default = REFERENCES
    runs = kinds[env, group]
    fitting: tuple[str, ...] = REFERENCES
    if group in REFERENCES or group in TABLE_S1:
        fitting = (paper,)
    elif runs[0].algorithm == "seads" and runs[0].preset == default:
        fitting = (default,)
    others = ((one, kinds.get((env, one), [])) for one in fitting if one != group)
    measured = (one for one, theirs in others if values_of(theirs, measure) and alike(runs, theirs))
    return next(measured, None)


def alike(ours: Sequence[RunResult], theirs: Sequence[RunResult]) -> bool:
    """Whether runs of two kinds were given as many env steps."""
    return same_budget(run.budget for run in (*ours, *theirs) if run.measured)


def compare(
    kinds: Kinds,
    measure: Measure = "coverage",
    take: Callable[[str], bool] = lambda group: True,
    family: int | None = None,
) -> list[Comparison]:
    """Every group beside the reference of its environment, corrected over all, or a family."""
    pairs = []
    for (env, group), runs in kinds.items():
        reference = reference_of(kinds, env, group, measure) if take(group) else None
        if reference is None:
            continue
        ours, theirs = values_of(runs, measure), values_of(kinds[env, reference], measure)
        if len(ours) > 1 and len(theirs) > 1:
            pairs.append((env, group, reference, measure, ours, theirs))
    worse = [comparing.mann_whitney(theirs, ours) for *_, ours, theirs in pairs]
    better = [comparing.mann_whitney(ours, theirs) for *_, ours, theirs in pairs]
    family = len(pairs) if family is None else family
    holm_worse, holm_better = (comparing.holm(one, family) for one in (worse, better))
    adjusted = zip(worse, better, holm_worse, holm_better, strict=True)
    return [
        Comparison(*pair, *tests, family=family)
        for pair, tests in zip(pairs, adjusted, strict=True)
    ]


def ablation_cells(kinds: Kinds) -> list[Comparison]:
    """Table S.1: the ablations beside the preset paper; the family is all cells of the paper's."""
    own = {kind: runs for kind, runs in kinds.items() if kind[0] in ENVIRONMENTS}
    return compare(own, take=lambda group: group in TABLE_S1, family=CELLS_OF_S1)


def mean_text(values: Sequence[float], digits: int = 2) -> str:
    """Mean ± standard deviation, as the paper prints it."""
    if not values:
        return ""
    mean, std = comparing.mean_std(values)
    return f"{mean:.{digits}f}" + ("" if np.isnan(std) else f" ± {std:.{digits}f}")


def spread_text(values: Sequence[float], digits: int = 2) -> str:
    """The interval of the mean in words, or the range of few runs; of one run nothing."""
    few = len(values) < comparing.FEWEST_TO_RESAMPLE
    return _interval_text(comparing.mean_spread(values), few, digits)


def difference_text(ours: Sequence[float], theirs: Sequence[float], digits: int) -> str:
    """The interval of the difference in words, or the range of all differences of few runs."""
    few = comparing.hodges_lehmann_interval(ours, theirs) is None
    return _interval_text(comparing.difference_spread(ours, theirs), few, digits)


def _interval_text(spread: tuple[float, float] | None, is_range: bool, digits: int) -> str:
    if spread is None:
        return ""
    return f"{spread[0]:.{digits}f} to {spread[1]:.{digits}f}" + (" (range)" if is_range else "")


def seeds_text(count: int) -> str:
    """How many seeds, in words."""
    return "1 seed" if count == 1 else f"{count} seeds"


def p_text(p: float) -> str:
    """A p-value in few digits."""
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"
