"""Whether skills lead to where resets do not: then some must be learned from there."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Float

from seads.agent.observation_scale import ROUNDING

OUTSIDE = 0.1
"""Chained where more of the skills than this share lead out of where resets lead to."""
MARGIN = 0.1
"""What is nearer than this share of the whole range to what resets give is no different."""
RATE = 0.05
"""How far the share moves with an epoch's skills."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Reach:
    """Between what bounds resets and skills leave the numbers of an observation.

    A plan's skills follow each other, so they must be learned wherever the one before may end.
    Where resets lead there, too, every skill of a run starts from a reset, which is more varied.
    Where they do not (nothing is held, the arm is at home, all is at rest) skills are chained.
    """

    resets: Float[np.ndarray, "2 own"]
    """The lowest and the highest after resets,"""
    skills: Float[np.ndarray, "2 own"]
    """and after the skills that came next, or resets."""
    outside: float = 0.0
    """The share of these skills that led outside of the first, of late."""

    @classmethod
    def of_nothing(cls, size: int) -> Reach:
        """Before any reset."""
        none = np.stack([np.full(size, np.inf), np.full(size, -np.inf)])
        return cls(none, none)

    @property
    def chained(self) -> bool:
        """Whether skills should start where others ended."""
        return self.outside > OUTSIDE

    def updated(
        self, first: Float[np.ndarray, "skills own"], last: Float[np.ndarray, "skills own"]
    ) -> Reach:
        """With what was observed at the beginning and the end of skills that followed resets."""
        resets = _wider(self.resets, first)
        skills = _wider(_wider(self.skills, first), last)
        margin = MARGIN * (skills[1] - skills[0])
        beyond = (last < resets[0] - margin) | (last > resets[1] + margin)
        share = float((beyond & _varies(skills)).any(1).mean())
        return Reach(resets, skills, self.outside + RATE * (share - self.outside))


def _wider(
    bounds: Float[np.ndarray, "2 own"], values: Float[np.ndarray, "skills own"]
) -> Float[np.ndarray, "2 own"]:
    return np.stack([np.minimum(bounds[0], values.min(0)), np.maximum(bounds[1], values.max(0))])


def _varies(bounds: Float[np.ndarray, "2 own"]) -> Bool[np.ndarray, "own"]:
    return bounds[1] - bounds[0] > ROUNDING * np.abs(bounds).max(0)
