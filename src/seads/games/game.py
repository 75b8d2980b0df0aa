"""What every board game offers: rules, symbols, text and start boards, on a batch of boards."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int, UInt64

from seads.errors import SeadsError, check_choice
from seads.games.board_types import NO_MOVE, SPLITS, Board, Boards, Split
from seads.games.checks import check_draw
from seads.games.drawing import BoardSets
from seads.games.look import Look
from seads.games.reachable import MOST_BOARDS, ReachableBoards, search_boards
from seads.games.splits import SplitHash, canonical, is_train
from seads.streams import RowPurpose, fork, uniforms

__all__ = ["NO_MOVE", "Board", "Boards", "Game", "Split"]

# A board falls into a split with probability 1/3 or 2/3: a set that was missed this often is empty.
_ATTEMPTS = 500
_FIRST_MOVES, _THEN_FROM = 5, 10


class Game(Look):
    """A one-player game on a board of fields, for a whole batch of boards at once.

    A board is a row of `num_fields` small integers, field by field from the top left;
    a move is an index in `range(num_moves)`. The symbolic state (z in the paper) is
    `num_bits` bits. Games know nothing of physics: where the board was touched arrives
    as a point in the unit square, origin top left, x to the right, y downwards.

    A new game sets `name`, `shape`, `num_bits`, `num_moves` and `goal`, writes the abstract
    methods (also `Look`'s: where the moves are), and is added to `seads.games.GAMES`. All else
    follows: start boards of exact solution depths where playing every move from the goal finds
    at most 10,000 boards, else by random moves.
    """

    name: str
    num_moves: int
    num_values: int = 256
    """The values of a field are below this."""
    largest_exact: int | None = None
    """The largest size whose boards are all listed; None: any that has few enough of them."""

    # The rules ---------------------------------------------------------------------------

    @abstractmethod
    def play(self, boards: Boards, moves: Int[np.ndarray, "rows"]) -> Boards:
        """The boards after each row's move; `NO_MOVE` leaves its row as it is."""

    @abstractmethod
    def to_bits(self, boards: Boards) -> Bool[np.ndarray, "rows bits"]:
        """The symbolic state of each board."""

    @abstractmethod
    def from_bits(self, bits: Bool[np.ndarray, "rows bits"]) -> Boards:
        """The boards of symbolic states; raises SeadsError where bits describe no board."""

    def move_between(
        self, before: Bool[np.ndarray, "bits"], after: Bool[np.ndarray, "bits"]
    ) -> int | None:
        """The move that makes one symbolic state of the other; None if no move does."""
        moves = np.arange(self.num_moves)
        boards = np.repeat(self.from_bits(before[None]), len(moves), axis=0)
        found = np.flatnonzero((self.to_bits(self.play(boards, moves)) == after).all(axis=1))
        return int(found[0]) if len(found) else None

    # In words ----------------------------------------------------------------------------

    @abstractmethod
    def parse(self, text: str) -> Board:
        """The board a person typed; raises SeadsError naming what is wrong with it.

        New lines or slashes end rows; `seads.games.text.read_fields` does most of it.
        """

    @abstractmethod
    def format(self, board: Board) -> str:
        """The board as lines of text that `parse` reads back."""

    @abstractmethod
    def move_name(self, move: int) -> str:
        """A move in words a person can follow, such as 'press row 2, column 3'."""

    def line(self, board: Board) -> str:
        """The board as one line that `parse` reads back."""
        rows = [row.split() for row in self.format(board).split("\n")]
        between = "" if all(len(word) == 1 for row in rows for word in row) else ","
        return "/".join(between.join(row) for row in rows)

    def bit_name(self, bit: int) -> str:
        """What a bit of the symbolic state stands for."""
        return self.field_name(bit) if self.fields_are_bits else f"bit {bit}"

    def field_name(self, field: int) -> str:
        """A field by its row and column, both counted from 1."""
        row, column = divmod(field, self.shape[1])
        return f"r{row + 1}c{column + 1}"

    def canonical(self, board: Board) -> str:
        """The comma-separated string that decides the split."""
        return canonical(board)

    # How deep boards are -----------------------------------------------------------------

    @property
    def exact_depths(self) -> bool:
        """Whether boards are drawn by their exact solution depth; else by distinct moves."""
        if self.largest_exact is not None:
            return self.size <= self.largest_exact
        return self._reachable is not None

    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        """The solution depth of each board, -1 if it has none; raises SeadsError where unknown."""
        self._check_exact()
        assert self._reachable is not None
        return self._reachable.depth(boards)

    def known_depths(self, boards: Boards) -> Int[np.ndarray, "rows"] | None:
        """The solution depth of each board; None where it is not known."""
        try:
            return self.depth(boards)
        except SeadsError:
            return None

    def solvable(self, board: Board) -> bool:
        """Whether moves lead from the board to the goal; True where that is not known."""
        depths = self.known_depths(board[None])
        return depths is None or bool(depths[0] >= 0)

    def check_reachable(self, board: Board, goal: Board) -> None:
        """Raises SeadsError if it is known that no moves lead from the board to the goal."""
        for one in (board, goal):
            if not self.solvable(one):
                raise SeadsError(f"no moves solve the board {self.line(one)}")

    def solve(self, board: Board) -> list[int]:
        """A shortest list of moves that solves the board; raises SeadsError if there is none."""
        depth = int(self.depth(board[None])[0])
        self.check_reachable(board, self.goal)
        moves: list[int] = []
        for left in range(depth - 1, -1, -1):
            after = self.play(np.tile(board, (self.num_moves, 1)), np.arange(self.num_moves))
            moves.append(int((self.depth(after) == left).argmax()))
            board = after[moves[-1]]
        return moves

    # Start boards ------------------------------------------------------------------------

    def in_split(self, boards: Boards, split: Split) -> Bool[np.ndarray, "rows"]:
        """Which boards belong to the split: CRC32 of the canonical string mod 3 (paper S.12.1)."""
        check_choice("split", split, SPLITS)
        if split == "all":
            return np.ones(len(boards), bool)
        return is_train(self._split_hash.crc(boards)) == (split == "train")

    @property
    def depth_means(self) -> str:
        """What the depth of a drawn board says."""
        return "solution depth" if self.exact_depths else "distinct moves from the goal"

    @property
    def max_depth(self) -> int:
        """The greatest depth that `draw` accepts."""
        return self._sets.max_depth if self.exact_depths else self.num_moves

    def depth_counts(self, split: Split = "all") -> dict[int, int]:
        """How many boards of the split there are of each solution depth, if they can be counted."""
        check_choice("split", split, SPLITS)
        self._check_exact()
        return self._sets.depth_counts(split)

    def depths(self, split: Split) -> list[int]:
        """The depths of the split's boards from 1.

        Where depths are not exact, a few numbers of moves: up to 5, then 10, 20, 40, …
        """
        if self.exact_depths:
            counts = self.depth_counts(split)
            return [depth for depth, count in counts.items() if depth and count]
        doubled = [_THEN_FROM * 2**i for i in range(self.num_moves.bit_length())]
        return [d for d in [*range(1, _FIRST_MOVES + 1), *doubled] if d <= self.num_moves]

    def deepest(self, split: Split) -> int:
        """The depth of the split's deepest boards; where depths are not exact, all moves."""
        return max(self.depths(split)) if self.exact_depths else self.num_moves

    @property
    def start_depths(self) -> tuple[int, int]:
        """The lowest and highest depth of start boards unless someone says otherwise.

        Up to five, all of which have training boards.
        """
        known = self.depths("train")
        if not known:
            raise SeadsError(
                f"no board of {self.name} falls into the training split; make it larger"
            )
        run = [depth for i, depth in enumerate(known[:5]) if depth == known[0] + i]
        return run[0], run[-1]

    def draw(
        self, depths: Int[np.ndarray, "rows"], split: Split, seeds: UInt64[np.ndarray, "rows"]
    ) -> Boards:
        """A board per row of the given depth and split, a pure function of the row's seed.

        Uniform over that set where depths are exact, else by `depth` distinct random moves
        from the goal, until in the split; the solution depth is then at most `depth`.
        """
        check_choice("split", split, SPLITS)
        check_draw(depths, seeds)
        if self.exact_depths:
            return self._sets.draw(depths, split, seeds)
        beyond = (depths < 0) | (depths > self.num_moves)
        if beyond.any():
            raise SeadsError(
                f"depth {depths[beyond][0]} is not possible on this board; "
                f"choose from 0 to {self.num_moves}"
            )
        boards = np.tile(self.goal, (len(depths), 1))
        rows = np.arange(len(depths))
        seeds = fork(seeds, RowPurpose.BOARD)
        for attempt in range(_ATTEMPTS):
            if not rows.size:
                return boards
            order = np.argsort(uniforms(fork(seeds[rows], attempt), self.num_moves), axis=1)
            tried = np.tile(self.goal, (len(rows), 1))
            for step in range(depths[rows].max()):
                tried = self.play(tried, np.where(step < depths[rows], order[:, step], NO_MOVE))
            boards[rows] = tried
            rows = rows[~self.in_split(tried, split)]
        if rows.size:
            raise SeadsError(
                f"no board in split {split!r} is {depths[rows[0]]} distinct moves from the goal; "
                "choose another depth or split 'all'"
            )
        return boards

    @cached_property
    def _split_hash(self) -> SplitHash:
        return SplitHash(self.num_fields, self.num_values)

    @cached_property
    def _reachable(self) -> ReachableBoards | None:
        """All boards; None where they are too many."""
        found = search_boards(self.play, self.goal, self.num_moves)
        return None if found is None else ReachableBoards(*found, self.in_split(found[0], "train"))

    @property
    def _sets(self) -> BoardSets:
        """The boards by depth, where depths are exact."""
        assert self._reachable is not None
        return self._reachable.sets

    def _check_exact(self) -> None:
        if not self.exact_depths:
            rows, columns = self.shape
            reason = f"it has more than {MOST_BOARDS:,} boards"
            if self.largest_exact is not None:
                reason = f"choose a size of at most {self.largest_exact}"
            raise SeadsError(
                f"exact depths are not available for {self.name} {rows}x{columns}: {reason}"
            )
