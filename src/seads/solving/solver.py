"""An agent's forward model made ready to plan with: compiled once, for any number of boards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, UInt64

from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError, unknown
from seads.planning import PLANNERS, Budget, Plan, compile_model, plan
from seads.planning.costs import Minimise
from seads.planning.model import SymbolicModel
from seads.planning.planners import ON_THE_MODEL, check_planner
from seads.solving.boards import Symbol
from seads.solving.execution import Execution
from seads.solving.executor import Executor
from seads.solving.patience import Patience, foreseen
from seads.solving.symbolic_model import skill_costs, symbolic_model

if TYPE_CHECKING:
    from seads.solving.agent import Agent


@dataclass(frozen=True)
class Solving:
    """How boards are solved."""

    planner: str = "auto"
    """auto, bfs, dijkstra, bidirectional, astar or gf2."""
    replan: bool = True
    """Plan again when a skill did not do what the model said."""
    minimise: Minimise = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float = 60.0
    """Limit of all planning for one board (the paper's)."""
    memory_mb: float = 1024.0
    """Limit on the memory of a search (the paper's machines had 16 GB)."""
    max_skills: int | None = None
    """Limit of skills on a board; `seads.solving.execution.skill_limit` by default."""
    give_up: bool = False
    """Keep searches short once they have shown to be in vain; see `seads.solving.patience`."""

    def __post_init__(self) -> None:
        if self.planner not in PLANNERS:
            raise unknown("planner", self.planner, PLANNERS)
        for name in ("seconds", "memory_mb"):
            if not getattr(self, name) >= 0:
                raise SeadsError(f"{name}={getattr(self, name)}; allowed: zero or more")


class Solver:
    """Plans for an agent's boards, and lets its skills carry the plans out.

    `samples` are boards of the kind to be solved, from which the operators are found.
    """

    def __init__(
        self,
        agent: Agent,
        samples: Bool[np.ndarray, "boards bits"],
        solving: Solving,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> None:
        self.network: SymbolicModel = symbolic_model(agent)
        self.costs = skill_costs(agent, solving.minimise)
        self.solving = solving
        self.patience = Patience(solving.seconds, not solving.give_up, foreseen(agent.card))
        self._on_plan = on_plan
        began = time.perf_counter()
        self.model = self.network
        if solving.planner not in ON_THE_MODEL:
            self.model = compiled = compile_model(self.network, samples)
            check_planner(solving.planner, compiled, self.costs)
        self.compile_seconds = time.perf_counter() - began

    def plan(self, start: Symbol, goal: Symbol, spent: float = 0.0) -> Plan:
        """A cheapest plan in the agent's forward model, `spent` seconds taken off the limit."""
        left = max(0.0, self.patience.seconds - spent)
        budget = Budget(seconds=left, memory_mb=self.solving.memory_mb)
        found = plan(start, goal, self.model, self.solving.planner, budget, self.costs)
        self.patience.note(found)
        if self._on_plan is not None:
            self._on_plan(found)
        return found

    def execution(self, start: Symbol, goal: Symbol) -> Execution:
        """A board that nothing has been done about yet."""
        return Execution(start, goal, self, self.solving.replan, self.solving.max_skills)

    def executor(
        self,
        env: BatchedEnv,
        agent: Agent,
        seeds: UInt64[np.ndarray, "boards"],
        goals: Bool[np.ndarray, "boards bits"],
        starts: Bool[np.ndarray, "boards bits"] | None = None,
    ) -> Executor:
        """What plans and executes from the start boards, or from those the seeds bring."""
        env.reset(seeds, symbols=starts)
        boards = [self.execution(*one) for one in zip(env.symbols, goals, strict=True)]
        return Executor(env, agent.policy, agent.num_skills, boards, seeds)
