"""Hindsight relabelling under the constraint that no skill becomes more or less frequent."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import linear_sum_assignment


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
    # the K distinct columns repeat: hand out each as often as it is in supply
    columns = np.repeat(np.arange(len(supply)), supply)
    rows, chosen = linear_sum_assignment(scores[:, columns], maximize=True)
    result = np.empty_like(skills)
    result[rows] = columns[chosen]
    return result
