"""A* and uniform-cost search in batches, for any costs."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from seads.planning.bfs import BATCH_SUCCESSORS, expander
from seads.planning.costs import Costs
from seads.planning.heuristic import Heuristic, derive
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.packed import Words, pack, unpack
from seads.planning.result import Budget, Meter, Plan, PlanStatus
from seads.planning.tree import SearchTree

MIN_BATCH = 64
_ROUNDING = 1e-9


def plan(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: Compiled,
    budget: Budget,
    costs: Costs,
) -> Plan:
    """A cheapest plan over the compiled skills (opaque ones included, through the model)."""
    meter = Meter(budget)
    stopped = meter.spent(expanding=1)
    if stopped:
        return meter.give_up(stopped, "astar")
    heuristic = derive(start, goal, model, costs, in_time=lambda: meter.spent() is None)
    return _search(start, goal, model, meter, costs, heuristic, "astar")


def plan_uniform(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: SymbolicModel,
    budget: Budget,
    costs: Costs,
) -> Plan:
    """A cheapest plan in any model, without a heuristic (Dijkstra's search)."""
    no_bound = lambda words: np.zeros(len(words))  # noqa: E731
    return _search(start, goal, model, Meter(budget), costs, no_bound, "dijkstra")


class _Nodes:
    """The states seen: the cheapest known way to each, and which are still to be expanded."""

    def __init__(self, start: Words, heuristic: Heuristic) -> None:
        self._heuristic = heuristic
        self.tree = SearchTree(start)
        self.cost = np.zeros(1)
        self.bound = heuristic(start)
        self.open = np.isfinite(self.bound)

    @property
    def nbytes(self) -> int:
        return self.tree.nbytes + self.cost.nbytes + self.bound.nbytes + self.open.nbytes

    def offer(
        self, words: Words, cost: np.ndarray, parents: np.ndarray, skills: np.ndarray
    ) -> None:
        """Take over new states, and cheaper ways to known ones."""
        useful = np.isfinite(cost)
        order = np.flatnonzero(useful)[np.argsort(cost[useful], kind="stable")]
        words, cost, parents, skills = words[order], cost[order], parents[order], skills[order]
        known = self.tree.find(words)
        better = np.flatnonzero(known >= 0)
        better = better[cost[better] < self.cost[known[better]] - _ROUNDING]
        # rows are sorted by cost: the first row of a node is its cheapest
        node, first = np.unique(known[better], return_index=True)
        row = better[first]
        self.tree.relink(node, parents[row], skills[row])
        self.cost[node] = cost[row]
        self.open[node] = np.isfinite(self.bound[node])

        fresh = np.flatnonzero(known < 0)
        row = fresh[self.tree.add(words[fresh], parents[fresh], skills[fresh])]
        bound = self._heuristic(words[row])
        self.cost = np.concatenate([self.cost, cost[row]])
        self.bound = np.concatenate([self.bound, bound])
        self.open = np.concatenate([self.open, np.isfinite(bound)])


def _search(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: SymbolicModel,
    meter: Meter,
    costs: Costs,
    heuristic: Heuristic,
    name: str,
) -> Plan:
    """Expand the most promising states in batches until no open state can beat the goal's cost.

    A state is opened again when a cheaper way to it turns up, so the result does not depend
    on how the batches are cut.
    """
    expand, price = expander(model), costs.search
    target = pack(goal)[None]
    # States this close in cost are expanded together.
    width = float(price[np.isfinite(price)].min(initial=1.0)) / 2
    nodes = _Nodes(pack(start)[None], heuristic)
    most = max(1, BATCH_SUCCESSORS // model.num_skills)
    while True:
        at_goal = int(nodes.tree.find(target)[0])
        limit = nodes.cost[at_goal] if at_goal >= 0 else np.inf
        candidates = np.flatnonzero(nodes.open)
        total = nodes.cost[candidates] + nodes.bound[candidates]
        useful = total < limit - _ROUNDING
        candidates, total = candidates[useful], total[useful]
        if not len(candidates):
            break
        close = int((total <= total.min() + width).sum())
        size = meter.room(min(most, len(candidates), max(close, MIN_BATCH)))
        stopped = meter.spent(expanding=size, nbytes=nodes.nbytes)
        if stopped:
            return meter.give_up(stopped, name)
        batch = candidates[np.argpartition(total, size - 1)[:size]]
        nodes.open[batch] = False
        after = expand(nodes.tree.words[batch])
        meter.expanded += size
        nodes.offer(
            after.reshape(-1, after.shape[-1]),
            (nodes.cost[batch][:, None] + price).reshape(-1),
            np.repeat(batch, model.num_skills),
            np.tile(np.arange(model.num_skills), size),
        )
    if at_goal < 0:
        return meter.give_up(PlanStatus.UNSOLVABLE, name)
    skills, words = nodes.tree.way_to(at_goal)
    return meter.solve(skills, unpack(words, model.num_bits), costs, name)
