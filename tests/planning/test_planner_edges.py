from __future__ import annotations

import math

import numpy as np
import pytest
from tests.planning.planning_models import (
    Faulty,
    Flips,
    Table,
    boards,
    every_state,
    goal_bits,
    replay,
)

from seads.errors import SeadsError
from seads.games import make_game
from seads.planning import (
    PLANNERS,
    Budget,
    Compiled,
    Costs,
    Operator,
    PlanStatus,
    RulesModel,
    compile_model,
    plan,
)

FLIPS = Flips(np.eye(4, dtype=bool))
ZERO, ONE = np.zeros(4, bool), np.ones(4, bool)


@pytest.mark.parametrize("planner", PLANNERS)
def test_goal_equal_to_start_is_the_empty_plan(planner):
    found = plan(ONE, ONE, FLIPS, planner, budget=Budget(max_nodes=0))
    assert found.solved
    assert found.skills == ()
    assert found.cost == 0.0
    assert found.states.tolist() == [ONE.tolist()]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("budget", "status"),
    [
        (Budget(max_nodes=0), PlanStatus.NODE_BUDGET),
        (Budget(seconds=0.0), PlanStatus.TIME_BUDGET),
        (Budget(memory_mb=0.0), PlanStatus.MEMORY_BUDGET),
    ],
)
def test_a_budget_of_zero(planner, budget, status):
    found = plan(ZERO, ONE, FLIPS, planner, budget=budget)
    assert found.status is status
    assert not found.solved
    assert found.expanded == 0
    assert found.skills == ()
    assert found.cost == math.inf


@pytest.mark.parametrize("planner", ["bfs", "dijkstra", "astar", "bidirectional"])
def test_a_budget_is_kept(planner):
    game = make_game("tileswap")
    compiled = compile_model(RulesModel(game), goal_bits(game)[None])
    start = boards(game, 14, 1)[0]
    found = plan(start, goal_bits(game), compiled, planner, budget=Budget(max_nodes=50))
    assert found.status is PlanStatus.NODE_BUDGET
    assert found.expanded <= 50
    found = plan(start, goal_bits(game), compiled, planner, budget=Budget(seconds=0.02))
    assert found.status is PlanStatus.TIME_BUDGET
    assert found.seconds < 5
    found = plan(start, goal_bits(game), compiled, planner, budget=Budget(memory_mb=0.1))
    assert found.status is PlanStatus.MEMORY_BUDGET


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_nodes", -1), ("seconds", -1.0), ("seconds", math.nan), ("memory_mb", -0.5)],
)
def test_negative_budgets_are_refused(field, value):
    with pytest.raises(SeadsError, match=field):
        Budget(**{field: value})


@pytest.mark.parametrize(
    ("start", "goal", "message"),
    [
        (np.zeros(3), ONE, "start has shape"),
        (ZERO, np.ones((1, 4)), "goal has shape"),
        ([0, 1, 2, 0], ONE, "start holds values other than 0 and 1"),
        (ZERO, [0.5, 0, 0, 0], "goal holds values"),
        (ZERO, [math.nan, 0, 0, 0], "goal holds values"),
        (["a", "b", "c", "d"], ONE, "start holds values"),
    ],
)
def test_malformed_states_are_refused(start, goal, message):
    with pytest.raises(SeadsError, match=message):
        plan(start, goal, FLIPS)


def test_malformed_planners_and_costs_are_refused():
    with pytest.raises(SeadsError, match=r"unknown planner 'bsf'.*did you mean 'bfs'"):
        plan(ZERO, ONE, FLIPS, "bsf")
    with pytest.raises(SeadsError, match="3 costs for 4 skills"):
        plan(ZERO, ONE, FLIPS, costs=Costs(np.ones(3)))
    with pytest.raises(SeadsError, match="'bfs' minimises length only"):
        plan(ZERO, ONE, FLIPS, "bfs", costs=Costs(np.arange(1.0, 5.0)))
    for bad in ([1, -1], [math.nan, 1]):
        with pytest.raises(SeadsError, match="cost of skill"):
            Costs(np.array(bad))
    with pytest.raises(SeadsError, match="shape"):
        Costs(np.ones((2, 2)))
    with pytest.raises(SeadsError, match="not all in"):
        Costs.from_success(np.array([0.5, 1.5]))


@pytest.mark.parametrize("planner", [name for name in PLANNERS if name != "gf2"])
@pytest.mark.parametrize(
    "step",
    [
        lambda state, skill: state,
        lambda state, skill: np.roll(state, 1 + skill),
        lambda state, skill: np.array([state[1], ~state[0], False, False]),
    ],
    ids=["never changes", "keeps the count", "loops"],
)
def test_models_that_lead_nowhere_end_as_unsolvable(planner, step):
    found = plan(np.array([1, 0, 0, 0]), ONE, Table(4, 2, step), planner)
    assert found.status is PlanStatus.UNSOLVABLE


def test_a_planner_that_cannot_be_used_is_refused():
    rolls = Table(4, 2, lambda state, skill: np.roll(state, 1 + skill))
    words = (
        r"'gf2' cannot be used: .* 2 skills \(0, 1\) depends on the state; choose from auto, bfs"
    )
    with pytest.raises(SeadsError, match=words):
        plan([1, 0, 0, 0], [0, 0, 0, 1], rolls, "gf2")
    assert plan([1, 0, 0, 0], [0, 0, 0, 1], rolls).planner == "bidirectional"
    with pytest.raises(SeadsError, match=r"choose from auto, dijkstra, astar$"):
        plan([1, 0, 0, 0], [0, 0, 0, 1], rolls, "gf2", costs=Costs(np.array([1.0, 2.0])))
    erases = Table(8, 2, lambda state, skill: state & (np.arange(8) > 5 + skill))
    compiled = compile_model(erases, every_state(8))
    with pytest.raises(SeadsError, match=r"'bidirectional' cannot .* backwards"):
        plan(np.ones(8), np.zeros(8), compiled, "bidirectional")
    assert plan(np.ones(8), [0] * 6 + [1, 1], compiled).solved
    nothing = Compiled(FLIPS, {})
    with pytest.raises(SeadsError, match="no skill of this model has an operator"):
        plan(ZERO, ONE, nothing, "gf2")


@pytest.mark.parametrize("planner", PLANNERS)
def test_unsolvable_boards(planner):
    game = make_game("lightsout", size=4)  # only 2**12 of 2**16 boards can be solved
    model = RulesModel(game)
    start = np.zeros(16, bool)
    start[0] = True
    assert game.depth(game.from_bits(start[None]))[0] == -1
    found = plan(start, goal_bits(game), model, planner)
    assert found.status is PlanStatus.UNSOLVABLE
    assert "no plan exists" in found.status.value


def test_a_compiled_model_does_not_rule_out_what_it_never_saw():
    # From 0000 no skill does anything, so it compiles to nothing; elsewhere the model moves.
    model = Table(4, 2, lambda state, skill: np.roll(state, 1 + skill))
    compiled = compile_model(model, ZERO[None])
    found = plan([1, 0, 0, 0], [0, 0, 0, 1], compiled)
    assert found.solved
    assert len(found) == 2


def test_a_wrong_operator_is_found_out_and_the_network_decides():
    wrong = {k: Operator(k, np.zeros((4, 4), bool), np.eye(4, dtype=bool)[k]) for k in range(4)}
    wrong[0] = Operator(0, np.zeros((4, 4), bool), np.ones(4, bool))  # claims to flip everything
    compiled = Compiled(FLIPS, wrong)
    found = plan(ZERO, ONE, compiled)
    assert found.solved
    assert len(found) == 4
    assert found.planner != "gf2"
    np.testing.assert_array_equal(replay(ZERO, found.skills, FLIPS)[-1], ONE)


def test_all_operators_wrong_falls_back_to_the_network():
    wrong = {k: Operator(k, np.zeros((4, 4), bool), np.ones(4, bool)) for k in range(4)}
    for planner in ("auto", "gf2", "bidirectional", "astar"):
        found = plan(ZERO, ONE, Compiled(FLIPS, dict(wrong)), planner)
        assert found.solved
        assert len(found) == 4
        assert found.planner == "bfs"
        np.testing.assert_array_equal(replay(ZERO, found.skills, FLIPS)[-1], ONE)
    costs = Costs(np.arange(1.0, 5.0))
    found = plan(ZERO, ONE, Compiled(FLIPS, dict(wrong)), costs=costs)
    assert found.planner == "dijkstra"
    assert found.cost == 10.0


def test_flips_are_reordered_around_mistakes_of_the_model():
    # In 0000 the model only believes in skill 3, then only in 2, then only in 1.
    states = [np.array(bits, bool) for bits in ([0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1])]
    faults = {(states[0].tobytes(), k) for k in (0, 1, 2)}
    faults |= {(states[1].tobytes(), k) for k in (0, 1)} | {(states[2].tobytes(), 0)}
    exact = compile_model(FLIPS, ZERO[None])
    compiled = Compiled(Faulty(FLIPS, faults), exact.operators)
    found = plan(ZERO, ONE, compiled)
    assert found.skills == (3, 2, 1, 0)
    assert found.planner == "gf2"


def test_search_goes_around_mistakes_of_the_model():
    game = make_game("tileswap")
    rules, goal = RulesModel(game), goal_bits(game)
    start = boards(game, 6, 1)[0]
    exact = compile_model(rules, goal[None])
    first = plan(start, goal, exact)
    faults = {(s.tobytes(), k) for s, k in zip(first.states[:-1], first.skills, strict=True)}
    model = Faulty(rules, faults)
    compiled = Compiled(model, exact.operators)
    found = plan(start, goal, compiled)
    assert found.solved
    assert found.planner == "bidirectional"
    assert not compiled.exact
    np.testing.assert_array_equal(replay(start, found.skills, model)[-1], goal)


def test_opaque_skills_shorten_plans():
    def step(state, skill):
        if skill == 4:  # from 0011 straight to 1111, a conjunction no operator expresses
            return ONE.copy() if (state == [0, 0, 1, 1]).all() else state
        return state ^ np.eye(4, dtype=bool)[skill]

    model = Table(4, 5, step)
    flips = compile_model(FLIPS, ZERO[None]).operators
    compiled = Compiled(model, flips)
    assert compiled.opaque == (4,)
    found = plan(ZERO, ONE, compiled)
    assert len(found) == 3
    assert found.skills[-1] == 4
    np.testing.assert_array_equal(replay(ZERO, found.skills, model)[-1], ONE)
    assert len(plan(ZERO, ONE, compiled, "astar")) == 3
    other = plan(ONE, ZERO, compiled)
    assert len(other) == 4
    assert other.minimal
