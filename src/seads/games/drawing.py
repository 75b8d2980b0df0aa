"""Start boards: uniform from exact sets by solution depth and split, or by random moves."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, Integer, Shaped, UInt64

from seads.errors import SeadsError
from seads.games.game import NO_MOVE, Boards, Game, Split
from seads.games.validation import check_draw, check_split
from seads.streams import RowPurpose, fork, uniforms

# A board falls into a split with probability 1/3 or 2/3: a set that was missed this often is empty.
_ATTEMPTS = 500


class BoardSets:
    """All solvable boards, sorted by solution depth and, within a depth, train before test.

    So every set to draw from is a slice, and drawing is one look-up however the rows'
    depths are mixed.
    """

    def __init__(
        self,
        boards: Shaped[np.ndarray, "boards ..."],
        depths: Integer[np.ndarray, "boards"],
        train: Bool[np.ndarray, "boards"],
    ) -> None:
        key = (depths.astype(np.uint8) << 1) | ~train
        depth_count = int(depths.max()) + 1
        counts = np.bincount(key, minlength=2 * depth_count).reshape(depth_count, 2)
        self._boards = boards[np.argsort(key, kind="stable")]
        self._counts = {"train": counts[:, 0], "test": counts[:, 1], "all": counts.sum(1)}
        ends = np.cumsum(counts)
        first = (ends - counts.reshape(-1)).reshape(-1, 2)
        starts = {"train": first[:, 0], "test": first[:, 1], "all": first[:, 0]}
        # (start, count) of each depth's slice, between two empty ones
        self._slices = {
            split: np.pad(np.stack([starts[split], self._counts[split]], axis=1), ((1, 1), (0, 0)))
            for split in starts
        }

    @property
    def max_depth(self) -> int:
        """The depth of the hardest board."""
        return len(self._counts["all"]) - 1

    def depth_counts(self, split: Split) -> dict[int, int]:
        """How many boards each depth from 0 has in the split."""
        check_split(split)
        return {depth: int(count) for depth, count in enumerate(self._counts[split])}

    def draw(
        self,
        depths: Int[np.ndarray, "rows"],
        split: Split,
        seeds: UInt64[np.ndarray, "rows"],
        chances: Float[np.ndarray, "rows"] | None = None,
    ) -> Shaped[np.ndarray, "rows ..."]:
        """A board per row, uniform over those of the row's depth and split."""
        check_split(split)
        check_draw(depths, seeds)
        if not depths.size:
            return self._boards[:0]
        # a depth out of range is clipped to one of the empty sets at both ends
        starts, counts = self._slices[split].take(depths + 1, axis=0, mode="clip").T
        if np.count_nonzero(counts) < len(counts):
            allowed = np.flatnonzero(self._counts[split])
            wrong = depths[counts == 0][0]
            choices = ", ".join(map(str, allowed)) or "none"
            raise SeadsError(
                f"no board in split {split!r} has solution depth {wrong}; choose from {choices}"
            )
        if chances is None:
            chances = uniforms(fork(seeds, RowPurpose.BOARD), 1)[:, 0]
        return self._boards[starts + (chances * counts).astype(np.int64)]


def draw_by_moves(
    game: Game, depths: Int[np.ndarray, "rows"], split: Split, seeds: UInt64[np.ndarray, "rows"]
) -> Boards:
    """A board per row by playing `depth` distinct random moves from the goal, until in the split.

    The solution depth is then at most `depth`. A row's attempts depend on its seed alone.
    """
    check_split(split)
    check_draw(depths, seeds)
    beyond = (depths < 0) | (depths > game.num_moves)
    if beyond.any():
        raise SeadsError(
            f"depth {depths[beyond][0]} is not possible on this board; "
            f"choose from 0 to {game.num_moves}"
        )
    boards = np.tile(game.goal, (len(depths), 1))
    rows = np.arange(len(depths))
    seeds = fork(seeds, RowPurpose.BOARD)
    for attempt in range(_ATTEMPTS):
        if not rows.size:
            return boards
        order = np.argsort(uniforms(fork(seeds[rows], attempt), game.num_moves), axis=1)
        tried = np.tile(game.goal, (len(rows), 1))
        for step in range(depths[rows].max()):
            tried = game.play(tried, np.where(step < depths[rows], order[:, step], NO_MOVE))
        boards[rows] = tried
        rows = rows[~game.in_split(tried, split)]
    if rows.size:
        raise SeadsError(
            f"no board in split {split!r} is {depths[rows[0]]} distinct moves from the goal; "
            "choose another depth or split 'all'"
        )
    return boards
