from __future__ import annotations

import numpy as np
import pytest
from tests.planning.planning_models import boards, every_state, goal_bits

from seads.games import make_game
from seads.planning import Costs, RulesModel, compile_model, heuristic
from seads.planning.packed import pack


@pytest.mark.parametrize("patterns", [0, 4], ids=["potentials", "patterns"])
@pytest.mark.parametrize(("name", "size"), [("lightsout", 3), ("tileswap", 2)])
def test_bounds_never_exceed_the_exact_depth(name, size, patterns, monkeypatch):
    monkeypatch.setattr(heuristic, "MAX_PATTERNS", patterns)
    game = make_game(name, size=size)
    goal = goal_bits(game)
    compiled = compile_model(RulesModel(game), goal[None])
    if name == "lightsout":
        states = every_state(9)
    else:
        states = np.concatenate([boards(game, depth, 10) for depth in range(1, 5)])
    depth = game.depth(game.from_bits(states))
    deepest = states[depth.argmax()]
    bound = heuristic.derive(deepest, goal, compiled, Costs.length(compiled.num_skills))
    lower = bound(pack(states))
    assert (lower <= depth * (1 + 1e-6)).all()
    assert lower[depth.argmax()] >= 1
    assert bound(pack(goal)[None])[0] == 0
    if patterns:  # all bits fit into the patterns, so that the bound is exact
        np.testing.assert_allclose(lower, depth, rtol=1e-6)


def test_states_out_of_reach_are_ruled_out():
    game = make_game("lightsout", size=4)
    goal = goal_bits(game)
    compiled = compile_model(RulesModel(game), goal[None])
    corner = np.eye(16, dtype=bool)[0]
    bound = heuristic.derive(corner, goal, compiled, Costs.length(16))
    assert np.isinf(bound(pack(corner)[None])[0])


def test_out_of_time_the_bound_is_looser_and_not_kept():
    game = make_game("lightsout", size=3)
    goal = goal_bits(game)
    compiled = compile_model(RulesModel(game), goal[None])
    states, costs = every_state(9), Costs.length(9)
    depth = game.depth(game.from_bits(states))
    start = states[depth.argmax()]
    hasty = heuristic.derive(start, goal, compiled, costs, in_time=lambda: False)(pack(states))
    exact = heuristic.derive(start, goal, compiled, costs)(pack(states))
    assert (hasty <= depth * (1 + 1e-6)).all()
    assert hasty.sum() < exact.sum()
    np.testing.assert_allclose(exact, depth, rtol=1e-6)
