"""Symbolic states as 64-bit words, and sets of them that answer for a whole batch at once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.streams import mix

Words = UInt64[np.ndarray, "rows words"]


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


def keys_of(words: Words, salt: int) -> UInt64[np.ndarray, "rows"]:
    """One sortable 64-bit key per state: the word itself, or a salted hash of several words."""
    if words.shape[1] == 1:
        return np.ascontiguousarray(words[:, 0])
    keys = np.full(len(words), salt, np.uint64)
    for column in words.T:
        keys = mix(keys ^ column)
    return keys


class StateSet:
    """Distinct states in the order they were added; membership is exact.

    States of more than 64 bits are looked up by a hash. Should two different states ever
    share a hash, the whole set is hashed again with another salt, so no state is ever lost.
    """

    def __init__(self, words_per_state: int) -> None:
        self._words = np.empty((64, words_per_state), np.uint64)
        self._size = 0
        self._salt = 0
        # Sorted runs of (keys, positions), geometrically growing: adding stays cheap.
        self._runs: list[tuple[np.ndarray, np.ndarray]] = []

    def __len__(self) -> int:
        return self._size

    @property
    def words(self) -> Words:
        """All states, by position (a view; do not write)."""
        return self._words[: self._size]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._words.nbytes + sum(k.nbytes + p.nbytes for k, p in self._runs)

    def find(self, words: Words) -> Int[np.ndarray, "rows"]:
        """The position of each state, or -1."""
        while True:
            found, collided = self._find(words, keys_of(words, self._salt))
            if not collided:
                return found
            self._rehash()

    def add(self, words: Words) -> Int[np.ndarray, "new"]:
        """Add what is new; returns the row of the first occurrence of each new state."""
        while True:
            keys = keys_of(words, self._salt)
            if not len(keys):
                return np.zeros(0, np.int64)
            order = np.argsort(keys)
            first = np.ones(len(order), bool)
            first[1:] = keys[order[1:]] != keys[order[:-1]]
            collided = words.shape[1] > 1 and self._neighbours_differ(words, order, first)
            if not collided:
                rows = np.minimum.reduceat(order, np.flatnonzero(first))
                found, collided = self._find(words[rows], keys[rows])
            if not collided:
                break
            self._rehash(extra=words)
        new = rows[found < 0]  # still in key order
        positions = np.empty(len(new), np.int64)
        by_row = np.argsort(new)
        positions[by_row] = np.arange(self._size, self._size + len(new))
        self._insert_run(keys[new], positions)
        self._append(words[new[by_row]])
        return new[by_row]

    def _find(self, words: Words, keys: UInt64[np.ndarray, "rows"]) -> tuple[np.ndarray, bool]:
        found = np.full(len(keys), -1, np.int64)
        for run_keys, run_positions in self._runs:
            at = np.searchsorted(run_keys, keys)
            at[at == len(run_keys)] = 0
            hit = run_keys[at] == keys
            found[hit] = run_positions[at[hit]]
        hit = found >= 0
        collided = words.shape[1] > 1 and bool((self._words[found[hit]] != words[hit]).any())
        return found, collided

    @staticmethod
    def _neighbours_differ(
        words: Words, order: Int[np.ndarray, "rows"], first: Bool[np.ndarray, "rows"]
    ) -> bool:
        same_key = np.flatnonzero(~first)
        return bool((words[order[same_key]] != words[order[same_key - 1]]).any())

    def _append(self, words: Words) -> None:
        needed = self._size + len(words)
        if needed > len(self._words):
            grown = np.empty((max(needed, len(self._words) * 3 // 2), words.shape[1]), np.uint64)
            grown[: self._size] = self._words[: self._size]
            self._words = grown
        self._words[self._size : needed] = words
        self._size = needed

    def _insert_run(self, keys: np.ndarray, positions: np.ndarray) -> None:
        if not len(keys):
            return
        while self._runs and len(self._runs[-1][0]) < 4 * len(keys):
            old_keys, old_positions = self._runs.pop()
            keys = np.concatenate([old_keys, keys])
            order = np.argsort(keys, kind="stable")
            keys, positions = keys[order], np.concatenate([old_positions, positions])[order]
        self._runs.append((keys, positions))

    def _rehash(self, extra: Words | None = None) -> None:
        """Choose a salt under which all states (and `extra`) have distinct keys."""
        everything = self.words if extra is None else np.concatenate([self.words, extra])
        distinct = len(np.unique(everything, axis=0))
        while True:
            self._salt += 1
            if len(np.unique(keys_of(everything, self._salt))) == distinct:
                break
        keys = keys_of(self.words, self._salt)
        order = np.argsort(keys, kind="stable")
        self._runs = [(keys[order], order)] if len(order) else []
