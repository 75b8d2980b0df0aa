from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planning.planning_models import (
    Faulty,
    Flips,
    Table,
    boards,
    every_state,
    goal_bits,
    replay,
    shortest,
)

from seads.games import make_game
from seads.planning import (
    Budget,
    Costs,
    PlanStatus,
    RulesModel,
    bidirectional,
    compile_model,
    plan,
)
from seads.planning.bidirectional import plan as both_ends
from seads.planning.operators import Compiled, Operator, OperatorSet
from seads.planning.packed import pack

SWAPS = make_game("tileswap", size=3)
GOAL = goal_bits(SWAPS)
SWAP_BOARDS = {depth: boards(SWAPS, depth, 3) for depth in range(1, 11)}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Levels are left half grown on small boards, too."""
    monkeypatch.setattr(bidirectional, "FIRST_BATCH", 3)


def affine(rng, bits, skills, density):
    """A model of random affine operators, one of them doing nothing, some not one-to-one."""
    eye = np.eye(bits, dtype=bool)
    operators = {}
    for k in range(skills):
        decides = (rng.random((bits, bits)) < density) & (rng.random() < 0.7)
        if k % 2:  # an exchange of two bits, its own inverse
            i, j = rng.permutation(bits)[:2]
            swap = eye.copy()
            swap[[i, j]] = swap[[j, i]]
            decides = swap ^ eye
        operators[k] = Operator(k, decides, (rng.random(bits) < 0.2) & (k % 3 == 0))
    operators[skills - 1] = Operator(skills - 1, ~eye & eye, np.zeros(bits, bool))

    def step(state, skill):
        change = operators[skill].decides.astype(int) @ state % 2 == 1
        return state ^ change ^ operators[skill].always

    return Table(bits, skills, step), operators


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, 2), st.sampled_from([3, 40, 300, 10**6])),
        min_size=3,
        max_size=8,
    )
)
def test_plans_stay_minimal_whatever_earlier_boards_left(tasks):
    compiled = compile_model(RulesModel(SWAPS), GOAL[None])
    for depth, board, nodes in tasks:
        start = SWAP_BOARDS[depth][board]
        found = plan(start, GOAL, compiled, "bidirectional", Budget(max_nodes=nodes))
        assert found.expanded <= nodes
        if found.solved:
            assert len(found) == depth
            states = replay(start, found.skills, compiled.model)
            np.testing.assert_array_equal(states, found.states)
            np.testing.assert_array_equal(states[-1], GOAL)
        else:
            assert found.status is PlanStatus.NODE_BUDGET
            assert nodes < 10**6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.2]))
def test_random_affine_skills_against_the_plainest_search(seed, density):
    rng = np.random.default_rng(seed)
    model, operators = affine(rng, bits=6, skills=6, density=density)
    compiled = Compiled(model, operators)
    if not compiled.invertible:
        return
    states = every_state(6)
    goals = states[rng.integers(64, size=2)]
    reference = model
    for turn in range(14):
        if turn == 9:  # from here on some transitions are not to be used
            pairs = [(states[rng.integers(64)], int(rng.integers(6))) for _ in range(40)]
            for state, skill in pairs:
                compiled.block(state, skill)
            reference = Faulty(model, {(state.tobytes(), skill) for state, skill in pairs})
        start, goal = states[rng.integers(64)], goals[turn % 2]
        nodes = int(rng.choice([2, 9, 10**6]))
        found = both_ends(start, goal, compiled, Budget(max_nodes=nodes), Costs.length(6))
        wanted = shortest(reference, start, goal)
        if found.solved:
            assert len(found) == wanted
            np.testing.assert_array_equal(replay(start, found.skills, reference), found.states)
            np.testing.assert_array_equal(found.states[-1], goal)
        elif found.status is PlanStatus.UNSOLVABLE:
            assert wanted is None
        else:
            assert nodes < 10**6


@pytest.mark.parametrize("seed", [0, 7, 10])
def test_a_half_grown_level_is_no_proof_of_a_shortest_plan(seed, monkeypatch):
    # flips with cycles of odd length: a level may meet the half-grown one before the whole one
    monkeypatch.setattr(bidirectional, "FIRST_BATCH", 1)
    monkeypatch.setattr(bidirectional, "BATCH_SUCCESSORS", 20)
    rng = np.random.default_rng(seed)
    effects = rng.random((int(rng.integers(6, 14)), 9)) < 0.35
    model, nowhere = Flips(effects), np.zeros((9, 9), bool)
    operators = {k: Operator(k, nowhere, effect) for k, effect in enumerate(effects)}
    compiled, goal = Compiled(model, operators), np.zeros(9, bool)
    for _ in range(40):
        start = rng.random(9) < 0.5
        found = both_ends(start, goal, compiled, Budget(), Costs.length(len(effects)))
        assert (len(found) if found.solved else None) == shortest(model, start, goal)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.2]))
def test_a_step_back_undoes_a_step(seed, density):
    rng = np.random.default_rng(seed)
    _, operators = affine(rng, bits=5, skills=6, density=density)
    skills = OperatorSet(5, 6, operators)
    if not skills.invertible:
        return
    words = pack(every_state(5))
    for state in every_state(5)[rng.integers(32, size=3)]:
        skills.block(state, int(rng.integers(6)))
    after, rows, used = skills.advance(words)
    there = set(zip(words[rows, 0].tolist(), used.tolist(), after[:, 0].tolist(), strict=True))
    before, rows, used = skills.retreat(words)
    back = set(zip(before[:, 0].tolist(), used.tolist(), words[rows, 0].tolist(), strict=True))
    # where a skill is blocked, a step forwards stays, and there is none backwards
    blocked = {(int.from_bytes(one, "little"), k) for k, of in skills.blocked.items() for one in of}
    assert {step for step in there if step[:2] not in blocked} == back
    assert {(of, k, of) for of, k in blocked} <= there


def test_a_level_is_left_as_soon_as_the_sides_meet():
    compiled = compile_model(RulesModel(SWAPS), GOAL[None])
    start = SWAP_BOARDS[9][0]
    found = both_ends(start, GOAL, compiled, Budget(), Costs.length(12))
    assert len(found) == 9
    # whole levels up to the meeting point are 3,120 states; without the last level 1,142
    assert 1142 < found.expanded < 2000
