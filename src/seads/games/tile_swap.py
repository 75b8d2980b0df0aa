"""TileSwap: swap chips on adjacent fields until they lie in ascending order."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int

from seads.errors import SeadsError
from seads.games.board_types import NO_MOVE, Board, Boards
from seads.games.checks import check_field, check_move, check_moves, check_size, check_values
from seads.games.game import Game
from seads.games.look import Outline
from seads.games.reachable import ReachableBoards
from seads.games.text import grid_rows, read_fields
from seads.games.tile_swap_depths import permutation_depths

_LARGEST = 16  # 256 chips: the most that uint8 numbers
_EDGE = 1e-9
"""Distances this close to the limit are within it: rounding must not open cracks."""


class TileSwap(Game):
    """TileSwap on a square board of any size from 2 to 16; a board holds the chip on each field.

    Bit `chip * num_fields + field` of the symbolic state says whether the chip lies on the
    field. Moves swap neighbours in a row first, then neighbours in a column. A touch swaps
    the pair whose shared edge has the nearest middle in L1 distance, if it is at most
    half a field away (the rhombi of the paper's figure 1); elsewhere it does nothing.

    Up to 3x3 start boards have the exact solution depth asked for. Larger boards start
    from that many distinct random swaps, which may need fewer moves.
    """

    name = "tileswap"
    start_depths = (1, 5)  # paper S.12.2
    solved_word = "In order"
    largest_exact = 3  # 9! boards

    def __init__(self, size: int = 3) -> None:
        size = check_size(size, _LARGEST)
        self.shape = (size, size)
        self.num_bits = self.num_fields**2
        self.num_values = self.num_fields
        self.goal = np.arange(self.num_fields, dtype=np.uint8)
        fields = np.arange(self.num_fields).reshape(self.shape)
        sideways = np.stack([fields[:, :-1].ravel(), fields[:, 1:].ravel()], axis=1)
        downwards = np.stack([fields[:-1].ravel(), fields[1:].ravel()], axis=1)
        self._pairs = np.concatenate([sideways, downwards])
        self.num_moves = len(self._pairs)
        rows, columns = np.divmod(self._pairs, self.size)
        self._middles = np.stack([columns.mean(1) + 0.5, rows.mean(1) + 0.5], axis=1) / self.size
        # field order after a move; the last row, the unchanged order, is what NO_MOVE = -1 picks
        self._orders = np.tile(np.arange(self.num_fields), (self.num_moves + 1, 1))
        for order, pair in zip(self._orders, self._pairs, strict=False):
            order[pair] = pair[::-1]

    def play(self, boards: Boards, moves: Int[np.ndarray, "rows"]) -> Boards:
        check_moves(moves, self.num_moves)
        return boards[np.arange(len(boards))[:, None], self._orders.take(moves, axis=0)]

    def move_at(
        self, points: Float[np.ndarray, "rows 2"], boards: Boards
    ) -> Int[np.ndarray, "rows"]:
        # NaN, no touch at all, becomes a point off the board; no pair's rhombus reaches beyond it
        points = np.where(np.isfinite(points), points, -1.0)
        apart = abs(points[:, None] - self._middles)
        distances = apart[..., 0] + apart[..., 1]
        nearest = distances.argmin(axis=1)
        close = distances.min(axis=1) <= 0.5 / self.size + _EDGE
        return np.where(close, nearest, NO_MOVE)

    def point_of(self, move: int) -> tuple[float, float]:
        check_move(move, self.num_moves)
        x, y = self._middles[move]
        return float(x), float(y)

    def to_bits(self, boards: Boards) -> Bool[np.ndarray, "rows bits"]:
        return (boards[:, None, :] == self.goal[:, None]).reshape(len(boards), self.num_bits)

    def from_bits(self, bits: Bool[np.ndarray, "rows bits"]) -> Boards:
        check_values(bits, self.num_bits, 2)
        placed = bits.reshape(-1, self.num_fields, self.num_fields).astype(bool)
        wrong = (placed.sum(1) != 1).any(1) | (placed.sum(2) != 1).any(1)
        if wrong.any():
            raise SeadsError(
                f"the bits of row {wrong.argmax()} describe no board; "
                "each chip lies on exactly one field and each field holds exactly one chip"
            )
        return placed.argmax(axis=1).astype(np.uint8)

    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        self._check_chips(boards)
        return super().depth(boards)

    def solvable(self, board: Board) -> bool:
        """True: every order of the chips can be solved; raises SeadsError if a chip is missing."""
        self._check_chips(board[None])
        return True

    def bit_name(self, bit: int) -> str:
        chip, field = divmod(bit, self.num_fields)
        return f"{chip} on {self.field_name(field)}"

    @cached_property
    def zones(self) -> tuple[Outline, ...]:
        """The rhombi in which a touch swaps two chips."""
        reach = 0.5 / self.size
        return tuple(
            ((x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach))
            for x, y in self._middles.tolist()
        )

    def press(self, field: int) -> int:
        check_field(field, self.num_fields)
        return NO_MOVE  # a touch swaps between fields

    def parse(self, text: str) -> Board:
        """Reads the chip on each field; up to 3x3 the digits may stand without separators."""
        board = read_fields(text, self.shape, self._read_chips)
        self._check_chips(board[None])
        return board

    def format(self, board: Board) -> str:
        self._check_chips(board[None])
        return grid_rows([str(chip) for chip in board], self.size)

    def move_name(self, move: int) -> str:
        check_move(move, self.num_moves)
        (row, column), (row_2, column_2) = (divmod(int(f), self.size) for f in self._pairs[move])
        return (
            f"swap row {row + 1}, column {column + 1} with row {row_2 + 1}, column {column_2 + 1}"
        )

    @cached_property
    def _reachable(self) -> ReachableBoards | None:
        return all_boards(self.size) if self.exact_depths else None

    def _check_chips(self, boards: Boards) -> None:
        check_values(boards, self.num_fields, self.num_fields)
        wrong = (np.sort(boards, axis=1) != self.goal).any(axis=1)
        if wrong.any():
            counts = np.bincount(boards[wrong.argmax()], minlength=self.num_fields)
            raise SeadsError(
                f"chip {counts.argmax()} lies on {counts.max()} fields and chip "
                f"{counts.argmin()} on none; each of 0 to {self.num_fields - 1} lies on one"
            )

    def _read_chips(self, word: str, position: int) -> list[int]:
        for i, character in enumerate(word):
            if character not in "0123456789":
                raise SeadsError(
                    f"unexpected {character!r} at position {position + i}; "
                    f"write the chips 0 to {self.num_fields - 1} as numbers"
                )
        chips = list(map(int, word)) if self.num_fields <= 10 else [int(word[:9])]
        for i, chip in enumerate(chips):
            if chip >= self.num_fields:
                raise SeadsError(
                    f"chip {chip} at position {position + i} does not exist; "
                    f"chips are 0 to {self.num_fields - 1}"
                )
        return chips


@lru_cache
def all_boards(size: int) -> ReachableBoards:
    """All boards of a size, made once a process."""
    game = TileSwap(size)
    boards, depths = permutation_depths(game.num_fields, game._pairs)
    return ReachableBoards(boards, depths, game.in_split(boards, "train"))
