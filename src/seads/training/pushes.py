"""Where the first and the last skills of a run touched the board, as in the paper (S.12.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jaxtyping import Float32

KEPT = 200
"""How many of the first, and of the last (paper S.12.1)."""
Touches = Float32[np.ndarray, "touches 3"]
"""Skill, x and y of each touch, oldest first."""


def none() -> Touches:
    return np.zeros((0, 3), np.float32)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Pushes:
    """The first and the last touches of a run."""

    first: Touches = field(default_factory=none)
    last: Touches = field(default_factory=none)

    def add(self, new: Touches) -> Pushes:
        """With those of another epoch."""
        first = np.concatenate([self.first, new])[:KEPT] if len(self.first) < KEPT else self.first
        return Pushes(first, np.concatenate([self.last, new])[-KEPT:])

    def to_json(self) -> dict[str, Any]:
        """As an agent's card keeps them: [skill, x, y] each."""
        return {
            name: [[int(skill), round(float(x), 3), round(float(y), 3)] for skill, x, y in touches]
            for name, touches in (("first", self.first), ("last", self.last))
        }
