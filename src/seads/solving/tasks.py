"""Boards to be solved: drawn by depth and split, each with the seed of its start pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.games.game import Game, Split
from seads.streams import Purpose, row_seeds


@dataclass(frozen=True)
class Tasks:
    """A row for each board."""

    depths: Int[np.ndarray, "boards"]
    starts: Bool[np.ndarray, "boards bits"]
    seeds: UInt64[np.ndarray, "boards"]
    """Of the manipulator's start poses."""

    def of(self, boards: Sequence[int]) -> Tasks:
        """Some of them, by number."""
        some = np.asarray(boards, np.int64)
        return Tasks(self.depths[some], self.starts[some], self.seeds[some])


def draw_tasks(game: Game, depths: Sequence[int], per_depth: int, split: Split, seed: int) -> Tasks:
    """`per_depth` boards of each depth.

    Boards are drawn with replacement: at some depths there are fewer than twenty. A depth's
    boards do not depend on which other depths are asked for.
    """
    boards, poses = [], []
    for depth in depths:
        seeds = row_seeds(seed, per_depth, Purpose.TASK_BOARDS, depth)
        boards.append(game.draw(np.full(per_depth, depth), split, seeds))
        poses.append(row_seeds(seed, per_depth, Purpose.TASK_POSES, depth))
    return Tasks(
        np.repeat(np.array(depths, np.int64), per_depth),
        game.to_bits(np.concatenate(boards)),
        np.concatenate(poses),
    )
