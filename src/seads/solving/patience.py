"""How long a board is planned for: the limit that was asked for, or for as long as that helps.

A model that is not ready yet lets nearly every search run into its limit: with the paper's 60 s
a hundred boards take more than an hour and a half, and tell what is known already.
"""

from __future__ import annotations

from typing import Any

from seads.agent.skill_costs import successes
from seads.planning.result import Plan, PlanStatus

READY = 0.5
"""Share of a run's newest episodes that the model must have foreseen to be worth a long search."""
SHORT = 0.25
"""Seconds for a board once long searches have shown to be in vain."""
IN_VAIN = 2
"""Long searches in a row that end without a plan before the others are kept short."""

_OUT_OF_BUDGET = (PlanStatus.TIME_BUDGET, PlanStatus.NODE_BUDGET, PlanStatus.MEMORY_BUDGET)


def foreseen(card: dict[str, Any]) -> float | None:
    """The share of its run's newest episodes that an agent's model foresaw; None if not known."""
    skills = card.get("skills") or []
    episodes = sum(one["episodes"] for one in skills)
    if not episodes:
        return None
    return sum(map(successes, skills)) / episodes


class Patience:
    """The limit for a board; `why` it is shorter than `seconds`, if it is.

    Where the user `asked` for the limit it stays as it is. `agreement` is what `foreseen` says.
    """

    def __init__(self, seconds: float, asked: bool, agreement: float | None = None) -> None:
        self._seconds, self._asked = seconds, asked
        self._in_vain = 0
        self.why: str | None = None
        if not asked and agreement is not None and agreement < READY:
            self._shorten(f"the model foresaw {agreement:.0%} of what its skills did in training")

    @property
    def seconds(self) -> float:
        """For all planning on one board."""
        return self._seconds if self.why is None else min(SHORT, self._seconds)

    def note(self, plan: Plan) -> None:
        """A search has ended."""
        if self._asked or plan.seconds < SHORT:
            return
        self._in_vain = self._in_vain + 1 if plan.status in _OUT_OF_BUDGET else 0
        if self._in_vain >= IN_VAIN and self.why is None:
            self._shorten(f"{IN_VAIN} searches in a row found no plan in their time")

    def _shorten(self, why: str) -> None:
        self.why = (
            f"{why}: planning gives up after {SHORT:g} s a board; train longer, or give "
            f"--seconds {self._seconds:g} to plan for so long in any case"
        )
