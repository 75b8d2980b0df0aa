from __future__ import annotations

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.planning.exact_network import forward_model

from seads.agent.needs import Needs
from seads.agent.skill_model import LinearForwardModel
from seads.errors import SeadsError
from seads.games import make_game
from seads.planning import RulesModel
from seads.solving.symbolic_model import LearnedModel

BITS, SKILLS = 7, 5


def network(layers):
    rng = np.random.default_rng(3)
    sizes = [BITS + SKILLS, *[32] * (layers - 1), BITS]
    return [rng.normal(size=size) for fans in pairwise(sizes) for size in (fans, fans[1])]


@pytest.mark.parametrize("layers", [2, 3, 4])
@pytest.mark.parametrize("rows", [0, 1, 3, 2000])
def test_network_equals_the_plain_formula(layers, rows):
    weights = network(layers)
    model = forward_model(BITS, SKILLS, weights)
    states = np.random.default_rng(rows).random((rows, BITS)) < 0.5
    after = model.successors(states)
    assert after.shape == (rows, SKILLS, BITS)
    for skill in range(SKILLS):
        x = np.concatenate([states, np.tile(np.eye(SKILLS)[skill], (rows, 1))], axis=1)
        for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            x = np.maximum(x @ weight + bias, 0)
        np.testing.assert_array_equal(after[:, skill], states ^ (x @ weights[-2] > -weights[-1]))
    skills = np.arange(rows) % SKILLS
    np.testing.assert_array_equal(model.successor(states, skills), after[np.arange(rows), skills])
    assert rows == 0 or 0.1 < (after != states[:, None]).mean() < 0.9


@pytest.mark.parametrize("rows", [0, 1, 900])
def test_a_linear_model_equals_the_plain_formula(rows):
    rng = np.random.default_rng(3)
    fresh = LinearForwardModel(BITS, SKILLS, jax.random.key(0), learns=False)
    sizes = jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape)), fresh)
    model = LearnedModel(sizes, BITS)
    weights, bias = np.asarray(sizes.grow**2 - sizes.shrink**2), np.asarray(sizes.bias)
    states = rng.random((rows, BITS)) < 0.5
    after = model.successors(states)
    for skill in range(SKILLS):
        logits = states @ weights[:, BITS * skill : BITS * (skill + 1)] + bias[skill]
        np.testing.assert_array_equal(after[:, skill], states ^ (logits > 0))
    skills = rng.integers(SKILLS, size=rows)
    np.testing.assert_array_equal(model.successor(states, skills), after[np.arange(rows), skills])


def test_spare_skills_change_nothing():
    fresh = LinearForwardModel(BITS, SKILLS, jax.random.key(0), learns=False)
    flips_all = eqx.tree_at(lambda m: m.bias, fresh, jnp.full((SKILLS, BITS), 5.0))
    spare = np.arange(SKILLS) == 1
    model = LearnedModel(flips_all, BITS, spare)
    states = np.random.default_rng(0).random((6, BITS)) < 0.5
    after = model.successors(states)
    assert (after[:, 1] == states).all()
    assert (after[:, ~spare] == ~states[:, None]).all()
    np.testing.assert_array_equal(model.successor(states, np.ones(6, int)), states)


def test_a_skill_without_what_it_needs_changes_nothing():
    fresh = LinearForwardModel(BITS, SKILLS, jax.random.key(0), learns=False)
    flips_all = eqx.tree_at(lambda m: m.bias, fresh, jnp.full((SKILLS, BITS), 5.0))
    needs = Needs.of([[]] * (SKILLS - 1) + [[(0, True), (1, False)]], BITS)
    model = LearnedModel(flips_all, BITS, needs=needs)
    states = np.random.default_rng(0).random((40, BITS)) < 0.5
    can = states[:, 0] & ~states[:, 1]
    assert 0 < can.sum() < len(states)
    after = model.successors(states)
    np.testing.assert_array_equal(after[:, -1], states ^ can[:, None])
    assert (after[:, :-1] == ~states[:, None]).all()
    for skill in (0, SKILLS - 1):
        one = model.successor(states, np.full(len(states), skill))
        np.testing.assert_array_equal(one, after[:, skill])


@pytest.mark.parametrize("which", range(6))
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(which, value):
    weights = network(3)
    weights[which].flat[0] = value
    with pytest.raises(SeadsError, match="NaN or infinity"):
        forward_model(BITS, SKILLS, weights)


def test_rules_model_plays_the_game():
    game = make_game("tileswap")
    model = RulesModel(game)
    boards = game.draw(np.full(4, 5), "all", np.arange(4, dtype=np.uint64))
    after = model.successors(game.to_bits(boards))
    for move in range(game.num_moves):
        played = game.to_bits(game.play(boards, np.full(4, move)))
        np.testing.assert_array_equal(after[:, move], played)
        one = model.successor(game.to_bits(boards), np.full(4, move))
        np.testing.assert_array_equal(one, played)
