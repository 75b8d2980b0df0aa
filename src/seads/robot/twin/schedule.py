"""Which fault comes when: by the number of the move, and at random touches, from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from seads.errors import SeadsError, require, unknown
from seads.streams import fork, row_seeds, uniforms

LINE_FAULTS = {
    "cable": "the line is cut",
    "lost-reply": "the answer never comes",
    "late-reply": "the answer comes after those of two later requests",
    "torn-line": "half of the answer, and never the rest",
    "half-line": "the answer in two parts",
    "garbage": "random bytes before the answer",
    "out-of-order": "an old answer just before the true one",
    "buffer-full": "E23 without a number; the move is dropped",
}
ARM_FAULTS = {
    "out-of-reach": "E22 for a point that can be reached",
    "detached": "E27: the motors are off until M17",
    "encoder": "E26",
    "power": "the power goes off half-way",
    "reboot": "the firmware starts anew half-way",
    "unmoved": "ok, but nothing moved",
    "slipped": "ok, but three degrees beside",
}
TOUCH_FAULTS = {
    "missed": "the screen does not see the touch",
    "doubled": "the screen sees it twice",
    "misplaced": "the screen sees it a field further",
    "cancelled": "the system takes the touch away",
    "page-gone": "the screen locks, or its page closes",
}
FAULTS = LINE_FAULTS | ARM_FAULTS | TOUCH_FAULTS
NEED_A_PERSON = ("cable", "encoder", "power", "unmoved", "slipped", "page-gone")
"""After these no program goes on by itself."""
RECOVERABLE = tuple(one for one in FAULTS if one not in NEED_A_PERSON)


@dataclass(frozen=True)
class Schedule:
    """Faults by the number of the move that they strike, counted from 1 since the twin began."""

    by_move: dict[int, str] = field(default_factory=dict)
    missed: float = 0.0
    """Share of all touches that the screen does not see."""
    doubled: float = 0.0
    """Share of all touches that it sees twice."""
    seed: int = 0

    def __post_init__(self) -> None:
        for kind in self.by_move.values():
            if kind not in FAULTS:
                raise unknown("fault", kind, FAULTS)
        rates = self.missed >= 0.0 and self.doubled >= 0.0 and self.missed + self.doubled <= 1.0
        require(self, rates, "missed", "shares from 0 that are together at most 1")

    @classmethod
    def read(cls, text: str, **rest: float) -> Schedule:
        """From words such as `reboot@3,lost-reply@10`."""
        found = {}
        for word in filter(None, text.replace(" ", "").split(",")):
            kind, _, number = word.partition("@")
            if not number.isdigit() or int(number) < 1:
                raise SeadsError(f"fault {word!r}; allowed: a fault and its move, as reboot@3")
            found[int(number)] = kind
        return cls(found, **rest)  # type: ignore[arg-type]

    @classmethod
    def drawn(
        cls, seed: int, every: int, moves: int, kinds: Sequence[str] = tuple(FAULTS), **rest: float
    ) -> Schedule:
        """One fault in each run of `every` moves, its kind and place drawn from the seed."""
        if every < 1:
            raise SeadsError(f"a fault every {every} moves; allowed: from 1")
        count = moves // every
        draws = uniforms(row_seeds(seed, count), 2)
        numbers = np.arange(count) * every + (draws[:, 0] * every).astype(int) + 1
        chosen = (draws[:, 1] * len(kinds)).astype(int)
        by_move = {int(n): kinds[k] for n, k in zip(numbers, chosen, strict=True)}
        return cls(by_move, seed=seed, **rest)

    def touch(self, number: int) -> str | None:
        """What happens to this touch by chance; touches are counted from 1."""
        seeds = fork(row_seeds(self.seed, 1), number)
        drawn = float(uniforms(seeds, 1)[0, 0])
        if drawn < self.missed:
            return "missed"
        return "doubled" if drawn < self.missed + self.doubled else None
