"""The forward model and VIC's discriminator against values computed by hand."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from seads.agent import sac
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import (
    Discriminator,
    ForwardModel,
    LinearForwardModel,
    NetworkForwardModel,
    TableForwardModel,
)
from seads.games import make_game
from seads.streams import row_seeds

LN3 = np.log(3.0)


@pytest.fixture
def hand_made() -> NetworkForwardModel:
    """Two bits, two skills: skill 0 flips bit 0 and not bit 1, each with 3/4; skill 1 is a coin."""
    model = NetworkForwardModel(2, 2, (2,), jax.random.key(0))
    # the hidden units are the one-hot skill, the board is not looked at
    first = jnp.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    last = jnp.array([[LN3, -LN3], [0.0, 0.0]])
    return eqx.tree_at(lambda m: [layer.weight for layer in m.mlp.layers], model, [first, last])


def test_likelihood_posterior_and_novelty_by_hand(hand_made: NetworkForwardModel) -> None:
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


def test_loss_is_the_mean_negative_log_likelihood(hand_made: NetworkForwardModel) -> None:
    before = jnp.array([[0, 0], [1, 1]], bool)
    after = jnp.array([[1, 0], [1, 1]], bool)
    loss = hand_made.loss(before, jnp.array([0, 1]), after)
    np.testing.assert_allclose(loss, -(np.log(9 / 16) + np.log(1 / 4)) / 2, rtol=1e-5)


FRESH = [
    NetworkForwardModel(7, 5, hidden, jax.random.key(1)) for hidden in ((8,), (8, 6), (8, 6, 5))
]


@pytest.mark.parametrize(
    "fresh",
    [
        *FRESH,
        LinearForwardModel(7, 5, jax.random.key(1)),
        TableForwardModel(7, 5, jax.random.key(1)),
    ],
)
def test_all_skills_at_once_is_each_skill_alone(fresh: ForwardModel) -> None:
    # biases are zero in a fresh network, weights in a fresh linear model: make them matter
    leaves, structure = jax.tree.flatten(fresh)
    keys = jax.random.split(jax.random.key(3), len(leaves))
    drawn = [jax.random.normal(key, leaf.shape) for key, leaf in zip(keys, leaves, strict=True)]
    model = jax.tree.unflatten(structure, drawn)
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


def test_linear_logits_by_hand() -> None:
    model = LinearForwardModel(2, 2, jax.random.key(0))
    # skill 0: bit 0 flips with bit 1 set (4 - 1), never otherwise (-1); skill 1 flips bit 1
    grow = jnp.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    shrink = jnp.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    bias = jnp.array([[-1.0, -1.0], [-3.0, 3.0]])
    model = eqx.tree_at(lambda m: (m.grow, m.shrink, m.bias), model, (grow, shrink, bias))
    before = jnp.array([[1, 0], [0, 1]], bool)
    expected = [[[-1, -1], [-3, 3]], [[3, -2], [-3, 3]]]
    np.testing.assert_allclose(model.all_flip_logits(before), expected)


def test_a_linear_model_learns_rare_effects_and_extrapolates() -> None:
    """2×3 TileSwap from shallow boards: right on every board of the deepest kind after that."""
    game = make_game("tileswap", size=2)
    count = 4000
    depths = np.random.default_rng(0).integers(1, 3, count)
    boards = game.draw(depths, "all", row_seeds(0, count))
    skills = np.random.default_rng(1).integers(game.num_moves, size=count)
    before, after = game.to_bits(boards), game.to_bits(game.play(boards, skills))
    model = LinearForwardModel(game.num_bits, game.num_moves, jax.random.key(0))

    optimiser = model.optimiser(AgentSettings())
    state = optimiser.init(model)

    @jax.jit
    def fit(model: LinearForwardModel, rows: jax.Array) -> LinearForwardModel:
        def step(model: LinearForwardModel, rows: jax.Array) -> tuple[LinearForwardModel, None]:
            data = (jnp.asarray(x)[rows] for x in (before, skills, after))
            gradient = jax.grad(lambda m, *batch: m.loss(*batch))(model, *data)
            return sac.descend(model, gradient, state, optimiser, 1.0)[0], None

        return jax.lax.scan(step, model, rows)[0]

    model = fit(model, jnp.asarray(np.random.default_rng(2).integers(count, size=(1500, 128))))
    deepest = game.draw(np.full(200, 4), "all", row_seeds(5, 200))
    bits = game.to_bits(deepest)
    found = bits[:, None] ^ np.asarray(model.all_flip_logits(bits) > 0)
    for move in range(game.num_moves):
        truth = game.to_bits(game.play(deepest, np.full(len(deepest), move)))
        assert (found[:, move] == truth).all()
    idle = np.abs(np.asarray(model.weights)).reshape(-1)
    assert (idle < 0.1).mean() > 0.5


def test_only_the_weights_on_the_board_are_forgotten() -> None:
    model = NetworkForwardModel(3, 2, (4,), jax.random.key(0))
    smaller = model.forget_board(jnp.float32(0.25))
    before, after = (np.asarray(m.mlp.layers[0].weight) for m in (model, smaller))
    np.testing.assert_allclose(after[:3], 0.75 * before[:3], rtol=1e-6)
    np.testing.assert_array_equal(after[3:], before[3:])
    for kept, same in zip(model.mlp.layers[1:], smaller.mlp.layers[1:], strict=True):
        np.testing.assert_array_equal(kept.weight, same.weight)


def test_a_network_that_forgets_the_board_is_right_far_from_the_boards_it_saw() -> None:
    """LightsOut 5×5 from boards one or two presses from the goal, some labels wrong."""
    game = make_game("lightsout", size=5)
    count = 2000
    rng = np.random.default_rng(0)
    boards = game.draw(rng.integers(1, 3, count), "all", row_seeds(0, count))
    skills = rng.integers(game.num_moves, size=count)
    moves = np.where(rng.random(count) < 0.03, rng.integers(game.num_moves, size=count), skills)
    before, after = game.to_bits(boards), game.to_bits(game.play(boards, moves))

    def adam(model: NetworkForwardModel) -> optax.GradientTransformation:
        return model.optimiser(AgentSettings())

    @jax.jit
    def fit(model: NetworkForwardModel, rows: jax.Array, decay: jax.Array) -> NetworkForwardModel:
        def step(carry: Any, rows: jax.Array) -> tuple[Any, None]:
            model, optimiser = carry
            data = (jnp.asarray(x)[rows] for x in (before, skills, after))
            gradient = jax.grad(lambda m, *batch: m.loss(*batch))(model, *data)
            model, optimiser = sac.descend(model, gradient, optimiser, adam(model), 1.0)
            return (model.forget_board(decay), optimiser), None

        return jax.lax.scan(step, (model, adam(model).init(model)), rows)[0][0]

    def right(decay: float) -> float:
        """How often the fitted model is, ten presses from the goal."""
        fresh = NetworkForwardModel(game.num_bits, game.num_moves, (64, 64), jax.random.key(0))
        rows = jnp.asarray(np.random.default_rng(1).integers(count, size=(1500, 128)))
        model = fit(fresh, rows, jnp.float32(decay))
        far = game.draw(np.full(100, 10), "all", row_seeds(5, 100))
        found = np.asarray(model.all_flip_logits(game.to_bits(far)) > 0)
        played = game.play(np.repeat(far, game.num_moves, 0), np.tile(range(game.num_moves), 100))
        truth = game.to_bits(played).reshape(found.shape) ^ game.to_bits(far)[:, None]
        return float((found == truth).all(-1).mean())

    assert right(0.0) < 0.9
    assert right(0.03) > 0.99
