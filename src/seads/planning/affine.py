"""Affine maps over GF(2) on packed states: apply them and invert them, a whole batch at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.games.gf2 import eliminate, multiply
from seads.planning.packed import Words, num_words, pack

# A skill that maps more than 2**MAX_KERNEL states to one is not searched backwards.
MAX_KERNEL = 4


class PackedAffine:
    """y = M z + c on packed states.

    Where M has few diagonals (an exchange of bits has three), each is a shift and a mask of
    whole words; otherwise every byte of z looks its share of y up in a table.
    """

    def __init__(
        self, matrix: Bool[np.ndarray, "out bits"], constant: Bool[np.ndarray, "out"]
    ) -> None:
        self._constant = pack(constant)
        # where most bits stay what they are, only the difference is computed
        self._mostly_stays = matrix.shape[0] == matrix.shape[1] < 2 * matrix.diagonal().sum()
        if self._mostly_stays:
            matrix = matrix ^ np.eye(len(matrix), dtype=bool)
        rows, columns = np.nonzero(matrix)
        offsets = np.unique(columns - rows)
        octets = np.unique(columns // 8)
        self._pieces: list[_Piece] = []
        self._tables: list[tuple[int, UInt64[np.ndarray, "256 words"]]] = []
        if len(offsets) <= len(octets):
            for offset in offsets:
                mask = np.zeros(len(constant), bool)
                mask[rows[columns - rows == offset]] = True
                self._pieces += _pieces(pack(mask), int(offset))
        else:
            by_column = pack(matrix.T)
            for octet in octets:
                table = np.zeros((256, num_words(len(constant))), np.uint64)
                for bit, column in enumerate(by_column[8 * octet : 8 * octet + 8]):
                    table[1 << bit : 2 << bit] = table[: 1 << bit] ^ column
                self._tables.append((int(octet), table))

    def __call__(self, words: Words) -> UInt64[np.ndarray, "rows out_words"]:
        """The image of every row."""
        # A word of all rows is an array of its own: numpy is slow along a strided one.
        columns = np.ascontiguousarray(words.T)
        image = np.repeat(self._constant[:, None], len(words), axis=1)
        if self._mostly_stays:
            image ^= columns
        for piece in self._pieces:
            image[piece.target] ^= piece(columns[piece.source])
        image = image.T
        if self._tables:
            octets = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
            for octet, table in self._tables:
                image ^= table.take(octets[:, octet], axis=0)
        return image


@dataclass(frozen=True)
class _Piece:
    """What one word of a state gives to one word of the image along one diagonal."""

    source: int
    target: int
    shift: int
    """To the right; negative to the left."""
    mask: np.uint64

    def __call__(self, word: UInt64[np.ndarray, "rows"]) -> UInt64[np.ndarray, "rows"]:
        bits = word & self.mask
        if self.shift > 0:
            bits >>= np.uint64(self.shift)
        elif self.shift < 0:
            bits <<= np.uint64(-self.shift)
        return bits


def _pieces(targets: UInt64[np.ndarray, " words"], offset: int) -> list[_Piece]:
    """The pieces of a diagonal: bit i of the image, where set in `targets`, is bit i + offset."""
    pieces = []
    for target, mask in enumerate(targets):
        word, shift = divmod(64 * target + offset, 64)
        # the 64 bits wanted straddle two words of the state
        pieces.append(_Piece(word, target, shift, mask << np.uint64(shift)))
        if shift:
            pieces.append(_Piece(word + 1, target, shift - 64, mask >> np.uint64(64 - shift)))
    return [piece for piece in pieces if piece.mask]


class Preimages:
    """All z with A z + c = y, for packed y: a particular solution plus the kernel of A."""

    def __init__(
        self, matrix: Bool[np.ndarray, "bits bits"], constant: Bool[np.ndarray, "bits"]
    ) -> None:
        words = num_words(len(constant))
        self.kernel_size = 0
        self._kernel = np.zeros((1, words), np.uint64)
        numbers, shift = matrix.astype(np.uint8), constant.astype(np.uint8)
        twice = multiply(numbers, np.concatenate([numbers.T, shift[None]])).astype(bool)
        if np.array_equal(twice, np.concatenate([np.eye(len(matrix), dtype=bool), constant[None]])):
            self._solve = PackedAffine(matrix, constant)  # its own inverse
            return
        solved = eliminate(numbers)
        self.kernel_size = len(solved.null_basis)
        inverse, checks = solved.inverse.astype(bool), solved.checks.astype(bool)
        self._solve = PackedAffine(inverse, (solved.inverse @ shift % 2).astype(bool))
        self._check = PackedAffine(checks, (solved.checks @ shift % 2).astype(bool))
        if self.kernel_size <= MAX_KERNEL:
            for vector in pack(solved.null_basis.astype(bool)):
                self._kernel = np.concatenate([self._kernel, self._kernel ^ vector])

    @property
    def enumerable(self) -> bool:
        """Whether there are few enough preimages to list."""
        return self.kernel_size <= MAX_KERNEL

    def __call__(
        self, words: Words
    ) -> tuple[UInt64[np.ndarray, "found words"], Int[np.ndarray, " found"]]:
        """All preimages, and the row of `words` each of them is mapped to."""
        if not self.kernel_size:
            return self._solve(words), np.arange(len(words))
        rows = np.flatnonzero(~self._check(words).any(axis=1))
        found = self._solve(words.take(rows, axis=0))[:, None] ^ self._kernel
        return found.reshape(-1, words.shape[1]), np.repeat(rows, len(self._kernel))
