"""Collecting skill episodes: a pure function of the policy, the seed and the epoch."""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Float32

from seads.agent.buffer import Episodes
from seads.agent.networks import SkillPolicy
from seads.agent.rollout import run_skills
from seads.agent.settings import AgentSettings
from seads.envs.interface import BatchedEnv
from seads.streams import Purpose, row_seeds


def collect(
    env: BatchedEnv,
    policy: SkillPolicy,
    settings: AgentSettings,
    num_skills: int,
    seed: int,
    epoch: int,
) -> Episodes:
    """An epoch's episodes: fresh starts, uniform skills, the policy's noise and more for some.

    The rows go round as often as it takes to have an episode for each skill, on average.
    """
    limit, size = env.spec.step_limit, env.spec.action_size
    rounds = -(-num_skills // env.num_envs)
    count = rounds * env.num_envs
    skills = np.random.default_rng([seed, epoch, Purpose.SKILLS]).integers(num_skills, size=count)
    rng = np.random.default_rng([seed, epoch, Purpose.NOISE])
    noise = rng.standard_normal((limit, count, size), np.float32)
    disturbance = correlated_noise(
        rng, (limit, count, size), settings.noise_scale, settings.noise_correlation
    )
    disturbance *= (rng.random(count) < settings.noisy_episodes)[None, :, None]
    seeds = row_seeds(seed, count, Purpose.STARTS, epoch)

    def go_round(at: slice) -> Episodes:
        observations = env.reset(seeds[at])
        return run_skills(
            env, policy, observations, skills[at], num_skills, noise[:, at], disturbance[:, at]
        )

    rows = [slice(first, first + env.num_envs) for first in range(0, count, env.num_envs)]
    return jax.tree.map(lambda *parts: np.concatenate(parts), *map(go_round, rows))


def correlated_noise(
    rng: np.random.Generator, shape: tuple[int, int, int], scale: float, correlation: float
) -> Float32[np.ndarray, "steps rows act"]:
    """Stationary Ornstein-Uhlenbeck noise along the first axis."""
    noise = rng.standard_normal(shape, np.float32)
    for t in range(1, shape[0]):
        noise[t] = correlation * noise[t - 1] + np.sqrt(1 - correlation**2) * noise[t]
    return np.float32(scale) * noise
