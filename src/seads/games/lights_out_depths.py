"""Exact LightsOut solution depths by linear algebra instead of search.

Pressing is XOR, so the order of presses is irrelevant and pressing twice is pressing
nothing: a board's solutions are one press pattern XOR the quiet patterns, those that
change nothing. The solution depth is the fewest presses among them.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Bool, Int, UInt8, UInt32, UInt64

from seads.errors import SeadsError
from seads.games.board_types import Boards
from seads.games.drawing import BoardSets
from seads.games.gf2 import Elimination, eliminate, multiply, span
from seads.games.splits import SplitHash, is_train

MOST_QUIET_BITS = 16
"""The largest dimension of the quiet patterns for which a fewest-press solution is sought."""
_CHUNK = 1 << 18


def press_effects(size: int) -> UInt8[np.ndarray, "fields fields"]:
    """Row m holds a one at every field that pressing field m toggles: a plus shape."""
    row, column = np.divmod(np.arange(size * size), size)
    distance = abs(row[:, None] - row) + abs(column[:, None] - column)
    return (distance <= 1).astype(np.uint8)


class PressSolver:
    """Finds the fewest presses for boards of one size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.elimination: Elimination = eliminate(press_effects(size))

    def solvable(self, boards: Boards) -> Bool[np.ndarray, "rows"]:
        """Which boards can be solved at all."""
        return (multiply(self.elimination.checks, boards) == 0).all(axis=1)

    def presses(self, boards: Boards) -> UInt8[np.ndarray, "rows fields"]:
        """A minimal press pattern per board; meaningless where a board is not solvable."""
        found = multiply(self.elimination.inverse, boards)
        quiet = self._quiet
        words = _packed(found)
        best = np.empty(len(boards), np.int64)
        step = max(1, _CHUNK // len(quiet))
        for start in range(0, len(boards), step):
            part = words[start : start + step, None] ^ quiet
            weights = np.bitwise_count(part).sum(axis=2, dtype=np.int32)
            best[start : start + step] = weights.argmin(axis=1)
        chosen = (best[:, None] >> np.arange(len(self.elimination.free))) & 1
        return found ^ multiply(self.elimination.null_basis.T, chosen.astype(np.uint8))

    def depths(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        """The solution depth of each board, -1 where it cannot be solved."""
        counts = self.presses(boards).sum(axis=1, dtype=np.int64)
        return np.where(self.solvable(boards), counts, -1)

    @cached_property
    def _quiet(self) -> UInt64[np.ndarray, "patterns words"]:
        basis = self.elimination.null_basis
        if len(basis) > MOST_QUIET_BITS:
            raise SeadsError(
                f"exact depths are not available for LightsOut {self.size}x{self.size}: "
                f"{len(basis)} independent quiet patterns, at most {MOST_QUIET_BITS} are searched"
            )
        words = _packed(basis)
        return np.stack([span(words[:, word]) for word in range(words.shape[1])], axis=1)


def _packed(rows: UInt8[np.ndarray, "rows fields"]) -> UInt64[np.ndarray, "rows words"]:
    """Sixty-four fields to a word, for counting by popcount."""
    padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 64)))
    return np.packbits(padded, axis=1).view(np.uint64)


@lru_cache
def press_solver(size: int) -> PressSolver:
    """The solver for a board size, made once a process."""
    return PressSolver(size)


@lru_cache
def board_sets(size: int) -> BoardSets:
    """All solvable boards as bit codes (bit f is field f), made once a process.

    Of the press patterns that lead to the same board one is listed: the one without
    presses on the elimination's free fields. Boards and checksums are linear in the
    presses, so each is a span of its values for single presses.
    """
    fields = size * size
    effects = press_effects(size)
    elimination = press_solver(size).elimination
    listed = np.setdiff1d(np.arange(fields), elimination.free)
    bit = np.uint32(1) << np.arange(fields, dtype=np.uint32)

    split_hash = SplitHash(fields, 2)
    assert split_hash.table is not None  # two values are always one digit
    press_crc = np.bitwise_xor.reduce(effects * split_hash.table[:, 1], axis=1)
    train = is_train(span(press_crc[listed].astype(np.uint32)) ^ split_hash.base)
    depths = _fewest(span(bit[listed]), span(elimination.null_basis @ bit))

    def unpack(codes: UInt32[np.ndarray, "rows"]) -> Boards:
        octets = codes.astype("<u4", copy=False).view(np.uint8).reshape(-1, 4)
        return np.unpackbits(octets, axis=1, count=fields, bitorder="little")

    return BoardSets(span((effects @ bit)[listed]), depths, train, unpack)


def _fewest(
    patterns: UInt32[np.ndarray, "boards"], quiet: UInt32[np.ndarray, "quiet"]
) -> UInt8[np.ndarray, "boards"]:
    fewest = np.bitwise_count(patterns)
    for pattern in quiet[1:]:
        np.minimum(fewest, np.bitwise_count(patterns ^ pattern), out=fewest)
    return fewest
