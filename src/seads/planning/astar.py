"""A* and uniform-cost search in batches, for any costs."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from seads.planning.bfs import BATCH_SUCCESSORS, expander
from seads.planning.costs import Costs
from seads.planning.heuristic import Heuristic, derive
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.packed import StateSet, Words, num_words, pack, unpack
from seads.planning.result import Budget, Meter, Plan, PlanStatus

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
    """The states seen, with the cheapest known way to each."""

    def __init__(self, words_per_state: int) -> None:
        self.states = StateSet(words_per_state)
        self.cost = np.empty(0)
        self.bound = np.empty(0)
        self.parent = np.empty(0, np.int32)
        self.skill = np.empty(0, np.int16)
        self.open = np.empty(0, bool)

    @property
    def nbytes(self) -> int:
        return self.states.nbytes + 23 * len(self.cost)

    def offer(
        self,
        words: Words,
        cost: np.ndarray,
        parent: np.ndarray,
        skill: np.ndarray,
        heuristic: Heuristic,
    ) -> None:
        """Take over new states, and cheaper ways to known ones."""
        useful = np.isfinite(cost)
        order = np.flatnonzero(useful)[np.argsort(cost[useful], kind="stable")]
        words, cost, parent, skill = words[order], cost[order], parent[order], skill[order]
        known = self.states.find(words)
        better = np.flatnonzero(known >= 0)
        better = better[cost[better] < self.cost[known[better]] - _ROUNDING]
        # rows are sorted by cost: the first row of a node is its cheapest
        node, first = np.unique(known[better], return_index=True)
        row = better[first]
        self.cost[node], self.parent[node], self.skill[node] = cost[row], parent[row], skill[row]
        self.open[node] = np.isfinite(self.bound[node])

        fresh = np.flatnonzero(known < 0)
        row = fresh[self.states.add(words[fresh])]
        bound = heuristic(words[row])
        self.cost = np.concatenate([self.cost, cost[row]])
        self.bound = np.concatenate([self.bound, bound])
        self.parent = np.concatenate([self.parent, parent[row].astype(np.int32)])
        self.skill = np.concatenate([self.skill, skill[row].astype(np.int16)])
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
    nodes = _Nodes(num_words(model.num_bits))
    nodes.offer(pack(start)[None], np.zeros(1), np.full(1, -1), np.full(1, -1), heuristic)
    most = max(1, BATCH_SUCCESSORS // model.num_skills)
    while True:
        at_goal = int(nodes.states.find(target)[0])
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
        after = expand(nodes.states.words[batch])
        meter.expanded += size
        nodes.offer(
            after.reshape(-1, after.shape[-1]),
            (nodes.cost[batch][:, None] + price).reshape(-1),
            np.repeat(batch, model.num_skills),
            np.tile(np.arange(model.num_skills), size),
            heuristic,
        )
    if at_goal < 0:
        return meter.give_up(PlanStatus.UNSOLVABLE, name)
    path = [at_goal]
    while nodes.parent[path[-1]] >= 0:
        path.append(int(nodes.parent[path[-1]]))
    path.reverse()
    skills = [int(nodes.skill[node]) for node in path[1:]]
    states = unpack(nodes.states.words[path], model.num_bits)
    return meter.solve(skills, states, float(costs.per_skill[skills].sum()), name)
