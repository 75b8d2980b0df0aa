"""The forward model and VIC's discriminator against values computed by hand."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seads.agent.skill_model import Discriminator, ForwardModel

LN3 = np.log(3.0)


@pytest.fixture
def hand_made() -> ForwardModel:
    """Two bits, two skills: skill 0 flips bit 0 and not bit 1, each with 3/4; skill 1 is a coin."""
    model = ForwardModel(2, 2, (2,), jax.random.key(0))
    # the hidden units are the one-hot skill, the board is not looked at
    first = jnp.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    last = jnp.array([[LN3, -LN3], [0.0, 0.0]])
    return eqx.tree_at(lambda m: [layer.weight for layer in m.mlp.layers], model, [first, last])


def test_likelihood_posterior_and_novelty_by_hand(hand_made: ForwardModel) -> None:
    before = jnp.array([[0, 0], [1, 0], [1, 1]], bool)
    after = jnp.array([[1, 0], [0, 0], [1, 1]], bool)  # bit 0 flips, bit 0 flips, none flips
    # sigmoid(ln 3) = 3/4
    likelihoods = np.array([[9 / 16, 1 / 4], [9 / 16, 1 / 4], [3 / 16, 1 / 4]])
    np.testing.assert_allclose(
        hand_made.log_likelihoods(before, after), np.log(likelihoods), rtol=1e-5
    )
    posterior, novelty = hand_made.evidence(before, after)
    expected = likelihoods / likelihoods.sum(1, keepdims=True)
    np.testing.assert_allclose(posterior, np.log(expected), rtol=1e-5)
    np.testing.assert_allclose(novelty, -np.log([9 / 16, 9 / 16, 1 / 4]), rtol=1e-5)


def test_loss_is_the_mean_negative_log_likelihood(hand_made: ForwardModel) -> None:
    before = jnp.array([[0, 0], [1, 1]], bool)
    after = jnp.array([[1, 0], [1, 1]], bool)
    loss = hand_made.loss(before, jnp.array([0, 1]), after)
    np.testing.assert_allclose(loss, -(np.log(9 / 16) + np.log(1 / 4)) / 2, rtol=1e-5)


@pytest.mark.parametrize("hidden", [(8,), (8, 6), (8, 6, 5)])
def test_all_skills_at_once_is_each_skill_alone(hidden: tuple[int, ...]) -> None:
    model = ForwardModel(7, 5, hidden, jax.random.key(1))
    # the biases are zero in a fresh network: make them matter
    model = jax.tree.map(lambda x: x + 0.1, model)
    before = jax.random.bernoulli(jax.random.key(2), 0.5, (4, 7))
    together = model.all_flip_logits(before)
    assert together.shape == (4, 5, 7)
    for skill in range(5):
        alone = model.flip_logits(before, jnp.full(4, skill))
        np.testing.assert_allclose(together[:, skill], alone, rtol=1e-5, atol=1e-6)


def test_discriminator_sees_both_symbols_and_their_difference() -> None:
    model = Discriminator(1, 2, (3,), jax.random.key(0))
    # hidden units: z_0, z_T, z_0 xor z_T; only the difference speaks, for skill 1
    model = eqx.tree_at(
        lambda m: [layer.weight for layer in m.mlp.layers],
        model,
        [jnp.eye(3), jnp.array([[0.0, 0.0], [0.0, 0.0], [0.0, LN3]])],
    )
    before, after = jnp.array([[0], [1], [1]], bool), jnp.array([[1], [0], [1]], bool)
    posterior, novelty = model.evidence(before, after)
    np.testing.assert_allclose(
        np.exp(posterior), [[0.25, 0.75], [0.25, 0.75], [0.5, 0.5]], rtol=1e-5
    )
    assert not novelty.any()
    loss = model.loss(before, jnp.array([1, 0, 0]), after)
    np.testing.assert_allclose(loss, -np.log([0.75, 0.25, 0.5]).mean(), rtol=1e-5)
