"""The intrinsic reward at the end of a skill episode (paper, "Reward improvements")."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int


def clipped_posterior(
    posterior: Float[np.ndarray, "episodes skills"],
) -> Float[np.ndarray, "episodes skills"]:
    """Q-bar: log q(k | z_0, z_T) bounded from below by -2 log K."""
    return np.maximum(posterior, -2 * np.log(posterior.shape[1]))


def skill_reward(
    posterior: Float[np.ndarray, "episodes skills"],
    novelty: Float[np.ndarray, "episodes"],
    skills: Int[np.ndarray, "episodes"],
    changed: Bool[np.ndarray, "episodes"],
    *,
    second_best: bool = True,
    excused: Bool[np.ndarray, "episodes"] | None = None,
    rivals: Bool[np.ndarray, "episodes skills"] | None = None,
    novelty_bonus: bool = True,
    clip_novelty: bool = False,
) -> Float[np.ndarray, "episodes"]:
    """R(k) of every episode.

    With second-best normalisation the base is Q-bar of the episode's skill minus the second
    highest Q-bar of its `rivals`, all skills by default, else Q-bar + log K. The novelty bonus,
    -max_k log q(z_T | z_0, k), is added, clipped to [0, log K] if asked. Where the symbol did not
    change the reward is -2 log K, the least there is; where that is `excused`, 0.
    """
    log_k = np.log(posterior.shape[1])
    clipped = clipped_posterior(posterior)
    own = np.take_along_axis(clipped, skills[:, None], 1)[:, 0]
    if rivals is not None:
        clipped = np.where(rivals, clipped, -2 * log_k)
    reward = own - np.partition(clipped, -2, axis=1)[:, -2] if second_best else own + log_k
    if novelty_bonus:
        reward = reward + (np.clip(novelty, 0, log_k) if clip_novelty else novelty)
    unchanged = -2 * log_k if excused is None else np.where(excused, 0.0, -2 * log_k)
    return np.where(changed, reward, unchanged)
