"""Soft actor-critic: formulas against scipy, and two problems whose values are known."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from seads.agent import sac
from seads.agent.networks import (
    Critics,
    SkillPolicy,
    action_log_volume,
    make_critics,
    make_policy,
)
from seads.agent.sac import scan
from seads.envs.interface import EnvSpec

STEPS = 600


def constant_policy(mean: float, log_std: float, inputs: int = 1) -> SkillPolicy:
    """One action dimension; the same Gaussian everywhere."""
    policy = make_policy(inputs, 1, (2,), jax.random.key(0))
    zeros = jax.tree.map(jnp.zeros_like, policy)
    return eqx.tree_at(lambda p: p.mlp.layers[-1].bias, zeros, jnp.array([mean, log_std]))


def constant_critics(*values: float) -> Critics:
    critics = make_critics(1, 1, (2,), jax.random.key(0), count=len(values))
    zeros = jax.tree.map(jnp.zeros_like, critics)
    return eqx.tree_at(
        lambda c: [mlp.layers[-1].bias for mlp in c.mlps], zeros, [jnp.array([v]) for v in values]
    )


@pytest.mark.parametrize(("mean", "log_std"), [(0.0, 0.0), (0.7, -1.0), (-2.0, 0.5), (9.0, -2.0)])
def test_log_density_is_that_of_a_squashed_gaussian(mean: float, log_std: float) -> None:
    noise = jnp.linspace(-5, 5, 4001)[:, None]
    actions, log_density = constant_policy(mean, log_std).sample(jnp.zeros((4001, 1)), noise)
    raw = mean + np.exp(log_std) * np.asarray(noise, np.float64)[:, 0]
    # change of variables; 1 - tanh(x)^2 = 1 / cosh(x)^2 without cancellation
    expected = stats.norm.logpdf(raw, mean, np.exp(log_std)) + 2 * np.log(np.cosh(raw))
    np.testing.assert_allclose(log_density, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(actions[:, 0], np.tanh(raw), atol=1e-6)
    if abs(mean) < 1:  # a density integrates to one
        area = np.trapezoid(np.exp(np.asarray(log_density, np.float64)), np.tanh(raw))
        assert area == pytest.approx(1, abs=1e-3)


def test_density_in_the_units_of_the_environments_actions() -> None:
    box = EnvSpec("box", 3, (-0.2, -0.2, -1.0), (0.2, 0.2, 1.0), 0, 10, None)
    inputs, noise = jnp.zeros((1, 3)), jnp.array([[0.2, -0.4, 1.0]])
    plain = make_policy(3, 3, (4,), jax.random.key(0))
    ours = make_policy(3, 3, (4,), jax.random.key(0), log_volume=action_log_volume(box))
    actions, log_density = ours.sample(inputs, noise)
    expected_actions, expected = plain.sample(inputs, noise)
    np.testing.assert_array_equal(actions, expected_actions)
    # a box of 0.4 × 0.4 × 2 instead of 2 × 2 × 2: 25 times as dense
    assert float(log_density[0] - expected[0]) == pytest.approx(np.log(25), rel=1e-5)


def test_log_std_is_clipped() -> None:
    for asked, given in ((5.0, 2.0), (-30.0, -20.0)):
        assert float(constant_policy(0.0, asked)(jnp.zeros((1, 1)))[1][0, 0]) == given


def test_critic_target_by_hand() -> None:
    batch = sac.Transitions(
        inputs=jnp.zeros((2, 1)),
        actions=jnp.zeros((2, 1)),
        rewards=jnp.array([1.0, 2.0]),
        next_inputs=jnp.zeros((2, 1)),
        discounts=jnp.array([0.9, 0.0]),
    )
    noise = jnp.array([[0.3], [0.3]])
    goals = sac.critic_targets(
        constant_critics(5.0, 3.0), constant_policy(0.5, -0.2), batch, noise, alpha=0.1
    )
    raw = 0.5 + np.exp(-0.2) * 0.3
    log_density = stats.norm.logpdf(raw, 0.5, np.exp(-0.2)) - np.log(1 - np.tanh(raw) ** 2)
    expected = [1.0 + 0.9 * (3.0 - 0.1 * log_density), 2.0]  # the smaller critic; no bootstrap
    np.testing.assert_allclose(goals, expected, rtol=1e-5)


def test_losses_by_hand() -> None:
    batch = sac.Transitions(
        jnp.zeros((2, 1)), jnp.zeros((2, 1)), jnp.zeros(2), jnp.zeros((2, 1)), jnp.zeros(2)
    )
    critics = constant_critics(5.0, 3.0)
    loss, value = sac.critic_loss(critics, batch, jnp.array([4.0, 2.0]))
    # critic 5: (1 + 9) / 2 / 2 = 2.5; critic 3: (1 + 1) / 2 / 2 = 0.5
    assert float(loss) == pytest.approx(3.0)
    assert float(value) == pytest.approx(4.0)
    loss, entropy = sac.policy_loss(
        constant_policy(0.0, 0.0), critics, batch, jnp.zeros((2, 1)), alpha=0.5
    )
    log_density = stats.norm.logpdf(0.0)
    assert float(loss) == pytest.approx(0.5 * log_density - 3.0, rel=1e-5)
    assert float(entropy) == pytest.approx(-log_density, rel=1e-5)


def test_targets_move_a_share_of_the_way() -> None:
    moved = sac.move_towards(constant_critics(1.0, 2.0), constant_critics(3.0, 0.0), 0.25)
    values = moved(jnp.zeros((1, 1)), jnp.zeros((1, 1)))[:, 0]
    np.testing.assert_allclose(values, [1.5, 1.5])


def test_update_moves_targets_to_the_new_critics() -> None:
    state = sac.make_state(constant_policy(0.0, 0.0), constant_critics(0.0, 0.0))
    batch = sac.Transitions(
        jnp.zeros((2, 1)), jnp.zeros((2, 1)), jnp.ones(2), jnp.zeros((2, 1)), jnp.zeros(2)
    )
    update = eqx.filter_jit(sac.update)
    after, _ = update(state, batch, jnp.zeros((2, 2, 1)), 0.1, 0.0, 0.5)
    # Adam's first step is the learning rate, towards the reward
    at = jnp.zeros((1, 1))
    np.testing.assert_allclose(after.critics(at, at)[:, 0], [0.1, 0.1], rtol=1e-4)
    np.testing.assert_allclose(after.targets(at, at)[:, 0], [0.05, 0.05], rtol=1e-4)


def learned(batches: sac.Transitions, alpha: float, tau: float, layer_norm: bool) -> sac.SACState:
    """A fresh agent after one update on each batch."""
    steps, size, inputs = batches.inputs.shape
    k_policy, k_critics, k_noise = jax.random.split(jax.random.key(0), 3)
    state = sac.make_state(
        make_policy(inputs, 1, (32, 32), k_policy),
        make_critics(inputs, 1, (32, 32), k_critics, layer_norm),
    )
    noise = jax.random.normal(k_noise, (steps, 2, size, 1))

    def step(carry, x):
        return sac.update(carry, x[0], x[1], 3e-3, alpha, tau)

    return eqx.filter_jit(lambda s: scan(step, s, (batches, noise))[0])(state)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_bandit(layer_norm: bool) -> None:
    """One step, reward 1 - 2 |a - 0.4|: Q is the reward, and the policy finds its peak."""
    actions = jax.random.uniform(jax.random.key(1), (STEPS, 64, 1), minval=-1, maxval=1)
    state = learned(
        sac.Transitions(
            jnp.ones((STEPS, 64, 1)),
            actions,
            1 - 2 * jnp.abs(actions[..., 0] - 0.4),
            jnp.ones((STEPS, 64, 1)),
            jnp.zeros((STEPS, 64)),
        ),
        alpha=0.01,
        tau=0.05,
        layer_norm=layer_norm,
    )
    grid = jnp.linspace(-0.9, 0.9, 19)[:, None]
    values = state.critics(jnp.ones((19, 1)), grid)
    np.testing.assert_allclose(values, [1 - 2 * np.abs(grid[:, 0] - 0.4)] * 2, atol=0.12)
    assert float(jnp.tanh(state.policy(jnp.ones((1, 1)))[0])[0, 0]) == pytest.approx(0.4, abs=0.1)


def test_chain() -> None:
    """Two states, then reward 1: the first is worth the discount, the second the reward."""
    steps, size, discount = STEPS, 64, 0.8
    second = jax.random.bernoulli(jax.random.key(1), 0.5, (steps, size))
    actions = jax.random.uniform(jax.random.key(2), (steps, size, 1), minval=-1, maxval=1)
    state = learned(
        sac.Transitions(
            jax.nn.one_hot(second.astype(int), 2),
            actions,
            jnp.where(second, 1.0, 0.0),
            jnp.broadcast_to(jax.nn.one_hot(1, 2), (steps, size, 2)),
            jnp.where(second, 0.0, discount),
        ),
        alpha=0.0,
        tau=0.05,
        layer_norm=False,
    )
    for place, value in ((0, discount), (1, 1.0)):
        at = jnp.broadcast_to(jax.nn.one_hot(place, 2), (5, 2))
        values = state.critics(at, jnp.linspace(-0.8, 0.8, 5)[:, None])
        np.testing.assert_allclose(values, value, atol=0.06)
