"""Skills as explicit operators: which bits decide, which bits flip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.planning.affine import PackedAffine, Preimages
from seads.planning.model import SymbolicModel
from seads.planning.orders import Moves, any_order, distinct_orders
from seads.planning.packed import Words, num_words, pack, unpack

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


class OperatorSet:
    """Operators on packed states, forwards and backwards.

    `block` removes single transitions, so that a search goes around them.
    """

    def __init__(self, num_bits: int, num_skills: int, operators: dict[int, Operator]) -> None:
        self.num_bits = num_bits
        self.num_skills = num_skills
        self.operators = operators
        self._flips = np.zeros((num_skills, num_words(num_bits)), np.uint64)
        self._maps: dict[int, PackedAffine] = {}
        eye = np.eye(num_bits, dtype=bool)
        for k, operator in operators.items():
            if operator.is_flip:
                self._flips[k] = pack(operator.always)
            else:
                self._maps[k] = PackedAffine(operator.decides ^ eye, operator.always)
        self._preimages: dict[int, Preimages] | None = None
        self._orders: dict[bool, Bool[np.ndarray, "before last skills"]] = {}
        self.blocked: dict[int, set[bytes]] = {}

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
            eye = np.eye(self.num_bits, dtype=bool)
            self._preimages = {
                k: Preimages(self.operators[k].decides ^ eye, self.operators[k].always)
                for k in self._maps
            }
        return self._preimages

    def advance(self, words: Words, history: Int[np.ndarray, "rows 2"] | None = None) -> Steps:
        """The states the operators lead to from `words`: (states, row left, skill), by row.

        `history` are the last two skills on the way to each row (-1: none). With it, steps are
        left out that another order of the skills makes redundant: a search that keeps the first
        way to every state, and expands states in the order of finding, still finds all.
        """
        return self._follow(words, history, backwards=False)

    def retreat(self, words: Words, history: Int[np.ndarray, "rows 2"] | None = None) -> Steps:
        """The states from which operators lead to `words`: (states, row led to, skill).

        `history` is as in `advance`, for the way back.
        """
        if all(p.inverse for p in self.preimages.values()):
            return self._follow(words, history, backwards=True)
        found, rows, skills = [], [], []
        for k in self.operators:
            if k in self.preimages:
                before, row = self.preimages[k](words)
            else:
                before, row = words ^ self._flips[k], np.arange(len(words))
            found.append(before)
            rows.append(row)
            skills.append(np.full(len(row), k))
        reached, of = np.concatenate(found), np.concatenate(skills)
        return self._unblocked(reached, reached, np.concatenate(rows), of)

    def _follow(
        self, words: Words, history: Int[np.ndarray, "rows 2"] | None, backwards: bool
    ) -> Steps:
        """One step with every operator, or its inverse, in the order of rows, then skills."""
        moves = self._moves(backwards)
        if history is None or self.blocked:
            history, orders = np.full((len(words), 2), -1), any_order(moves, self.num_skills)
        else:
            if backwards not in self._orders:
                self._orders[backwards] = distinct_orders(moves, self.num_bits, self.num_skills)
            orders = self._orders[backwards]
        # "wrap" counts -1 from the end (after no skill at all, it does not matter which `before`)
        entry, orders = history @ [orders.shape[1], 1], orders.reshape(-1, self.num_skills)
        wanted = np.flatnonzero(orders.take(entry, axis=0, mode="wrap"))
        per_row = orders.sum(axis=1).take(entry, mode="wrap")
        rows = np.repeat(np.arange(len(words)), per_row)
        skills = (wanted - self.num_skills * rows).astype(np.int16)
        reached = np.empty((len(rows), words.shape[1]), np.uint64)
        for k, move in moves.items():
            at = np.flatnonzero(skills == k)
            image = move(words.take(rows.take(at), axis=0))
            for word in range(words.shape[1]):
                reached[:, word][at] = image[:, word]
        left = reached if backwards or not self.blocked else words.take(rows, axis=0)
        return self._unblocked(left, reached, rows, skills)

    def _moves(self, backwards: bool) -> Moves:
        moves: Moves = {k: partial(np.bitwise_xor, self._flips[k]) for k in self.operators}
        if backwards:
            inverses = {k: p.inverse for k, p in self.preimages.items()}
            return moves | {k: inverse for k, inverse in inverses.items() if inverse}
        return moves | self._maps

    def _unblocked(
        self,
        left: Words,
        reached: Words,
        rows: Int[np.ndarray, " rows"],
        skills: Int[np.ndarray, " rows"],
    ) -> Steps:
        """The steps without blocked ones; `left` are the states in which the skills are used."""
        if not self.blocked:
            return reached, rows, skills
        free = np.ones(len(left), bool)
        for k, states in self.blocked.items():
            free &= ~(_among(left, states) & (skills == k))
        return reached[free], rows[free], skills[free]

    def step(self, words: Words) -> UInt64[np.ndarray, "rows skills words"]:
        """The successor under every skill; blocked ones and those without operator stay."""
        after = words[:, None] ^ self._flips
        for k, move in self._maps.items():
            after[:, k] = move(words)
        for k, states in self.blocked.items():
            stays = _among(words, states)
            after[stays, k] = words[stays]
        return after

    def block(self, state: Bool[np.ndarray, "bits"], skill: int) -> None:
        """Never use this skill in this state again."""
        self.blocked.setdefault(skill, set()).add(pack(state).tobytes())


class Compiled(OperatorSet):
    """A model as operators, where it behaves like them; `opaque` skills stay with the model.

    `usual` are plain flips that some of the opaque skills make in many states, not in all: a
    hint for planners, who must ask the model. It is a `SymbolicModel` itself.
    """

    def __init__(
        self,
        model: SymbolicModel,
        operators: dict[int, Operator],
        usual: dict[int, Operator] | None = None,
    ) -> None:
        super().__init__(model.num_bits, model.num_skills, operators)
        self.model = model
        self.usual = usual or {}
        self.opaque = tuple(k for k in range(model.num_skills) if k not in operators)
        # What planners keep from one board to the next, by planner and goal.
        self.cache: dict[tuple[str, bytes], object] = {}

    @property
    def exact(self) -> bool:
        """Whether operators and model never differed so far."""
        return (
            not self.usual
            and not self.blocked
            and all(op.agreement == 1.0 for op in self.operators.values())
        )

    @property
    def flips(self) -> dict[int, Bool[np.ndarray, "bits"]]:
        """What each skill flips, always or usually; skills that do something else are left out."""
        known = self.operators | self.usual
        return {k: known[k].always for k in sorted(known) if known[k].is_flip}

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
