"""Games as a newcomer would write them: the abstract methods, and not a line more."""

from __future__ import annotations

import numpy as np

from seads.errors import SeadsError
from seads.games import NO_MOVE, Game
from seads.games.text import read_fields


class RowOfLights(Game):
    """Lights in a row: pressing one toggles it and its neighbours; the goal is all off."""

    name = "row"

    def __init__(self, length: int = 5) -> None:
        self.shape = (1, length)
        self.num_bits = self.num_moves = length
        self.goal = np.zeros(length, np.uint8)

    def play(self, boards: np.ndarray, moves: np.ndarray) -> np.ndarray:
        fields = np.arange(self.num_fields)
        pressed = (abs(fields - moves[:, None]) <= 1) & (moves[:, None] != NO_MOVE)
        return boards ^ pressed.astype(np.uint8)

    def move_at(self, points: np.ndarray, boards: np.ndarray) -> np.ndarray:
        inside = ((points >= 0) & (points <= 1)).all(axis=1)  # not so where a point is NaN
        columns = np.floor(np.where(inside, points[:, 0], 0) * self.num_fields).astype(np.int64)
        return np.where(inside, np.minimum(columns, self.num_fields - 1), NO_MOVE)

    def point_of(self, move: int) -> tuple[float, float]:
        return (move + 0.5) / self.num_fields, 0.5

    def to_bits(self, boards: np.ndarray) -> np.ndarray:
        return boards.astype(bool)

    def from_bits(self, bits: np.ndarray) -> np.ndarray:
        return bits.astype(np.uint8)

    def parse(self, text: str) -> np.ndarray:
        def read(word: str, position: int) -> list[int]:
            if set(word) - set(".#"):
                raise SeadsError(f"unexpected {word!r} at position {position}; write . and #")
            return [int(letter == "#") for letter in word]

        return read_fields(text, self.shape, read)

    def format(self, board: np.ndarray) -> str:
        return " ".join(".#"[value] for value in board)

    def move_name(self, move: int) -> str:
        return f"press light {move + 1}"


class Ring(RowOfLights):
    """One light that moves a place forward, round and round: no move undoes itself."""

    name = "ring"

    def __init__(self, length: int = 7) -> None:
        super().__init__(length)
        self.num_moves = 1
        self.goal[0] = 1

    def play(self, boards: np.ndarray, moves: np.ndarray) -> np.ndarray:
        return np.where(moves[:, None] == NO_MOVE, boards, np.roll(boards, 1, axis=1))

    def move_at(self, points: np.ndarray, boards: np.ndarray) -> np.ndarray:
        return np.minimum(super().move_at(points, boards), 0)

    def point_of(self, move: int) -> tuple[float, float]:
        return 0.5, 0.5
