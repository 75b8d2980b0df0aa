"""Running skills on a batch of environments: the paper's `apply`, every row its own skill."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float32, Int

from seads.agent.buffer import Episodes
from seads.agent.networks import SkillPolicy
from seads.envs.interface import BatchedEnv


@eqx.filter_jit
def act(
    policy: SkillPolicy,
    observations: Float[Array, "rows obs"],
    skills: Float[Array, "rows skills"],
    noise: Float[Array, "rows act"],
) -> Float[Array, "rows act"]:
    """Actions in [-1, 1] for one-hot skills; zero noise gives the deterministic policy."""
    mean, log_std = policy(jnp.concatenate([observations, skills], -1))
    return jnp.tanh(mean + jnp.exp(log_std) * noise)


def run_skills(
    env: BatchedEnv,
    policy: SkillPolicy,
    observations: Float32[np.ndarray, "rows obs"],
    skills: Int[np.ndarray, "rows"],
    num_skills: int,
    noise: Float32[np.ndarray, "steps rows act"] | None = None,
    disturbance: Float32[np.ndarray, "steps rows act"] | None = None,
    active: np.ndarray | None = None,
) -> Episodes:
    """Apply each active row's skill until it ends, from where the rows stand.

    `noise` is the policy's own, standard normal, none for the deterministic policy;
    `disturbance` is added to its actions, which are clipped to their range.
    """
    rows, limit = env.num_envs, env.spec.step_limit
    low, high = np.array(env.spec.action_low), np.array(env.spec.action_high)
    stored_observations = np.zeros((rows, limit + 1, env.spec.observation_size), np.float32)
    stored_actions = np.zeros((rows, limit, env.spec.action_size), np.float32)
    lengths = np.zeros(rows, np.int64)
    moves = np.full(rows, -1, np.int64)
    before = env.symbols
    stored_observations[:, 0] = observations
    onehot = np.eye(num_skills, dtype=np.float32)[skills]
    no_noise = np.zeros((rows, env.spec.action_size), np.float32)
    active = np.ones(rows, bool) if active is None else active.copy()
    for t in range(limit):
        if not active.any():
            break
        actions = np.asarray(
            act(policy, observations, onehot, no_noise if noise is None else noise[t])
        )
        if disturbance is not None:
            actions = np.clip(actions + disturbance[t], -1, 1)
        step = env.step(low + (high - low) * (actions.astype(np.float64) + 1) / 2, active)
        observations = step.observation
        stored_actions[active, t] = actions[active]
        stored_observations[active, t + 1] = observations[active]
        lengths[active] = t + 1
        moves[active] = step.move[active]
        active &= ~step.done
    return Episodes(
        stored_observations, stored_actions, lengths, skills, before, env.symbols, moves
    )
