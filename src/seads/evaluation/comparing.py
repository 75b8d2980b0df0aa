"""Runs of one kind beside runs of another: what differs, and how surely.

Pure functions of the runs' values. Resampling is seeded: the same values give the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

RESAMPLES = 10_000
FEWEST_TO_RESAMPLE = 5
"""Runs; of fewer, their range is told."""
Values = Sequence[float]
Interval = tuple[float, float]


def mean_std(values: Values) -> tuple[float, float]:
    """Mean and sample standard deviation (n - 1), which a single run has none of: NaN."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float(
        "nan"
    )


def _resampled(values: Values, *stream: int) -> Float[np.ndarray, "resamples runs"]:
    drawn = np.random.default_rng([*stream, len(values)]).integers(
        len(values), size=(RESAMPLES, len(values))
    )
    return np.asarray(values, float)[drawn]


def _middle(found: np.ndarray) -> Interval:
    low, high = np.percentile(found, (2.5, 97.5))
    return float(low), float(high)


def mean_interval(values: Values, seed: int = 0) -> Interval:
    """The 95 % percentile-bootstrap interval of the mean."""
    return _middle(_resampled(values, seed).mean(1))


def mean_spread(values: Values) -> Interval | None:
    """How sure the mean is: its interval, the range of the runs below five, None for one run.

    A bootstrap of so few runs would hardly draw anything but their range.
    """
    if len(values) < 2:
        return None
    if len(values) < FEWEST_TO_RESAMPLE:
        return float(min(values)), float(max(values))
    return mean_interval(values)


def hodges_lehmann(ours: Values, theirs: Values) -> float:
    """How much larger ours typically are: the median of all differences."""
    return float(np.median(_differences(ours, theirs)))


def hodges_lehmann_interval(ours: Values, theirs: Values) -> Interval | None:
    """Its exact 95 % interval: all shifts that a two-sided Mann-Whitney test does not reject.

    A bootstrap of so few runs would be too narrow. Equal values are counted as if they were not:
    where many are, the interval is wider than the test says and may end at 0 where that rejects.
    None where even the farthest shift is not rejected: three runs beside three.
    """
    size = len(ours) + len(theirs)
    ways = _rank_sums(range(1, size + 1), len(ours))
    tails = np.cumsum(ways[sum(range(1, len(ours) + 1)) :], dtype=object)
    rejected = sum(tails <= 0.025 * math.comb(size, len(ours)))
    found = np.sort(_differences(ours, theirs), axis=None)
    return (float(found[rejected - 1]), float(found[-rejected])) if rejected else None


def difference_spread(ours: Values, theirs: Values) -> Interval:
    """The interval of the difference; the range of all differences where there is none."""
    found = _differences(ours, theirs)
    return hodges_lehmann_interval(ours, theirs) or (float(found.min()), float(found.max()))


def probability_of_improvement(ours: Values, theirs: Values) -> float:
    """How often one of ours is larger than one of theirs, equal ones counted half."""
    difference = _differences(ours, theirs)
    return float((difference > 0).mean() + 0.5 * (difference == 0).mean())


def _differences(ours: Values, theirs: Values) -> Float[np.ndarray, "ours theirs"]:
    return np.subtract.outer(np.asarray(ours, float), np.asarray(theirs, float))


def mann_whitney(ours: Values, theirs: Values) -> float:
    """The exact one-sided p of ours being larger than theirs, ties and all.

    The share of all ways to split the pooled values in two of these sizes that give ours a rank
    sum as large as the one observed; equal values share their mean rank. Counted, not sampled.
    """
    count = len(ours)
    ranks = np.rint(2 * rankdata([*ours, *theirs])).astype(int)  # doubled: whole numbers
    reached = int(ranks[:count].sum())
    return sum(_rank_sums(ranks, count)[reached:]) / math.comb(len(ranks), count)


def _rank_sums(ranks: Iterable[int], count: int) -> list[int]:
    """By their sum, the ways to choose so many of some ranks."""
    found = list(ranks)
    ways = [[0] * (sum(found) + 1) for _ in range(count + 1)]
    ways[0][0] = 1
    for rank in found:
        for chosen in range(count, 0, -1):
            without, now = ways[chosen - 1], ways[chosen]
            for total in range(len(now) - 1, rank - 1, -1):
                if without[total - rank]:
                    now[total] += without[total - rank]
    return ways[count]


def smallest_p(ours: int, theirs: int, family: int = 1) -> float:
    """The smallest p that so many runs can give, after Holm over a family of tests."""
    return min(1.0, family / math.comb(ours + theirs, ours))


def holm(raw: Values, family: int | None = None) -> list[float]:
    """p-values after Holm's correction, in the given order.

    The family is these tests; or so many, of which those that were not made show nothing.
    """
    family = len(raw) if family is None else family
    order = np.argsort(raw, kind="stable")
    found = [0.0] * len(raw)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (family - place) * raw[index]))
        found[int(index)] = highest
    return found


def interquartile_mean(groups: Sequence[Values]) -> float:
    """The mean of the middle half of all environments' runs; environments weigh alike."""
    return float(_middle_half([np.asarray([values], float) for values in groups])[0])


def interquartile_interval(groups: Sequence[Values], seed: int = 0) -> Interval:
    """Its 95 % interval by a stratified bootstrap: runs are drawn anew in each environment."""
    drawn = [_resampled(values, seed, index) for index, values in enumerate(groups)]
    return _middle(_middle_half(drawn))


def _middle_half(groups: Sequence[np.ndarray]) -> Float[np.ndarray, "resamples"]:
    """The mean of the middle half of each row of all groups together.

    As if every group's runs were repeated until all have equally many, so that a group counts the
    same whatever the number of its seeds; with as many seeds in each it is the plain trimmed mean.
    """
    sizes = [group.shape[1] for group in groups]
    times = np.concatenate([np.full(size, math.lcm(*sizes) // size) for size in sizes])
    values = np.concatenate(groups, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    ends = np.cumsum(times[order], axis=1)
    whole = int(times.sum())
    kept = np.clip(ends, whole // 4, whole - whole // 4)
    weights = np.diff(kept, axis=1, prepend=whole // 4)
    return (np.take_along_axis(values, order, 1) * weights).sum(1) / weights.sum(1)


def steps_to(curve: Sequence[tuple[int, float]], level: float) -> int | None:
    """The env steps of the first point that reaches a level; None of a run that never does."""
    return next((steps for steps, value in sorted(curve) if value >= level), None)
