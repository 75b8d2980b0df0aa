"""Affine maps over GF(2) on packed states: apply them and invert them, a whole batch at once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.games.gf2 import eliminate
from seads.planning.packed import Words, num_words, pack

# A skill that maps more than 2**MAX_KERNEL states to one is not searched backwards.
MAX_KERNEL = 4


class PackedAffine:
    """y = M z + c on packed states.

    Where M has few diagonals (an exchange of bits has two), each is a shift and a mask of
    whole words; otherwise every byte of z looks its share of y up in a table.
    """

    def __init__(
        self, matrix: Bool[np.ndarray, "out bits"], constant: Bool[np.ndarray, "out"]
    ) -> None:
        self._constant = pack(constant)
        rows, columns = np.nonzero(matrix)
        offsets = np.unique(columns - rows)
        octets = np.unique(columns // 8)
        self._diagonals: list[tuple[int, UInt64[np.ndarray, " words"]]] = []
        self._tables: list[tuple[int, UInt64[np.ndarray, "256 words"]]] = []
        if len(offsets) <= len(octets):
            for offset in offsets:
                mask = np.zeros(len(constant), bool)
                mask[rows[columns - rows == offset]] = True
                self._diagonals.append((int(offset), pack(mask)))
        else:
            by_column = pack(matrix.T)
            for octet in octets:
                table = np.zeros((256, num_words(len(constant))), np.uint64)
                for bit, column in enumerate(by_column[8 * octet : 8 * octet + 8]):
                    table[1 << bit : 2 << bit] = table[: 1 << bit] ^ column
                self._tables.append((int(octet), table))

    @property
    def is_constant(self) -> bool:
        """Whether the result does not depend on the state."""
        return not self._tables and not self._diagonals

    def __call__(self, words: Words) -> UInt64[np.ndarray, "rows out_words"]:
        """The image of every row."""
        image = np.empty((len(words), len(self._constant)), np.uint64)
        image[:] = self._constant
        for offset, masks in self._diagonals:
            for word in np.flatnonzero(masks):
                image[:, word] ^= _shifted(words, 64 * int(word) + offset) & masks[word]
        if self._tables:
            octets = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
            for octet, table in self._tables:
                image ^= table[octets[:, octet]]
        return image


def _shifted(words: Words, begin: int) -> UInt64[np.ndarray, "rows"]:
    """The 64 bits of each state from bit `begin` on; bits outside the state are zero."""
    word, shift = divmod(begin, 64)
    bits = np.zeros(len(words), np.uint64)
    if 0 <= word < words.shape[1]:
        bits |= words[:, word] >> np.uint64(shift)
    if shift and 0 <= word + 1 < words.shape[1]:
        bits |= words[:, word + 1] << np.uint64(64 - shift)
    return bits


class Preimages:
    """All z with A z + c = y, for packed y: a particular solution plus the kernel of A."""

    def __init__(
        self, matrix: Bool[np.ndarray, "bits bits"], constant: Bool[np.ndarray, "bits"]
    ) -> None:
        solved = eliminate(matrix.astype(np.uint8))
        self.kernel_size = len(solved.null_basis)
        shift = constant.astype(np.uint8)
        inverse, checks = solved.inverse.astype(bool), solved.checks.astype(bool)
        self._solve = PackedAffine(inverse, (solved.inverse @ shift % 2).astype(bool))
        self._check = PackedAffine(checks, (solved.checks @ shift % 2).astype(bool))
        if self.kernel_size <= MAX_KERNEL:
            kernel = np.zeros((1, num_words(len(constant))), np.uint64)
            for vector in pack(solved.null_basis.astype(bool)):
                kernel = np.concatenate([kernel, kernel ^ vector])
            self._kernel = kernel

    @property
    def enumerable(self) -> bool:
        """Whether there are few enough preimages to list."""
        return self.kernel_size <= MAX_KERNEL

    def __call__(
        self, words: Words
    ) -> tuple[UInt64[np.ndarray, "found words"], Int[np.ndarray, " found"]]:
        """All preimages, and the row of `words` each of them is mapped to."""
        rows = np.arange(len(words))
        if self.kernel_size:
            rows = rows[~self._check(words).any(axis=1)]
        found = self._solve(words[rows])[:, None] ^ self._kernel
        return found.reshape(-1, words.shape[1]), np.repeat(rows, len(self._kernel))
