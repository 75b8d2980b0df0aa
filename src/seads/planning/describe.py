"""Operators as sentences a person can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seads.planning.operators import Compiled, Operator

NameBit = Callable[[int], str]


@dataclass(frozen=True)
class OperatorRow:
    """One row of the table of skills."""

    skill: int
    kind: str
    """nothing, flips, flips if, exchanges, depends, usually or opaque"""
    effect: str
    """What the skill does, in words."""
    agreement: float | None
    """Share of held-out states on which operator and model agree; None without an operator."""

    def __str__(self) -> str:
        return f"skill {self.skill} {self.effect}"


def operator_rows(compiled: Compiled, name_bit: NameBit = str) -> list[OperatorRow]:
    """A row for every skill, in order; `name_bit` puts a bit into words."""
    rows = []
    for skill in range(compiled.num_skills):
        operator = compiled.operators.get(skill)
        if operator is None:
            effect = "depends on the state in a way no operator explains"
            rows.append(OperatorRow(skill, "opaque", effect, None))
            continue
        kind, effect = _describe(operator, name_bit)
        if not operator.reliable:
            kind, effect = "usually", f"usually {effect}"
        rows.append(OperatorRow(skill, kind, effect, operator.agreement))
    return rows


def _describe(operator: Operator, name_bit: NameBit) -> tuple[str, str]:
    """The kind of the operator and what it does."""
    if operator.is_flip:
        flipped = np.flatnonzero(operator.always)
        if not len(flipped):
            return "nothing", "does nothing"
        return "flips", f"flips {_listed(flipped, name_bit)}"
    taken = _taken(operator)
    if taken is not None:
        pairs = sorted({tuple(sorted(pair)) for pair in taken.items()})
        if all(taken.get(b) == a for a, b in taken.items()):
            swaps = ", ".join(f"{name_bit(a)} and {name_bit(b)}" for a, b in pairs)
            return "exchanges", f"exchanges {swaps}"
        moves = ", ".join(f"{name_bit(b)} to {name_bit(a)}" for a, b in sorted(taken.items()))
        return "exchanges", f"copies {moves}"
    by_rule: dict[tuple[tuple[int, ...], bool], list[int]] = {}
    for bit in range(len(operator.always)):
        deciding = tuple(int(d) for d in np.flatnonzero(operator.decides[bit]))
        if deciding or operator.always[bit]:
            by_rule.setdefault((deciding, bool(operator.always[bit])), []).append(bit)
    parts, single = [], True
    for (deciding, always), bits in sorted(by_rule.items()):
        flips = f"flips {_listed(np.array(bits), name_bit)}"
        if not deciding:
            parts.append(flips)
        elif len(deciding) == 1:
            state = "off" if always else "on"
            parts.append(f"{flips} if {name_bit(deciding[0])} is {state}")
        else:
            single = False
            parity = "even" if always else "odd"
            among = _listed(np.array(deciding), name_bit)
            parts.append(f"{flips} if an {parity} number of {among} is on")
    return ("flips if" if single else "depends"), "; ".join(parts)


def _taken(operator: Operator) -> dict[int, int] | None:
    """Which bit each changed bit takes its value from, if that is all the skill does."""
    if operator.always.any():
        return None
    taken = {}
    for bit in np.flatnonzero(operator.decides.any(axis=1)):
        deciding = set(np.flatnonzero(operator.decides[bit])) - {bit}
        if len(deciding) != 1 or not operator.decides[bit, bit]:
            return None
        taken[int(bit)] = int(deciding.pop())
    return taken


def _listed(bits: np.ndarray, name_bit: NameBit) -> str:
    return ", ".join(name_bit(int(bit)) for bit in bits)
