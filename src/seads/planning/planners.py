"""The planners by name: what each needs of the operators, and which one is quickest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning import astar, bfs, bidirectional, flips
from seads.planning.costs import Costs
from seads.planning.operators import Compiled
from seads.planning.result import Budget, Plan


def auto(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: Compiled,
    budget: Budget,
    costs: Costs,
) -> Plan:
    """What the quickest planner for these operators finds."""
    return PLANNERS[quickest(model, costs)](start, goal, model, budget, costs)


PLANNERS: dict[str, Callable[..., Plan]] = {
    "auto": auto,
    "bfs": bfs.plan,
    "dijkstra": astar.plan_uniform,
    "bidirectional": bidirectional.plan,
    "astar": astar.plan,
    "gf2": flips.plan,
}
"""planner(start, goal, model, budget, costs) gives a cheapest plan, or says why there is none."""
ON_THE_MODEL = ("bfs", "dijkstra")
"""These ask the model itself; the others search compiled operators."""


def quickest(compiled: Compiled, costs: Costs) -> str:
    """The quickest planner that finds a cheapest plan with these operators."""
    if fits("gf2", compiled, costs) and flips.flip_system(compiled, costs).enumerable:
        return "gf2"
    return "bidirectional" if fits("bidirectional", compiled, costs) else "astar"


def fits(name: str, compiled: Compiled, costs: Costs) -> bool:
    """Whether the planner can work with these operators and costs at all."""
    if name in ("bfs", "bidirectional") and not costs.is_length:
        return False
    if name == "gf2":
        return bool(compiled.flips) and compiled.all_flips
    if name == "bidirectional":
        return len(compiled.opaque) < compiled.num_skills and compiled.invertible
    return True


def check_planner(name: str, compiled: Compiled, costs: Costs) -> None:
    """Raises SeadsError if a planner that was asked for cannot work with these operators."""
    if fits(name, compiled, costs):
        return
    if name == "bidirectional":
        costs.require_length(name)
    if len(compiled.opaque) == compiled.num_skills:
        has = "no skill of this model has an operator that holds"
    elif name == "gf2":
        has = "it needs skills that flip the same bits in every state, and here the effect of "
        depending = [k for k, op in compiled.operators.items() if not op.is_flip]
        has += f"{_skills(depending)} depends on the state"
    else:
        lossy = [k for k, images in compiled.preimages.items() if not images.enumerable]
        has = "it needs operators that can be followed backwards, and here too many states lead "
        has += f"to one under {_skills(lossy)}"
    fitting = [one for one in PLANNERS if fits(one, compiled, costs)]
    raise SeadsError(f"planner {name!r} cannot be used: {has}; choose from {', '.join(fitting)}")


def _skills(skills: list[int], shown: int = 8) -> str:
    listed = ", ".join(map(str, skills[:shown])) + (", …" if len(skills) > shown else "")
    return f"skill {listed}" if len(skills) == 1 else f"{len(skills)} skills ({listed})"
