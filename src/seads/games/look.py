"""Where moves are on a board, what it looks like, and how a hand sets it up, whoever draws it.

All places are in the unit square, origin top left, x to the right, y downwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from seads.errors import SeadsError
from seads.games.board_types import Board, Boards
from seads.games.checks import check_field

Outline = tuple[tuple[float, float], ...]
"""The corners of an area, in order."""


class FieldBox(NamedTuple):
    """A rectangle: its middle, width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Face:
    """What a field shows: a tile, lit or not, or a chip that lies on it."""

    lit: bool = False
    chip: str | None = None
    """What is written on the chip; None where there is a tile only."""
    half: Literal["upper", "lower"] | None = None
    """The half of the tile that a touch must hit; None where all of it will do."""


class Look(ABC):
    """What a game's board looks like, worked out from its shape and bits.

    A game whose fields are a bit each has tiles that are lit or not; any other has chips with
    the fields' values on them.
    """

    shape: tuple[int, int]
    """Rows and columns of the board."""
    num_bits: int
    goal: Board

    touch: Literal["field", "point"] = "point"
    """What decides a move: which field was touched, or at which point of the board."""
    solved_word: str = "Solved"
    """The solved board in a word, for a button."""

    @cached_property
    def size(self) -> int:
        """Fields along the longer side."""
        return max(self.shape)

    @cached_property
    def num_fields(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def fields_are_bits(self) -> bool:
        """Whether bit i of the symbolic state is the state of field i."""
        return self.num_bits == self.num_fields

    @cached_property
    def fields(self) -> tuple[FieldBox, ...]:
        """Where the fields are: by default they fill the square."""
        rows, columns = self.shape
        return tuple(
            FieldBox((column + 0.5) / columns, (row + 0.5) / rows, 1 / columns, 1 / rows)
            for row in range(rows)
            for column in range(columns)
        )

    def faces(self, board: Board) -> list[Face]:
        """What each field shows."""
        if self.fields_are_bits:
            return [Face(lit=bool(value)) for value in board]
        return [Face(chip=str(value)) for value in board]

    @property
    def zones(self) -> tuple[Outline, ...]:
        """The areas in which touches are moves, where the fields do not show them already."""
        return ()

    @abstractmethod
    def move_at(
        self, points: Float[np.ndarray, "rows 2"], boards: Boards
    ) -> Int[np.ndarray, "rows"]:
        """The move that touching each point triggers, or `NO_MOVE` (also where a point is NaN)."""

    @abstractmethod
    def point_of(self, move: int) -> tuple[float, float]:
        """The middle of the place that triggers a move."""

    def mark(self, move: int) -> FieldBox:
        """What to frame in order to point at a move: a field, or a small place between fields."""
        x, y = self.point_of(move)
        nearest = min(self.fields, key=lambda box: abs(box.x - x) + abs(box.y - y))
        if abs(nearest.x - x) + abs(nearest.y - y) < 1e-6:
            return nearest
        side = 0.2 * min(nearest.width, nearest.height)
        return FieldBox(x, y, side, side)

    # By hand -----------------------------------------------------------------------------

    @property
    def fields_per_edit(self) -> Literal[1, 2]:
        """How many fields a hand picks to change the board: one to switch, two to exchange."""
        return 1 if self.fields_are_bits else 2

    @property
    def edit_words(self) -> str:
        """What a hand picks, to follow 'click on'."""
        return "fields" if self.fields_per_edit == 1 else "two chips to exchange them"

    def edit(self, board: Board, field: int, other: int | None = None) -> Board:
        """The board with a field switched or two exchanged, whatever the rules say."""
        check_field(field, self.num_fields)
        changed = board.copy()
        if self.fields_per_edit == 1:
            changed[field] ^= 1
        elif other is None:
            raise SeadsError("which other field? two are exchanged")
        else:
            check_field(other, self.num_fields)
            changed[[field, other]] = board[[other, field]]
        return changed

    def press(self, field: int) -> int:
        """The move that touching the middle of a field makes; `NO_MOVE` if none."""
        check_field(field, self.num_fields)
        box = self.fields[field]
        return int(self.move_at(np.array([[box.x, box.y]]), self.goal[None])[0])
