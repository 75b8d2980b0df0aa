"""The paper's two algorithms on true rules, with failures put in where they hurt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seads.errors import SeadsError
from seads.games import LightsOut
from seads.planning import Budget, Plan, PlanStatus, RulesModel, plan
from seads.solving.execution import Effect, Execution, Reason, skill_limit

GAME = LightsOut(3)
MODEL = RulesModel(GAME)
GOAL = GAME.to_bits(GAME.goal[None])[0]
STEPS = 4

MakePlan = Callable[[np.ndarray, np.ndarray, float], Plan]


class World:
    """Boards on which skill k makes move k, except where a fault changes the move."""

    def __init__(
        self, starts: np.ndarray, fault: Callable[[int, int, int], int | None] | None = None
    ) -> None:
        self.symbols, self.calls = starts.copy(), np.zeros(len(starts), int)
        self.actives: list[list[bool]] = []
        self.fault = fault or (lambda row, call, skill: skill)

    def __call__(self, skills: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.actives.append(active.tolist())
        for row in np.flatnonzero(active):
            move = self.fault(int(row), int(self.calls[row]), int(skills[row]))
            self.calls[row] += 1
            board = GAME.from_bits(self.symbols[row][None])
            self.symbols[row] = GAME.to_bits(
                GAME.play(board, np.array([-1 if move is None else move]))
            )[0]
        return self.symbols.copy(), np.where(active, STEPS, 0)


def board_of(*moves: int) -> np.ndarray:
    """The board that these presses solve."""
    board = GAME.goal[None]
    for move in moves:
        board = GAME.play(board, np.array([move]))
    return GAME.to_bits(board)[0]


def bfs(start: np.ndarray, goal: np.ndarray, spent: float) -> Plan:
    return plan(start, goal, MODEL, "bfs")


class Planning:
    """What an execution asks for plans: a function, and the true rules."""

    network = MODEL

    def __init__(self, plan: MakePlan) -> None:
        self.plan = plan


def run(
    world: World, replan: bool = True, make_plan: MakePlan = bfs, max_skills: int | None = None
) -> list[Execution]:
    done = [Execution(one, GOAL, Planning(make_plan), replan, max_skills) for one in world.symbols]
    while True:
        chosen = [one.next_skill() for one in done]
        active = np.array([skill is not None for skill in chosen])
        if not active.any():
            return done
        symbols, steps = world(np.array([skill or 0 for skill in chosen]), active)
        for row in np.flatnonzero(active):
            done[row].record(symbols[row], int(steps[row]))


@pytest.mark.parametrize("replan", [True, False])
def test_boards_of_different_depths_are_solved_side_by_side(replan: bool) -> None:
    starts = np.array([board_of(0), board_of(0, 4, 8), board_of(), board_of(1, 5)])
    world = World(starts)
    done = run(world, replan)
    assert [one.solved for one in done] == [True] * 4
    assert [len(one.skills) for one in done] == [1, 3, 0, 2]
    assert [one.env_steps for one in done] == [STEPS, 3 * STEPS, 0, 2 * STEPS]
    assert [len(one.plans) for one in done] == [1, 1, 0, 1]
    assert [one.planned_length for one in done] == [1, 3, 0, 2]
    assert sorted(done[1].skills) == [0, 4, 8]
    assert (world.symbols == GOAL).all()
    # a board that is done is left alone
    assert world.actives == [
        [True, True, False, True],
        [False, True, False, True],
        [False, True, False, False],
    ]
    last = done[1].runs[-1]
    assert (last.predicted == GOAL).all()
    assert (last.after == GOAL).all()
    assert last.effect is Effect.AS_PREDICTED


@pytest.mark.parametrize(
    ("instead", "effect", "extra"), [(None, Effect.NO_EFFECT, 1), (7, Effect.WRONG_EFFECT, 2)]
)
def test_a_failure_is_replanned(instead: int | None, effect: Effect, extra: int) -> None:
    def fault(row: int, call: int, skill: int) -> int | None:
        return instead if call == 1 else skill

    (done,) = run(World(board_of(0, 4, 8)[None], fault))
    assert done.solved
    assert len(done.skills) == 3 + extra
    assert [one.effect for one in done.runs].count(effect) == 1
    assert done.runs[1].effect is effect
    assert len(done.plans) == 2
    assert [one.plan for one in done.runs] == [0, 0] + [1] * (1 + extra)
    # the prediction is what the model says of the board before, not of the one hoped for
    for one in done.runs:
        assert (one.predicted == MODEL.successor(one.before[None], np.array([one.skill]))[0]).all()


@pytest.mark.parametrize(
    ("instead", "reason"), [(None, Reason.NO_EFFECT), (7, Reason.WRONG_EFFECT)]
)
def test_without_replanning_the_first_deviation_is_the_reason(
    instead: int | None, reason: Reason
) -> None:
    def fault(row: int, call: int, skill: int) -> int | None:
        return {1: instead, 2: None}.get(call, skill)

    (done,) = run(World(board_of(0, 4, 8)[None], fault), replan=False)
    assert done.reason is reason
    assert not done.solved
    assert len(done.runs) == 3  # the plan is run to its end all the same
    assert len(done.plans) == 1


def test_without_replanning_two_mistakes_may_make_it_right() -> None:
    (first, second) = plan(board_of(0, 8), GOAL, MODEL, "bfs").skills

    def fault(row: int, call: int, skill: int) -> int:
        return second if skill == first else first

    (done,) = run(World(board_of(0, 8)[None], fault), replan=False)
    assert done.solved
    assert [one.effect for one in done.runs] == [Effect.WRONG_EFFECT] * 2


def test_what_never_works_ends_at_the_limit() -> None:
    world = World(board_of(0, 8)[None], lambda row, call, skill: None)
    (done,) = run(world)
    assert done.reason is Reason.TOO_MANY_SKILLS
    assert len(done.runs) == skill_limit(2) == 14
    assert len(done.plans) == 14  # no plan is made that cannot be run any more
    (done,) = run(World(board_of(0, 8)[None], lambda row, call, skill: None), max_skills=3)
    assert len(done.runs) == 3
    (done,) = run(World(board_of(0, 8)[None]), replan=False, max_skills=1)
    assert done.reason is Reason.TOO_MANY_SKILLS
    with pytest.raises(SeadsError, match="max_skills is -1"):
        run(World(board_of(0)[None]), max_skills=-1)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (PlanStatus.UNSOLVABLE, Reason.NO_PLAN),
        (PlanStatus.TIME_BUDGET, Reason.BUDGET),
        (PlanStatus.NODE_BUDGET, Reason.BUDGET),
        (PlanStatus.MEMORY_BUDGET, Reason.BUDGET),
        (PlanStatus.SOLVED, Reason.NO_PLAN),  # an empty plan that leads nowhere
    ],
)
@pytest.mark.parametrize("replan", [True, False])
def test_no_plan_and_budget_are_told_apart(
    status: PlanStatus, reason: Reason, replan: bool
) -> None:
    (done,) = run(World(board_of(0)[None]), replan, lambda start, goal, spent: Plan(status))
    assert done.reason is reason
    assert done.runs == []


def test_a_real_budget_of_zero_ends() -> None:
    def nothing_left(start: np.ndarray, goal: np.ndarray, spent: float) -> Plan:
        return plan(start, goal, MODEL, "bfs", Budget(seconds=0.0))

    starts = np.array([board_of(0), board_of()])
    done = run(World(starts), make_plan=nothing_left)
    assert [one.reason for one in done] == [Reason.BUDGET, Reason.SOLVED]
    assert [one.planned_length for one in done] == [None, 0]


def test_a_board_has_no_planned_length_before_its_plan() -> None:
    one = Execution(board_of(0, 4), GOAL, Planning(bfs))
    assert one.planned_length is None
    one.look_ahead()
    assert one.planned_length == 2


def test_time_spent_on_a_board_adds_up() -> None:
    told: list[float] = []

    def slow(start: np.ndarray, goal: np.ndarray, spent: float) -> Plan:
        told.append(spent)
        found = plan(start, goal, MODEL, "bfs")
        return Plan(found.status, found.skills, found.states, seconds=2.0)

    (done,) = run(World(board_of(0)[None], lambda r, call, k: None if call < 2 else k), True, slow)
    assert told == [0.0, 2.0, 4.0]
    assert done.planning_seconds == 6.0


def test_an_environment_that_cannot_go_on_ends_the_execution() -> None:
    one = Execution(board_of(0, 8), GOAL, Planning(bfs))
    assert one.next_skill() is not None
    one.record(one.state, steps=0)
    assert one.reason is Reason.ENDED
    assert one.next_skill() is None
    assert one.runs == []
    with pytest.raises(RuntimeError, match="no skill is running"):
        one.record(one.state, steps=1)


def test_a_look_ahead_shows_the_plan_and_runs_nothing() -> None:
    one = Execution(board_of(0, 4, 8), GOAL, Planning(bfs))
    assert one.look_ahead()
    assert one.look_ahead()
    assert (len(one.plans), len(one.ahead), one.runs) == (1, 3, [])
    skill, before, after = one.ahead[0]
    assert (before == one.start).all()
    assert (after == MODEL.successor(before[None], np.array([skill]))[0]).all()
    assert one.next_skill() == skill
    assert len(one.ahead) == 2


@pytest.mark.parametrize("replan", [True, False])
def test_a_board_changed_from_outside(replan: bool) -> None:
    one = Execution(board_of(0, 8), GOAL, Planning(bfs), replan)
    assert one.look_ahead()
    one.see(board_of(0, 8, 3))
    while (skill := one.next_skill()) is not None:
        one.record(MODEL.successor(one.state[None], np.array([skill]))[0], STEPS)
    assert one.reason is (Reason.SOLVED if replan else Reason.DISTURBED)
    assert len(one.runs) == (3 if replan else 2)


def test_a_skill_by_hand_belongs_to_no_plan() -> None:
    one = Execution(board_of(0, 8), GOAL, Planning(bfs))
    assert one.look_ahead()
    assert one.by_hand(4) == 4
    one.record(board_of(0, 4, 8), STEPS)
    assert (one.runs[0].plan, one.runs[0].effect) == (-1, Effect.AS_PREDICTED)
    assert one.ahead == []
    assert one.next_skill() in (0, 4, 8)


def test_only_the_same_skill_on_the_same_board_is_another_attempt() -> None:
    one = Execution(board_of(0), GOAL, Planning(bfs))
    told = []
    for after in (board_of(0), board_of(0), board_of(0, 1), board_of(0)):
        skill = one.next_skill()
        assert skill is not None
        told.append(one.attempts(skill))
        one.record(after, STEPS)
    assert told[:2] == [0, 1]
    assert told[2] == 2
    assert told[3] == 0
    stubborn = Execution(board_of(0), GOAL, Planning(bfs), replan=False)
    assert stubborn.attempts(stubborn.next_skill() or 0) == 0
