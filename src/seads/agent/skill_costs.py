"""What each skill costs and how reliable it is, from a run's own episodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from seads.agent.buffer import Episodes
from seads.agent.effects import own_effects
from seads.agent.skill_model import Discriminator, ForwardModel


def successes(skill: dict[str, Any]) -> float:
    """In how many of its episodes a skill did what the model said, from its statistics."""
    return float(skill["success"] * (skill["episodes"] + 2) - 1)


def skill_statistics(
    model: ForwardModel | Discriminator, episodes: Episodes
) -> list[dict[str, Any]]:
    """Per skill: how many episodes, their mean steps, and the probability that it succeeds.

    A skill succeeds where it does what the forward model says most likely; the probability
    is (successes + 1) / (episodes + 2), so that it is never 0 or 1. A skill without episodes
    is as slow as the slowest. Episodes with exploration noise do not count. `own` says whether
    the skill has an effect of its own (see `seads.agent.effects`). The ground truth is not looked
    at. VIC's discriminator says nothing about effects: the list is empty.
    """
    if not isinstance(model, ForwardModel):
        return []
    episodes = episodes.pick(~episodes.disturbed)
    count = model.num_skills
    logits = np.asarray(model.flip_logits(episodes.before, episodes.skills))
    succeeded = ((episodes.before ^ (logits > 0)) == episodes.after).all(1)
    tried = np.bincount(episodes.skills, minlength=count)
    worked = np.bincount(episodes.skills, weights=succeeded, minlength=count)
    total = np.bincount(episodes.skills, weights=episodes.lengths, minlength=count)
    slowest = float(episodes.lengths.max(initial=1))
    steps = np.where(tried > 0, total / np.maximum(tried, 1), slowest)
    success = (worked + 1) / (tried + 2)
    own = own_effects(model, episodes, success)
    return [
        {
            "skill": skill,
            "episodes": int(tried[skill]),
            "steps": round(float(steps[skill]), 4),
            "success": round(float(success[skill]), 4),
            "own": bool(own[skill]),
        }
        for skill in range(count)
    ]
