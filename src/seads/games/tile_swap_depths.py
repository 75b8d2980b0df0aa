"""Exact TileSwap solution depths: breadth-first search over all permutations at once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int, Int8, UInt8

from seads.games.board_types import Boards


def permutations(count: int) -> UInt8[np.ndarray, "all count"]:
    """All permutations of range(count) in lexicographic order."""
    rows = np.zeros((1, 1), np.uint8)
    for n in range(2, count + 1):
        first = np.repeat(np.arange(n, dtype=np.uint8), len(rows))[:, None]
        rest = np.tile(rows, (n, 1))
        rows = np.concatenate([first, rest + (rest >= first)], axis=1)
    return rows


def permutation_depths(
    count: int, pairs: Int[np.ndarray, "moves 2"]
) -> tuple[Boards, Int8[np.ndarray, "all"]]:
    """All orders of so many chips, and how many swaps of these pairs sort each."""
    boards = permutations(count)
    # All but the last two chips, as a number in base `count`, tell a permutation's place up to
    # the order of those two.
    weights = count ** np.arange(count - 2)[::-1]
    first = np.zeros(count ** (count - 2), np.int32)
    first[boards[::2, :-2] @ weights] = np.arange(0, len(boards), 2)
    depths = np.full(len(boards), -1, np.int8)
    depths[0] = depth = 0  # the goal is first in lexicographic order
    while (frontier := boards[depths == depth]).size:
        depth += 1
        for pair in pairs:
            swapped = frontier.copy()
            swapped[:, pair] = frontier[:, pair[::-1]]
            places = first[swapped[:, :-2] @ weights] + (swapped[:, -2] > swapped[:, -1])
            depths[places[depths[places] < 0]] = depth
    return boards, depths
