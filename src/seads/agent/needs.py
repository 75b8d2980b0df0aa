"""What each skill needs: bits without which it does not have the effect that it has with them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

Need = tuple[int, bool]
"""A bit, and the value that it must have."""

HARDLY_EVER = 0.1
"""Without a need a skill changes something less than this share of as often as it works with it."""
CHANCE = 1e-3
"""How likely one need too many may be, of all skills and bits."""


def find_needs(
    before: Bool[np.ndarray, "tries bits"],
    skills: Int[np.ndarray, "tries"],
    worked: Bool[np.ndarray, "tries"],
    changed: Bool[np.ndarray, "tries"],
    num_skills: int,
) -> list[list[Need]]:
    """The needs of every skill, from the boards of its tries.

    In some of them it `worked` as the forward model says, in more it `changed` anything. A forward
    model learns from changes, so that it cannot know where there is none. Tries that changed
    nothing tell: if a skill works often while a bit is set, and hardly ever changes anything while
    it is not, it needs that bit. One that always changes something needs nothing, right or wrong.
    """
    most_likely = math.log(CHANCE / (2 * num_skills * before.shape[1]))
    found: list[list[Need]] = []
    for skill in range(num_skills):
        tries = skills == skill
        missing = [
            (bit, value)
            for value in (False, True)
            for bit in _needed(before[tries] == value, worked[tries], changed[tries], most_likely)
        ]
        found.append(sorted(missing))
    return found


def _needed(
    has: Bool[np.ndarray, "tries bits"],
    worked: Bool[np.ndarray, "tries"],
    changed: Bool[np.ndarray, "tries"],
    most_likely: float,
) -> list[int]:
    """The bits that must have the value that they have where `has` says so."""
    rate = (has[worked].sum(0) + 1) / (has.sum(0) + 2)
    lacking = (~has).sum(0)
    anyway = (~has)[changed].sum(0) / np.maximum(lacking, 1)
    # Chernoff's bound: how likely a skill that works at this rate, whatever the bit, is so idle
    likely = -lacking * _divergence(anyway, rate)
    found = (anyway < HARDLY_EVER * rate) & (likely < most_likely)
    return [int(bit) for bit in np.flatnonzero(found)]


@dataclass(frozen=True)
class Needs:
    """What every skill needs."""

    asked: Bool[np.ndarray, "skills bits"]
    """Which bits each skill needs,"""
    wanted: Bool[np.ndarray, "skills bits"]
    """and the values that they must have."""

    @classmethod
    def of(cls, needs: list[list[Need]], num_bits: int) -> Needs:
        """From a list of needs for every skill."""
        asked = np.zeros((len(needs), num_bits), bool)
        wanted = np.zeros_like(asked)
        for skill, some in enumerate(needs):
            for bit, value in some:
                asked[skill, bit], wanted[skill, bit] = True, value
        return cls(asked, wanted)

    def of_skill(self, skill: int) -> list[Need]:
        """What one skill needs."""
        bits = np.flatnonzero(self.asked[skill])
        return [(int(bit), bool(self.wanted[skill, bit])) for bit in bits]

    def met(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows"]:
        """Where each skill has all that it needs."""
        return ~(self.asked[skills] & (states != self.wanted[skills])).any(1)


def _divergence(
    seen: Float[np.ndarray, "bits"], rate: Float[np.ndarray, "bits"]
) -> Float[np.ndarray, "bits"]:
    """Kullback-Leibler divergence of a coin of the one rate from one of the other."""
    seen = np.clip(seen, 1e-12, 1 - 1e-12)
    return seen * np.log(seen / rate) + (1 - seen) * np.log((1 - seen) / (1 - rate))
