"""What the skill model makes of transitions, asked in blocks of few sizes."""

from __future__ import annotations

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from seads.agent.skill_model import Discriminator, ForwardModel

BLOCK = 128
"""Rows are padded to a multiple of this, so that only a few sizes are ever compiled."""


def score(
    model: ForwardModel | Discriminator,
    before: Bool[np.ndarray, "episodes bits"],
    after: Bool[np.ndarray, "episodes bits"],
) -> tuple[Float[np.ndarray, "episodes skills"], Float[np.ndarray, "episodes"]]:
    """The model's `evidence` for every episode; a transition that occurs twice is computed once."""
    packed = np.packbits(np.concatenate([before, after], 1), axis=1)
    keys = packed.view([("", f"V{packed.shape[1]}")])[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    padded = _padded(first)
    posterior, novelty = _evidence(model, before[padded], after[padded])
    return np.asarray(posterior)[inverse], np.asarray(novelty)[inverse]


def likelihoods_from_evidence(
    posterior: Float[np.ndarray, "episodes skills"], novelty: Float[np.ndarray, "episodes"]
) -> Float[np.ndarray, "episodes skills"]:
    """log q(z_T | z_0, k) of every skill, from the two that `score` gives."""
    return posterior - (posterior.max(1) + novelty)[:, None]


def expected_after(
    model: ForwardModel, before: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
) -> Bool[np.ndarray, "rows bits"]:
    """The likeliest z_T of each board under its own skill."""
    padded = _padded(np.arange(len(before)))
    flips = np.asarray(_flips(model, before[padded], skills[padded]))
    return before ^ flips[: len(before)]


def _padded(index: Int[np.ndarray, "n"]) -> Int[np.ndarray, "padded"]:
    """The same rows, and some of them again."""
    return np.resize(index, -(-len(index) // BLOCK) * BLOCK)


@eqx.filter_jit
def _evidence(
    model: ForwardModel | Discriminator,
    before: Bool[Array, "n bits"],
    after: Bool[Array, "n bits"],
) -> tuple[Float[Array, "n skills"], Float[Array, "n"]]:
    return model.evidence(before, after)


@eqx.filter_jit
def _flips(
    model: ForwardModel, before: Bool[Array, "n bits"], skills: Int[Array, "n"]
) -> Bool[Array, "n bits"]:
    return model.flip_logits(before, skills) > 0
