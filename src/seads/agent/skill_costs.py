"""What each skill costs and how reliable it is, from a run's own episodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from seads.agent.buffer import Episodes
from seads.agent.effects import own_effects
from seads.agent.needs import Needs, find_needs
from seads.agent.relabel import place_in_queue
from seads.agent.skill_model import Discriminator, ForwardModel

TRIED = 10
"""Newest episodes of each skill, however old, that say what it is worth."""
REMEMBERED = 100
"""The same of what it needs, which does not change while it is learned."""


def successes(skill: dict[str, Any]) -> float:
    """In how many of its episodes a skill did what the model said, from its statistics."""
    return float(skill["success"] * (skill["episodes"] + 2) - 1)


def skill_statistics(
    model: ForwardModel | Discriminator, episodes: Episodes
) -> list[dict[str, Any]]:
    """Per skill: how many episodes, their mean steps, and the probability that it succeeds.

    `episodes` are the newest `REMEMBERED` of each skill or fewer, the newest first; those with
    exploration noise do not count. What a skill needs is found in all of them (see
    `seads.agent.needs`), the rest in the newest `TRIED` in which it had that. A skill succeeds
    where it does what the forward model says most likely; the probability is
    (successes + 1) / (episodes + 2), so that it is never 0 or 1. A skill without episodes is as
    slow as the slowest. `own` says whether the skill has an effect of its own (see
    `seads.agent.effects`). The ground truth is not looked at. VIC's discriminator says nothing
    about effects: the list is empty.
    """
    if not isinstance(model, ForwardModel):
        return []
    episodes = episodes.pick(~episodes.disturbed)
    count = model.num_skills
    logits = np.asarray(model.flip_logits(episodes.before, episodes.skills))
    succeeded = ((episodes.before ^ (logits > 0)) == episodes.after).all(1)
    changed = episodes.changed
    needs = find_needs(episodes.before, episodes.skills, succeeded & changed, changed, count)
    could = np.flatnonzero(
        Needs.of(needs, episodes.before.shape[1]).met(episodes.before, episodes.skills)
    )
    could = could[place_in_queue(episodes.skills[could]) < TRIED]
    episodes, succeeded = episodes.pick(could), succeeded[could]
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
        | ({"needs": needs[skill]} if needs[skill] else {})
        for skill in range(count)
    ]
