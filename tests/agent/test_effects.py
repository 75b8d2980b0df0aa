"""Skills without an effect of their own are found."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.buffer import Episodes
from seads.agent.effects import own_effects
from seads.agent.skill_model import LinearForwardModel


def flipping(rows: list[list[int]], num_bits: int = 3) -> LinearForwardModel:
    """A model in which each skill flips the bits of its row, on every board."""
    model = LinearForwardModel(num_bits, len(rows), jax.random.key(0))
    bias = np.full((len(rows), num_bits), -5.0, np.float32)
    for skill, bits in enumerate(rows):
        bias[skill, bits] = 5.0
    return eqx.tree_at(lambda m: m.bias, model, jnp.asarray(bias))


def done(model: LinearForwardModel, success: list[float], count: int = 40) -> Episodes:
    """Each skill does on some boards what the model says as often as told, else nothing."""
    skills = np.repeat(np.arange(len(success)), count)
    before = np.random.default_rng(0).random((len(skills), 3)) < 0.5
    flips = np.asarray(model.flip_logits(before, skills)) > 0
    works = np.concatenate([np.arange(count) < share * count for share in success])
    return Episodes(
        observations=np.zeros((len(skills), 2, 1), np.float32),
        actions=np.zeros((len(skills), 1, 1), np.float32),
        lengths=np.ones(len(skills), np.int64),
        skills=skills,
        before=before,
        after=before ^ (flips & works[:, None]),
        moves=np.full(len(skills), -1),
        disturbed=np.zeros(len(skills), bool),
    )


def own(model: LinearForwardModel, success: list[float]) -> list[bool]:
    return own_effects(model, done(model, success), np.array(success)).tolist()


def test_the_most_reliable_of_those_that_do_the_same_is_kept() -> None:
    model = flipping([[0], [1], [0], [0, 1]])
    assert own(model, [0.5, 0.9, 0.8, 0.9]) == [False, True, True, True]


def test_nothing_and_hardly_ever_are_no_effects() -> None:
    assert own(flipping([[0], [], [2]]), [0.5, 1.0, 0.05]) == [True, False, False]


def test_a_skill_that_was_never_tried_has_none() -> None:
    model = flipping([[0], [1]])
    episodes = done(model, [1.0, 1.0])
    tried = episodes.pick(np.flatnonzero(episodes.skills == 0))
    assert own_effects(model, tried, np.array([0.9, 0.5])).tolist() == [True, False]


def test_a_bit_of_this_and_a_bit_of_that_is_nothing_of_its_own() -> None:
    model = flipping([[0], [1], [0]])
    # skill 2 flips bit 1 in place of bit 0 wherever bit 2 is set
    grow = model.grow.at[2, 6 + 1].set(4.0)
    shrink = model.shrink.at[2, 6 + 0].set(4.0)
    mixed = eqx.tree_at(lambda m: (m.grow, m.shrink), model, (grow, shrink))
    assert own(mixed, [0.8, 0.8, 0.4]) == [True, True, False]
    assert own(mixed, [0.8, 0.0, 0.4]) == [True, False, True]
