"""Start boards, uniform from the sets of all boards of a solution depth and split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Int, Integer, Shaped, UInt64

from seads.errors import SeadsError
from seads.games.board_types import Boards, Split
from seads.streams import RowPurpose, fork, uniforms


class BoardSets:
    """All solvable boards, sorted by solution depth and, within a depth, train before test.

    So every set to draw from is a slice, and drawing is one look-up however the rows'
    depths are mixed. `unpack` makes boards of what is listed, where that is not boards.
    """

    def __init__(
        self,
        listed: Shaped[np.ndarray, "boards ..."],
        depths: Integer[np.ndarray, "boards"],
        train: Bool[np.ndarray, "boards"],
        unpack: Callable[[np.ndarray], Boards] = lambda boards: boards,
    ) -> None:
        self.max_depth = int(depths.max())
        key = 2 * depths + ~train
        counts = np.bincount(key, minlength=2 * self.max_depth + 2)
        first = np.cumsum(counts) - counts
        self._listed, self._unpack = listed[np.argsort(key, kind="stable")], unpack
        self._first = {"train": first[::2], "test": first[1::2], "all": first[::2]}
        train_counts, test_counts = counts[::2], counts[1::2]
        by_split = {"train": train_counts, "test": test_counts, "all": train_counts + test_counts}
        self._counts = {split: np.pad(by_depth, 1) for split, by_depth in by_split.items()}

    def depth_counts(self, split: Split) -> dict[int, int]:
        """How many boards each depth from 0 has in the split."""
        return dict(enumerate(self._counts[split][1:-1].tolist()))

    def draw(
        self, depths: Int[np.ndarray, "rows"], split: Split, seeds: UInt64[np.ndarray, "rows"]
    ) -> Boards:
        """A board per row, uniform over those of the row's depth and split."""
        first, counts = self._first[split], self._counts[split]
        # one too deep is clipped to the empty set at the end, one below zero to the one before
        sizes = counts.take(depths + 1, mode="clip")
        if np.count_nonzero(sizes) < len(sizes):
            choices = ", ".join(map(str, np.flatnonzero(counts[1:]))) or "none"
            raise SeadsError(
                f"no board in split {split!r} has solution depth {depths[sizes == 0][0]}; "
                f"choose from {choices}"
            )
        chances = uniforms(fork(seeds, RowPurpose.BOARD), 1)[:, 0]
        return self._unpack(self._listed[first[depths] + (chances * sizes).astype(np.int64)])
