"""What a planner may spend, and what it hands back."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning.costs import Costs, Minimise
from seads.planning.words import count, duration, move_words, step_words


class PlanStatus(Enum):
    """How planning ended; the value says what to do about it."""

    SOLVED = "solved"
    UNSOLVABLE = "no plan exists: every state that can be reached was seen or ruled out"
    NO_COMBINATION = "no combination of the skills' effects leads to this goal"
    NODE_BUDGET = "node budget reached; raise max_nodes"
    TIME_BUDGET = "time budget reached; raise seconds"
    MEMORY_BUDGET = "memory budget reached; raise memory_mb"


@dataclass(frozen=True)
class Budget:
    """What one call of a planner may spend; zero stops it before the first expansion."""

    max_nodes: int = 20_000_000
    """States that may be expanded."""
    seconds: float = 60.0
    """Wall-clock time (the paper's limit)."""
    memory_mb: float = 1024.0
    """Memory for the states kept (the paper's search stopped at about 16 GB, S.3)."""

    def __post_init__(self) -> None:
        for name in ("max_nodes", "seconds", "memory_mb"):
            value = getattr(self, name)
            if not value >= 0:
                raise SeadsError(f"budget {name} is {value}; it must be zero or more")


@dataclass(frozen=True)
class Asked:
    """What a plan was asked for; boards as lines of text."""

    planner: str
    minimise: Minimise
    board: str
    goal: str


@dataclass(frozen=True)
class Plan:
    """The outcome of one planning call; without a solution, `skills` and `states` are empty."""

    status: PlanStatus
    skills: tuple[int, ...] = ()
    """The skills to execute, in order."""
    states: Bool[np.ndarray, "steps bits"] = field(default_factory=lambda: np.zeros((0, 0), bool))
    """The states the plan passes through, start and goal included."""
    cost: float = math.inf
    """Sum of the skills' costs (the length, unless costs were given)."""
    minimal: bool = False
    """Whether no cheaper plan exists in the model (or the operators) that was searched."""
    agreed: bool = False
    """Whether a planner of operators has seen for itself that the model agrees with every step."""
    expanded: int = 0
    """States expanded."""
    memory_mb: float = 0.0
    """Peak memory of the states kept."""
    seconds: float = 0.0
    """Wall-clock time."""
    planner: str = ""
    """The planner that gave this answer."""
    note: str = ""
    """What the answer rests on, where the status does not say it."""
    moves: tuple[str | None, ...] = ()
    """What each skill does, in words; None where it makes no move of the game. Filled in by who
    knows it, as the next two are."""
    compile_seconds: float = 0.0
    """What it took to make the model ready to plan with, before the first plan."""
    asked: Asked | None = None
    """From where to where, and how."""

    @property
    def solved(self) -> bool:
        """Whether there is a plan."""
        return self.status is PlanStatus.SOLVED

    @property
    def verdict(self) -> str:
        """How planning ended, and what that rests on."""
        return ", ".join(filter(None, (self.status.value, self.note)))

    def to_json(self) -> dict[str, Any]:
        """As `seads plan --json` prints it, where it was `asked` of an agent."""
        return {
            "status": self.status.name.lower(),
            "skills": list(self.skills),
            "moves": list(self.moves),
            "seconds": self.seconds + self.compile_seconds,
            "compile_seconds": self.compile_seconds,
            "used": self.planner,
            "cost": self.cost if self.solved else None,
            "minimal": self.minimal,
            "expanded": self.expanded,
            "message": self.verdict,
            **({} if self.asked is None else asdict(self.asked)),
        }

    def __len__(self) -> int:
        return len(self.skills)

    @property
    def heading(self) -> str:
        """The plan in a line: its length and who found it; or why there is none."""
        took = duration(self.seconds)
        if not self.solved:
            return f"no plan after {took}: {self.verdict}"
        if not self.skills:
            return "plan: nothing to do, the start is the goal"
        return f"plan: {count(len(self), 'skill')}, found in {took} by {self.planner}"

    def __str__(self) -> str:
        """The heading, and a line per skill."""
        does = map(move_words, self.moves or [""] * len(self))
        steps = map(step_words, self.skills, does)
        lines = (f"  {number}. {step}" for number, step in enumerate(steps, 1))
        return "\n".join([self.heading, *lines])


class Meter:
    """Watches a budget while a planner runs."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._start = time.perf_counter()
        self.expanded = 0
        self.peak_bytes = 0

    @property
    def seconds(self) -> float:
        """Time since the planner started."""
        return time.perf_counter() - self._start

    def spent(self, expanding: int = 0, nbytes: int = 0) -> PlanStatus | None:
        """The budget that is used up, were `expanding` more states expanded now, or None."""
        self.peak_bytes = max(self.peak_bytes, nbytes)
        if self.expanded + expanding > self._budget.max_nodes:
            return PlanStatus.NODE_BUDGET
        if self.seconds >= self._budget.seconds:
            return PlanStatus.TIME_BUDGET
        if nbytes >= self._budget.memory_mb * 2**20:
            return PlanStatus.MEMORY_BUDGET
        return None

    def room(self, wanted: int) -> int:
        """How many of the `wanted` states may still be expanded (at least one)."""
        return max(1, min(wanted, self._budget.max_nodes - self.expanded))

    def remaining(self) -> Budget:
        """The budget that is left for another planner."""
        return Budget(
            max(0, self._budget.max_nodes - self.expanded),
            max(0.0, self._budget.seconds - self.seconds),
            self._budget.memory_mb,
        )

    def give_up(self, status: PlanStatus, planner: str) -> Plan:
        """A plan without a solution."""
        return Plan(
            status,
            expanded=self.expanded,
            memory_mb=self.peak_bytes / 2**20,
            seconds=self.seconds,
            planner=planner,
        )

    def solve(
        self,
        skills: list[int],
        states: Bool[np.ndarray, "steps bits"],
        costs: Costs,
        planner: str,
        minimal: bool = True,
    ) -> Plan:
        """A solution."""
        return Plan(
            PlanStatus.SOLVED,
            tuple(int(skill) for skill in skills),
            states,
            costs.of(skills),
            minimal,
            expanded=self.expanded,
            memory_mb=self.peak_bytes / 2**20,
            seconds=self.seconds,
            planner=planner,
        )
