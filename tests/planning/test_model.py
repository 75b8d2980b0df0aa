from __future__ import annotations

import numpy as np
import pytest

from seads.errors import SeadsError
from seads.games import make_game
from seads.planning import LinearModel, MLPModel, RulesModel


def network(bits=7, skills=5, hidden=32):
    rng = np.random.default_rng(3)
    shapes = [(bits, hidden), (skills, hidden), (hidden,), (hidden, hidden), (hidden,)]
    shapes += [(hidden, bits), (bits,)]
    return [rng.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize("rows", [0, 1, 3, 2000])
def test_network_equals_the_plain_formula(rows):
    weights = network()
    model = MLPModel(*weights)
    w_z, w_k, b1, w2, b2, w3, b3 = weights
    states = np.random.default_rng(rows).random((rows, 7)) < 0.5
    after = model.successors(states)
    assert after.shape == (rows, 5, 7)
    for skill in range(5):
        inputs = np.concatenate([states, np.tile(np.eye(5)[skill], (rows, 1))], axis=1)
        hidden = np.maximum(inputs @ np.concatenate([w_z, w_k]) + b1, 0)
        logits = np.maximum(hidden @ w2 + b2, 0) @ w3 + b3
        np.testing.assert_array_equal(after[:, skill], states ^ (logits > 0))
        alone = model.successor(states, np.full(rows, skill))
        np.testing.assert_array_equal(alone, after[:, skill])
    assert rows == 0 or 0.1 < (after != states[:, None]).mean() < 0.9


@pytest.mark.parametrize("which", range(7))
def test_nan_and_wrong_shapes_are_refused(which):
    weights = network()
    weights[which] = weights[which].copy()
    weights[which].flat[0] = np.nan
    with pytest.raises(SeadsError, match="NaN"):
        MLPModel(*weights)
    weights[which] = np.zeros((3, 4, 5))
    with pytest.raises(SeadsError, match="has shape"):
        MLPModel(*weights)


@pytest.mark.parametrize("rows", [0, 1, 300])
def test_a_linear_model_equals_the_plain_formula(rows):
    rng = np.random.default_rng(3)
    weights, bias = rng.normal(size=(7, 5 * 7)), rng.normal(size=(5, 7))
    model = LinearModel(weights, bias)
    states = rng.random((rows, 7)) < 0.5
    after = model.successors(states)
    assert after.shape == (rows, 5, 7)
    for skill in range(5):
        logits = states @ weights[:, 7 * skill : 7 * (skill + 1)] + bias[skill]
        np.testing.assert_array_equal(after[:, skill], states ^ (logits > 0))
    skills = rng.integers(5, size=rows)
    np.testing.assert_array_equal(model.successor(states, skills), after[np.arange(rows), skills])
    with pytest.raises(SeadsError, match="NaN"):
        LinearModel(np.full_like(weights, np.nan), bias)
    with pytest.raises(SeadsError, match="has shape"):
        LinearModel(weights[:, 1:], bias)


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
