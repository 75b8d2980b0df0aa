"""What a skill needs is found in its tries, and in nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from seads.agent.needs import Needs, find_needs

BITS = 8


def tries(seed: int = 0, count: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Boards of a single skill's tries, and a number of [0, 1) for each."""
    rng = np.random.default_rng(seed)
    return rng.random((count, BITS)) < 0.5, rng.random(count)


def found(before: np.ndarray, worked: np.ndarray, changed: np.ndarray | None = None) -> list:
    skills = np.zeros(len(before), int)
    [needs] = find_needs(before, skills, worked, worked if changed is None else changed, 1)
    return needs


@pytest.mark.parametrize("rate", [0.6, 1.0])
def test_a_lock_and_a_bit_that_must_be_off(rate: float) -> None:
    before, luck = tries()
    assert found(before, before[:, 2] & (luck < rate)) == [(2, True)]
    assert found(before, ~before[:, 5] & (luck < rate)) == [(5, False)]
    assert found(before, ~before[:, 5] & before[:, 2]) == [(2, True), (5, False)]


def test_an_accident_is_no_reason_against_it() -> None:
    before, _ = tries(count=200)
    worked = before[:, 2].copy()
    worked[np.flatnonzero(~worked)[:3]] = True
    assert found(before, worked) == [(2, True)]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_skill_that_fails_whatever_the_board_needs_nothing(rate: float) -> None:
    for seed in range(200):
        before, luck = tries(seed)
        assert found(before, luck < rate) == []


def test_few_tries_say_nothing() -> None:
    before, _ = tries(count=8)
    assert found(before, before[:, 2]) == []


def test_one_that_does_something_else_is_not_idle() -> None:
    """There the model is wrong, or the skill does another's: it does not lack anything."""
    before, _ = tries()
    assert found(before, before[:, 2], np.ones(len(before), bool)) == []


def test_every_skill_has_its_own() -> None:
    before, _ = tries(count=300)
    skills = np.arange(300) % 3
    worked = np.select([skills == 0, skills == 1], [before[:, 0], ~before[:, 1]], True)
    needs = find_needs(before, skills, worked, worked, 4)
    assert needs == [[(0, True)], [(1, False)], [], []]
    met = Needs.of(needs, BITS)
    assert met.of_skill(1) == [(1, False)]
    np.testing.assert_array_equal(met.met(before, skills), worked)
