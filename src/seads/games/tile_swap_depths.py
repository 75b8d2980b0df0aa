"""Exact TileSwap solution depths: breadth-first search over all permutations at once."""

from __future__ import annotations

from functools import lru_cache
from math import factorial

import numpy as np
from jaxtyping import Int, UInt8

from seads.games.drawing import BoardSets
from seads.games.game import Boards
from seads.games.splits import SplitHash, is_train

LARGEST_EXACT = 3
"""The largest board whose permutations (9! of them) are enumerated."""
_TAIL = 4


def adjacent_pairs(size: int) -> Int[np.ndarray, "moves 2"]:
    """The two fields of each swap: all pairs in a row from the top left, then all in a column."""
    fields = np.arange(size * size).reshape(size, size)
    sideways = np.stack([fields[:, :-1].ravel(), fields[:, 1:].ravel()], axis=1)
    downwards = np.stack([fields[:-1].ravel(), fields[1:].ravel()], axis=1)
    return np.concatenate([sideways, downwards])


def permutations(count: int) -> UInt8[np.ndarray, "all count"]:
    """All permutations of range(count) in lexicographic order."""
    rows = np.zeros((1, 1), np.uint8)
    for n in range(2, count + 1):
        first = np.repeat(np.arange(n, dtype=np.uint8), len(rows))[:, None]
        rest = np.tile(rows, (n, 1))
        rows = np.concatenate([first, rest + (rest >= first)], axis=1)
    return rows


class TileSwapDepths:
    """The solution depth of every permutation, by its place in lexicographic order.

    A permutation's place is a sum of one term that its first fields decide and one that
    the order among its last four decides, so two look-ups by base-`count` codes find it.
    """

    def __init__(self, size: int) -> None:
        count = size * size
        self._head = count - _TAIL
        self._weights = count ** np.arange(count)[::-1] % count**_TAIL
        self._weights[: self._head] = count ** np.arange(self._head)[::-1]
        boards = permutations(count)
        self._fill_places(boards, count)
        self.depths = self._search(boards, adjacent_pairs(size))
        train = is_train(SplitHash(count, count).crc(boards))
        self.board_sets = BoardSets(boards, self.depths, train)

    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        """The solution depth of each board."""
        return self.depths[self._place(boards)].astype(np.int64)

    def _codes(self, boards: Boards) -> tuple[np.ndarray, np.ndarray]:
        """The base-`count` numbers that the first fields and the last four fields spell."""
        head, tail = boards[:, : self._head], boards[:, self._head :]
        return head @ self._weights[: self._head], tail @ self._weights[self._head :]

    def _fill_places(self, boards: Boards, count: int) -> None:
        """Learn both terms from the boards in their lexicographic order."""
        places = np.arange(len(boards))
        head, tail = self._codes(boards)
        self._head_place = np.zeros(count**self._head, np.int64)
        self._head_place[head] = places - places % factorial(_TAIL)
        self._tail_place = np.zeros(count**_TAIL, np.int64)
        self._tail_place[tail] = places % factorial(_TAIL)

    def _place(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        head, tail = self._codes(boards)
        return self._head_place[head] + self._tail_place[tail]

    def _search(
        self, boards: Boards, pairs: Int[np.ndarray, "moves 2"]
    ) -> Int[np.ndarray, "boards"]:
        depths = np.full(len(boards), -1, np.int8)
        depths[0] = 0  # the goal is first in lexicographic order
        frontier = boards[:1]
        depth = 0
        while len(frontier):
            depth += 1
            for left, right in pairs:
                swapped = frontier.copy()
                swapped[:, [left, right]] = frontier[:, [right, left]]
                places = self._place(swapped)
                depths[places[depths[places] < 0]] = depth
            frontier = boards[depths == depth]
        return depths


@lru_cache
def tile_swap_depths(size: int) -> TileSwapDepths:
    """The table for a board size, made once a process."""
    return TileSwapDepths(size)
