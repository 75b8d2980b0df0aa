"""Plan with any planner, or let `auto` choose; every plan is replayed in the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from seads.errors import SeadsError, unknown
from seads.planning import bfs
from seads.planning.compile import compile_model, walk
from seads.planning.costs import Costs
from seads.planning.flips import flip_system
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.planners import ON_THE_MODEL, PLANNERS, check_planner, fits
from seads.planning.result import Budget, Meter, Plan, PlanStatus

# How often a search over operators is repeated around transitions the model does not share.
MAX_DETOURS = 20
# States, met on walks from the start, in which operators and model are compared once more.
CONFIRMING_STATES = 256
# How long a plan may wait for a look at whether opaque skills make a shorter one: a share of the
# time there is, and seconds; less where what they often flip is known.
OPAQUE_SHARE = 0.1
OPAQUE_SECONDS = 0.5
OFTEN_SECONDS = 0.05
# Where operators rule a goal out, how long the model itself is searched for what it may know
# better, and in which share of states it must agree with them for their verdict to count.
RULED_OUT_SECONDS = 0.2
RULED_OUT_AGREEMENT = 0.9
# Successors made at once in such short searches, so that they end in time.
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
    costs = Costs.length(model.num_skills) if costs is None else costs
    if len(costs.per_skill) != model.num_skills:
        raise SeadsError(
            f"{len(costs.per_skill)} costs for {model.num_skills} skills; give one for each"
        )
    start = checked_state("start", start, model.num_bits)
    goal = checked_state("goal", goal, model.num_bits)
    meter = Meter(Budget() if budget is None else budget)
    if np.array_equal(start, goal):
        return meter.solve([], start[None], costs, planner)
    stopped = meter.spent(expanding=1)
    if stopped:
        return meter.give_up(stopped, planner)

    if planner in ON_THE_MODEL:
        plain = model.model if isinstance(model, Compiled) else model
        return PLANNERS[planner](start, goal, plain, meter.remaining(), costs)
    if not isinstance(model, Compiled):
        starts = start[None] if samples is None else np.concatenate([start[None], samples])
        model = compile_model(model, starts)
    check_planner(planner, model, costs)
    found = _OperatorSearch(start, goal, model, meter, costs).plan(planner)
    return replace(found, seconds=meter.seconds)


def checked_state(name: str, state: ArrayLike, num_bits: int) -> Bool[np.ndarray, "bits"]:
    """The state as booleans; raises SeadsError if it is no vector of `num_bits` bits."""
    array = np.asarray(state)
    if array.shape != (num_bits,):
        raise SeadsError(f"the {name} has shape {array.shape}; it must be {num_bits} bits")
    if not np.isin(array, (0, 1)).all():
        raise SeadsError(f"the {name} holds values other than 0 and 1: {array.tolist()}")
    return array.astype(bool)


@dataclass(frozen=True)
class _OperatorSearch:
    """One problem, the operators to solve it with, and what has been spent on it."""

    start: Bool[np.ndarray, "bits"]
    goal: Bool[np.ndarray, "bits"]
    compiled: Compiled
    meter: Meter
    costs: Costs

    def plan(self, planner: str) -> Plan:
        """A plan on which operators and model agree, or else the model's own."""
        found = self._settle() if self._ruled_out() else None
        if found is None and self.compiled.operators:
            found = self._search_operators(planner)
        if found is None:
            found = self._search("bfs" if self.costs.is_length else "dijkstra", self.compiled.model)
        if found.solved or found.status in (PlanStatus.UNSOLVABLE, PlanStatus.NO_COMBINATION):
            return found
        return self._any_flips(found)

    def _search_operators(self, planner: str) -> Plan | None:
        """A plan over the operators that holds in the model; None if the model must decide."""
        for _ in range(MAX_DETOURS):
            found = self._search(planner, self.compiled)
            if found.status is PlanStatus.UNSOLVABLE:
                return found if self._proves_unsolvable(found) else None
            if not found.solved:
                return found
            differs = self._first_difference(found)
            if differs is None:
                return self._shortened(found)
            skill = found.skills[differs]
            if skill not in self.compiled.opaque:  # those already do what the model says
                self.compiled.block(found.states[differs], skill)
            # flips know no detours: from here on, search
            both_ends = fits("bidirectional", self.compiled, self.costs)
            planner = "bidirectional" if both_ends else "astar"
        return None

    def _search(self, planner: str, model: SymbolicModel) -> Plan:
        budget = self.meter.remaining()
        return self._counted(PLANNERS[planner](self.start, self.goal, model, budget, self.costs))

    def _glance(self, model: SymbolicModel, seconds: float, depth: int | None = None) -> Plan:
        """A short look for a plan of at most that many skills, all of which count the same."""
        left = self.meter.remaining()
        moment = replace(left, seconds=min(left.seconds, seconds))
        each_one = Costs.length(model.num_skills)
        found = bfs.plan(self.start, self.goal, model, moment, each_one, depth, BRIEF_BATCH)
        if found.solved:
            found = replace(found, cost=self.costs.of(found.skills))
        return self._counted(found)

    def _counted(self, found: Plan) -> Plan:
        """The plan, with all that has been spent on the problem so far."""
        self.meter.expanded += found.expanded
        self.meter.peak_bytes = max(self.meter.peak_bytes, int(found.memory_mb * 2**20))
        memory_mb = self.meter.peak_bytes / 2**20
        return replace(found, expanded=self.meter.expanded, memory_mb=memory_mb)

    def _first_difference(self, found: Plan) -> int | None:
        """The first step of the plan whose outcome the model sees differently."""
        if found.agreed:
            return None
        after = self.compiled.model.successor(found.states[:-1], np.array(found.skills))
        wrong = np.flatnonzero((after != found.states[1:]).any(axis=1))
        return int(wrong[0]) if len(wrong) else None

    def _proves_unsolvable(self, found: Plan) -> bool:
        """Whether the operators' verdict holds for the model: all compiled, none ever wrong."""
        if not self.compiled.exact or (self.compiled.opaque and found.planner != "astar"):
            return False
        return self._agreement_from_start() == 1.0

    def _agreement_from_start(self) -> float:
        """How often operators and model say the same in states met on walks from the start."""
        model, rng = self.compiled.model, np.random.default_rng(0)
        states = walk(model, self.start[None], CONFIRMING_STATES, rng)
        same = self.compiled.successors(states) == model.successors(states)
        return float(same.all(axis=-1).mean())

    def _ruled_out(self) -> bool:
        """Whether every skill flips bits, always or often, and none add up to the goal."""
        if len(self.compiled.flips) < self.compiled.num_skills:
            return False
        return flip_system(self.compiled, self.costs).solve(self.start ^ self.goal) is None

    def _settle(self) -> Plan | None:
        """The answer where the operators rule the goal out; None if the model must be searched.

        It is a proof if operators and model never differed. If they did somewhere, the model may
        still know a way, and is searched for a moment.
        """
        if self.compiled.exact:
            asked, agreement = "states around the start", self._agreement_from_start()
            if agreement == 1.0:
                return self.meter.give_up(PlanStatus.UNSOLVABLE, "gf2")
        else:
            asked = "held-out states"
            agreement = float(np.mean([op.agreement for op in self.compiled.operators.values()]))
        found = self._glance(self.compiled.model, RULED_OUT_SECONDS)
        if found.status is PlanStatus.UNSOLVABLE or (found.solved and self.costs.is_length):
            return found
        if found.solved or agreement < RULED_OUT_AGREEMENT:
            return None
        note = (
            f"by what each of the {self.compiled.num_skills} skills flips, on which the model "
            f"agrees in {agreement:.1%} of {asked}"
        )
        return replace(self.meter.give_up(PlanStatus.NO_COMBINATION, "gf2"), note=note)

    def _any_flips(self, found: Plan) -> Plan:
        """Out of budget: with plain flips there may still be a plan, if not the cheapest one."""
        if found.planner == "gf2" or not fits("gf2", self.compiled, self.costs):
            return found
        other = self._counted(
            PLANNERS["gf2"](self.start, self.goal, self.compiled, Budget(), self.costs)
        )
        if other.solved and self._first_difference(other) is None:
            return replace(other, minimal=False)
        return found

    def _shortened(self, found: Plan) -> Plan:
        """The plan itself, or a shorter one that uses skills which have no reliable operator."""
        opaque = set(self.compiled.opaque)
        if not opaque or found.planner == "astar":
            return found
        if not self.costs.is_length:
            return replace(found, minimal=False)
        most = OFTEN_SECONDS if opaque <= self.compiled.operators.keys() else OPAQUE_SECONDS
        seconds = min(OPAQUE_SHARE * self.meter.remaining().seconds, most)
        shorter = self._glance(self.compiled, seconds, len(found) - 1)
        if shorter.solved and self._first_difference(shorter) is None:
            return shorter
        proven = shorter.status is PlanStatus.UNSOLVABLE
        return replace(found, minimal=proven, expanded=shorter.expanded)
