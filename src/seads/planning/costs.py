"""What each skill costs: nothing but its turn, its low-level steps, or the risk that it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from seads.errors import SeadsError

Minimise = Literal["length", "steps", "risk"]


@dataclass(frozen=True)
class Costs:
    """A cost per skill, zero or more; infinity forbids a skill. Plans of least total cost win."""

    per_skill: np.ndarray
    """One number for each skill."""

    def __post_init__(self) -> None:
        costs = np.asarray(self.per_skill, np.float64)
        if costs.ndim != 1:
            raise SeadsError(f"costs have shape {costs.shape}; give one number for each skill")
        if np.isnan(costs).any() or (costs < 0).any():
            bad = int(np.flatnonzero(np.isnan(costs) | (costs < 0))[0])
            raise SeadsError(f"the cost of skill {bad} is {costs[bad]}; it must be zero or more")
        object.__setattr__(self, "per_skill", costs)

    @classmethod
    def length(cls, num_skills: int) -> Costs:
        """Every skill counts one."""
        return cls(np.ones(num_skills))

    @classmethod
    def from_success(cls, probability: np.ndarray) -> Costs:
        """-log of each skill's success probability: the cheapest plan is the most likely one."""
        probability = np.asarray(probability, np.float64)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise SeadsError(f"success probabilities {probability} are not all in [0, 1]")
        with np.errstate(divide="ignore"):
            return cls(np.abs(np.log(probability)))

    @property
    def is_length(self) -> bool:
        """Whether all skills cost the same, so that the cheapest plan is the shortest."""
        return bool((self.per_skill == self.per_skill[0]).all() and self.per_skill[0] > 0)

    def require_length(self, planner: str) -> None:
        """Raises SeadsError unless all skills cost the same, for a planner that knows no costs."""
        if not self.is_length:
            raise SeadsError(f"{planner!r} minimises length only; with costs use auto or dijkstra")

    def of(self, skills: Sequence[int]) -> float:
        """What these skills cost together."""
        return float(self.per_skill[list(skills)].sum())

    @property
    def search(self) -> Float[np.ndarray, "skills"]:
        """Costs with a little added to each, so that of equally cheap plans the shortest wins."""
        finite = self.per_skill[np.isfinite(self.per_skill)]
        return self.per_skill + 1e-7 * (1.0 + float(np.max(finite, initial=0.0)))
