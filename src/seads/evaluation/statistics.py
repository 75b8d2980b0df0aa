"""Numbers that say how sure one may be: intervals for shares, quartiles for counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binomtest

CONFIDENCE = 0.95


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share; sensible for all and for none succeeding, too."""
    found = binomtest(successes, trials).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


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
