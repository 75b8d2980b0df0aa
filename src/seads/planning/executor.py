"""From plans to solved boards: the paper's two algorithms, with and without replanning (S.8.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning.model import SymbolicModel
from seads.planning.result import Plan, PlanStatus

Apply = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""apply(skills, active): runs the skills of the active boards, returns (symbols, steps) of all.

Zero steps on an active board say that its environment cannot go on.
"""
MakePlan = Callable[[np.ndarray, np.ndarray, float], Plan]
"""make_plan(start, goal, spent): a plan, after `spent` seconds of planning on this board."""


class Reason(Enum):
    """How the execution on a board ended; the value puts it into words."""

    SOLVED = "solved"
    NO_PLAN = "the model knows no way to the goal"
    BUDGET = "planning used up its budget"
    NO_EFFECT = "a skill had no effect"
    WRONG_EFFECT = "a skill had another effect than predicted"
    TOO_MANY_SKILLS = "the limit on the number of skills was reached"
    ENDED = "the environment ended by itself"


class Effect(Enum):
    """What a skill did, compared with what the model said."""

    AS_PREDICTED = "as predicted"
    NO_EFFECT = "no effect"
    WRONG_EFFECT = "not as predicted"


@dataclass(frozen=True)
class SkillRun:
    """One skill, executed."""

    skill: int
    before: Bool[np.ndarray, "bits"]
    predicted: Bool[np.ndarray, "bits"]
    after: Bool[np.ndarray, "bits"]
    steps: int
    """Low-level environment steps."""
    plan: int
    """Which of the execution's plans the skill belongs to."""

    @property
    def effect(self) -> Effect:
        """What the skill did."""
        if np.array_equal(self.after, self.predicted):
            return Effect.AS_PREDICTED
        if np.array_equal(self.after, self.before):
            return Effect.NO_EFFECT
        return Effect.WRONG_EFFECT


@dataclass(frozen=True)
class Execution:
    """What happened on one board."""

    start: Bool[np.ndarray, "bits"]
    goal: Bool[np.ndarray, "bits"]
    reason: Reason
    runs: tuple[SkillRun, ...]
    plans: tuple[Plan, ...]

    @property
    def solved(self) -> bool:
        """Whether the goal was reached."""
        return self.reason is Reason.SOLVED

    @property
    def skills(self) -> tuple[int, ...]:
        """The skills that were executed."""
        return tuple(run.skill for run in self.runs)

    @property
    def env_steps(self) -> int:
        """Low-level steps of all skills: the paper's solution length."""
        return sum(run.steps for run in self.runs)

    @property
    def planned_length(self) -> int | None:
        """Length of the first plan; None where there was none."""
        if not self.plans:
            return 0
        return len(self.plans[0]) if self.plans[0].solved else None

    @property
    def planning_seconds(self) -> float:
        """Time of all plans together."""
        return sum((plan.seconds for plan in self.plans), 0.0)


def skill_limit(planned_length: int) -> int:
    """How many skills a board may take in all: twice the first plan, and ten more.

    A skill that fails costs one skill more, one that makes a wrong move often two; the
    paper sets no limit, its authors' release stops after ten plans.
    """
    return 2 * planned_length + 10


def execute(
    starts: Bool[np.ndarray, "boards bits"],
    goals: Bool[np.ndarray, "boards bits"],
    make_plan: MakePlan,
    model: SymbolicModel,
    apply: Apply,
    replan: bool = True,
    max_skills: int | None = None,
) -> list[Execution]:
    """Plan and execute on all boards side by side until each has ended.

    With `replan`, a board is planned anew as soon as a skill did not do what the model said.
    Without it the first plan is run to its end, whatever happens: the board is solved if
    the goal is reached then, and otherwise the first deviation is the reason. At most
    `max_skills` skills are run on a board, `skill_limit` of its first plan by default.
    """
    if max_skills is not None and max_skills < 0:
        raise SeadsError(f"max_skills is {max_skills}; it must be zero or more")
    boards = [
        _Board(start, goal, make_plan, replan, max_skills)
        for start, goal in zip(starts, goals, strict=True)
    ]
    while True:
        chosen = [board.decide() for board in boards]
        active = np.array([skill is not None for skill in chosen], bool)
        if not active.any():
            return [board.result() for board in boards]
        skills = np.array([0 if skill is None else skill for skill in chosen], np.int64)
        states = np.array([board.state for board in boards])
        predicted = model.successor(states[active], skills[active])
        symbols, steps = apply(skills, active)
        for row, expected in zip(np.flatnonzero(active), predicted, strict=True):
            boards[row].observe(int(skills[row]), expected, symbols[row].copy(), int(steps[row]))


class _Board:
    """The execution on one board while it goes on."""

    def __init__(
        self,
        start: Bool[np.ndarray, "bits"],
        goal: Bool[np.ndarray, "bits"],
        make_plan: MakePlan,
        replan: bool,
        max_skills: int | None,
    ) -> None:
        self.state = self._start = start
        self._goal, self._make_plan, self._replan = goal, make_plan, replan
        self._max_skills = max_skills
        self._pending: list[int] = []
        self._plans: list[Plan] = []
        self._runs: list[SkillRun] = []
        self._reason: Reason | None = None

    def decide(self) -> int | None:
        """The skill to run now, or None when the execution has ended."""
        if self._reason is None and not self._pending:
            self._reason = self._plan()
        if self._reason is None and self._at_limit:
            self._reason = Reason.TOO_MANY_SKILLS
        return None if self._reason else self._pending.pop(0)

    def _plan(self) -> Reason | None:
        """Refill the pending skills; why it is over if that cannot or need not be done."""
        if np.array_equal(self.state, self._goal):
            return Reason.SOLVED
        if self._plans and not self._replan:
            return self._first_deviation()
        if self._plans and self._at_limit:
            return Reason.TOO_MANY_SKILLS
        found = self._make_plan(self.state, self._goal, sum((p.seconds for p in self._plans), 0.0))
        self._plans.append(found)
        self._pending = list(found.skills)
        if self._pending:
            return None
        settled = (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE, PlanStatus.NO_COMBINATION)
        return Reason.NO_PLAN if found.status in settled else Reason.BUDGET

    def _first_deviation(self) -> Reason:
        for run in self._runs:
            if run.effect is not Effect.AS_PREDICTED:
                return Reason[run.effect.name]
        return Reason.NO_PLAN  # all went as predicted, so the plan did not lead to the goal

    @property
    def _at_limit(self) -> bool:
        limit = self._max_skills
        return len(self._runs) >= (skill_limit(len(self._plans[0])) if limit is None else limit)

    def observe(
        self,
        skill: int,
        predicted: Bool[np.ndarray, "bits"],
        after: Bool[np.ndarray, "bits"],
        steps: int,
    ) -> None:
        """Take note of what a skill did."""
        if steps == 0:
            self._reason = Reason.ENDED
            return
        run = SkillRun(skill, self.state, predicted, after, steps, len(self._plans) - 1)
        self._runs.append(run)
        self.state = after
        if self._replan and run.effect is not Effect.AS_PREDICTED:
            self._pending = []

    def result(self) -> Execution:
        """What happened, once it is over."""
        if self._reason is None:
            raise RuntimeError("the execution has not ended")
        return Execution(
            self._start, self._goal, self._reason, tuple(self._runs), tuple(self._plans)
        )
