"""Skills as explicit operators: which bits decide, which bits flip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.planning.affine import PackedAffine, Preimages
from seads.planning.model import SymbolicModel
from seads.planning.packed import Words, num_words, pack, unpack

# An operator is searched with if the model agrees with it in this share of the states.
RELIABLE = 0.95

# States, the row of the given states each belongs to, and the skill in between.
Steps = tuple[
    UInt64[np.ndarray, "steps words"], Int[np.ndarray, " steps"], Int[np.ndarray, " steps"]
]


@dataclass(frozen=True)
class Operator:
    """One skill as an affine map over GF(2): bit i flips where (decides @ z + always)[i] is odd.

    Plain flips have an empty `decides`. A flip under a condition on one bit and an exchange
    of bits are affine too.
    """

    skill: int
    decides: Bool[np.ndarray, "bits bits"]
    """Row i: the bits whose parity decides whether bit i flips."""
    always: Bool[np.ndarray, "bits"]
    """Bits that flip when all deciding bits are zero."""
    agreement: float = 1.0
    """Share of held-out states on which the operator and the model agree."""

    @property
    def is_flip(self) -> bool:
        """Whether the same bits flip in every state."""
        return not self.decides.any()

    @property
    def reliable(self) -> bool:
        """Whether it holds often enough to search with; if not, it is what the skill often does."""
        return self.agreement >= RELIABLE


class OperatorSet:
    """Operators on packed states, forwards and backwards.

    `opaque` skills, those without a reliable operator, change nothing here. `block` removes
    single transitions, so that a search goes around them.
    """

    def __init__(self, num_bits: int, num_skills: int, operators: dict[int, Operator]) -> None:
        self.num_bits = num_bits
        self.num_skills = num_skills
        self.operators = operators
        self._searched = [k for k, operator in operators.items() if operator.reliable]
        self.opaque = tuple(k for k in range(num_skills) if k not in self._searched)
        self._flips = np.zeros((num_skills, num_words(num_bits)), np.uint64)
        self._maps: dict[int, PackedAffine] = {}
        for k in self._searched:
            if operators[k].is_flip:
                self._flips[k] = pack(operators[k].always)
            else:
                self._maps[k] = PackedAffine(*self._affine(k))
        self._preimages: dict[int, Preimages] | None = None
        self.blocked: dict[int, set[bytes]] = {}

    def _affine(self, skill: int) -> tuple[Bool[np.ndarray, "bits bits"], Bool[np.ndarray, "bits"]]:
        """The skill's successor function as matrix and constant."""
        operator = self.operators[skill]
        return operator.decides ^ np.eye(self.num_bits, dtype=bool), operator.always

    @property
    def all_flips(self) -> bool:
        """Whether every operator flips the same bits in every state."""
        return not self._maps

    @property
    def invertible(self) -> bool:
        """Whether every operator can be followed backwards."""
        return all(p.enumerable for p in self.preimages.values())

    @property
    def preimages(self) -> dict[int, Preimages]:
        """For each operator that is no plain flip, the states it leads from."""
        if self._preimages is None:
            self._preimages = {k: Preimages(*self._affine(k)) for k in self._maps}
        return self._preimages

    def step(self, words: Words) -> UInt64[np.ndarray, "rows skills words"]:
        """The successor under every skill; where a skill is blocked or opaque, nothing changes."""
        return self._step(words).swapaxes(0, 1)

    def _step(self, words: Words) -> UInt64[np.ndarray, "skills rows words"]:
        after = np.empty((self.num_skills, *words.shape), np.uint64)
        for k, flip in enumerate(self._flips):
            after[k] = self._maps[k](words) if k in self._maps else words ^ flip
        for k, states in self.blocked.items():
            stays = _among(words, states)
            after[k, stays] = words[stays]
        return after

    def advance(self, words: Words) -> Steps:
        """The states the operators lead to from `words`: (states, row left, skill)."""
        after = self._step(words).reshape(-1, words.shape[1])
        rows = np.tile(np.arange(len(words)), self.num_skills)
        return after, rows, np.repeat(np.arange(self.num_skills), len(words))

    def retreat(self, words: Words) -> Steps:
        """The states from which operators lead to `words`: (states, row led to, skill)."""
        found, rows, skills = [words[:0]], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for k in self._searched:
            if k in self.preimages:
                before, row = self.preimages[k](words)
            else:
                before, row = words ^ self._flips[k], np.arange(len(words))
            if k in self.blocked:
                free = ~_among(before, self.blocked[k])
                before, row = before[free], row[free]
            found.append(before)
            rows.append(row)
            skills.append(np.full(len(row), k))
        return np.concatenate(found), np.concatenate(rows), np.concatenate(skills)

    def block(self, state: Bool[np.ndarray, "bits"], skill: int) -> None:
        """Never use this skill in this state again."""
        self.blocked.setdefault(skill, set()).add(pack(state).tobytes())


class Compiled(OperatorSet):
    """A model as operators, where it behaves like them; `opaque` skills stay with the model.

    An unreliable operator of an opaque skill is a hint for planners, who must ask the model.
    It is a `SymbolicModel` itself.
    """

    def __init__(self, model: SymbolicModel, operators: dict[int, Operator]) -> None:
        super().__init__(model.num_bits, model.num_skills, operators)
        self.model = model
        # What planners keep from one board to the next, by planner and goal.
        self.cache: dict[tuple[str, bytes], object] = {}
        self.flips = {k: op.always for k, op in sorted(operators.items()) if op.is_flip}
        """What each skill flips, always or often; skills that do something else are left out."""

    @property
    def exact(self) -> bool:
        """Whether operators and model never differed so far."""
        return not self.blocked and all(op.agreement == 1.0 for op in self.operators.values())

    def block(self, state: Bool[np.ndarray, "bits"], skill: int) -> None:
        """Never use this skill in this state again: the model does something else there."""
        super().block(state, skill)
        self.cache.clear()

    def expand(self, words: Words) -> UInt64[np.ndarray, "rows skills words"]:
        """The packed successors of packed states, opaque skills through the model."""
        if len(self.opaque) == self.num_skills:
            return pack(self.model.successors(unpack(words, self.num_bits)))
        after = self.step(words)
        if self.opaque:
            states = unpack(words, self.num_bits)
            for k in self.opaque:
                after[:, k] = pack(self.model.successor(states, np.full(len(states), k)))
        return after

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every skill."""
        return unpack(self.expand(pack(states)), self.num_bits)

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own skill."""
        return self.successors(states)[np.arange(len(states)), skills]


def _among(words: Words, states: set[bytes]) -> Bool[np.ndarray, "rows"]:
    """Which of the packed states are in a (small) set."""
    found = np.zeros(len(words), bool)
    for state in states:
        found |= (words == np.frombuffer(state, np.uint64)).all(axis=1)
    return found
