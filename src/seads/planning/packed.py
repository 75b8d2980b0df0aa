"""Symbolic states as 64-bit words, and sets of them that answer for a whole batch at once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.streams import mix

Words = UInt64[np.ndarray, "rows words"]

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: spreads all bits


def num_words(num_bits: int) -> int:
    """How many 64-bit words hold `num_bits` bits (at least one)."""
    return max(1, -(-num_bits // 64))


def pack(states: Bool[np.ndarray, "*rows bits"]) -> UInt64[np.ndarray, "*rows words"]:
    """Bit i of a state becomes bit i % 64 of word i // 64; unused bits are zero."""
    *rows, bits = states.shape
    packed = np.zeros((*rows, num_words(bits) * 8), np.uint8)
    packed[..., : -(-bits // 8)] = np.packbits(states, axis=-1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def unpack(
    words: UInt64[np.ndarray, "*rows words"], num_bits: int
) -> Bool[np.ndarray, "*rows bits"]:
    """The inverse of `pack`."""
    octets = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=num_bits, bitorder="little").view(bool)


def keys_of(words: Words) -> UInt64[np.ndarray, "rows"]:
    """A hash of every state."""
    keys = words[:, 0]
    for column in words.T[1:]:
        keys = keys * _ODD ^ column
    return mix(keys)


class StateSet:
    """Distinct states in the order they were added; membership is exact.

    A hash table with open addressing: a state is in the first slot of its probe sequence that
    was free. The rows of a batch take each step of their sequences together.
    """

    def __init__(self, words_per_state: int) -> None:
        self._words = np.empty((64, words_per_state), np.uint64)
        self._size = 0
        self._slots = np.full(512, -1, np.int32)  # positions; -1 where free

    def __len__(self) -> int:
        return self._size

    @property
    def words(self) -> Words:
        """All states, by position (a view; do not write)."""
        return self._words[: self._size]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._words.nbytes + self._slots.nbytes

    def find(self, words: Words) -> Int[np.ndarray, "rows"]:
        """The position of each state, or -1."""
        at = self._first_slots(words)
        found = self._slots.take(at)
        rows, step = np.flatnonzero(found >= 0), 0
        at, left = at.take(rows), words.take(rows, axis=0)
        while len(rows):
            met = self._words.take(found.take(rows), axis=0)
            others = np.flatnonzero(_differ(met, left))
            step += 1
            rows, left = rows.take(others), left.take(others, axis=0)
            at = self._probe(at.take(others), step)
            found[rows] = position = self._slots.take(at)
            taken = np.flatnonzero(position >= 0)
            rows, left, at = rows.take(taken), left.take(taken, axis=0), at.take(taken)
        return found.astype(np.int64)

    def add(self, words: Words) -> Int[np.ndarray, "new"]:
        """Add what is new; returns the row of the first occurrence of each new state."""
        self._reserve(self._size + len(words))
        # Until it is known which rows are new, all of them stand behind the set.
        self._words[self._size : self._size + len(words)] = words
        slots = self._claim(words)
        new = np.flatnonzero(self._slots.take(slots) == self._size + np.arange(len(words)))
        after = self._size + len(new)
        self._words[self._size : after] = words.take(new, axis=0)
        self._slots[slots.take(new)] = np.arange(self._size, after)
        self._size = after
        return new

    def _claim(self, words: Words) -> Int[np.ndarray, "rows"]:
        """The slot of each state; free ones are taken by the first row that needs them."""
        slots = self._first_slots(words)
        rows, at, step = np.arange(len(words)), slots, 0
        left = words
        while len(rows):
            free = np.flatnonzero(self._slots.take(at) < 0)[::-1]
            # where an index is repeated, numpy keeps the last value written: the first row's
            self._slots[at.take(free)] = self._size + rows.take(free)
            met = self._words.take(self._slots.take(at), axis=0)
            others = np.flatnonzero(_differ(met, left))
            step += 1
            rows, left = rows.take(others), left.take(others, axis=0)
            at = self._probe(at.take(others), step)
            slots[rows] = at
        return slots

    def _first_slots(self, words: Words) -> Int[np.ndarray, "rows"]:
        return (keys_of(words) & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _probe(self, slots: Int[np.ndarray, "rows"], step: int) -> Int[np.ndarray, "rows"]:
        """The slots to try next; growing steps visit every slot of a table of size 2**n once."""
        return (slots + step) & (len(self._slots) - 1)

    def _reserve(self, needed: int) -> None:
        """Make room for `needed` states, with at least every other slot free."""
        if needed > len(self._words):
            room = max(needed, len(self._words) * 3 // 2)
            grown = np.empty((room, self._words.shape[1]), np.uint64)
            grown[: self._size] = self.words
            self._words = grown
        if 2 * needed > len(self._slots):
            self._slots = np.full(1 << (4 * needed).bit_length(), -1, np.int32)
            words, self._size = self.words, 0
            self._claim(words)
            self._size = len(words)


def _differ(left: Words, right: Words) -> Bool[np.ndarray, "rows"]:
    """The rows in which two arrays differ."""
    differ = left[:, 0] != right[:, 0]
    for mine, other in zip(left.T[1:], right.T[1:], strict=True):
        differ |= mine != other
    return differ
