"""Plan with any planner, or let `auto` choose; every plan is replayed in the model."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from seads.errors import SeadsError, unknown
from seads.planning.compile import compile_model, walk
from seads.planning.costs import Costs
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.result import Budget, Meter, Plan, PlanStatus
from seads.planning.threads import single_threaded_blas

PLANNERS = {
    "auto": "seads.planning.planner:plan",
    "bfs": "seads.planning.bfs:plan",
    "dijkstra": "seads.planning.astar:plan_uniform",
    "bidirectional": "seads.planning.bidirectional:plan",
    "astar": "seads.planning.astar:plan",
    "gf2": "seads.planning.gf2:plan",
}
_ON_THE_MODEL = ("bfs", "dijkstra")
_BY_LENGTH = ("bfs", "bidirectional")
# States, met on walks from the start, in which operators and model are compared once more.
CONFIRMING_STATES = 256
# How often a search over operators is repeated around transitions the model does not share.
MAX_DETOURS = 20
# How long a plan may wait for a look at whether opaque skills make a shorter one: a share of the
# time there is, and seconds; less where what they usually flip is known.
OPAQUE_SHARE = 0.1
OPAQUE_SECONDS = 0.5
USUAL_SECONDS = 0.05
# Where operators rule a goal out, how long the model itself is searched for what it may know
# better, and in which share of states it must agree with them for their verdict to count.
RULED_OUT_SECONDS = 0.2
RULED_OUT_AGREEMENT = 0.9
# Successors made at once in such short searches: they end in time.
BRIEF_BATCH = 2**13


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
    if planner in _BY_LENGTH and not costs.is_length:
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
    if planner in _ON_THE_MODEL:
        plain = model.model if isinstance(model, Compiled) else model
        return _call(planner, start, goal, plain, meter.remaining(), costs)
    if isinstance(model, Compiled):
        compiled = model
    else:
        starts = start[None] if samples is None else np.concatenate([start[None], samples])
        compiled = compile_model(model, starts)
    found = _plan_compiled(start, goal, compiled, planner, meter, costs)
    return replace(found, seconds=meter.seconds)


def checked_state(name: str, state: ArrayLike, num_bits: int) -> Bool[np.ndarray, "bits"]:
    """The state as booleans; raises SeadsError if it is no vector of `num_bits` bits."""
    array = np.asarray(state)
    if array.shape != (num_bits,):
        raise SeadsError(f"the {name} has shape {array.shape}; it must be {num_bits} bits")
    if not np.isin(array, (0, 1)).all():
        raise SeadsError(f"the {name} holds values other than 0 and 1: {array.tolist()}")
    return array.astype(bool)


def choose(compiled: Compiled, costs: Costs) -> str:
    """The quickest planner that finds a cheapest plan with these operators."""
    if compiled.all_flips:
        from seads.planning.gf2 import MAX_NULLITY, flip_system

        few = flip_system(compiled, costs).nullity <= MAX_NULLITY
        if few or not costs.is_length:
            return "gf2" if few else "astar"
    if costs.is_length and compiled.invertible:
        return "bidirectional"
    return "astar"


def replay(
    start: Bool[np.ndarray, "bits"], skills: tuple[int, ...], model: SymbolicModel
) -> Bool[np.ndarray, "steps bits"]:
    """The states the model itself passes through, start included."""
    states = [start]
    for skill in skills:
        states.append(model.successor(states[-1][None], np.array([skill]))[0])
    return np.array(states)


def _plan_compiled(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    planner: str,
    meter: Meter,
    costs: Costs,
) -> Plan:
    check_planner(planner, compiled, costs)
    name = choose(compiled, costs) if planner == "auto" else planner
    if _no_combination(start, goal, compiled, costs):
        settled = _settle(start, goal, compiled, meter, costs)
        if settled is not None:
            return settled
    expanded = 0
    for _ in range(MAX_DETOURS if _fits(name, compiled) else 0):
        found = _call(name, start, goal, compiled, meter.remaining(), costs)
        meter.expanded += found.expanded
        meter.peak_bytes = max(meter.peak_bytes, int(found.memory_mb * 2**20))
        expanded += found.expanded
        found = replace(found, expanded=expanded)
        if found.status is PlanStatus.UNSOLVABLE:
            if _proves_unsolvable(start, name, compiled):
                return found
            break
        if not found.solved:
            return _any_flips(found, start, goal, compiled, meter, costs)
        differs = _first_difference(found, compiled)
        if differs is None:
            return _shortened(found, start, goal, compiled, name, meter, costs)
        compiled.block(found.states[differs], found.skills[differs])
        # flips know no detours: from here on, search
        both_ends = costs.is_length and _fits("bidirectional", compiled)
        name = "bidirectional" if both_ends else "astar"
    name = "bfs" if costs.is_length else "dijkstra"
    return _call(name, start, goal, compiled.model, meter.remaining(), costs)


def _fits(name: str, compiled: Compiled) -> bool:
    """Whether the planner can work with these operators at all."""
    if name == "gf2":
        return bool(compiled.flips) and compiled.all_flips
    if name == "bidirectional":
        return bool(compiled.operators) and compiled.invertible
    return True


def check_planner(name: str, compiled: Compiled, costs: Costs) -> None:
    """Raises SeadsError if a planner that was asked for cannot work with these operators."""
    if name == "auto" or _fits(name, compiled):
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
    fitting = [one for one in PLANNERS if one == "auto" or _fits(one, compiled)]
    if not costs.is_length:
        fitting = [one for one in fitting if one not in _BY_LENGTH]
    raise SeadsError(f"planner {name!r} cannot be used: {has}; choose from {', '.join(fitting)}")


def _skills(skills: list[int], shown: int = 8) -> str:
    listed = ", ".join(map(str, skills[:shown])) + (", …" if len(skills) > shown else "")
    return f"skill {listed}" if len(skills) == 1 else f"{len(skills)} skills ({listed})"


def _call(
    name: str,
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: SymbolicModel,
    budget: Budget,
    costs: Costs,
) -> Plan:
    module, function = PLANNERS[name].split(":")
    run: Any = getattr(import_module(module), function)
    if name in _BY_LENGTH:
        return run(start, goal, model, budget)
    return run(start, goal, model, budget, costs)


def _first_difference(found: Plan, compiled: Compiled) -> int | None:
    """The first step of the plan whose outcome the model sees differently."""
    after = compiled.model.successor(found.states[:-1], np.array(found.skills))
    wrong = np.flatnonzero((after != found.states[1:]).any(axis=1))
    return int(wrong[0]) if len(wrong) else None


def _proves_unsolvable(start: Bool[np.ndarray, "bits"], name: str, compiled: Compiled) -> bool:
    """Whether the operators' verdict holds for the model: all skills compiled, none ever wrong."""
    if not compiled.exact or (compiled.opaque and name != "astar"):
        return False
    return _agreement_from(start, compiled) == 1.0


def _agreement_from(start: Bool[np.ndarray, "bits"], compiled: Compiled) -> float:
    """How often operators and model say the same in states met on walks from the start."""
    states = walk(compiled.model, start[None], CONFIRMING_STATES, np.random.default_rng(0))
    same = compiled.successors(states) == compiled.model.successors(states)
    return float(same.all(axis=-1).mean())


def _no_combination(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    costs: Costs,
) -> bool:
    """Whether every skill flips bits, always or usually, and none add up to the goal."""
    if len(compiled.flips) < compiled.num_skills:
        return False
    from seads.planning.gf2 import flip_system

    return flip_system(compiled, costs).solve(start ^ goal) is None


def _settle(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    meter: Meter,
    costs: Costs,
) -> Plan | None:
    """The answer where the operators rule the goal out; None if the model must be searched.

    It is a proof if operators and model never differed. If they did somewhere, the model may
    still know a way, and is searched for a moment.
    """
    from seads.planning.bfs import plan as breadth_first

    effects = compiled.operators | compiled.usual
    agreement = float(np.mean([effect.agreement for effect in effects.values()]))
    if compiled.exact:
        agreement = _agreement_from(start, compiled)
        if agreement == 1.0:
            return meter.give_up(PlanStatus.UNSOLVABLE, "gf2")
    left = meter.remaining()
    moment = replace(left, seconds=min(left.seconds, RULED_OUT_SECONDS))
    found = breadth_first(start, goal, compiled.model, moment, batch_successors=BRIEF_BATCH)
    meter.expanded += found.expanded
    if found.status is PlanStatus.UNSOLVABLE or (found.solved and costs.is_length):
        return found
    if found.solved or agreement < RULED_OUT_AGREEMENT:
        return None
    note = (
        f"by what each of the {compiled.num_skills} skills flips, on which the model agrees in "
        f"{agreement:.1%} of held-out states"
    )
    return replace(meter.give_up(PlanStatus.NO_COMBINATION, "gf2"), note=note)


def _any_flips(
    found: Plan,
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    meter: Meter,
    costs: Costs,
) -> Plan:
    """Out of budget: with plain flips there may still be a plan, if not the cheapest one."""
    if found.planner == "gf2" or not _fits("gf2", compiled):
        return found
    other = _call("gf2", start, goal, compiled, Budget(), costs)
    if other.solved and _first_difference(other, compiled) is None:
        return replace(other, minimal=False, expanded=meter.expanded)
    return found


def _shortened(
    found: Plan,
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    name: str,
    meter: Meter,
    costs: Costs,
) -> Plan:
    """The plan itself, or a shorter one that uses skills which have no operator."""
    if not compiled.opaque or name == "astar":
        return found
    if not costs.is_length:
        return replace(found, minimal=False)
    from seads.planning.bfs import plan as breadth_first

    left = meter.remaining()
    most = USUAL_SECONDS if set(compiled.opaque) <= set(compiled.usual) else OPAQUE_SECONDS
    seconds = min(OPAQUE_SHARE * left.seconds, most)
    slice_of_time = replace(left, seconds=seconds)
    shorter = breadth_first(start, goal, compiled, slice_of_time, len(found) - 1, BRIEF_BATCH)
    expanded = found.expanded + shorter.expanded
    if shorter.solved and _first_difference(shorter, compiled) is None:
        return replace(shorter, expanded=expanded)
    proven = shorter.status is PlanStatus.UNSOLVABLE
    return replace(found, minimal=proven, expanded=expanded)


def _priced(found: Plan, costs: Costs) -> Plan:
    """The plan with its cost in the user's terms."""
    if not found.solved:
        return found
    return replace(found, cost=float(costs.per_skill[list(found.skills)].sum()))
