"""Plan with any planner, or let `auto` choose; every plan is replayed in the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from seads.errors import SeadsError, unknown
from seads.planning.compile import compile_model
from seads.planning.compiled_search import CompiledSearch
from seads.planning.costs import Costs
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.planners import BY_LENGTH, ON_THE_MODEL, PLANNERS, call
from seads.planning.result import Budget, Meter, Plan
from seads.planning.threads import single_threaded_blas


def plan(
    start: ArrayLike,
    goal: ArrayLike,
    model: SymbolicModel,
    planner: str = "auto",
    budget: Budget | None = None,
    costs: Costs | None = None,
    samples: Bool[np.ndarray, "rows bits"] | None = None,
) -> Plan:
    """A cheapest plan (the shortest, without costs) from start to goal.

    `bfs` and `dijkstra` search the model itself. The others search operators compiled from
    it (`samples` are more states to compile from); pass a `Compiled` to compile only once.
    What they find is replayed in the model: where the two differ the search goes around it,
    and at last back to the model itself. Such a plan is minimal with respect to the operators.
    A planner that is asked for and cannot work with the operators raises SeadsError.
    """
    if planner not in PLANNERS:
        raise unknown("planner", planner, PLANNERS)
    budget = Budget() if budget is None else budget
    costs = Costs.length(model.num_skills) if costs is None else costs
    if len(costs.per_skill) != model.num_skills:
        raise SeadsError(
            f"{len(costs.per_skill)} costs for {model.num_skills} skills; give one for each"
        )
    if planner in BY_LENGTH and not costs.is_length:
        raise SeadsError(f"{planner!r} minimises length only; with costs use auto or dijkstra")
    start = checked_state("start", start, model.num_bits)
    goal = checked_state("goal", goal, model.num_bits)
    meter = Meter(budget)
    if np.array_equal(start, goal):
        return meter.solve([], start[None], 0.0, planner)
    stopped = meter.spent(expanding=1)
    if stopped:
        return meter.give_up(stopped, planner)

    with single_threaded_blas():
        return _priced(_run(start, goal, model, planner, meter, costs, samples), costs)


def _run(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: SymbolicModel,
    planner: str,
    meter: Meter,
    costs: Costs,
    samples: Bool[np.ndarray, "rows bits"] | None,
) -> Plan:
    if planner in ON_THE_MODEL:
        plain = model.model if isinstance(model, Compiled) else model
        return call(planner, start, goal, plain, meter.remaining(), costs)
    if isinstance(model, Compiled):
        compiled = model
    else:
        starts = start[None] if samples is None else np.concatenate([start[None], samples])
        compiled = compile_model(model, starts)
    found = CompiledSearch(start, goal, compiled, meter, costs).plan(planner)
    return replace(found, seconds=meter.seconds)


def checked_state(name: str, state: ArrayLike, num_bits: int) -> Bool[np.ndarray, "bits"]:
    """The state as booleans; raises SeadsError if it is no vector of `num_bits` bits."""
    array = np.asarray(state)
    if array.shape != (num_bits,):
        raise SeadsError(f"the {name} has shape {array.shape}; it must be {num_bits} bits")
    if not np.isin(array, (0, 1)).all():
        raise SeadsError(f"the {name} holds values other than 0 and 1: {array.tolist()}")
    return array.astype(bool)


def _priced(found: Plan, costs: Costs) -> Plan:
    """The plan with its cost in the user's terms."""
    if not found.solved:
        return found
    return replace(found, cost=float(costs.per_skill[list(found.skills)].sum()))
