"""Plans as text: the sentences that `print(plan)` and the commands show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seads.games import make_game
from seads.planning import Asked, Budget, Plan, PlanStatus, RulesModel, plan
from seads.planning.words import count, duration

FOUND = Plan(PlanStatus.SOLVED, (4, 0), np.zeros((3, 2), bool), seconds=0.0042, planner="gf2")


def test_a_plan_prints_a_line_per_skill() -> None:
    assert str(FOUND) == "plan: 2 skills, found in 4 ms by gf2\n  1. skill 4\n  2. skill 0"
    named = replace(FOUND, moves=("press r1c2", None))
    assert str(named).split("\n")[1:] == [
        "  1. skill 4: press r1c2",
        "  2. skill 0: no move of the game",
    ]
    alone = replace(FOUND, skills=(4,), seconds=2.26)
    assert str(alone).split("\n")[0] == "plan: 1 skill, found in 2.3 s by gf2"


def test_a_plan_as_json_says_what_it_was_asked_where_that_is_known() -> None:
    found = replace(FOUND, cost=2.0, minimal=True, moves=("press r1c2", None), compile_seconds=1.0)
    alone = found.to_json()
    assert (alone["status"], alone["skills"], alone["used"]) == ("solved", [4, 0], "gf2")
    assert (alone["moves"], alone["cost"]) == (["press r1c2", None], 2.0)
    assert alone["seconds"] == pytest.approx(1.0042)
    assert "planner" not in alone
    asked = replace(found, asked=Asked("auto", "length", "#.", "..")).to_json()
    said = {"planner": "auto", "minimise": "length", "board": "#.", "goal": ".."}
    assert asked == alone | said
    assert Plan(PlanStatus.TIME_BUDGET).to_json()["cost"] is None  # JSON knows no infinity


def test_without_a_plan_the_reason_is_printed() -> None:
    here = replace(FOUND, skills=())
    assert str(here) == "plan: nothing to do, the start is the goal"
    none = Plan(PlanStatus.NO_COMBINATION, note="by what each flips")
    assert (
        str(none)
        == f"no plan after less than 1 ms: {PlanStatus.NO_COMBINATION.value}, by what each flips"
    )


def test_the_memory_budget_is_named_where_it_ends_the_search() -> None:
    game = make_game("tileswap")
    start = game.to_bits(game.draw(np.array([14]), "all", np.array([0], np.uint64)))[0]
    goal = game.to_bits(game.goal[None])[0]
    for planner in ("bfs", "bidirectional"):
        found = plan(start, goal, RulesModel(game), planner, Budget(memory_mb=0.1))
        assert found.status is PlanStatus.MEMORY_BUDGET
        assert "raise memory_mb" in str(found)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "less than 1 ms"), (0.0123, "12 ms"), (61.26, "61.3 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_counts() -> None:
    assert [count(n, "step") for n in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
