"""The distributions of the baselines against closed forms, and the bounds of HAC's values."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from seads.agent.networks import make_critics
from seads.baselines.policies import (
    BoundedCritics,
    SubgoalPolicy,
    make_subgoal_policy,
    propose,
)


def constant_subgoals(logits: list[float], temperature: float) -> SubgoalPolicy:
    """The same distribution over subgoals everywhere."""
    policy = make_subgoal_policy(1, len(logits), (2,), jax.random.key(0), temperature)
    zeros = jax.tree.map(jnp.zeros_like, policy)
    return eqx.tree_at(lambda p: p.mlp.layers[-1].bias, zeros, jnp.array(logits))


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("logit", [-1.5, 0.0, 3.0])
def test_relaxed_bits_follow_the_closed_form(logit: float, temperature: float) -> None:
    policy = constant_subgoals([logit], temperature)
    noise = policy.draw_noise(jax.random.key(1), (4000, 1))
    relaxed, _ = policy.sample(jnp.zeros((4000, 1)), noise)
    # P(y <= c) = sigmoid(temperature × logit(c) - logit): Maddison et al., with two classes
    raw = np.asarray((logit + noise[:, 0]) / temperature, np.float64)
    law = stats.logistic(loc=logit / temperature, scale=1 / temperature)
    assert stats.kstest(raw, law.cdf).pvalue > 0.01
    np.testing.assert_allclose(relaxed[:, 0], 1 / (1 + np.exp(-raw)), atol=1e-5)
    share, expected = float((relaxed > 0.5).mean()), 1 / (1 + np.exp(-logit))
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000))


@pytest.mark.parametrize(("logit", "temperature"), [(0.0, 0.5), (1.2, 2.0), (-2.0, 1.0)])
def test_relaxed_density_is_the_derivative_of_its_cdf(logit: float, temperature: float) -> None:
    value = np.linspace(0.02, 0.98, 97)
    raw = np.log(value / (1 - value))
    noise = jnp.asarray(temperature * raw - logit, jnp.float32)[:, None]
    relaxed, log_density = constant_subgoals([logit], temperature).sample(jnp.zeros((97, 1)), noise)
    np.testing.assert_allclose(relaxed[:, 0], value, atol=1e-5)
    cdf = lambda c: 1 / (1 + np.exp(logit - temperature * np.log(c / (1 - c))))  # noqa: E731
    slope = (cdf(value + 1e-5) - cdf(value - 1e-5)) / 2e-5
    np.testing.assert_allclose(np.exp(log_density), slope, rtol=2e-3)


def test_bits_are_independent_and_their_densities_multiply() -> None:
    noise = jnp.array([[0.3, -1.1]])
    both = constant_subgoals([0.5, -0.7], 0.3).sample(jnp.zeros((1, 1)), noise)[1]
    one = constant_subgoals([0.5], 0.3).sample(jnp.zeros((1, 1)), noise[:, :1])[1]
    other = constant_subgoals([-0.7], 0.3).sample(jnp.zeros((1, 1)), noise[:, 1:])[1]
    assert float(both[0]) == pytest.approx(float(one[0] + other[0]), rel=1e-5)


def test_proposed_subgoals_are_rounded() -> None:
    policy = constant_subgoals([2.0, -2.0], 0.1)
    none = np.zeros((1, 2), np.float32)
    state, goals = np.zeros((1, 1), np.float32), np.zeros((1, 0), np.float32)
    assert propose(policy, state, goals, none).tolist() == [[True, False]]
    assert propose(policy, state, goals, none + 3).tolist() == [[True, True]]


def test_values_of_a_level_stay_within_its_horizon() -> None:
    critics = BoundedCritics(make_critics(2, 1, (8,), jax.random.key(0)).mlps, 7)
    far = 1e4 * jax.random.normal(jax.random.key(1), (200, 2))
    values = critics(far, jnp.zeros((200, 1)))
    assert values.shape == (2, 200)
    assert float(values.min()) >= -7
    assert float(values.max()) <= 0
    assert float(values.max() - values.min()) > 6.9
