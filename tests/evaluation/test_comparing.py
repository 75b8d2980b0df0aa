"""Comparisons against cases worked out by hand, scipy, and another library's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from seads.evaluation.comparing import (
    difference_spread,
    hodges_lehmann,
    hodges_lehmann_interval,
    holm,
    interquartile_interval,
    interquartile_mean,
    mann_whitney,
    mean_interval,
    mean_spread,
    mean_std,
    probability_of_improvement,
    smallest_p,
    steps_to,
)


@pytest.mark.parametrize(
    ("ours", "theirs", "p"),
    [
        ([3, 4], [1, 2], 1 / 6),  # the best of the 6 splits of four values
        ([1, 2], [3, 4], 1.0),
        ([1, 4], [2, 3], 4 / 6),  # rank sums 3, 4, 5, 5, 6, 7: four are 5 or more
        ([2, 2], [1, 2], 1 / 2),  # ranks 3, 3, 3 and 1: all three splits without the 1 reach 6
        ([5, 5], [5, 5], 1.0),
        ([2], [1, 1, 1], 1 / 4),
    ],
)
def test_mann_whitney_by_hand(ours: list[float], theirs: list[float], p: float) -> None:
    assert mann_whitney(ours, theirs) == pytest.approx(p)


@given(st.permutations(range(11)), st.integers(2, 9))
def test_mann_whitney_without_ties_is_scipys(values: list[int], count: int) -> None:
    ours, theirs = values[:count], values[count:]
    expected = mannwhitneyu(ours, theirs, alternative="greater", method="exact").pvalue
    assert mann_whitney(ours, theirs) == pytest.approx(expected)


def test_ties_are_counted_as_a_permutation_test_counts_them() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(0, 4, 9), rng.integers(0, 3, 9)  # a ceiling, as coverage has one
    pooled = np.concatenate([ours, theirs])
    ranks = np.array([(pooled < v).sum() + ((pooled == v).sum() + 1) / 2 for v in pooled])
    shuffled = np.array([rng.permutation(ranks)[:9].sum() for _ in range(20_000)])
    sampled = (shuffled >= ranks[:9].sum() - 1e-9).mean()
    assert mann_whitney(ours.tolist(), theirs.tolist()) == pytest.approx(sampled, abs=0.015)


def test_holm_by_hand() -> None:
    # sorted .01 × 3, .02 × 2, .04 × 1, never below the one before
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])


def test_what_few_seeds_can_never_show() -> None:
    # the paper's 36 cells (six ablations, six environments)
    found = [smallest_p(n, n, 36) for n in (5, 7, 8, 10)]
    assert found == pytest.approx([0.143, 0.0105, 0.0028, 0.000195], rel=0.01)


def test_differences_by_hand() -> None:
    assert hodges_lehmann([3, 5], [1, 2]) == 2.5  # of 2, 1, 4, 3
    assert probability_of_improvement([2, 3], [1, 2]) == (3 + 0.5) / 4
    assert mean_std([1, 3]) == pytest.approx((2.0, 2**0.5))
    low, high = mean_interval([1, 2, 3])
    assert low == 1.0  # one in 27 draws is all ones
    assert high == 3.0


def test_the_interval_of_a_difference_agrees_with_the_test() -> None:
    # five beside five: of 252 splits 4 have U <= 2, 7 have U <= 3, and 6.3 are 2.5 %
    ours, theirs = [10, 20, 30, 40, 50], [0, 1, 2, 3, 4]
    assert hodges_lehmann_interval(ours, theirs) == (
        8,
        48,
    )  # the third of 6, 7, 8 and of 50, 49, 48
    # four beside four have their range, 1 split in 70 on either side; three have no interval
    assert hodges_lehmann_interval([4, 5, 6, 7], [0, 1, 2, 3]) == (1, 7)
    assert hodges_lehmann_interval([4, 5, 6], [0, 1, 2]) is None
    # a bootstrap would leave out 0, though p is 0.048 in one direction alone
    five, beside = [24.11, 24.69, 24.6, 24.98, 24.96], [24.49, 24.39, 24.44, 24.3, 24.05]
    assert mann_whitney(five, beside) == pytest.approx(12 / 252)
    found = hodges_lehmann_interval(five, beside)
    assert found is not None
    assert found[0] < 0 < found[1]


def test_the_interval_ends_at_the_ceiling_where_the_test_rejects() -> None:
    ours = [25.0] * 3 + [24.9 - 0.1 * seed for seed in range(7)]
    ceiling = [25.0] * 10
    assert mann_whitney(ceiling, ours) < 0.0025
    found = hodges_lehmann_interval(ours, ceiling)
    assert found is not None
    assert found[0] < 0 == found[1]


@given(st.permutations(range(11)), st.integers(2, 9), st.integers(-9, 9))
def test_the_interval_has_the_shifts_that_the_test_does_not_reject(
    values: list[int], count: int, whole: int
) -> None:
    ours, theirs = values[:count], values[count:]
    shift = whole + 0.5  # no ties
    shifted = [one - shift for one in ours]
    p = 2 * min(mann_whitney(shifted, theirs), mann_whitney(theirs, shifted))
    found = hodges_lehmann_interval(ours, theirs) or (-np.inf, np.inf)
    assert (found[0] <= shift <= found[1]) is (p > 0.05)


def test_interquartile_mean_by_hand() -> None:
    assert interquartile_mean([[0, 1, 2, 3], [4, 5, 6, 7]]) == 3.5  # of 2, 3, 4, 5


def test_environments_weigh_alike_in_the_interquartile_mean() -> None:
    # as 0, 1, 2, 3 and 4, 4, 8, 8: the middle half is 2, 3, 4, 4
    assert interquartile_mean([[0, 1, 2, 3], [8, 4]]) == 3.25
    assert interquartile_interval([[1.0] * 9, [0.0]]) == (0.5, 0.5)


def test_few_runs_have_a_range() -> None:
    assert mean_spread([3.0]) is None
    assert mean_spread([3.0, 1.0, 1.0, 1.0]) == (1.0, 3.0)
    assert mean_spread([3.0, 1.0, 1.0, 1.0, 1.0]) == mean_interval([3.0, 1.0, 1.0, 1.0, 1.0])
    assert difference_spread([3, 5], [1, 2, 2, 2, 2]) == (1.0, 4.0)  # 1 split in 21, on a side


def test_rliables_numbers_for_the_same_data() -> None:
    """rliable 1.2 on these, 50,000 resamples: 0.7156, 0.6733 to 0.75; 0.8867."""
    ours = [
        [0.91, 0.95, 0.88, 0.99, 0.93],
        [0.42, 0.31, 0.55, 0.47, 0.38],
        [0.77, 0.80, 0.61, 0.70, 0.75],
    ]
    theirs = [
        [0.81, 0.90, 0.86, 0.79, 0.83],
        [0.44, 0.29, 0.35, 0.41, 0.30],
        [0.57, 0.60, 0.61, 0.66, 0.55],
    ]
    assert interquartile_mean(ours) == pytest.approx(0.71555556, abs=1e-6)
    assert interquartile_interval(ours) == pytest.approx((0.67333333, 0.75), abs=0.003)
    each = [probability_of_improvement(a, b) for a, b in zip(ours, theirs, strict=True)]
    assert np.mean(each) == pytest.approx(0.88666667, abs=1e-6)


def test_steps_to_a_level() -> None:
    curve = [(300, 24.0), (100, 3.0), (200, 23.8)]
    assert steps_to(curve, 23.75) == 200
    assert steps_to(curve, 24.5) is None
