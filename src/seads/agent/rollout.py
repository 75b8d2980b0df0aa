"""Running skills on a batch of environments: the paper's `apply`, every row its own skill."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Int

from seads.agent.buffer import Episodes
from seads.agent.networks import SkillPolicy
from seads.envs.interface import BatchedEnv

OnStep = Callable[[Bool[np.ndarray, "rows"]], None]
"""Called after every environment step, with the rows that made it."""


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


class RunningSkills:
    """Each active row's skill on its way, from where the rows stand, a step at a time.

    `noise` is the policy's own, standard normal, none for the deterministic policy;
    `disturbance` is added to its actions, which are clipped to their range.
    """

    def __init__(
        self,
        env: BatchedEnv,
        policy: SkillPolicy,
        observations: Float32[np.ndarray, "rows obs"],
        skills: Int[np.ndarray, "rows"],
        num_skills: int,
        noise: Float32[np.ndarray, "steps rows act"] | None = None,
        disturbance: Float32[np.ndarray, "steps rows act"] | None = None,
        active: Bool[np.ndarray, "rows"] | None = None,
    ) -> None:
        rows, limit = env.num_envs, env.spec.step_limit
        self._env, self._policy = env, policy
        self._noise, self._disturbance = noise, disturbance
        self._disturbed = np.zeros(rows, bool) if disturbance is None else disturbance.any((0, 2))
        self._onehot = np.eye(num_skills, dtype=np.float32)[skills]
        self._no_noise = np.zeros((rows, env.spec.action_size), np.float32)
        self._seen = np.zeros((rows, limit + 1, env.spec.observation_size), np.float32)
        self._seen[:, 0] = observations
        self._actions = np.zeros((rows, limit, env.spec.action_size), np.float32)
        self._lengths, self._moves = np.zeros(rows, np.int64), np.full(rows, -1, np.int64)
        self._skills, self._before = skills, env.symbols
        self._steps = 0
        self.observations = observations
        """What the policy acts on next; whoever changes a board under a skill sets it anew."""
        self.active = np.ones(rows, bool) if active is None else active.copy()
        """The rows whose skill has not ended."""

    def step(self) -> Bool[np.ndarray, "rows"]:
        """One step of every active row; returns which rows these were."""
        t, active = self._steps, self.active.copy()
        noise = self._no_noise if self._noise is None else self._noise[t]
        actions = np.asarray(act(self._policy, self.observations, self._onehot, noise))
        if self._disturbance is not None:
            actions = np.clip(actions + self._disturbance[t], -1, 1)
        step = self._env.step(self._env.spec.scaled(actions), active)
        self.observations = step.observation
        self._actions[active, t] = actions[active]
        self._seen[active, t + 1] = step.observation[active]
        self._lengths[active] = self._steps = t + 1
        self._moves[active] = step.move[active]
        self.active &= ~step.done
        return active

    def episodes(self) -> Episodes:
        """What the skills did so far."""
        return Episodes(
            self._seen,
            self._actions,
            self._lengths,
            self._skills,
            self._before,
            self._env.symbols,
            self._moves,
            self._disturbed,
        )


def run_skills(
    env: BatchedEnv,
    policy: SkillPolicy,
    observations: Float32[np.ndarray, "rows obs"],
    skills: Int[np.ndarray, "rows"],
    num_skills: int,
    noise: Float32[np.ndarray, "steps rows act"] | None = None,
    disturbance: Float32[np.ndarray, "steps rows act"] | None = None,
    active: Bool[np.ndarray, "rows"] | None = None,
    on_step: OnStep | None = None,
) -> Episodes:
    """Apply each active row's skill until it ends (see `RunningSkills`)."""
    running = RunningSkills(
        env, policy, observations, skills, num_skills, noise, disturbance, active
    )
    while running.active.any():
        stepped = running.step()
        if on_step is not None:
            on_step(stepped)
    return running.episodes()
