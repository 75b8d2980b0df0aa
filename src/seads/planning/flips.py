"""Plans by linear algebra (planner `gf2`) where every skill flips the same bits in every state.

Order does not matter and twice is nothing, so a plan is a set of skills whose effects add up
to the difference between start and goal: a linear system over GF(2). Its solutions differ by
the null space, which is small for these games (5x5: 4 solutions, 9x9: 256), so the cheapest is
found by looking at all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from seads.errors import SeadsError
from seads.games.gf2 import eliminate
from seads.planning.costs import Costs
from seads.planning.operators import Compiled
from seads.planning.result import Budget, Meter, Plan, PlanStatus

# With more dimensions of solutions than this, not all are looked at.
MAX_NULLITY = 20
# How often the model is asked about the skills that are left, at most.
MAX_QUESTIONS = 1000


@dataclass(frozen=True)
class FlipSystem:
    """The linear system of a set of flips, solved once for all starts and goals."""

    skills: Int[np.ndarray, "columns"]
    """The skill of each column: the cheapest of those with the same effect."""
    costs: Float[np.ndarray, "columns"]
    effects: Bool[np.ndarray, "columns bits"]
    inverse: UInt8[np.ndarray, "columns bits"]
    checks: UInt8[np.ndarray, "checks bits"]
    null_basis: UInt8[np.ndarray, "nullity columns"]

    @classmethod
    def of(cls, model: Compiled, costs: Costs) -> FlipSystem:
        """The system of all skills known to flip bits (others and forbidden ones left out)."""
        price = costs.search
        flips = model.flips
        cheapest: dict[bytes, int] = {}
        # of two skills with one effect and price, the one that always has it
        for skill in sorted(flips, key=lambda k: (price[k], not model.operators[k].reliable)):
            effect = flips[skill]
            if effect.any() and np.isfinite(price[skill]):
                cheapest.setdefault(effect.tobytes(), skill)
        skills = np.array(sorted(cheapest.values()), np.int64)
        bits, columns = model.num_bits, len(skills)
        effects = np.zeros((columns, bits), bool)
        for column, skill in enumerate(skills):
            effects[column] = flips[int(skill)]
        size = max(bits, columns)
        square = np.zeros((size, size), np.uint8)
        square[:bits, :columns] = effects.T
        solved = eliminate(square)
        return cls(
            skills,
            price[skills],
            effects,
            solved.inverse[:columns, :bits],
            solved.checks[:, :bits],
            solved.null_basis[solved.free < columns][:, :columns],
        )

    @property
    def nullity(self) -> int:
        """Dimension of the null space: there are 2**nullity solutions."""
        return len(self.null_basis)

    @property
    def enumerable(self) -> bool:
        """Whether there are few enough solutions to look at all of them."""
        return self.nullity <= MAX_NULLITY

    def solve(self, difference: Bool[np.ndarray, "bits"]) -> Bool[np.ndarray, "columns"] | None:
        """Some set of columns with this effect, or None if there is none."""
        wanted = difference.astype(np.uint8)
        if (self.checks @ wanted & 1).any():
            return None
        return (self.inverse @ wanted & 1).astype(bool)

    def cheapest(
        self, solution: Bool[np.ndarray, "columns"], count: int
    ) -> Bool[np.ndarray, "few columns"]:
        """Up to `count` cheapest sets with the same effect, the cheapest first."""
        best = np.zeros((0, len(self.skills)), bool)
        inner = solution[None]
        for vector in self.null_basis[:14].astype(bool):
            inner = np.concatenate([inner, inner ^ vector])
        outer = np.zeros((1, len(self.skills)), bool)
        for vector in self.null_basis[14:].astype(bool):
            outer = np.concatenate([outer, outer ^ vector])
        for shift in outer:
            pool = np.concatenate([best, inner ^ shift])
            prices = pool.astype(np.float64) @ self.costs
            best = pool[np.argsort(prices, kind="stable")[:count]]
        return best

    def improved(self, solution: Bool[np.ndarray, "columns"]) -> Bool[np.ndarray, "columns"]:
        """A set with the same effect that no single null vector makes cheaper."""
        while True:
            around = solution ^ self.null_basis.astype(bool)
            prices = around @ self.costs
            best = int(prices.argmin())
            if prices[best] >= solution @ self.costs:
                return solution
            solution = around[best]


def plan(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: Compiled,
    budget: Budget,
    costs: Costs,
) -> Plan:
    """A cheapest plan over the skills that flip bits, always or often.

    Raises SeadsError where the effect of an operator depends on the state.
    Among equally cheap sets and their orders, one the model itself agrees with is taken.
    With more than 2**20 solutions only a locally cheapest one is given, and marked so.
    """
    if not model.all_flips:
        raise SeadsError("the effect of a skill depends on the state; use 'bidirectional'")
    meter = Meter(budget)
    system = flip_system(model, costs)
    solution = system.solve(start ^ goal)
    if solution is None:
        return meter.give_up(PlanStatus.UNSOLVABLE, "gf2")
    if system.enumerable:
        ties = system.cheapest(solution, count=8)
        prices = ties @ system.costs
        ties = ties[prices <= prices[0] * (1 + 1e-12)]
    else:
        ties = system.improved(solution)[None]
    sets = [[int(k) for k in system.skills[tie]] for tie in ties]
    each = MAX_QUESTIONS // len(sets)
    orders = (agreed_order(start, skills, model, each + len(skills)) for skills in sets)
    agreed = next((order for order in orders if order is not None), None)
    ordered = sets[0] if agreed is None else agreed
    states = states_along(start, ordered, model)
    found = meter.solve(ordered, states, costs, "gf2", minimal=system.enumerable)
    return replace(found, agreed=agreed is not None)


def flip_system(model: Compiled, costs: Costs) -> FlipSystem:
    """The solved system, made once for the same costs."""
    key = ("gf2", costs.per_skill.tobytes())
    system = model.cache.get(key)
    if not isinstance(system, FlipSystem):
        system = model.cache[key] = FlipSystem.of(model, costs)
    return system


def states_along(
    start: Bool[np.ndarray, "bits"], skills: list[int], model: Compiled
) -> Bool[np.ndarray, "steps bits"]:
    """The states that the skills' flips pass through, start included."""
    flips = model.flips
    effects = [flips[skill] for skill in skills]
    return np.logical_xor.accumulate(np.array([start, *effects]), axis=0)


def agreed_order(
    start: Bool[np.ndarray, "bits"],
    skills: list[int],
    model: Compiled,
    questions: int = MAX_QUESTIONS,
) -> list[int] | None:
    """An order of the skills in which the model flips what they flip; None if none is found.

    The given order is kept up to the first step on which the two differ, and searched depth first
    from there on. Where one has got to depends on which skills are left, not on their order,
    so a set that led nowhere is not looked at again.
    """
    states = states_along(start, skills, model)
    after = model.model.successor(states[:-1], np.array(skills, np.int64))
    differs = np.flatnonzero((after != states[1:]).any(axis=1))
    if not len(differs):
        return skills
    flips = model.flips
    done = skills[: int(differs[0])]
    state = states[len(done)]
    # the skills that may still be tried at each step; None where nobody has asked yet
    options: list[list[int] | None] = [None] * (len(done) + 1)
    seen = {frozenset(done[:step]) for step in range(1, len(done) + 1)}
    while options:
        if options[-1] is None:
            if not questions:
                return None
            questions -= 1
            left = np.array([k for k in skills if k not in done])
            after = model.model.successor(np.tile(state, (len(left), 1)), left)
            expected = [state ^ flips[skill] for skill in left]
            options[-1] = left[(after == expected).all(axis=1)].tolist()
        if not options[-1]:
            options.pop()
            if done:
                state = state ^ flips[done.pop()]
            continue
        skill = options[-1].pop()
        reached = frozenset((*done, skill))
        if reached in seen:
            continue
        seen.add(reached)
        done.append(skill)
        state = state ^ flips[skill]
        if len(done) == len(skills):
            return done
        options.append(None)
    return None
