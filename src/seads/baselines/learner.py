"""Updates of soft actor-critic for the baselines: one compiled call for all of an epoch."""

from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array

from seads.agent import sac
from seads.agent.networks import SkillPolicy, action_log_volume, make_critics, make_policy
from seads.baselines.policies import BoundedCritics, make_subgoal_policy
from seads.baselines.settings import HACSettings, SACSettings
from seads.envs.interface import EnvSpec


class Hierarchy(eqx.Module):
    """Both levels of Hierarchical Actor-Critic."""

    low: sac.SACState
    high: sac.SACState


def initial_flat(spec: EnvSpec, settings: SACSettings, seed: int) -> sac.SACState:
    """Fresh networks and optimisers of the flat agent, on whole observations."""
    k_policy, k_critics = jax.random.split(jax.random.key(seed))
    inputs = spec.observation_size
    policy = _policy(inputs, spec, settings.hidden, k_policy)
    critics = make_critics(inputs, spec.action_size, settings.hidden, k_critics)
    return sac.make_state(policy, critics)


def initial_hierarchy(spec: EnvSpec, settings: HACSettings, seed: int) -> Hierarchy:
    """Fresh networks and optimisers of both levels, on [manipulator, bits, goal bits]."""
    keys = jax.random.split(jax.random.key(seed), 4)
    # the remaining time is left out: a level's goal does not depend on the task's clock
    inputs = spec.observation_size - 1 + spec.num_bits
    low = sac.make_state(
        _policy(inputs, spec, settings.hidden, keys[0]),
        _bounded(inputs, spec.action_size, settings.hidden, keys[1], settings.horizon_low),
    )
    high = sac.make_state(
        make_subgoal_policy(inputs, spec.num_bits, settings.hidden, keys[2], settings.temperature),
        _bounded(inputs, spec.num_bits, settings.hidden, keys[3], settings.horizon_high),
    )
    return Hierarchy(low, high)


def _policy(inputs: int, spec: EnvSpec, hidden: tuple[int, ...], key: Array) -> SkillPolicy:
    """A policy whose density is in action units, as that of the paper's preset for skills."""
    volume = action_log_volume(spec)
    return make_policy(inputs, spec.action_size, hidden, key, log_volume=volume)


def _bounded(
    inputs: int, actions: int, hidden: tuple[int, ...], key: Array, horizon: int
) -> BoundedCritics:
    return BoundedCritics(make_critics(inputs, actions, hidden, key).mlps, horizon)


learn = eqx.filter_jit(sac.updates)
"""All of an epoch's updates of one level, compiled."""


def batches_of(transitions: sac.Transitions, count: int) -> sac.Transitions:
    """`count` equal batches along a new first axis."""
    return sac.Transitions(*(np.reshape(a, (count, -1, *a.shape[1:])) for a in transitions))
