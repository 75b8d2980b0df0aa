"""The planners by name: what each needs of the operators, and which one is quickest."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning.costs import Costs
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.result import Budget, Plan

PLANNERS = {
    "auto": "seads.planning.planner:plan",
    "bfs": "seads.planning.bfs:plan",
    "dijkstra": "seads.planning.astar:plan_uniform",
    "bidirectional": "seads.planning.bidirectional:plan",
    "astar": "seads.planning.astar:plan",
    "gf2": "seads.planning.gf2:plan",
}
ON_THE_MODEL = ("bfs", "dijkstra")
"""These ask the model itself; the others search compiled operators."""
BY_LENGTH = ("bfs", "bidirectional")
"""These know no costs."""


def call(
    name: str,
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: SymbolicModel,
    budget: Budget,
    costs: Costs,
) -> Plan:
    """What the planner of that name finds."""
    module, function = PLANNERS[name].split(":")
    run: Any = getattr(import_module(module), function)
    if name in BY_LENGTH:
        return run(start, goal, model, budget)
    return run(start, goal, model, budget, costs)


def choose(compiled: Compiled, costs: Costs) -> str:
    """The quickest planner that finds a cheapest plan with these operators."""
    if compiled.all_flips:
        from seads.planning.gf2 import MAX_NULLITY, flip_system

        few = flip_system(compiled, costs).nullity <= MAX_NULLITY
        if few or not costs.is_length:
            return "gf2" if few else "astar"
    if costs.is_length and fits("bidirectional", compiled):
        return "bidirectional"
    return "astar"


def fits(name: str, compiled: Compiled) -> bool:
    """Whether the planner can work with these operators at all."""
    if name == "gf2":
        return bool(compiled.flips) and compiled.all_flips
    if name == "bidirectional":
        return bool(compiled.operators) and compiled.invertible
    return True


def check_planner(name: str, compiled: Compiled, costs: Costs) -> None:
    """Raises SeadsError if a planner that was asked for cannot work with these operators."""
    if name == "auto" or fits(name, compiled):
        return
    if not compiled.operators:
        has = "no skill of this model has an operator that holds"
    elif name == "gf2":
        has = "it needs skills that flip the same bits in every state, and here the effect of "
        depending = [k for k, op in compiled.operators.items() if not op.is_flip]
        has += f"{_skills(depending)} depends on the state"
    else:
        lossy = [k for k, images in compiled.preimages.items() if not images.enumerable]
        has = "it needs operators that can be followed backwards, and here too many states lead "
        has += f"to one under {_skills(lossy)}"
    fitting = [one for one in PLANNERS if one == "auto" or fits(one, compiled)]
    if not costs.is_length:
        fitting = [one for one in fitting if one not in BY_LENGTH]
    raise SeadsError(f"planner {name!r} cannot be used: {has}; choose from {', '.join(fitting)}")


def _skills(skills: list[int], shown: int = 8) -> str:
    listed = ", ".join(map(str, skills[:shown])) + (", …" if len(skills) > shown else "")
    return f"skill {listed}" if len(skills) == 1 else f"{len(skills)} skills ({listed})"
