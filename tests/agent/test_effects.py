"""Skills without an effect of their own are found."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.effects import own_effects
from seads.agent.skill_model import LinearForwardModel


def flipping(rows: list[list[int]], num_bits: int = 3) -> LinearForwardModel:
    """A model in which each skill flips the bits of its row, on every board."""
    model = LinearForwardModel(num_bits, len(rows), jax.random.key(0))
    bias = np.full((len(rows), num_bits), -5.0, np.float32)
    for skill, bits in enumerate(rows):
        bias[skill, bits] = 5.0
    return eqx.tree_at(lambda m: m.bias, model, jnp.asarray(bias))


BOARDS = np.random.default_rng(0).random((40, 3)) < 0.5


def test_the_most_reliable_of_those_that_do_the_same_is_kept() -> None:
    model = flipping([[0], [1], [0], [0, 1]])
    own = own_effects(model, BOARDS, np.array([0.5, 0.9, 0.8, 0.9]))
    assert own.tolist() == [False, True, True, True]


def test_nothing_and_hardly_ever_are_no_effects() -> None:
    model = flipping([[0], [], [2]])
    own = own_effects(model, BOARDS, np.array([0.5, 1.0, 0.05]))
    assert own.tolist() == [True, False, False]


def test_a_difference_on_a_board_or_two_is_none() -> None:
    model = flipping([[0], [0]])
    grow = model.grow.at[1, 3 + 2].set(4.0)  # skill 1 flips bit 2 too, where bit 1 is set
    differs = eqx.tree_at(lambda m: m.grow, model, grow)
    rare = np.zeros((40, 3), bool)
    rare[:, 0], rare[::2, 2] = np.arange(40) % 3 == 0, True
    seldom = np.concatenate([rare, [[False, True, False]]])
    success = np.array([0.9, 0.8])
    assert own_effects(differs, BOARDS, success).all()
    assert own_effects(differs, rare, success).tolist() == [True, False]
    assert own_effects(differs, seldom, success).sum() == 2 - (4 / 5 >= 0.9)
