"""A board on its way from plan to solved: the paper's two algorithms, with and without replanning.

The board's side only (paper S.8.2): plans, skills, what they did, why it ended. Who runs the
skills, `seads.solving.executor` in an environment or a test on true rules, does so in between.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np

from seads.errors import SeadsError
from seads.planning.model import SymbolicModel
from seads.planning.result import Plan, PlanStatus
from seads.solving.boards import Symbol


class Planner(Protocol):
    """What an execution asks for plans; `seads.solving.Solver` is one."""

    network: SymbolicModel
    """What the skills are expected to do."""

    def plan(self, start: Symbol, goal: Symbol, spent: float) -> Plan:
        """A plan, after `spent` seconds of planning on this board."""
        ...


class Reason(Enum):
    """How the execution on a board ended; the value puts it into words."""

    SOLVED = "solved"
    NO_PLAN = "the model knows no way to the goal"
    BUDGET = "planning used up its budget"
    NO_EFFECT = "a skill had no effect"
    WRONG_EFFECT = "a skill had another effect than predicted"
    TOO_MANY_SKILLS = "the limit on the number of skills was reached"
    DISTURBED = "the board was changed from outside"
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
    before: Symbol
    predicted: Symbol
    after: Symbol
    steps: int
    """Low-level environment steps."""
    plan: int
    """Which of the execution's plans the skill belongs to; -1 for a skill run by hand."""

    @property
    def effect(self) -> Effect:
        """What the skill did."""
        if np.array_equal(self.after, self.predicted):
            return Effect.AS_PREDICTED
        if np.array_equal(self.after, self.before):
            return Effect.NO_EFFECT
        return Effect.WRONG_EFFECT


def skill_limit(planned_length: int) -> int:
    """How many skills a board may take in all: twice the first plan, and ten more.

    A skill that fails costs one skill more, one that makes a wrong move often two; the
    paper sets no limit, its authors' release stops after ten plans.
    """
    return 2 * planned_length + 10


@dataclass(eq=False)
class Execution:
    """What happens on one board: ask for the `next_skill`, run it, `record` what it did.

    With `replan`, a board is planned anew as soon as a skill did not do what the model said.
    Without it the first plan is run to its end, whatever happens: the board is solved if
    the goal is reached then, and otherwise the first deviation is the reason. At most
    `max_skills` skills are run, `skill_limit` of the first plan by default.
    """

    start: Symbol
    goal: Symbol
    planner: Planner = field(repr=False)
    replan: bool = True
    max_skills: int | None = None
    plans: list[Plan] = field(default_factory=list, repr=False)
    """Every plan that was made, the first one first."""
    runs: list[SkillRun] = field(default_factory=list, repr=False)
    """Every skill that was run, with the states before and after it."""
    reason: Reason | None = None
    """How it ended; None while it goes on."""

    def __post_init__(self) -> None:
        if self.max_skills is not None and self.max_skills < 0:
            raise SeadsError(f"max_skills is {self.max_skills}; it must be zero or more")
        self.start = self.state = self.start.copy()
        self._ahead: list[tuple[int, Symbol, Symbol]] = []
        self._running: tuple[int, Symbol, int] | None = None
        self._disturbed = False
        self._tried: Counter[tuple[int, bytes]] = Counter()

    # What it has come to -----------------------------------------------------------------

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
        """Length of the first plan; zero where none was needed, None where there is none."""
        if not self.plans:
            return 0 if self.solved else None
        return len(self.plans[0]) if self.plans[0].solved else None

    @property
    def planning_seconds(self) -> float:
        """Time of all plans together."""
        return sum((plan.seconds for plan in self.plans), 0.0)

    @property
    def ahead(self) -> list[tuple[int, Symbol, Symbol]]:
        """What is left of the plan: skills, each with the states planned before and after it."""
        return list(self._ahead)

    # How it goes on ----------------------------------------------------------------------

    def look_ahead(self) -> bool:
        """Make a plan where there is none; False, with a `reason`, where it is over."""
        if self.reason is None and not self._ahead:
            self.reason = self._plan()
        if self.reason is None and self._at_limit:
            self.reason = Reason.TOO_MANY_SKILLS
        return self.reason is None

    def next_skill(self) -> int | None:
        """The skill to run now, or None when the execution has ended."""
        if not self.look_ahead():
            return None
        skill, planned_from, planned = self._ahead.pop(0)
        on_plan = np.array_equal(self.state, planned_from)
        return self._start(skill, len(self.plans) - 1, planned if on_plan else None)

    def by_hand(self, skill: int) -> int:
        """Run this skill next, whatever the plan says: the plan is dropped."""
        self.drop_plan()
        self.reason = None
        return self._start(skill, -1)

    def attempts(self, skill: int) -> int:
        """How often this skill has been run on this very board before."""
        return self._tried[skill, self.state.tobytes()] - 1 if self.replan else 0

    def record(self, after: Symbol, steps: int) -> None:
        """Take note of what the skill did; zero steps say that the environment cannot go on."""
        if self._running is None:
            raise RuntimeError("no skill is running: ask for the next one first")
        skill, predicted, number = self._running
        self._running = None
        if steps == 0:
            self.reason = Reason.ENDED
            return
        run = SkillRun(skill, self.state, predicted, after.copy(), steps, number)
        self.runs.append(run)
        self.state = run.after
        if self.replan and run.effect is not Effect.AS_PREDICTED:
            self.drop_plan()
        if np.array_equal(self.state, self.goal) and not self._ahead:
            self.reason = Reason.SOLVED

    def see(self, state: Symbol) -> None:
        """The board was changed from outside, so that a plan for the old one is of no use."""
        self._disturbed |= not np.array_equal(state, self.state)
        self.state = state.copy()
        if self.replan and self._running is None:
            self.drop_plan()

    def drop_plan(self) -> None:
        """Plan anew before the next skill."""
        self._ahead = []

    def _start(self, skill: int, number: int, predicted: Symbol | None = None) -> int:
        if predicted is None:
            predicted = self.planner.network.successor(self.state[None], np.array([skill]))[0]
        self._running = skill, predicted, number
        self._tried[skill, self.state.tobytes()] += 1
        return skill

    def _plan(self) -> Reason | None:
        """Plan from the state as it is; why it is over if that cannot or need not be done."""
        if np.array_equal(self.state, self.goal):
            return Reason.SOLVED
        if self.plans and not self.replan:
            return self._first_deviation()
        if self.plans and self._at_limit:
            return Reason.TOO_MANY_SKILLS
        found = self.planner.plan(self.state, self.goal, self.planning_seconds)
        self.plans.append(found)
        self._ahead = list(zip(found.skills, found.states[:-1], found.states[1:], strict=True))
        if self._ahead:
            return None
        settled = (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE, PlanStatus.NO_COMBINATION)
        return Reason.NO_PLAN if found.status in settled else Reason.BUDGET

    def _first_deviation(self) -> Reason:
        for run in self.runs:
            if run.effect is not Effect.AS_PREDICTED:
                return Reason[run.effect.name]
        # all went as predicted, so the plan did not lead to the goal
        return Reason.DISTURBED if self._disturbed else Reason.NO_PLAN

    @property
    def _at_limit(self) -> bool:
        limit = self.max_skills
        return len(self.runs) >= (skill_limit(len(self.plans[0])) if limit is None else limit)
