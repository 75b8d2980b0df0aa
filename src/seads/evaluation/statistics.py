"""Numbers that say how sure one may be: intervals for shares, quartiles for counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

CONFIDENCE = 0.95
_Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share; sensible for all and for none succeeding, too."""
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes of {trials} trials give no interval")
    share = successes / trials
    weight = 1 + _Z**2 / trials
    middle = (share + _Z**2 / (2 * trials)) / weight
    spread = _Z / weight * math.sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2))
    # at 0 and 1 the bound is exact, but for rounding
    low = 0.0 if successes == 0 else middle - spread
    high = 1.0 if successes == trials else middle + spread
    return low, high


def summary(values: Sequence[float]) -> dict[str, float] | None:
    """Mean, quartiles and extremes; None of nothing."""
    if not len(values):
        return None
    low, first, median, third, high = np.percentile(values, (0, 25, 50, 75, 100))
    return {
        "mean": float(np.mean(values)),
        "min": float(low),
        "q1": float(first),
        "median": float(median),
        "q3": float(third),
        "max": float(high),
    }
