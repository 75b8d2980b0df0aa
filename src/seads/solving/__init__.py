"""From an agent to solved boards: its model made ready to plan with, one execution for all uses."""

from seads.solving.agent import Agent, Architecture, load
from seads.solving.execution import Effect, Execution, Reason, SkillRun
from seads.solving.executor import Executor, Watcher
from seads.solving.solution import Solution, solve
from seads.solving.solver import Solver, Solving

__all__ = [
    "Agent",
    "Architecture",
    "Effect",
    "Execution",
    "Executor",
    "Reason",
    "SkillRun",
    "Solution",
    "Solver",
    "Solving",
    "Watcher",
    "load",
    "solve",
]
