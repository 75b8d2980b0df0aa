"""Flips that a model gets wrong here and there: other orders, what is usual, what is ruled out."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planning.planning_models import (
    Erring,
    Faulty,
    Flips,
    Table,
    every_state,
    replay,
    shortest,
)

from seads.planning import (
    Budget,
    Compiled,
    Costs,
    PlanStatus,
    compile_model,
    operator_rows,
    plan,
    planner,
)
from seads.planning.flips import agreed_order
from seads.planning.operators import Operator
from seads.planning.planners import quickest


def exact_operators(effects: np.ndarray) -> dict[int, Operator]:
    none = np.zeros((effects.shape[1], effects.shape[1]), bool)
    return {k: Operator(k, none, effect) for k, effect in enumerate(effects)}


def flips_of(bits: int, skills: int, seed: int) -> Flips:
    """As many independent effects as there are skills."""
    rng = np.random.default_rng(seed)
    mixing = np.triu(rng.random((bits, bits)) < 0.2, 1) | np.eye(bits, dtype=bool)
    return Flips(mixing[:skills])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.1, 0.3, 0.5]))
def test_an_order_is_found_if_there_is_one(seed: int, share: float) -> None:
    flips = flips_of(6, 5, seed % 50)
    model = Erring(flips, share, seed)
    start = np.random.default_rng(seed).random(6) < 0.5
    goal = start ^ np.logical_xor.reduce(flips.effects)
    compiled = Compiled(model, exact_operators(flips.effects))
    found = agreed_order(start, list(range(5)), compiled)
    works = [
        order
        for order in permutations(range(5))
        if np.array_equal(replay(start, order, model), replay(start, order, flips))
    ]
    assert (found is not None) == bool(works)
    if found is not None:
        assert tuple(found) in works
        assert np.array_equal(replay(start, tuple(found), model)[-1], goal)


def test_the_order_is_kept_up_to_the_step_that_failed() -> None:
    flips = Flips(np.eye(5, dtype=bool))
    start = np.zeros(5, bool)
    there = np.array([1, 1, 0, 0, 0], bool)
    model = Faulty(flips, {(there.tobytes(), 2), (there.tobytes(), 4)})
    found = agreed_order(start, [0, 1, 2, 3, 4], Compiled(model, exact_operators(flips.effects)))
    assert found is not None
    assert found[:3] == [0, 1, 3]
    # nothing but the first skill is wrong at the second step: the search goes back
    first = np.array([1, 0, 0, 0, 0], bool)
    model = Faulty(flips, {(first.tobytes(), k) for k in range(1, 5)})
    found = agreed_order(start, [0, 1, 2, 3, 4], Compiled(model, exact_operators(flips.effects)))
    assert found is not None
    assert found[0] != 0


def test_asking_has_an_end() -> None:
    model = Erring(Flips(np.eye(12, dtype=bool)), 0.7)
    compiled = Compiled(model, exact_operators(np.eye(12, dtype=bool)))
    assert agreed_order(np.zeros(12, bool), list(range(12)), compiled) is not None
    assert agreed_order(np.zeros(12, bool), list(range(12)), compiled, questions=5) is None


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_long_plans_go_around_the_mistakes(share: float) -> None:
    flips = flips_of(60, 60, 0)
    model = Erring(flips, share)
    compiled = compile_model(model, np.zeros((1, 60), bool))
    assert sorted(compiled.flips) == list(range(60))
    assert len(compiled.opaque) == (0 if share == 0.02 else 60)
    rng = np.random.default_rng(1)
    for count in (5, 20, 40):
        chosen = rng.choice(60, count, replace=False)
        start = np.logical_xor.reduce(flips.effects[chosen])
        found = plan(start, np.zeros(60, bool), compiled, budget=Budget(seconds=30.0))
        assert found.planner == "gf2"
        assert sorted(found.skills) == sorted(chosen)
        assert not replay(start, found.skills, model)[-1].any()


def test_where_an_unreliable_flip_fails_nothing_is_blocked() -> None:
    start = np.arange(20) < 3
    wrong = {(start.tobytes(), skill) for skill in range(3)}
    model = Faulty(Erring(Flips(np.eye(20, dtype=bool)), 0.1), wrong)
    compiled = compile_model(model, np.zeros((1, 20), bool))
    assert len(compiled.operators) == len(compiled.opaque) == 20
    found = plan(start, np.zeros(20, bool), compiled)
    assert found.planner != "gf2"
    assert not replay(start, found.skills, model)[-1].any()
    assert not compiled.blocked


def test_what_a_skill_usually_flips_is_named() -> None:
    compiled = compile_model(Erring(flips_of(30, 30, 0), 0.3), np.zeros((1, 30), bool))
    row = operator_rows(compiled)[0]
    assert row.agreement is not None
    assert (row.skill, row.kind) == (0, "usually")
    assert row.effect.startswith("usually flips 0")
    assert 0.6 < row.agreement < 0.8
    assert compiled.opaque == tuple(range(30))
    # a skill that mostly does nothing has no usual effect worth knowing
    idle = compile_model(Erring(flips_of(30, 30, 0), 0.8), np.zeros((1, 30), bool))
    assert not idle.operators


def test_a_goal_that_no_combination_reaches_is_known_at_once() -> None:
    flips = flips_of(60, 59, 0)
    model = Erring(flips, 0.04)
    compiled = compile_model(model, np.zeros((1, 60), bool))
    goal = np.zeros(60, bool)
    goal[-1] = True  # only the effect that was left out begins with this bit
    for name in ("auto", "gf2"):
        found = plan(np.zeros(60, bool), goal, compiled, name)
        assert found.status is PlanStatus.NO_COMBINATION
        assert "59 skills" in found.note
        agreement = float(found.note.split("%")[0].split()[-1])
        assert agreement == pytest.approx(96, abs=1)
        assert found.skills == ()
    costs = Costs(np.arange(1.0, 60.0))
    found = plan(np.zeros(60, bool), goal, compiled, costs=costs)
    assert found.status is PlanStatus.NO_COMBINATION


def test_a_model_that_errs_often_is_searched_to_the_end_of_the_budget() -> None:
    compiled = compile_model(Erring(flips_of(60, 59, 0), 0.4), np.zeros((1, 60), bool))
    goal = np.eye(60, dtype=bool)[-1]
    found = plan(np.zeros(60, bool), goal, compiled, budget=Budget(max_nodes=2000))
    assert found.status is PlanStatus.NODE_BUDGET


def test_an_exact_model_proves_it() -> None:
    flips = flips_of(60, 59, 0)
    found = plan(np.zeros(60, bool), np.eye(60, dtype=bool)[-1], flips)
    assert found.status is PlanStatus.UNSOLVABLE
    assert found.note == ""


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 127), st.integers(0, 127))
def test_in_a_small_space_the_model_itself_decides(seed: int, start: int, goal: int) -> None:
    flips = flips_of(7, 5, seed % 20)

    def step(state: np.ndarray, skill: int) -> np.ndarray:
        rare = int(state @ (1 << np.arange(7))) % 9 == seed % 9
        return ~state if rare and skill == 0 else state ^ flips.effects[skill]

    model = Table(7, 5, step)
    every = every_state(7)
    with pytest.MonkeyPatch.context() as patched:  # however slow the machine is
        patched.setattr(planner, "RULED_OUT_SECONDS", 60.0)
        found = plan(every[start], every[goal], compile_model(model, every))
    wanted = shortest(model, every[start], every[goal])
    assert found.solved == (wanted is not None)
    if found.solved:
        assert np.array_equal(replay(every[start], found.skills, model)[-1], every[goal])
    else:
        assert found.status is PlanStatus.UNSOLVABLE


def test_unreliable_flips_alone_are_nothing_to_search_backwards() -> None:
    # more combinations than gf2 weighs, and no operator that always holds
    flips = Flips(every_state(8)[1:41])
    compiled = compile_model(Erring(flips, 0.3), np.zeros((1, 8), bool))
    assert len(compiled.operators) == len(compiled.opaque) == 40
    assert quickest(compiled, Costs.length(40)) != "bidirectional"


def test_all_that_was_expanded_is_counted() -> None:
    """Around a mistake there are two searches: one for the plan that fails, one for another."""
    start, goal = np.zeros(12, bool), np.arange(12) < 4
    flips = Flips(np.eye(12, dtype=bool))
    operators = exact_operators(flips.effects)
    once = plan(start, goal, Compiled(flips, operators), "bidirectional")
    model = Faulty(flips, {(start.tobytes(), once.skills[0])})
    found = plan(start, goal, Compiled(model, operators), "bidirectional")
    assert found.solved
    assert found.skills[0] != once.skills[0]
    assert found.expanded > once.expanded


def test_why_there_is_no_plan_is_told_with_what_it_rests_on() -> None:
    compiled = compile_model(Erring(flips_of(60, 59, 0), 0.04), np.zeros((1, 60), bool))
    found = plan(np.zeros(60, bool), np.arange(60) == 59, compiled)
    assert found.verdict.startswith("no combination of the skills' effects")
    assert "59 skills" in found.verdict
    assert "of held-out states" in found.verdict
    assert found.expanded > 0  # the model itself was asked, too
