"""Search from both ends over compiled operators; the goal's side is kept for the next board."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning.bfs import BATCH_SUCCESSORS
from seads.planning.costs import Costs
from seads.planning.operators import Compiled
from seads.planning.packed import pack, unpack
from seads.planning.result import Budget, Meter, Plan, PlanStatus
from seads.planning.tree import SearchTree

MAX_CACHED_GOALS = 4
# States expanded before the sides are compared for the first time within a level.
FIRST_BATCH = 512


class _Side:
    """One end of the search: whole levels, and behind them perhaps a part of the next."""

    def __init__(self, root: Bool[np.ndarray, "bits"], backwards: bool) -> None:
        self.tree = SearchTree(pack(root)[None])
        self.expanded = 0
        """Nodes expanded: those of all levels but the last, and the first of the last."""
        self._backwards = backwards

    def expand(self, model: Compiled, size: int) -> None:
        """Expand the next nodes of the level; the last of them completes the next level."""
        nodes = range(self.expanded, self.expanded + size)
        step = model.retreat if self._backwards else model.advance
        reached, rows, skills = step(self.tree.words[nodes.start : nodes.stop])
        self.tree.add(reached, nodes.start + rows, skills)
        self.expanded = nodes.stop
        if nodes.stop == self.tree.level.stop:
            self.tree.next_level()


def plan(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: Compiled,
    budget: Budget,
    costs: Costs,
) -> Plan:
    """A shortest plan over the compiled skills.

    Both sides grow level by level, the smaller one first. As long as no whole levels have
    met, every plan is longer than both depths together. So the first state of a new level
    that is on a whole level of the other side is on a shortest plan, and growing stops there.
    """
    costs.require_length("bidirectional")
    if not model.invertible:
        raise SeadsError("a skill has too many predecessors to search backwards; use 'astar'")
    meter = Meter(budget)
    forward = _Side(start, backwards=False)
    backward = _goal_side(model, goal)
    met = _meeting(forward, backward, 0)
    while met is None:
        here, there = len(forward.tree.level), len(backward.tree.level)
        if not here or not there:
            return meter.give_up(PlanStatus.UNSOLVABLE, "bidirectional")
        sides = (forward, backward) if here <= there else (backward, forward)
        grown = _grow(*sides, model, meter)
        if isinstance(grown, PlanStatus):
            if grown is PlanStatus.MEMORY_BUDGET:
                model.cache.pop(_cache_key(goal), None)
            return meter.give_up(grown, "bidirectional")
        met = grown[::-1] if grown and here > there else grown
    meter.spent(nbytes=forward.tree.nbytes + backward.tree.nbytes)
    first, passed = forward.tree.way_to(met[0])
    last, ahead = backward.tree.way_to(met[1])
    states = unpack(np.concatenate([passed, ahead[-2::-1]]), model.num_bits)
    return meter.solve(first + last[::-1], states, costs, "bidirectional")


def _cache_key(goal: Bool[np.ndarray, "bits"]) -> tuple[str, bytes]:
    return "bidirectional", pack(goal).tobytes()


def _goal_side(model: Compiled, goal: Bool[np.ndarray, "bits"]) -> _Side:
    """The goal's side, grown as far as earlier boards needed it."""
    key = _cache_key(goal)
    side = model.cache.get(key)
    if not isinstance(side, _Side):
        while len(model.cache) >= MAX_CACHED_GOALS:
            model.cache.pop(next(iter(model.cache)))
        side = model.cache[key] = _Side(goal, backwards=True)
    return side


def _meeting(side: _Side, other: _Side, first: int) -> tuple[int, int] | None:
    """A node from `first` on and the node of the other's whole levels of the same state."""
    found = other.tree.find(side.tree.words[first:])
    whole = other.tree.level.stop
    hits = np.flatnonzero((found >= 0) & (found < whole))
    return (first + int(hits[0]), int(found[hits[0]])) if len(hits) else None


def _grow(
    side: _Side, other: _Side, model: Compiled, meter: Meter
) -> tuple[int, int] | PlanStatus | None:
    """Complete the next level, unless it meets the other side or a budget runs out before."""
    end = side.tree.level.stop
    met = _meeting(side, other, end)  # what an earlier board has left of the level
    batch, most = FIRST_BATCH, max(1, BATCH_SUCCESSORS // model.num_skills)
    while met is None and side.expanded < end:
        size = meter.room(min(batch, most, end - side.expanded))
        stopped = meter.spent(expanding=size, nbytes=side.tree.nbytes + other.tree.nbytes)
        if stopped:
            return stopped
        seen = len(side.tree)
        side.expand(model, size)
        meter.expanded += size
        met = _meeting(side, other, seen)
        batch *= 2
    return met
