"""How the last boards of a run ended: the success rate that a baseline's metrics show."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int8

from seads.agent.arrays import stateful

WINDOW = 100
_UNKNOWN = -1


@stateful("values")
class Outcomes:
    """Solved or not, for the newest boards; starts knowing nothing."""

    def __init__(self) -> None:
        self.values: Int8[np.ndarray, "window"] = np.full(WINDOW, _UNKNOWN, np.int8)

    def add(self, solved: Bool[np.ndarray, "boards"]) -> None:
        """Note how some boards ended, oldest first."""
        self.values = np.concatenate([self.values, solved.astype(np.int8)])[-WINDOW:]

    def metrics(self) -> dict[str, float]:
        """The share that was solved, once any board has ended."""
        known = self.values[self.values != _UNKNOWN]
        return {"success": float(known.mean())} if len(known) else {}
