"""Where the first and the last skills of a run touched the board, as in the paper (S.5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import jax
import msgspec
import numpy as np
from jaxtyping import Float32

from seads.agent.card import FirstAndLast
from seads.files import write_text_aside
from seads.reading import read_json

FILE = "pushes.json"
"""In a run's directory, or beside a packaged agent's card."""
KEPT = 200
"""How many of the first, and of the last (paper S.5.1)."""
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

    def write(self, directory: Path) -> None:
        """Into a run's directory, aside first, then renamed."""
        kept = FirstAndLast(
            *(
                [(int(skill), round(float(x), 3), round(float(y), 3)) for skill, x, y in touches]
                for touches in (self.first, self.last)
            )
        )
        write_text_aside(directory / FILE, msgspec.json.encode(kept).decode() + "\n")


def read_pushes(directory: Path) -> FirstAndLast | None:
    """Those of a run or of a packaged agent; None where there are none."""
    path = directory / FILE
    return read_json(path, FirstAndLast, "a run's pushes") if path.is_file() else None
