"""Soft actor-critic with a fixed temperature: the losses as pure functions, one update step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from seads.agent.networks import Critics, SkillPolicy
from seads.agent.optimisers import ADAM

Tree = TypeVar("Tree")


class Transitions(NamedTuple):
    """A batch of transitions; `inputs` are [s, onehot(k)] or whatever the policy conditions on."""

    inputs: Float[Array, "batch inputs"]
    actions: Float[Array, "batch act"]
    rewards: Float[Array, "batch"]
    next_inputs: Float[Array, "batch inputs"]
    discounts: Float[Array, "batch"]
    """gamma, or 0 where the episode ended."""


class SACState(eqx.Module):
    """Everything that soft actor-critic changes while it learns."""

    policy: SkillPolicy
    critics: Critics
    targets: Critics
    policy_optimiser: Any
    critic_optimiser: Any


class SACMetrics(NamedTuple):
    """Scalars of one update."""

    critic_loss: Float[Array, ""]
    policy_loss: Float[Array, ""]
    value: Float[Array, ""]
    entropy: Float[Array, ""]


def critic_targets(
    targets: Critics,
    policy: SkillPolicy,
    batch: Transitions,
    noise: Float[Array, "batch act"],
    alpha: float | Float[Array, ""],
) -> Float[Array, "batch"]:
    """r + gamma (min Q(s', a') - alpha log pi(a' | s')), without bootstrap where discount is 0."""
    actions, log_density = policy.sample(batch.next_inputs, noise)
    value = targets(batch.next_inputs, actions).min(0) - alpha * log_density
    return batch.rewards + batch.discounts * value


def critic_loss(
    critics: Critics, batch: Transitions, goals: Float[Array, "batch"]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Half the mean squared error of every critic, summed; and the mean value."""
    values = critics(batch.inputs, batch.actions)
    return 0.5 * ((values - goals) ** 2).mean(1).sum(), values.mean()


def policy_loss(
    policy: SkillPolicy,
    critics: Critics,
    batch: Transitions,
    noise: Float[Array, "batch act"],
    alpha: float | Float[Array, ""],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """alpha log pi - min Q, and the policy's mean entropy estimate."""
    actions, log_density = policy.sample(batch.inputs, noise)
    loss = (alpha * log_density - critics(batch.inputs, actions).min(0)).mean()
    return loss, -log_density.mean()


def make_state(
    policy: SkillPolicy,
    critics: Critics,
) -> SACState:
    """The state before the first update; targets start as the critics."""
    return SACState(
        policy,
        critics,
        jax.tree.map(jnp.copy, critics),
        ADAM.init(eqx.filter(policy, eqx.is_array)),
        ADAM.init(eqx.filter(critics, eqx.is_array)),
    )


def update(
    state: SACState,
    batch: Transitions,
    noise: Float[Array, "2 batch act"],
    learning_rate: float | Float[Array, ""],
    alpha: float | Float[Array, ""],
    tau: float,
) -> tuple[SACState, SACMetrics]:
    """One step of critics, policy and targets on one batch."""
    goals = critic_targets(state.targets, state.policy, batch, noise[0], alpha)
    (loss_q, value), gradient = eqx.filter_value_and_grad(critic_loss, has_aux=True)(
        state.critics, batch, goals
    )
    critics, critic_optimiser = descend(
        state.critics, gradient, state.critic_optimiser, ADAM, learning_rate
    )

    (loss_pi, entropy), gradient = eqx.filter_value_and_grad(policy_loss, has_aux=True)(
        state.policy, critics, batch, noise[1], alpha
    )
    policy, policy_optimiser = descend(
        state.policy, gradient, state.policy_optimiser, ADAM, learning_rate
    )

    targets = move_towards(state.targets, critics, tau)
    state = SACState(policy, critics, targets, policy_optimiser, critic_optimiser)
    return state, SACMetrics(loss_q, loss_pi, value, entropy)


def updates(
    state: SACState,
    batches: Transitions,
    key: Array,
    learning_rate: float | Float[Array, ""],
    alpha: float | Float[Array, ""],
    tau: float,
) -> tuple[SACState, dict[str, Float[Array, ""]]]:
    """An update for every batch along the first axis; the metrics are means over them."""

    def step(state: SACState, inputs: tuple[Transitions, Array]) -> tuple[SACState, SACMetrics]:
        return update(state, *inputs, learning_rate, alpha, tau)

    steps, size, width = batches.actions.shape
    noise = state.policy.draw_noise(key, (steps, 2, size, width))
    state, metrics = scan(step, state, (batches, noise))
    return state, {name: value.mean() for name, value in metrics._asdict().items()}


def scan(step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any) -> tuple[Any, Any]:
    """`jax.lax.scan` for a carry that holds modules with static fields."""
    arrays, static = eqx.partition(carry, eqx.is_array)

    def array_step(arrays: Any, x: Any) -> tuple[Any, Any]:
        carry, y = step(eqx.combine(arrays, static), x)
        return eqx.filter(carry, eqx.is_array), y

    arrays, ys = jax.lax.scan(array_step, arrays, xs)
    return eqx.combine(arrays, static), ys


def descend(
    tree: Tree,
    gradient: Tree,
    optimiser_state: Any,
    optimiser: optax.GradientTransformation,
    learning_rate: float | Float[Array, ""],
) -> tuple[Tree, Any]:
    """One step of an optimiser without a rate, at a rate that may change from step to step."""
    parameters: Any = eqx.filter(tree, eqx.is_inexact_array)
    change, optimiser_state = optimiser.update(gradient, optimiser_state, parameters)
    return eqx.apply_updates(
        tree, jax.tree.map(lambda c: -learning_rate * c, change)
    ), optimiser_state


def move_towards(tree: Tree, other: Tree, rate: float | Float[Array, ""]) -> Tree:
    """Every array `rate` of the way from `tree` to `other`."""
    return jax.tree.map(
        lambda a, b: a + rate * (b - a) if eqx.is_inexact_array(a) else a, tree, other
    )
