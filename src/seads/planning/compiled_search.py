"""Plan with compiled operators, and let the model have the last word."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool

from seads.planning.bfs import plan as breadth_first
from seads.planning.compile import walk
from seads.planning.costs import Costs
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.planners import call, check_planner, choose, fits
from seads.planning.result import Budget, Meter, Plan, PlanStatus

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


@dataclass(frozen=True)
class CompiledSearch:
    """One problem, the operators to solve it with, and what has been spent on it."""

    start: Bool[np.ndarray, "bits"]
    goal: Bool[np.ndarray, "bits"]
    compiled: Compiled
    meter: Meter
    costs: Costs

    def plan(self, planner: str) -> Plan:
        """A plan on which operators and model agree, or else the model's own."""
        check_planner(planner, self.compiled, self.costs)
        name = choose(self.compiled, self.costs) if planner == "auto" else planner
        if self._ruled_out():
            settled = self._settle()
            if settled is not None:
                return settled
        for _ in range(MAX_DETOURS if fits(name, self.compiled) else 0):
            found = self._search(name, self.compiled, self.meter.remaining())
            if found.status is PlanStatus.UNSOLVABLE:
                if self._proves_unsolvable(name):
                    return found
                break
            if not found.solved:
                return self._any_flips(found)
            differs = self._first_difference(found)
            if differs is None:
                return self._shortened(found, name)
            skill = found.skills[differs]
            if skill in self.compiled.operators:  # what the others do is the model's word anyway
                self.compiled.block(found.states[differs], skill)
            # flips know no detours: from here on, search
            both_ends = self.costs.is_length and fits("bidirectional", self.compiled)
            name = "bidirectional" if both_ends else "astar"
        name = "bfs" if self.costs.is_length else "dijkstra"
        found = self._search(name, self.compiled.model, self.meter.remaining())
        if found.solved or found.status is PlanStatus.UNSOLVABLE:
            return found
        return self._any_flips(found)

    def _search(self, name: str, model: SymbolicModel, budget: Budget) -> Plan:
        return self._counted(call(name, self.start, self.goal, model, budget, self.costs))

    def _glance(self, model: SymbolicModel, seconds: float, depth: int | None = None) -> Plan:
        """A short look for a plan of at most that many skills."""
        left = self.meter.remaining()
        moment = replace(left, seconds=min(left.seconds, seconds))
        return self._counted(
            breadth_first(self.start, self.goal, model, moment, depth, BRIEF_BATCH)
        )

    def _counted(self, found: Plan) -> Plan:
        """The plan, with all that has been spent on the problem so far."""
        self.meter.expanded += found.expanded
        self.meter.peak_bytes = max(self.meter.peak_bytes, int(found.memory_mb * 2**20))
        memory_mb = self.meter.peak_bytes / 2**20
        return replace(found, expanded=self.meter.expanded, memory_mb=memory_mb)

    def _first_difference(self, found: Plan) -> int | None:
        """The first step of the plan whose outcome the model sees differently."""
        after = self.compiled.model.successor(found.states[:-1], np.array(found.skills))
        wrong = np.flatnonzero((after != found.states[1:]).any(axis=1))
        return int(wrong[0]) if len(wrong) else None

    def _proves_unsolvable(self, name: str) -> bool:
        """Whether the operators' verdict holds for the model: all compiled, none ever wrong."""
        if not self.compiled.exact or (self.compiled.opaque and name != "astar"):
            return False
        return self._agreement_from_start() == 1.0

    def _agreement_from_start(self) -> float:
        """How often operators and model say the same in states met on walks from the start."""
        model, rng = self.compiled.model, np.random.default_rng(0)
        states = walk(model, self.start[None], CONFIRMING_STATES, rng)
        same = self.compiled.successors(states) == model.successors(states)
        return float(same.all(axis=-1).mean())

    def _ruled_out(self) -> bool:
        """Whether every skill flips bits, always or usually, and none add up to the goal."""
        if len(self.compiled.flips) < self.compiled.num_skills:
            return False
        from seads.planning.gf2 import flip_system

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
            effects = self.compiled.operators | self.compiled.usual
            asked = "held-out states"
            agreement = float(np.mean([effect.agreement for effect in effects.values()]))
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
        if found.planner == "gf2" or not fits("gf2", self.compiled):
            return found
        other = self._search("gf2", self.compiled, Budget())
        if other.solved and self._first_difference(other) is None:
            return replace(other, minimal=False)
        return found

    def _shortened(self, found: Plan, name: str) -> Plan:
        """The plan itself, or a shorter one that uses skills which have no operator."""
        opaque, usual = set(self.compiled.opaque), set(self.compiled.usual)
        if not opaque or name == "astar":
            return found
        if not self.costs.is_length:
            return replace(found, minimal=False)
        most = USUAL_SECONDS if opaque <= usual else OPAQUE_SECONDS
        seconds = min(OPAQUE_SHARE * self.meter.remaining().seconds, most)
        shorter = self._glance(self.compiled, seconds, len(found) - 1)
        if shorter.solved and self._first_difference(shorter) is None:
            return shorter
        proven = shorter.status is PlanStatus.UNSOLVABLE
        return replace(found, minimal=proven, expanded=shorter.expanded)
