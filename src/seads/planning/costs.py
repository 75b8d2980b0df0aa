"""What each skill costs: nothing but its turn, its low-level steps, or the risk that it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

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

    @classmethod
    def from_episodes(
        cls,
        minimise: str,
        num_skills: int,
        skills: Int[np.ndarray, "episodes"],
        steps: Int[np.ndarray, "episodes"],
        as_predicted: Bool[np.ndarray, "episodes"],
    ) -> Costs:
        """Costs learned from skill episodes: what was run, for how long, and whether it worked.

        A skill's steps are its mean episode length; a skill never tried gets the longest.
        Its success probability is (successes + 1) / (episodes + 2), so it is never 0 or 1.
        """
        if minimise not in get_args(Minimise):
            allowed = ", ".join(get_args(Minimise))
            raise SeadsError(f"cannot minimise {minimise!r}; choose from {allowed}")
        if len(skills) and not (min(skills) >= 0 and max(skills) < num_skills):
            raise SeadsError(f"episodes name skills outside 0..{num_skills - 1}")
        if minimise == "length":
            return cls.length(num_skills)
        tried = np.bincount(skills, minlength=num_skills)
        if minimise == "risk":
            worked = np.bincount(skills, weights=as_predicted, minlength=num_skills)
            return cls.from_success((worked + 1) / (tried + 2))
        total = np.bincount(skills, weights=steps, minlength=num_skills)
        longest = float(np.max(steps, initial=1))
        return cls(np.where(tried > 0, total / np.maximum(tried, 1), longest))

    @property
    def is_length(self) -> bool:
        """Whether all skills cost the same, so that the cheapest plan is the shortest."""
        return bool((self.per_skill == self.per_skill[0]).all() and self.per_skill[0] > 0)

    @property
    def search(self) -> Float[np.ndarray, "skills"]:
        """Costs with a little added to each, so that of equally cheap plans the shortest wins."""
        finite = self.per_skill[np.isfinite(self.per_skill)]
        return self.per_skill + 1e-7 * (1.0 + float(np.max(finite, initial=0.0)))
