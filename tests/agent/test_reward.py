"""The intrinsic reward against values computed by hand."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from seads.agent.reward import clipped_posterior, skill_reward

POSTERIOR = np.log(np.array([[0.7, 0.29, 0.01]]).repeat(3, 0))
SKILLS = np.arange(3)
CHANGED = np.ones(3, bool)
NONE = np.zeros(3)


def test_the_posterior_is_clipped_at_minus_two_log_k() -> None:
    expected = [np.log(0.7), np.log(0.29), -2 * np.log(3)]  # log 0.01 is -4.6, -2 log 3 is -2.2
    np.testing.assert_allclose(clipped_posterior(POSTERIOR)[0], expected)


def test_second_best_normalisation() -> None:
    reward = skill_reward(POSTERIOR, NONE, SKILLS, CHANGED, novelty_bonus=False)
    assert reward[0] == pytest.approx(np.log(0.7 / 0.29))  # the best: its lead
    assert reward[1] == 0  # the second best itself
    assert reward[2] == pytest.approx(-2 * np.log(3) - np.log(0.29))  # clipped, and worse
    assert reward[2] < 0


def test_a_converged_skill_earns_two_log_k() -> None:
    certain = np.log(np.array([[1.0, 1e-9, 1e-9]]))
    reward = skill_reward(certain, NONE[:1], SKILLS[:1], CHANGED[:1], novelty_bonus=False)
    assert reward[0] == pytest.approx(2 * np.log(3))


def test_without_second_best_the_base_is_log_k() -> None:
    reward = skill_reward(POSTERIOR, NONE, SKILLS, CHANGED, second_best=False, novelty_bonus=False)
    expected = [np.log(0.7) + np.log(3), np.log(0.29) + np.log(3), -np.log(3)]
    np.testing.assert_allclose(reward, expected)


@pytest.mark.parametrize(
    ("clip", "added"), [(False, [-0.5, 0.4, 5.0]), (True, [0.0, 0.4, np.log(3)])]
)
def test_novelty_is_added_and_clipped_if_asked(clip: bool, added: list[float]) -> None:
    novelty = np.array([-0.5, 0.4, 5.0])
    base = skill_reward(POSTERIOR, novelty, SKILLS, CHANGED, novelty_bonus=False)
    reward = skill_reward(POSTERIOR, novelty, SKILLS, CHANGED, clip_novelty=clip)
    np.testing.assert_allclose(reward - base, added)


def test_unchanged_symbols_earn_the_least_whatever_the_rest() -> None:
    changed = np.array([False, True, False])
    reward = skill_reward(POSTERIOR, np.full(3, 9.0), SKILLS, changed)
    np.testing.assert_allclose(reward[[0, 2]], -2 * np.log(3))
    assert reward[1] == pytest.approx(9.0)


def test_only_rivals_are_second_best() -> None:
    shared = np.log(np.array([[0.499, 0.499, 0.002]] * 2))
    skills, rivals = np.arange(2), np.array([[True, False, True], [True, True, True]])
    pay = partial(skill_reward, shared, NONE[:2], skills, CHANGED[:2], novelty_bonus=False)
    assert pay() == pytest.approx([0.0, 0.0])
    assert pay(rivals=rivals) == pytest.approx([np.log(0.499) + 2 * np.log(3), 0.0])
