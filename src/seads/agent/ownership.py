"""Whose an effect is: what a skill may take up, what it copies, and what it has yet to learn."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from seads.agent.scoring import expected_after, likelihoods_from_evidence, score
from seads.agent.skill_model import ForwardModel

FREE = 0.5
"""A skill that more rarely than this does what the model takes for its own may take up another."""
KNOWN = 0.5
"""An effect is known where some skill is expected to have it with this probability."""


def explained_by_another(
    posterior: Float[np.ndarray, "episodes skills"],
    novelty: Float[np.ndarray, "episodes"],
    skills: Int[np.ndarray, "episodes"],
    taken: Bool[np.ndarray, "episodes"],
) -> Bool[np.ndarray, "episodes"]:
    """Where an effect is known, and as another skill's twice as well.

    Relabelling has to hand such an episode a skill it does not belong to when its own is used
    up; learned from, it would teach the model noise. Effects that no skill explains yet are
    not among these: a free skill must be able to take them up. Where the skill is `taken`, they
    are, if it is further behind than the reward's clipping at -2 log K: then it is another's
    known effect on an unusual board.
    """
    behind = posterior.max(1) - np.take_along_axis(posterior, skills[:, None], 1)[:, 0]
    log_k = np.log(posterior.shape[1])
    explained = (novelty < -np.log(KNOWN)) & (behind > np.log(2))
    return explained | (taken & (behind > 2 * log_k))


def rivals_of(
    likelihoods: Float[np.ndarray, "episodes skills"],
    skills: Int[np.ndarray, "episodes"],
    success: Float[np.ndarray, "skills"],
) -> Bool[np.ndarray, "episodes skills"]:
    """Which skills count as second best, for each episode and its label.

    Where the model expects of a skill just what happened, no less reliable one does: of two skills
    with one effect the better one keeps it. But what it is not expected to do may be another's,
    however unreliable.
    """
    expected = np.take_along_axis(likelihoods, skills[:, None], 1) > np.log(KNOWN)
    return ~(expected & (success < success[skills][:, None]))


def better_skills_do(
    likelihoods: Float[np.ndarray, "episodes skills"],
    skills: Int[np.ndarray, "episodes"],
    success: Float[np.ndarray, "skills"],
) -> Bool[np.ndarray, "episodes"]:
    """Where the same is expected of a skill that is more reliable than the episode's own."""
    better = success > success[skills][:, None]
    return ((likelihoods > np.log(KNOWN)) & better).any(1)


def has_one_to_learn(
    model: ForwardModel,
    before: Bool[np.ndarray, "episodes bits"],
    skills: Int[np.ndarray, "episodes"],
    success: Float[np.ndarray, "skills"],
) -> Bool[np.ndarray, "episodes"]:
    """Where a free skill is expected to have an effect that no more reliable one has there.

    It has been given that effect, by labels of what others did in passing, and cannot make it yet.
    """
    result = np.zeros(len(before), bool)
    rows = np.flatnonzero(success[skills] < FREE)
    if len(rows):
        before, skills = before[rows], skills[rows]
        after = expected_after(model, before, skills)
        likelihoods = likelihoods_from_evidence(*score(model, before, after))
        taken = better_skills_do(likelihoods, skills, success)
        result[rows] = (after != before).any(1) & ~taken
    return result


def on_unusual_boards(
    effects: Int[np.ndarray, "episodes"], unsure: Bool[np.ndarray, "episodes"]
) -> Bool[np.ndarray, "episodes"]:
    """Where no skill was expected to have an effect that one is expected to have on most boards.

    Then the board is unusual, and the effect is that skill's: a free one must not take it up.
    """
    share = np.bincount(effects, unsure) / np.bincount(effects)
    return unsure & (share[effects] < 0.5)
