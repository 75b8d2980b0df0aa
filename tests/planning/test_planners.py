from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planning.exact_network import exact_network
from tests.planning.planning_models import (
    Flips,
    boards,
    every_state,
    goal_bits,
    half_fields,
    replay,
    shortest,
)

from seads.games import make_game
from seads.planning import PLANNERS, Budget, Costs, PlanStatus, RulesModel, compile_model, plan
from seads.planning.astar import plan_uniform


def compiled_game(name, size):
    game = make_game(name, size=size)
    return game, goal_bits(game), compile_model(RulesModel(game), goal_bits(game)[None])


LIGHTS = compiled_game("lightsout", 5)
SMALL = compiled_game("lightsout", 3)
SWAPS = compiled_game("tileswap", 3)
SMALL_SWAPS = compiled_game("tileswap", 2)
HALVES = compile_model(half_fields(2), every_state(4))


def check(found, start, goal, model):
    """The plan replays in the model, from start to goal, through the states it names."""
    assert found.solved
    states = replay(start, found.skills, model)
    np.testing.assert_array_equal(states, found.states)
    np.testing.assert_array_equal(states[-1], goal)


@pytest.mark.parametrize("depth", range(1, 16))
def test_lights_out_plans_have_the_exact_depth(depth):
    game, goal, compiled = LIGHTS
    for start in boards(game, depth, 4):
        found = plan(start, goal, compiled)
        check(found, start, goal, compiled.model)
        assert len(found) == depth == found.cost
        assert found.planner == "gf2"
        assert found.minimal


@pytest.mark.parametrize("depth", range(1, 17))
def test_tile_swap_plans_have_the_exact_depth(depth):
    game, goal, compiled = SWAPS
    start = boards(game, depth, 1)[0]
    compiled.cache.clear()
    found = plan(start, goal, compiled)
    check(found, start, goal, compiled.model)
    assert len(found) == depth
    assert found.planner == "bidirectional"
    again = plan(start, goal, compiled)
    assert len(again) == depth
    assert again.expanded <= found.expanded


@pytest.mark.parametrize("planner", [name for name in PLANNERS if name != "gf2"])
@pytest.mark.parametrize(("game", "goal", "compiled"), [LIGHTS, SWAPS], ids=["lights", "swaps"])
def test_every_planner_on_the_network(planner, game, goal, compiled):
    network = exact_network(compiled, hidden=64)
    on_network = compile_model(network, goal[None])
    for depth in (1, 2, 3):
        start = boards(game, depth, 1, seed=1)[0]
        found = plan(start, goal, on_network, planner)
        check(found, start, goal, network)
        assert (len(found) == depth and found.expanded > 0) or found.planner == "gf2"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 511), st.integers(0, 511))
def test_planners_agree_on_random_flips(seed, start, goal):
    rng = np.random.default_rng(seed)
    effects = rng.random((6, 9)) < 0.35
    model = Flips(effects)
    start, goal = every_state(9)[[start, goal]]
    compiled = compile_model(model, start[None])
    wanted = shortest(model, start, goal)
    for planner in PLANNERS:
        found = plan(start, goal, compiled, planner)
        if wanted is None:
            assert found.status is PlanStatus.UNSOLVABLE
        else:
            check(found, start, goal, model)
            assert len(found) == wanted
            assert found.minimal


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 2**32))
def test_planners_agree_on_half_fields(start, goal, seed):
    compiled, model = HALVES, HALVES.model
    start, goal = every_state(4)[[start, goal]]
    price = np.random.default_rng(seed).random(8) + 0.1
    wanted = shortest(model, start, goal)
    for planner in ("auto", "bfs", "dijkstra", "bidirectional", "astar"):
        found = plan(start, goal, compiled, planner)
        assert (len(found) if found.solved else None) == wanted
    if wanted is not None:
        costs = [plan(start, goal, compiled, p, costs=Costs(price)) for p in ("auto", "dijkstra")]
        assert costs[0].cost == pytest.approx(costs[1].cost)
        check(costs[0], start, goal, model)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_costs_are_minimised_alike(seed):
    rng = np.random.default_rng(seed)
    for game, goal, compiled in (SMALL, SMALL_SWAPS):
        start = boards(game, 3, 1, seed=seed % 97)[0]
        costs = Costs(rng.random(compiled.num_skills) + 0.05)
        found = plan(start, goal, compiled, costs=costs)
        other = plan(start, goal, compiled, "dijkstra", costs=costs)
        check(found, start, goal, compiled.model)
        check(other, start, goal, compiled.model)
        assert found.cost == pytest.approx(other.cost)
        assert found.cost == pytest.approx(costs.per_skill[list(found.skills)].sum())


def test_costs_on_a_board_of_full_size():
    game, goal, compiled = SWAPS
    start = boards(game, 5, 1)[0]
    costs = Costs(np.random.default_rng(0).random(12) + 0.5)
    found = plan(start, goal, compiled, costs=costs)
    check(found, start, goal, compiled.model)
    assert found.planner == "astar"
    without_bound = plan_uniform(start, goal, compiled, Budget(), costs)
    assert found.cost == pytest.approx(without_bound.cost)
    assert found.expanded < without_bound.expanded / 4


def test_risk_prefers_the_safe_detour_and_forbidden_skills_are_not_used():
    effects = np.array([[1, 1], [1, 0], [0, 1], [1, 0]], bool)
    model = Flips(effects)
    start, goal = np.zeros(2, bool), np.ones(2, bool)
    assert plan(start, goal, model).skills == (0,)
    safe = Costs.from_success(np.array([0.5, 0.6, 0.99, 0.9]))
    for planner in ("auto", "astar", "dijkstra", "gf2"):
        found = plan(start, goal, model, planner, costs=safe)
        assert sorted(found.skills) == [2, 3]
        assert math.exp(-found.cost) == pytest.approx(0.99 * 0.9)
    forbidden = Costs(np.array([math.inf, 1.0, 1.0, math.inf]))
    assert sorted(plan(start, goal, model, costs=forbidden).skills) == [1, 2]
    assert sorted(plan(start, goal, model, "dijkstra", costs=forbidden).skills) == [1, 2]
    # free skills: of equally cheap plans the shortest
    free = Costs(np.zeros(4))
    for planner in ("auto", "dijkstra", "astar"):
        assert plan(start, goal, model, planner, costs=free).skills == (0,)


@pytest.mark.parametrize("size", [7, 9, 13])
def test_large_boards(size):
    game, goal, compiled = compiled_game("lightsout", size)
    start = boards(game, size * size // 2, 1)[0]
    found = plan(start, goal, compiled)
    check(found, start, goal, compiled.model)
    assert found.seconds < 1.0
    assert len(found) <= size * size // 2
    if size == 9:
        # eight dimensions of other solutions: none may be shorter
        from seads.planning.flips import flip_system

        system = flip_system(compiled, Costs.length(81))
        assert system.nullity == 8
        pressed = np.isin(system.skills, found.skills)
        for mask in range(256):
            rows = [row for row in range(8) if mask >> row & 1]
            other = pressed ^ (system.null_basis[rows].sum(axis=0) % 2).astype(bool)
            assert other.sum() >= len(found)


def test_more_skills_than_can_be_enumerated():
    rng = np.random.default_rng(2)
    effects = rng.random((48, 20)) < 0.3
    model = Flips(effects)
    start, goal = np.zeros(20, bool), rng.random(20) < 0.5
    compiled = compile_model(model, start[None])
    found = plan(start, goal, compiled)
    check(found, start, goal, model)
    assert found.planner == "bidirectional"
    assert found.minimal
    assert len(found) == len(plan(start, goal, compiled, "bfs"))
    loose = plan(start, goal, compiled, budget=Budget(max_nodes=1))
    check(loose, start, goal, model)
    assert not loose.minimal
    assert loose.planner == "gf2"


def test_of_a_plan_of_flips_the_model_is_asked_once():
    model = Flips(np.eye(6, dtype=bool))
    compiled = compile_model(model, np.zeros((1, 6), bool))
    before = model.asked
    found = plan(np.zeros(6, bool), np.ones(6, bool), compiled, "gf2")
    assert found.agreed
    assert model.asked - before == len(found) == 6


def test_no_state_is_expanded_twice():
    model = Flips(np.eye(6, dtype=bool))
    found = plan(np.zeros(6, bool), np.ones(6, bool), model, "bfs")
    assert len(found) == 6
    assert found.expanded <= 2**6
    assert model.asked == 6 * found.expanded
