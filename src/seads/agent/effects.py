"""Which skills have an effect of their own, and which are spare."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from seads.agent.skill_model import ForwardModel

SAME = 0.9
"""Skills whose predictions agree on this share of the boards have the same effect."""
RELIABLE = 0.1
"""A skill that does what the model says more rarely than this does not count as having it."""
BOARDS = 256
"""As many boards are enough to compare the effects on."""


def own_effects(
    model: ForwardModel,
    boards: Bool[np.ndarray, "boards bits"],
    success: Float[np.ndarray, "skills"],
) -> Bool[np.ndarray, "skills"]:
    """Whether each skill is the most reliable one of its effect.

    Where several skills do the same, all but the one of highest `success` are spare; so is one that
    by the model changes nothing, or that hardly ever does what the model says.
    """
    boards = np.unique(boards, axis=0)[:BOARDS]
    flips = np.asarray(model.all_flip_logits(boards)) > 0
    kept: list[int] = []
    for skill in np.argsort(-success, kind="stable"):
        mine = flips[:, skill]
        if success[skill] < RELIABLE or not mine.any():
            continue
        same = (flips[:, kept] == mine[:, None]).all(-1).mean(0)
        if not (same >= SAME).any():
            kept.append(int(skill))
    return np.isin(np.arange(model.num_skills), kept)
