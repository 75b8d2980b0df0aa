"""All boards of a small game, found by playing every move from the goal, and how deep each is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int, Integer

from seads.games.board_types import Board, Boards
from seads.games.drawing import BoardSets

MOST_BOARDS = 10_000
"""Games with more boards than this are not enumerated: it takes about a second."""


class ReachableBoards:
    """The boards that moves lead to from the goal, with their solution depths.

    A depth is -1 where no moves lead back to the goal.
    """

    def __init__(
        self,
        boards: Boards,
        depths: Integer[np.ndarray, "boards"],
        train: Bool[np.ndarray, "boards"],
    ) -> None:
        self._boards, self._depths = boards, depths
        solvable = depths >= 0
        self.sets = BoardSets(boards[solvable], depths[solvable], train[solvable])

    @cached_property
    def _depth_of(self) -> dict[bytes, int]:
        boards = (board.tobytes() for board in self._boards)
        return dict(zip(boards, self._depths.tolist(), strict=True))

    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        """The solution depth of each board; -1 where it has none or the goal never leads to it."""
        return np.array([self._depth_of.get(board.tobytes(), -1) for board in boards], np.int64)


def search_boards(
    play: Callable[[Boards, Int[np.ndarray, "rows"]], Boards], goal: Board, num_moves: int
) -> tuple[Boards, Int[np.ndarray, "boards"]] | None:
    """The boards of a game by its rules, and their depths; None if more than `MOST_BOARDS`."""
    places, boards = {goal.tobytes(): 0}, [goal]
    successors: list[list[int]] = []
    while len(successors) < len(boards):
        frontier = np.array(boards[len(successors) :])
        moves = np.tile(np.arange(num_moves), len(frontier))
        after = play(np.repeat(frontier, num_moves, axis=0), moves)
        for made in after.reshape(len(frontier), num_moves, -1):
            for board in made:
                if places.setdefault(board.tobytes(), len(boards)) == len(boards):
                    boards.append(board)
            successors.append([places[board.tobytes()] for board in made])
        if len(boards) > MOST_BOARDS:
            return None
    depths = np.full(len(boards), -1)
    deeper, depth = np.arange(len(boards)) == 0, 0
    while deeper.any():
        depths[deeper] = depth
        deeper = (depths[successors] == depth).any(axis=1) & (depths < 0)
        depth += 1
    return np.array(boards), depths
