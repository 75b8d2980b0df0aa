"""Relabelling is the best assignment there is, under its constraint."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from seads.agent.relabel import relabel


def total(scores: np.ndarray, skills: np.ndarray) -> float:
    return float(scores[np.arange(len(skills)), skills].sum())


def problem(episodes: int, skills: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = np.maximum(np.log(rng.dirichlet(np.full(skills, 0.3), episodes)), -2 * np.log(skills))
    return scores, rng.integers(skills, size=episodes)


@given(st.integers(1, 6), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_equals_brute_force(episodes: int, num_skills: int, seed: int) -> None:
    scores, skills = problem(episodes, num_skills, seed)
    best = max(total(scores, np.array(order)) for order in permutations(skills))
    assert total(scores, relabel(scores, skills)) == pytest.approx(best)


@given(st.integers(1, 60), st.integers(2, 12), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_keeps_the_counts_and_never_scores_below_the_identity(
    episodes: int, num_skills: int, seed: int, share: float
) -> None:
    scores, skills = problem(episodes, num_skills, seed)
    eligible = np.random.default_rng(seed + 1).random(episodes) < share
    given_skills = skills.copy()
    relabelled = relabel(scores, skills, eligible)
    assert (skills == given_skills).all()
    assert (
        np.bincount(relabelled, minlength=num_skills) == np.bincount(skills, minlength=num_skills)
    ).all()
    assert (relabelled[~eligible] == skills[~eligible]).all()
    assert total(scores, relabelled) >= total(scores, skills) - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_square_assignment_at_the_real_size(seed: int) -> None:
    scores, skills = problem(512, 25, seed)
    rows, columns = linear_sum_assignment(scores[:, skills], maximize=True)
    assert total(scores, relabel(scores, skills)) == pytest.approx(
        scores[:, skills][rows, columns].sum()
    )


def test_favourites_that_fit_are_handed_out() -> None:
    scores = np.log(np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]))
    assert relabel(scores, np.array([0, 1, 1])).tolist() == [1, 0, 1]


def test_who_gains_nothing_keeps_its_skill_while_there_is_any_left() -> None:
    scores = np.full((6, 3), -5.0)
    scores[0, 2] = scores[1, 2] = 0.0  # both of the third skill's labels are worth more here
    assert relabel(scores, np.array([0, 1, 0, 1, 2, 2])).tolist() == [2, 2, 0, 1, 0, 1]


def test_nobody_eligible_changes_nothing() -> None:
    scores, skills = problem(6, 3, 0)
    assert (relabel(scores, skills, np.zeros(6, bool)) == skills).all()
