"""What every board game offers: rules, symbols, geometry and start boards, on a batch of boards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8, UInt64

Split = Literal["train", "test", "all"]
Boards = UInt8[np.ndarray, "rows fields"]
NO_MOVE = -1


class Game(ABC):
    """A one-player game on a square board, for a whole batch of boards at once.

    A board is a row of `num_fields` small integers, field by field from the top left;
    a move is an index in `range(num_moves)`. The symbolic state (z in the paper) is
    `num_bits` bits. Games know nothing of physics: where the board was touched arrives
    as a point in the unit square, origin top left, x to the right, y downwards.
    """

    name: str
    size: int
    num_fields: int
    num_bits: int
    num_moves: int
    goal: UInt8[np.ndarray, "fields"]

    @abstractmethod
    def play(self, boards: Boards, moves: Int[np.ndarray, "rows"]) -> Boards:
        """The boards after each row's move; `NO_MOVE` leaves its row as it is."""

    @abstractmethod
    def move_at(
        self, points: Float[np.ndarray, "rows 2"], boards: Boards
    ) -> Int[np.ndarray, "rows"]:
        """The move that touching each point triggers, or `NO_MOVE` (also where a point is NaN)."""

    @abstractmethod
    def point_of(self, move: int) -> tuple[float, float]:
        """The middle of the place that triggers a move."""

    @abstractmethod
    def to_bits(self, boards: Boards) -> Bool[np.ndarray, "rows bits"]:
        """The symbolic state of each board."""

    @abstractmethod
    def from_bits(self, bits: Bool[np.ndarray, "rows bits"]) -> Boards:
        """The boards of symbolic states; raises SeadsError where bits describe no board."""

    @abstractmethod
    def in_split(self, boards: Boards, split: Split) -> Bool[np.ndarray, "rows"]:
        """Which boards belong to the split, by CRC32 of the canonical string mod 3 (paper S.10)."""

    @abstractmethod
    def draw(
        self,
        depths: Int[np.ndarray, "rows"],
        split: Split,
        seeds: UInt64[np.ndarray, "rows"],
        chances: Float[np.ndarray, "rows"] | None = None,
    ) -> Boards:
        """A board per row of the given solution depth and split, a pure function of the row's seed.

        Uniform over that set where depths are exact, else by `depth` distinct random moves.
        Who has the first uniform number of each row's stream `RowPurpose.BOARD` already may
        pass it as `chances`; the boards are the same.
        """

    @abstractmethod
    def depth(self, boards: Boards) -> Int[np.ndarray, "rows"]:
        """The exact solution depth of each board; -1 where it cannot be solved."""

    @abstractmethod
    def parse(self, text: str) -> UInt8[np.ndarray, "fields"]:
        """The board a person typed; raises SeadsError naming what is wrong with it."""

    @abstractmethod
    def format(self, board: UInt8[np.ndarray, "fields"]) -> str:
        """The board as text that `parse` reads back."""

    @abstractmethod
    def move_name(self, move: int) -> str:
        """A move in words a person can follow, such as 'press row 2, column 3'."""
