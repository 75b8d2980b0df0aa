"""Search from both ends over compiled operators; the goal's side is kept for the next board."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning.bfs import BATCH_SUCCESSORS
from seads.planning.operators import Compiled
from seads.planning.packed import StateSet, num_words, pack, unpack
from seads.planning.result import Budget, Meter, Plan, PlanStatus
from seads.planning.tree import SearchTree

MAX_CACHED_GOALS = 4


def plan(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    model: Compiled,
    budget: Budget,
) -> Plan:
    """A shortest plan over the compiled skills.

    Both sides grow by whole levels, the smaller one first. When a level of one side meets
    the other, every shorter plan has been ruled out, so the meeting point is on a shortest one.
    """
    if not model.invertible:
        raise SeadsError("a skill has too many predecessors to search backwards; use 'astar'")
    meter = Meter(budget)
    forward = _tree(model, start)
    backward = _backward(model, goal)
    here, there = forward.level, backward.level
    met = _meeting(forward, backward, here)
    while met is None:
        if not len(here) or not len(there):
            return meter.give_up(PlanStatus.UNSOLVABLE, "bidirectional")
        nbytes = forward.nbytes + backward.nbytes
        if len(here) <= len(there):
            stopped = _grow(forward, here, model, meter, backwards=False, nbytes=nbytes)
            here = forward.next_level() if stopped is None else here
            met = _meeting(forward, backward, here)
        else:
            stopped = _grow(backward, there, model, meter, backwards=True, nbytes=nbytes)
            there = backward.next_level() if stopped is None else there
            met = _meeting(forward, backward, there, nodes_of_backward=True)
        if stopped is not None:
            model.cache.pop(_cache_key(goal), None)  # its last level is only half there
            return meter.give_up(stopped, "bidirectional")
    first, last = met
    meter.spent(nbytes=forward.nbytes + backward.nbytes)
    skills = forward.skills_to(first) + backward.skills_to(last)[::-1]
    nodes = backward.nodes_to(last)[::-1]
    words = np.concatenate([forward.words[forward.nodes_to(first)], backward.words[nodes[1:]]])
    return meter.solve(skills, unpack(words, model.num_bits), float(len(skills)), "bidirectional")


def _tree(model: Compiled, root: Bool[np.ndarray, "bits"]) -> SearchTree:
    return SearchTree(StateSet(num_words(model.num_bits)), pack(root)[None])


def _cache_key(goal: Bool[np.ndarray, "bits"]) -> tuple[str, bytes]:
    return "bidirectional", pack(goal).tobytes()


def _backward(model: Compiled, goal: Bool[np.ndarray, "bits"]) -> SearchTree:
    """The goal's side, grown as far as earlier boards needed it."""
    key = _cache_key(goal)
    tree = model.cache.get(key)
    if not isinstance(tree, SearchTree):
        while len(model.cache) >= MAX_CACHED_GOALS:
            model.cache.pop(next(iter(model.cache)))
        tree = model.cache[key] = _tree(model, goal)
    return tree


def _meeting(
    forward: SearchTree, backward: SearchTree, nodes: range, nodes_of_backward: bool = False
) -> tuple[int, int] | None:
    """A pair of nodes (one of each side) with the same state on a shortest plan, or None."""
    grown, other = (backward, forward) if nodes_of_backward else (forward, backward)
    found = other.find(grown.words[nodes.start : nodes.stop])
    hits = np.flatnonzero(found >= 0)
    if not len(hits):
        return None
    # nodes are numbered level by level: the lowest one found is the closest to its root
    best = hits[found[hits].argmin()]
    pair = (nodes.start + int(best), int(found[best]))
    return pair[::-1] if nodes_of_backward else pair


def _grow(
    tree: SearchTree, level: range, model: Compiled, meter: Meter, backwards: bool, nbytes: int
) -> PlanStatus | None:
    """Expand one level; returns the budget that ran out, or None."""
    batch = max(1, BATCH_SUCCESSORS // model.num_skills)
    step = model.retreat if backwards else model.advance
    before, at = tree.nbytes, level.start
    while at < level.stop:
        size = meter.room(min(batch, level.stop - at))
        spent = meter.spent(expanding=size, nbytes=nbytes + tree.nbytes - before)
        if spent:
            return spent
        reached, rows, skills = step(tree.words[at : at + size])
        meter.expanded += size
        tree.add(reached, at + rows, skills)
        at += size
    return None
