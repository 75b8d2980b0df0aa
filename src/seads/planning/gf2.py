"""Plans by linear algebra where every skill flips the same bits in every state.

Order does not matter and twice is nothing, so a plan is a set of skills whose effects add up
to the difference between start and goal: a linear system over GF(2). Its solutions differ by
the null space, which is small for these games (5x5: 4 solutions, 9x9: 256), so the cheapest is
found by looking at all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from seads.errors import SeadsError
from seads.games.gf2 import eliminate
from seads.planning.agreed_order import MAX_QUESTIONS, agreed_order, states_along
from seads.planning.costs import Costs
from seads.planning.operators import Compiled
from seads.planning.result import Budget, Meter, Plan, PlanStatus

MAX_NULLITY = 20


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
        for skill in sorted(flips, key=lambda k: (price[k], k in model.usual)):
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
    """A cheapest plan over the skills that flip bits, always or usually; no operator may do else.

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
    minimal = system.nullity <= MAX_NULLITY
    if minimal:
        ties = system.cheapest(solution, count=8)
        prices = ties @ system.costs
        ties = ties[prices <= prices[0] * (1 + 1e-12)]
    else:
        ties = system.improved(solution)[None]
    sets = [[int(k) for k in system.skills[tie]] for tie in ties]
    each = MAX_QUESTIONS // len(sets)
    orders = (agreed_order(start, skills, model, each + len(skills)) for skills in sets)
    ordered = next((order for order in orders if order is not None), sets[0])
    states = states_along(start, ordered, model)
    cost = float(costs.per_skill[ordered].sum())
    return meter.solve(ordered, states, cost, "gf2", minimal)


def flip_system(model: Compiled, costs: Costs) -> FlipSystem:
    """The solved system, made once for the same costs."""
    key = ("gf2", costs.per_skill.tobytes())
    system = model.cache.get(key)
    if not isinstance(system, FlipSystem):
        system = model.cache[key] = FlipSystem.of(model, costs)
    return system
