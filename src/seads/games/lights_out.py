"""LightsOut: pressing a field toggles it and its neighbours; the goal is all fields off."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from seads.errors import SeadsError
from seads.games.board_types import NO_MOVE, Board, Boards
from seads.games.checks import check_field, check_move, check_moves, check_size, check_values
from seads.games.drawing import BoardSets
from seads.games.game import Game
from seads.games.lights_out_depths import board_sets, press_effects, press_solver
from seads.games.look import Face, FieldBox
from seads.games.text import grid_rows, read_fields

_LARGEST = 64
_EDGE = 1e-9
"""Points this close to a tile's edge are on the tile: rounding must not open cracks."""
_SYMBOLS = {"0": 0, ".": 0, "1": 1, "#": 1}


class LightsOut(Game):
    """LightsOut on a square board of any size from 2 to 64; a board holds 1 where a light is on.

    Tiles are squares of `tile_width`; by default they fill the unit square. What the tiles
    leave free of a side, `leftover = 1 - size * tile_width`, goes between them and around
    them: each gap is `relative_spacing * leftover / (size - 1)` and the rest is a margin,
    equal on all sides. So 0 packs the tiles in the middle and 1 spreads them from edge to
    edge. A press in a gap or on the margin does nothing.

    With `half_fields` a field can be switched on only by pressing its upper half and off
    only by pressing its lower half; any other press does nothing.

    Up to 5x5 start boards have the exact solution depth asked for. Larger boards start
    from that many distinct random presses, which may need fewer moves.
    """

    name = "lightsout"
    start_depths = (1, 5)  # paper S.12.2
    solved_word = "Empty"
    largest_exact = 5  # 2^23 solvable boards
    num_values = 2

    def __init__(
        self,
        size: int = 5,
        tile_width: float | None = None,
        relative_spacing: float = 0.0,
        half_fields: bool = False,
    ) -> None:
        size = check_size(size, _LARGEST)
        self.shape = (size, size)
        if not 0.0 <= relative_spacing <= 1.0:
            raise SeadsError(f"relative_spacing {relative_spacing} is not in [0, 1]")
        widest = 1.0 / self.size
        if tile_width is None:
            tile_width = widest
        if not 0.0 < tile_width <= widest + _EDGE:
            raise SeadsError(
                f"tile_width {tile_width} is not possible on a {self.size}x{self.size} board; "
                f"choose more than 0 and at most {widest:.6g}"
            )
        self.num_bits = self.num_moves = self.size**2
        self.goal = np.zeros(self.num_fields, np.uint8)
        self.half_fields = half_fields
        self.touch = "point" if half_fields else "field"
        self.tile_width = min(float(tile_width), widest)
        leftover = max(0.0, 1.0 - self.size * self.tile_width)
        self._pitch = self.tile_width + relative_spacing * leftover / (self.size - 1)
        self._margin = (1.0 - relative_spacing) * leftover / 2
        self._edges = self._margin + np.arange(self.size) * self._pitch - _EDGE
        # the last row is empty: it is what NO_MOVE = -1 picks
        self._effects = np.pad(press_effects(self.size), ((0, 1), (0, 0)))

    def play(self, boards: Boards, moves: Int[np.ndarray, "rows"]) -> Boards:
        check_moves(moves, self.num_moves)
        return boards ^ self._effects.take(moves, axis=0)

    def move_at(
        self, points: Float[np.ndarray, "rows 2"], boards: Boards
    ) -> Int[np.ndarray, "rows"]:
        # Of a point before the first tile, the last one: it is not within that either, as NaN
        # (no touch at all) is within none.
        tile = self._edges.searchsorted(points, side="right") - 1
        within = points - self._edges.take(tile)
        inside = (within >= 0) & (within <= self.tile_width + 2 * _EDGE)
        on_tile = inside[:, 0] & inside[:, 1]
        fields = tile[:, 1] * self.size + tile[:, 0]
        if self.half_fields:
            upper = within[:, 1] < self.tile_width / 2 + _EDGE
            lit = boards[np.arange(len(boards)), fields] == 1
            on_tile &= upper != lit
        return np.where(on_tile, fields, NO_MOVE)

    def point_of(self, move: int) -> tuple[float, float]:
        check_move(move, self.num_moves)
        row, column = divmod(move, self.size)
        x = self._margin + column * self._pitch + self.tile_width / 2
        y = self._margin + row * self._pitch + self.tile_width / 2
        return x, y

    def to_bits(self, boards: Boards) -> Bool[np.ndarray, "rows bits"]:
        return boards.astype(bool)

    def from_bits(self, bits: Bool[np.ndarray, "rows bits"]) -> Boards:
        check_values(bits, self.num_bits, 2)
        return bits.astype(np.uint8)

    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        check_values(boards, self.num_fields, 2)
        return press_solver(self.size).depths(boards)

    def solve(self, board: Board) -> list[int]:
        self.check_reachable(board, self.goal)
        return np.flatnonzero(press_solver(self.size).presses(board[None])[0]).tolist()

    def solvable(self, board: Board) -> bool:
        check_values(board, self.num_fields, 2)
        return bool(press_solver(self.size).solvable(board[None])[0])

    def check_reachable(self, board: Board, goal: Board) -> None:
        # presses add up: what they must bring about is the difference of the two boards
        if self.solvable(board ^ goal):
            return
        if goal.any():
            raise SeadsError(
                f"no presses lead from board {self.line(board)} to goal {self.line(goal)}"
            )
        raise SeadsError(
            f"no presses solve the board {self.line(board)}: only one in "
            f"{2 ** len(press_solver(self.size).elimination.free)} of all {self.size}x{self.size} "
            "LightsOut boards can be solved"
        )

    @cached_property
    def fields(self) -> tuple[FieldBox, ...]:
        if self._pitch == 1.0 / self.size:  # the tiles fill the square
            return super().fields
        width = self.tile_width
        return tuple(FieldBox(*self.point_of(f), width, width) for f in range(self.num_fields))

    def faces(self, board: Board) -> list[Face]:
        if not self.half_fields:
            return super().faces(board)
        return [Face(bool(lit), half="lower" if lit else "upper") for lit in board]

    def press(self, field: int) -> int:
        check_field(field, self.num_fields)
        return field  # also where a half of it must be touched

    def parse(self, text: str) -> Board:
        """Reads 0 or . for off and 1 or # for on; rows may be set apart by new lines or /."""
        return read_fields(text, self.shape, _read_lights)

    def format(self, board: Board) -> str:
        check_values(board, self.num_fields, 2)
        return grid_rows([".#"[value] for value in board], self.size)

    def move_name(self, move: int) -> str:
        check_move(move, self.num_moves)
        row, column = divmod(move, self.size)
        return f"press row {row + 1}, column {column + 1}"

    @property
    def _sets(self) -> BoardSets:
        return board_sets(self.size)


def _read_lights(word: str, position: int) -> list[int]:
    for i, character in enumerate(word):
        if character not in _SYMBOLS:
            raise SeadsError(
                f"unexpected {character!r} at position {position + i}; "
                "write 0 or . for off and 1 or # for on"
            )
    return [_SYMBOLS[character] for character in word]
