"""Task evaluation with an agent whose answers are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.exact_agent import exact_agent

from seads.errors import SeadsError
from seads.evaluation import evaluate
from seads.evaluation.statistics import summary, wilson_interval
from seads.evaluation.tasks import TaskScores, measure_tasks
from seads.games import LightsOut
from seads.jax_setup import prepare_jax
from seads.solving import Agent, Reason, Solving
from seads.solving.tasks import draw_tasks

prepare_jax()
GAME = LightsOut(5)
ENV = "lightsout-cursor"


def solve(agent: Agent, solving: Solving, depths: list[int], per_depth: int = 3) -> TaskScores:
    return measure_tasks(agent, depths, per_depth, "test", 5, solving)


@pytest.mark.parametrize("replan", [True, False])
def test_an_exact_agent_solves_every_board_optimally(replan: bool) -> None:
    scores = solve(exact_agent(), Solving(replan=replan), [1, 3, 9])
    found = scores.to_json()
    assert found["replan"] is replan
    assert found["success"] == 1.0
    assert found["by_depth"] == {"1": 1.0, "3": 1.0, "9": 1.0}
    assert sum(found["failures"].values()) == 0
    assert found["skill_effects"] == {"as_predicted": 39, "no_effect": 0, "wrong_effect": 0}
    for depth, one in found["depths"].items():
        assert one["planned_optimally"] == 1.0
        assert one["plan_length"]["mean"] == one["skills"]["mean"] == int(depth)
        assert one["boards"] == 3
    assert found["solution_length"]["min"] >= 1
    assert found["skill_length"]["max"] <= 10
    assert 0 < found["interval"][0] < found["interval"][1] == 1.0
    assert [task["depth"] for task in found["tasks"]] == [1] * 3 + [3] * 3 + [9] * 3
    first = found["tasks"][0]
    assert first["skills"] == GAME.solve(np.array([*map(int, first["board"].split(","))], np.uint8))
    assert (found["plans_found"], first["skill_steps"]) == (1.0, [first["env_steps"]])
    json.dumps(found, allow_nan=False)
    assert str(scores).splitlines()[0].split()[:3] == ["depth", "boards", "solved"]


def test_a_failing_skill_is_reported_and_replanning_gets_around_it() -> None:
    clumsy = exact_agent(hesitant=range(25))
    plain = solve(clumsy, Solving(replan=False), [1, 2]).executions
    assert {one.reason for one in plain} == {Reason.NO_EFFECT}
    assert [one.env_steps for one in plain] == [10] * 3 + [20] * 3
    again = solve(clumsy, Solving(), [1, 2])
    # the second try samples its actions, and then presses
    assert again.solved.tolist() == [True] * 6
    assert all(len(one.runs) > len(one.plans[0]) for one in again.executions)
    found = again.to_json()
    assert found["skill_effects"]["no_effect"] >= 9
    assert found["depths"]["2"]["plans"]["mean"] > 1


def test_the_wrong_press_is_told_from_none() -> None:
    swapped = exact_agent(presses={k: (k + 1) % 25 for k in range(25)})
    scores = solve(swapped, Solving(replan=False), [1])
    assert {one.reason for one in scores.executions} == {Reason.WRONG_EFFECT}
    found = scores.to_json()
    assert found["failures"]["wrong_effect"] == 3
    assert found["success"] == 0.0
    assert found["solution_length"] is None
    assert found["skill_length"] is None  # of solved boards only, as in the paper
    assert found["interval"][0] == 0.0


def test_a_planning_limit_of_zero_fails_every_board() -> None:
    scores = solve(exact_agent(), Solving(seconds=0.0), [2])
    assert {one.reason for one in scores.executions} == {Reason.BUDGET}
    assert scores.to_json()["plans_found"] == 0.0


def test_a_depths_boards_do_not_depend_on_the_others() -> None:
    drawn = draw_tasks(GAME, [2, 4], 6, "test", seed=1)
    alone = draw_tasks(GAME, [4], 6, "test", seed=1)
    assert (drawn.starts[6:] == alone.starts).all()
    assert (drawn.seeds[6:] == alone.seeds).all()
    assert len(set(drawn.seeds.tolist())) == 12
    boards = GAME.from_bits(drawn.starts)
    assert (GAME.depth(boards) == drawn.depths).all()
    assert GAME.in_split(boards, "test").all()
    assert (drawn.starts != draw_tasks(GAME, [2, 4], 6, "test", seed=2).starts).any()


@pytest.mark.parametrize(("successes", "trials"), [(0, 20), (1, 20), (10, 20), (20, 20), (99, 100)])
def test_wilson_interval(successes: int, trials: int) -> None:
    expected = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high))


def test_no_interval_of_nonsense() -> None:
    with pytest.raises(ValueError, match="k"):
        wilson_interval(3, 2)


def test_summary() -> None:
    expected = {"mean": 4.0, "min": 1.0, "q1": 2.0, "median": 3.0, "q3": 4.0, "max": 10.0}
    assert summary([10, 1, 3, 2, 4]) == expected
    assert summary([]) is None


def test_one_call_measures_what_is_asked_for() -> None:
    agent = exact_agent()
    scores = evaluate(agent, starts=2, depths=[1], episodes_per_depth=2, boards_per_depth=2)
    assert scores.coverage is not None
    assert scores.tasks is not None
    assert (scores.coverage.mean, scores.tasks.success) == (25.0, 1.0)
    assert scores.model is None
    assert scores.to_json().keys() == {"env", "env_steps", "algorithm", "coverage", "tasks"}
    assert "coverage 25.00 of 25 moves, mean of 2 starts" in str(scores)
    more = evaluate(agent, ["model", "skill_maps"], starts=1, depths=[3], boards_per_depth=2)
    assert more.model is not None
    assert more.model.right.shape == (2, 25)
    assert more.skill_maps is not None
    # what cannot be measured is left out of all, and refused by name
    vic = exact_agent(algorithm="vic")
    assert evaluate(vic, starts=1).tasks is None
    with pytest.raises(SeadsError, match="no forward model to plan with"):
        evaluate(vic, "tasks")
    with pytest.raises(SeadsError, match="unknown measurement 'task'; did you mean 'tasks'"):
        evaluate(agent, "task")
