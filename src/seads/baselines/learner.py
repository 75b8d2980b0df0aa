"""Updates of soft actor-critic for the baselines: one compiled call for all of an epoch."""

from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from seads.agent import sac
from seads.agent.learner import scan
from seads.agent.networks import make_critics
from seads.agent.optimisers import ADAM
from seads.baselines.policies import (
    BoundedCritics,
    make_action_policy,
    make_subgoal_policy,
)
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
    policy = make_action_policy(inputs, spec, settings.hidden, k_policy)
    critics = make_critics(inputs, spec.action_size, settings.hidden, k_critics)
    return sac.make_state(policy, critics, ADAM)


def initial_hierarchy(spec: EnvSpec, settings: HACSettings, seed: int) -> Hierarchy:
    """Fresh networks and optimisers of both levels, on [body, bits, goal bits]."""
    keys = jax.random.split(jax.random.key(seed), 4)
    # the remaining time is left out: a level's goal does not depend on the task's clock
    inputs = spec.observation_size - 1 + spec.num_bits
    low = sac.make_state(
        make_action_policy(inputs, spec, settings.hidden, keys[0]),
        _bounded(inputs, spec.action_size, settings.hidden, keys[1], settings.horizon_low),
        ADAM,
    )
    high = sac.make_state(
        make_subgoal_policy(inputs, spec.num_bits, settings.hidden, keys[2], settings.temperature),
        _bounded(inputs, spec.num_bits, settings.hidden, keys[3], settings.horizon_high),
        ADAM,
    )
    return Hierarchy(low, high)


def _bounded(
    inputs: int, actions: int, hidden: tuple[int, ...], key: Array, horizon: int
) -> BoundedCritics:
    return BoundedCritics(make_critics(inputs, actions, hidden, key).mlps, horizon)


@eqx.filter_jit
def learn(
    state: sac.SACState,
    batches: sac.Transitions,
    key: Array,
    learning_rate: Float[Array, ""],
    alpha: float,
    tau: float,
) -> tuple[sac.SACState, dict[str, Float[Array, ""]]]:
    """An update for every batch along the first axis; the metrics are means over them."""

    def step(
        carry: sac.SACState, inputs: tuple[sac.Transitions, Array]
    ) -> tuple[sac.SACState, sac.SACMetrics]:
        return sac.update(carry, *inputs, ADAM, learning_rate, alpha, tau)

    steps, size, width = batches.actions.shape
    noise = state.policy.draw_noise(key, (steps, 2, size, width))  # type: ignore[attr-defined]
    state, metrics = scan(step, state, (batches, noise))
    return state, {name: value.mean() for name, value in metrics._asdict().items()}


def batches_of(transitions: sac.Transitions, count: int) -> sac.Transitions:
    """`count` equal batches along a new first axis."""
    return sac.Transitions(*(np.reshape(a, (count, -1, *a.shape[1:])) for a in transitions))
