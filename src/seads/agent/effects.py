"""Which skills have an effect of their own, and which are spare."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from seads.agent.buffer import Episodes
from seads.agent.skill_model import ForwardModel

SELDOM = 0.1
"""In at least this share of its episodes a skill must do what none that is more reliable does."""


def own_effects(
    model: ForwardModel, episodes: Episodes, success: Float[np.ndarray, "skills"]
) -> Bool[np.ndarray, "skills"]:
    """Whether each skill has an effect of its own, by its newest episodes.

    What counts is a change that the model foresaw and that no skill of higher `success` is expected
    to make on that board. Where several skills do the same, all but the most reliable are
    spare; so is one that does on some boards what a second does and on others what a third does,
    and one that changes nothing, or hardly ever does what the model says.
    """
    flips = np.asarray(model.all_flip_logits(episodes.before)) > 0
    happened = episodes.before ^ episodes.after
    foreseen = (flips == happened[:, None]).all(-1)
    kept: list[int] = []
    for skill in np.argsort(-success, kind="stable"):
        mine = episodes.skills == skill
        as_foreseen = foreseen[mine, skill] & episodes.changed[mine]
        done_already = foreseen[mine][:, kept].any(1)
        if mine.any() and (as_foreseen & ~done_already).mean() >= SELDOM:
            kept.append(int(skill))
    return np.isin(np.arange(model.num_skills), kept)
