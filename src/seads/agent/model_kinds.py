"""Which kinds of skill models there are, and a fresh one of each."""

from __future__ import annotations

from typing import Literal

from jaxtyping import PRNGKeyArray

from seads.agent.either_model import EitherForwardModel
from seads.agent.skill_model import (
    WITHOUT_XOR,
    Discriminator,
    ForwardModel,
    LinearForwardModel,
    NetworkForwardModel,
    TableForwardModel,
)

MODELS = {"seads": ("network", "linear", "table", "either"), "vic": ("network", WITHOUT_XOR)}
"""Kinds of skill models, by algorithm."""


def kind_of(model: ForwardModel) -> Literal["network", "linear", "table"]:
    """Which kind a forward model is that an agent takes along."""
    if isinstance(model, TableForwardModel):
        return "table"
    return "linear" if isinstance(model, LinearForwardModel) else "network"


def make_model(
    algorithm: str,
    kind: str,
    num_bits: int,
    num_skills: int,
    hidden: tuple[int, ...],
    key: PRNGKeyArray,
    learns: bool = True,
) -> ForwardModel | Discriminator:
    """A fresh skill model of a kind that `MODELS` lists for the algorithm.

    One that only predicts is not asked to learn; see `LinearForwardModel`.
    """
    if algorithm == "vic":
        return Discriminator(num_bits, num_skills, hidden, key, xor=kind != WITHOUT_XOR)
    if kind == "either":
        return EitherForwardModel(num_bits, num_skills, hidden, key)
    if kind == "linear":
        return LinearForwardModel(num_bits, num_skills, key, learns)
    if kind == "table":
        return TableForwardModel(num_bits, num_skills, key)
    return NetworkForwardModel(num_bits, num_skills, hidden, key)
