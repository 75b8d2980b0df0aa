"""Collecting skill episodes: a pure function of the policy, the seed, the epoch, and of how an
environment stands that is never reset."""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Bool, Float32, UInt64

from seads.agent.buffer import Episodes
from seads.agent.networks import SkillPolicy
from seads.agent.rollout import run_skills
from seads.agent.settings import AgentSettings
from seads.envs.embedding import EmbeddedEnv
from seads.envs.interface import IN_A_ROW, BatchedEnv, EnvSpec
from seads.streams import Purpose, row_seeds

Standing = dict[str, np.ndarray]
"""How an environment stands that goes on without resets; empty for all others."""


def collect(
    env: BatchedEnv,
    policy: SkillPolicy,
    settings: AgentSettings,
    num_skills: int,
    seed: int,
    epoch: int,
    going_on: bool = False,
    chained: bool = False,
    touched: list[tuple[int, float, float]] | None = None,
) -> Episodes:
    """An epoch's episodes: uniform skills, the policy's noise and more for some.

    Each from a fresh start, the rows going round as often as it takes to have an episode for each
    skill, on average; where they are `chained`, each from where the one before ended, `IN_A_ROW` of
    them; and where the environment goes on without resets, a row's episodes
    come one after the other from where it stands, or from a first start unless `going_on`.
    `touched` is given skill, x and y of every touch, where the environment tells them.
    """
    limit, size = env.spec.step_limit, env.spec.action_size
    count = settings.episodes_in(env.spec, env.num_envs, num_skills)
    skills = np.random.default_rng([seed, epoch, Purpose.SKILLS]).integers(num_skills, size=count)
    rng = np.random.default_rng([seed, epoch, Purpose.NOISE])
    noise = rng.standard_normal((limit, count, size), np.float32)
    disturbance = correlated_noise(
        rng, (limit, count, size), settings.noise_scale, settings.noise_correlation
    )
    disturbance *= (rng.random(count) < settings.noisy_episodes)[None, :, None]
    seeds = row_seeds(seed, count, Purpose.STARTS, epoch)
    fresh = after_resets(count, env.num_envs)

    def go_round(at: slice) -> Episodes:
        if env.spec.continuing:
            goes_on = going_on or at.start > 0
        else:
            goes_on = chained and not fresh[at.start]
        observations = _next_skills(env, seeds[at]) if goes_on else env.reset(seeds[at])

        def note(rows: Bool[np.ndarray, "rows"]) -> None:
            if touched is None or not isinstance(env, EmbeddedEnv):
                return
            for row in np.flatnonzero(rows & np.isfinite(env.touch).all(1)):
                touched.append((int(skills[at][row]), *map(float, env.touch[row])))

        some = skills[at], num_skills, noise[:, at], disturbance[:, at]
        return run_skills(env, policy, observations, *some, on_step=note)

    rows = [slice(first, first + env.num_envs) for first in range(0, count, env.num_envs)]
    return jax.tree.map(lambda *parts: np.concatenate(parts), *map(go_round, rows))


def after_resets(count: int, rows: int) -> Bool[np.ndarray, "count"]:
    """Which of so many episodes start from a reset, chained or not."""
    return np.arange(count) // rows % IN_A_ROW == 0


def _next_skills(
    env: BatchedEnv, seeds: UInt64[np.ndarray, "rows"]
) -> Float32[np.ndarray, "rows obs"]:
    """Every row's next skill begins where the last one ended, or anew if that cannot be."""
    over = getattr(env, "ended", np.zeros(env.num_envs, bool))
    if over.any():
        env.reset(seeds[over], np.flatnonzero(over))
    return env.resume()


def no_episodes(spec: EnvSpec) -> Episodes:
    """None, in arrays of the right shapes."""
    limit, bits, count = spec.step_limit, spec.num_bits, np.zeros(0, np.int64)
    return Episodes(
        np.zeros((0, limit + 1, spec.observation_size), np.float32),
        np.zeros((0, limit, spec.action_size), np.float32),
        count,
        count,
        np.zeros((0, bits), bool),
        np.zeros((0, bits), bool),
        count,
        np.zeros(0, bool),
    )


def correlated_noise(
    rng: np.random.Generator, shape: tuple[int, int, int], scale: float, correlation: float
) -> Float32[np.ndarray, "steps rows act"]:
    """Stationary Ornstein-Uhlenbeck noise along the first axis."""
    noise = rng.standard_normal(shape, np.float32)
    for t in range(1, shape[0]):
        noise[t] = correlation * noise[t - 1] + np.sqrt(1 - correlation**2) * noise[t]
    return np.float32(scale) * noise
