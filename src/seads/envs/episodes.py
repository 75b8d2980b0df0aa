"""The starts of successive episodes, drawn ahead in blocks: a reset then only looks its rows up."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8, UInt64

from seads import streams
from seads.errors import SeadsError

AHEAD = 32  # episodes of every row in a block; two kilobytes a row on a board of 5x5
_BEFORE_ZERO = np.uint64(2**64 - AHEAD)  # a block that is used up, so that the next begins at zero
_AHEAD, _ONE = np.array(AHEAD), np.array(1)  # numpy converts a number anew in every operation


class Starts(NamedTuple):
    """How episodes start, a row each."""

    seeds: UInt64[np.ndarray, "picked"]
    depths: Int[np.ndarray, "picked"]
    """The solution depth each board was drawn for."""
    boards: UInt8[np.ndarray, "picked fields"]
    uniforms: Float[np.ndarray, "picked n"]
    """What the body's pose is drawn from."""


class Episodes:
    """A series of episodes for each row: its n-th has the seed `fork(root, n)`, n from 0.

    Drawing for a few rows takes nearly as long as for hundreds, and in most steps of a batch a
    few rows end. So `draw` is asked for many episodes of all rows at once.
    """

    def __init__(
        self, num_envs: int, draw: Callable[[UInt64[np.ndarray, "picked"]], Starts]
    ) -> None:
        self._draw = draw
        self._roots = np.zeros(num_envs, np.uint64)
        self._has_root = np.zeros(num_envs, bool)
        # Of each row's block: the number of its first episode, and how many have been taken.
        self._first = np.zeros(num_envs, np.uint64)
        self._taken = np.full(num_envs, AHEAD)
        self._blocks: Starts | None = None

    def restart(self, rows: Int[np.ndarray, "picked"], roots: UInt64[np.ndarray, "picked"]) -> None:
        """Begin new series in the picked rows."""
        self._roots[rows] = roots
        self._has_root[rows] = True
        self._first[rows] = _BEFORE_ZERO
        self._taken[rows] = AHEAD

    def take(self, rows: Int[np.ndarray, "picked"]) -> Starts:
        """The next start of each picked row."""
        taken = self._taken.take(rows)
        blocks = self._blocks
        if blocks is None or np.count_nonzero(taken == _AHEAD):
            blocks = self._draw_ahead(rows)
            taken = self._taken.take(rows)
        self._taken[rows] = taken + _ONE
        place = rows * _AHEAD
        place += taken
        seeds, depths, boards, uniforms = blocks
        return Starts(
            seeds.take(place), depths.take(place), boards.take(place, 0), uniforms.take(place, 0)
        )

    def _draw_ahead(self, rows: Int[np.ndarray, "picked"]) -> Starts:
        """New blocks for all rows: soon the others will need theirs."""
        if not self._has_root[rows].all():
            row = rows[~self._has_root[rows]][0]
            raise SeadsError(f"row {row} has no series of episodes; give seeds, or start a series")
        first = self._first + self._taken.astype(np.uint64)
        episodes = first[:, None] + np.arange(AHEAD, dtype=np.uint64)
        seeds = streams.fork(np.repeat(self._roots, AHEAD), episodes.ravel())
        # Taking rows of an array in pieces is ten times as slow.
        blocks = Starts(*map(np.ascontiguousarray, self._draw(seeds)))
        self._blocks, self._first = blocks, first
        self._taken = np.where(self._has_root, 0, AHEAD)
        return blocks
