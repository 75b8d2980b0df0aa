"""LightsOut: pressing a field toggles it and its neighbours; the goal is all fields off."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8, UInt64

from seads.errors import SeadsError
from seads.games.drawing import BoardSets, draw_by_moves
from seads.games.game import NO_MOVE, Boards, Game, Split
from seads.games.lights_out_depths import LARGEST_EXACT, board_sets, press_effects, press_solver
from seads.games.splits import SplitHash, canonical
from seads.games.text import grid_rows, read_fields
from seads.games.validation import check_move, check_moves, check_size, check_split, check_values

_LARGEST = 64
_LITTLE_ENDIAN = np.dtype("<u4")
_EDGE = np.array(1e-9)
"""Points this close to a tile's edge are on the tile: rounding must not open cracks."""
_NEAR_EDGE, _FIRST_TILE, _NO_MOVE = np.array(-_EDGE), np.array(0.0), np.array(NO_MOVE)
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

    def __init__(
        self,
        size: int = 5,
        tile_width: float | None = None,
        relative_spacing: float = 0.0,
        half_fields: bool = False,
    ) -> None:
        self.size = check_size(size, _LARGEST)
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
        self.num_fields = self.num_bits = self.num_moves = self.size**2
        self.goal = np.zeros(self.num_fields, np.uint8)
        self.half_fields = half_fields
        self.tile_width = min(float(tile_width), widest)
        leftover = max(0.0, 1.0 - self.size * self.tile_width)
        # arrays rather than numbers: numpy converts a number anew at every step of an environment
        self._pitch = np.array(self.tile_width + relative_spacing * leftover / (self.size - 1))
        self._margin = np.array((1.0 - relative_spacing) * leftover / 2)
        self._field_of_tile = np.array([1.0, self.size])
        self._last_tile = np.array(self.size - 1.0)
        self._far_edge = np.array(self.tile_width + _EDGE)
        # the last row is empty: it is what NO_MOVE = -1 picks
        self._effects = np.pad(press_effects(self.size), ((0, 1), (0, 0)))
        self._split_hash = SplitHash(self.num_fields, 2)

    def play(self, boards: Boards, moves: Int[np.ndarray, "rows"]) -> Boards:
        check_moves(moves, self.num_moves)
        return boards ^ self._effects.take(moves, axis=0)

    def move_at(
        self, points: Float[np.ndarray, "rows 2"], boards: Boards
    ) -> Int[np.ndarray, "rows"]:
        offset = points - self._margin
        # fmax and fmin, unlike clip, turn NaN (no touch at all) into a tile, which it is not within
        tile = np.floor(offset / self._pitch + _EDGE)
        tile = np.fmin(np.fmax(tile, _FIRST_TILE), self._last_tile)
        within = offset - tile * self._pitch
        inside = (within >= _NEAR_EDGE) & (within <= self._far_edge)
        on_tile = inside[:, 0] & inside[:, 1]
        fields = tile.dot(self._field_of_tile).astype(np.int64)
        if self.half_fields:
            upper = within[:, 1] < self.tile_width / 2
            lit = boards[np.arange(len(boards)), fields] == 1
            on_tile &= upper != lit
        return np.where(on_tile, fields, _NO_MOVE)

    def point_of(
        self, move: int, board: UInt8[np.ndarray, "fields"] | None = None
    ) -> tuple[float, float]:
        """The middle of the move's tile; with half fields and a board, of the half that acts."""
        check_move(move, self.num_moves)
        row, column = divmod(move, self.size)
        x = float(self._margin + column * self._pitch + self.tile_width / 2)
        y = float(self._margin + row * self._pitch + self.tile_width / 2)
        if self.half_fields and board is not None:
            y += self.tile_width / 4 * (1 if board[move] else -1)
        return x, y

    def to_bits(self, boards: Boards) -> Bool[np.ndarray, "rows bits"]:
        return boards.astype(bool)

    def from_bits(self, bits: Bool[np.ndarray, "rows bits"]) -> Boards:
        check_values(bits, self.num_bits, 2)
        return bits.astype(np.uint8)

    def in_split(self, boards: Boards, split: Split) -> Bool[np.ndarray, "rows"]:
        return self._split_hash.in_split(boards, split)

    def draw(
        self,
        depths: Int[np.ndarray, "rows"],
        split: Split,
        seeds: UInt64[np.ndarray, "rows"],
        chances: Float[np.ndarray, "rows"] | None = None,
    ) -> Boards:
        if self.size > LARGEST_EXACT:
            return draw_by_moves(self, depths, split, seeds)
        codes = self._board_sets().draw(depths, split, seeds, chances)
        octets = codes.astype(_LITTLE_ENDIAN, copy=False).view(np.uint8).reshape(-1, 4)
        return np.unpackbits(octets, axis=1, count=self.num_fields, bitorder="little")

    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        check_values(boards, self.num_fields, 2)
        return press_solver(self.size).depths(boards)

    @property
    def max_depth(self) -> int:
        """The greatest depth that `draw` accepts."""
        return self.num_moves if self.size > LARGEST_EXACT else self._board_sets().max_depth

    def depth_counts(self, split: Split = "all") -> dict[int, int]:
        """How many boards of the split there are of each solution depth; up to 5x5."""
        check_split(split)
        return self._board_sets().depth_counts(split)

    def minimal_presses(self, boards: Boards) -> UInt8[np.ndarray, "rows fields"]:
        """A solution of each board with the fewest presses: one where a field is pressed."""
        check_values(boards, self.num_fields, 2)
        for board in boards[~press_solver(self.size).solvable(boards)]:
            self.check_feasible(board)
        return press_solver(self.size).presses(boards)

    def solve(self, board: UInt8[np.ndarray, "fields"]) -> list[int]:
        """A shortest list of moves that solves the board; raises SeadsError if there is none."""
        return [int(move) for move in np.flatnonzero(self.minimal_presses(board[None])[0])]

    def check_feasible(self, board: UInt8[np.ndarray, "fields"]) -> None:
        """Raises SeadsError if no presses solve the board."""
        check_values(board, self.num_fields, 2)
        solver = press_solver(self.size)
        if not solver.solvable(board[None])[0]:
            shown = self.format(board).replace(" ", "").replace("\n", "/")
            raise SeadsError(
                f"no presses solve the board {shown}: only one in "
                f"{2 ** len(solver.elimination.free)} of all {self.size}x{self.size} "
                "LightsOut boards can be solved"
            )

    def canonical(self, board: UInt8[np.ndarray, "fields"]) -> str:
        """The comma-separated string that decides the split."""
        return canonical(board)

    def parse(self, text: str) -> UInt8[np.ndarray, "fields"]:
        """Reads 0 or . for off and 1 or # for on; rows may be set apart by new lines or /."""
        return read_fields(text, self.size, _read_lights)

    def format(self, board: UInt8[np.ndarray, "fields"]) -> str:
        check_values(board, self.num_fields, 2)
        return grid_rows([".#"[value] for value in board], self.size)

    def move_name(self, move: int) -> str:
        check_move(move, self.num_moves)
        row, column = divmod(move, self.size)
        return f"press row {row + 1}, column {column + 1}"

    def _board_sets(self) -> BoardSets:
        if self.size > LARGEST_EXACT:
            raise SeadsError(
                f"the boards of LightsOut {self.size}x{self.size} are too many to count; "
                f"choose a size of at most {LARGEST_EXACT}"
            )
        return board_sets(self.size)


def _read_lights(word: str, position: int) -> list[int]:
    for i, character in enumerate(word):
        if character not in _SYMBOLS:
            raise SeadsError(
                f"unexpected {character!r} at position {position + i}; "
                "write 0 or . for off and 1 or # for on"
            )
    return [_SYMBOLS[character] for character in word]
