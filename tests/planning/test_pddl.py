from __future__ import annotations

import numpy as np
import pytest
from tests.planning.planning_models import Table, boards, goal_bits, half_fields

from seads.errors import SeadsError
from seads.games import make_game
from seads.planning import RulesModel, compile_model, plan
from seads.planning.pddl import to_problem, write_pddl


def outside_plan(problem):
    shortcuts = pytest.importorskip("unified_planning.shortcuts")
    pytest.importorskip("up_fast_downward")
    shortcuts.get_environment().credits_stream = None
    search = {"fast_downward_search_config": "astar(blind())"}
    with shortcuts.OneshotPlanner(name="fast-downward", params=search) as planner:
        return [int(str(a.action.name).split("_")[1]) for a in planner.solve(problem).plan.actions]


@pytest.mark.parametrize(("name", "size", "depth"), [("lightsout", 3, 5), ("tileswap", 2, 4)])
def test_an_outside_planner_finds_a_plan_of_the_same_length(name, size, depth):
    game = make_game(name, size=size)
    goal, start = goal_bits(game), boards(game, depth, 1)[0]
    compiled = compile_model(RulesModel(game), goal[None])
    skills = outside_plan(to_problem(start, goal, compiled))
    assert len(skills) == len(plan(start, goal, compiled)) == depth
    for skill in skills:
        start = compiled.model.successor(start[None], np.array([skill]))[0]
    np.testing.assert_array_equal(start, goal)


def test_conditional_flips_are_exported():
    model, start, goal = half_fields(2), np.zeros(4, bool), np.array([1, 0, 0, 0], bool)
    compiled = compile_model(model, start[None])
    skills = outside_plan(to_problem(start, goal, compiled))
    assert len(skills) == len(plan(start, goal, compiled)) > 1


def test_what_a_skill_needs_is_its_precondition():
    """Bit 1 flips while bit 0 is set: it must be set before, and taken back."""
    model = Table(2, 2, lambda state, skill: state ^ np.eye(2, dtype=bool)[skill])
    start, goal = np.zeros(2, bool), np.array([False, True])
    compiled = compile_model(model, start[None])
    assert outside_plan(to_problem(start, goal, compiled)) == [1]
    needs = {0: [], 1: [(0, True)]}
    assert outside_plan(to_problem(start, goal, compiled, needs=needs.__getitem__)) == [0, 1, 0]


def test_files_are_written(tmp_path):
    pytest.importorskip("unified_planning")
    game = make_game("lightsout", size=2)
    compiled = compile_model(RulesModel(game), goal_bits(game)[None])
    domain, problem = write_pddl(boards(game, 1, 1)[0], goal_bits(game), compiled, tmp_path / "a")
    assert "skill_0" in domain.read_text()
    assert ":conditional-effects" in domain.read_text()
    assert "bit_3" in problem.read_text()


def test_opaque_skills_cannot_be_exported():
    def step(state, skill):
        return state if skill and state[:2].all() else state ^ np.eye(3, dtype=bool)[skill]

    compiled = compile_model(Table(3, 3, step), np.zeros((1, 3), bool))
    assert compiled.opaque
    with pytest.raises(SeadsError, match="have no operator"):
        to_problem(np.zeros(3, bool), np.ones(3, bool), compiled)
