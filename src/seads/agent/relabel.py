"""Hindsight relabelling under the constraint that no skill becomes more or less frequent."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching


def relabel(
    scores: Float[np.ndarray, "episodes skills"],
    skills: Int[np.ndarray, "episodes"],
    eligible: Bool[np.ndarray, "episodes"] | None = None,
) -> Int[np.ndarray, "episodes"]:
    """Skills that maximise the summed score, each handed out as often as it was before.

    `scores` is Q-bar, log q(k | z_0, z_T) clipped from below. Only eligible episodes (all by
    default) take part; the others keep their skill.
    """
    picked = np.arange(len(skills)) if eligible is None else np.flatnonzero(eligible)
    relabelled = skills.copy()
    relabelled[picked] = _assign(scores[picked], skills[picked])
    return relabelled


def _assign(
    scores: Float[np.ndarray, "episodes skills"], skills: Int[np.ndarray, "episodes"]
) -> Int[np.ndarray, "episodes"]:
    supply = np.bincount(skills, minlength=scores.shape[1])
    # where the favourites use up the supply exactly, nothing can score higher
    favourite = scores.argmax(1)
    if np.all(np.bincount(favourite, minlength=len(supply)) == supply):
        return favourite.astype(skills.dtype)
    # every episode gets one skill: what counts is how much better it is than the worst
    chosen = _gaining(scores - scores.min(1, keepdims=True), supply)
    # who gains nothing keeps its skill while there is any left of it, and else takes what is left
    for own in (True, False):
        rest = np.flatnonzero(chosen < 0)
        left = supply - np.bincount(chosen[chosen >= 0], minlength=len(supply))
        wanted = skills[rest] if own else np.repeat(np.arange(len(left)), left)
        gets = place_in_queue(wanted) < left[wanted]
        chosen[rest[gets]] = wanted[gets]
    return chosen.astype(skills.dtype)


def _gaining(
    gains: Float[np.ndarray, "episodes skills"], supply: Int[np.ndarray, "skills"]
) -> Int[np.ndarray, "episodes"]:
    """The skill of each episode, -1 for none, that gains most in sum; it must gain something.

    A model that knows something is sure of most episodes: few of the gains are not zero.
    """
    count = len(gains)
    episodes, skills = np.nonzero(gains)
    copies = supply[skills]
    # a column for every time that a skill may be handed out; then one an episode, for none
    column_skill = np.repeat(np.arange(len(supply)), supply)
    begins = np.cumsum(supply) - supply
    columns = np.repeat(begins[skills] - np.cumsum(copies) + copies, copies)
    columns += np.arange(len(columns))
    rows = np.repeat(episodes, copies)
    none = np.arange(count)
    weights = np.concatenate([np.repeat(gains[episodes, skills], copies), np.zeros(count)])
    places = np.concatenate([rows, none]), np.concatenate([columns, len(column_skill) + none])
    # plus one, since an entry that is zero counts as none
    graph = csr_array((weights + 1.0, places), shape=(count, len(column_skill) + count))
    _, matched = min_weight_full_bipartite_matching(graph, maximize=True)
    return np.concatenate([column_skill, np.full(count, -1)])[matched]


def place_in_queue(values: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
    """How many equal values stand before each."""
    order = np.argsort(values, kind="stable")
    first = np.searchsorted(values[order], values[order])
    place = np.empty_like(order)
    place[order] = np.arange(len(values)) - first
    return place
