"""The paper's planner: breadth-first search, level by level, each level in large batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, UInt64

from seads.planning.costs import Costs
from seads.planning.model import SymbolicModel
from seads.planning.operators import Compiled
from seads.planning.packed import Words, pack, unpack
from seads.planning.result import Budget, Meter, Plan, PlanStatus
from seads.planning.tree import SearchTree

# Successors made at once: large enough for fast products, small enough to watch the clock.
BATCH_SUCCESSORS = 2**17

Expand = Callable[[Words], UInt64[np.ndarray, "rows skills words"]]


def expander(model: SymbolicModel) -> Expand:
    """The model's successor function on packed states."""
    if isinstance(model, Compiled):
        return model.expand
    return lambda words: pack(model.successors(unpack(words, model.num_bits)))


def plan(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: SymbolicModel,
    budget: Budget,
    costs: Costs,
    max_length: int | None = None,
    batch_successors: int = BATCH_SUCCESSORS,
) -> Plan:
    """A shortest plan in the model; no state is expanded twice.

    With `max_length`, UNSOLVABLE means that no plan of at most that length exists.
    The clock is looked at once for every batch of `batch_successors`.
    """
    costs.require_length("bfs")
    meter = Meter(budget)
    expand = expander(model)
    target = pack(goal)
    tree = SearchTree(pack(start)[None])
    batch = max(1, batch_successors // model.num_skills)
    level = range(0, 1)
    while len(level) and (max_length is None or tree.depth < max_length):
        at = level.start
        while at < level.stop:
            size = meter.room(min(batch, level.stop - at))
            stopped = meter.spent(expanding=size, nbytes=tree.nbytes)
            if stopped:
                return meter.give_up(stopped, "bfs")
            after = expand(tree.words[at : at + size])
            meter.expanded += size
            parents = np.repeat(np.arange(at, at + size), model.num_skills)
            skills = np.tile(np.arange(model.num_skills), size)
            after = after.reshape(-1, after.shape[-1])
            reached = np.flatnonzero((after == target).all(axis=1))
            if len(reached):
                row = reached[0]
                path, words = tree.way_to(int(parents[row]))
                states = unpack(np.concatenate([words, target[None]]), model.num_bits)
                return meter.solve([*path, int(skills[row])], states, costs, "bfs")
            tree.add(after, parents, skills)
            at += size
        level = tree.next_level()
    return meter.give_up(PlanStatus.UNSOLVABLE, "bfs")
