"""Symbolic states as people give and read them: plain bits, or boards of a game."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, UInt8

from seads.envs.own import is_own
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.games import Game

Symbol = Bool[np.ndarray, "bits"]


class Reader:
    """States of an environment without a game: strings of 0 and 1, and no moves between them."""

    goal: Symbol | None = None
    """What is asked for unless someone says otherwise."""

    def __init__(self, num_bits: int) -> None:
        self.num_bits = num_bits

    def read(self, text: str) -> Symbol:
        """The symbolic state a person typed; raises SeadsError naming what is wrong with it."""
        digits = "".join(text.replace(",", " ").replace("/", " ").split())
        for position, digit in enumerate(digits, 1):
            if digit not in "01":
                raise SeadsError(f"unexpected {digit!r} as bit {position}; write 0 and 1")
        if len(digits) != self.num_bits:
            raise SeadsError(f"found {len(digits)} bits; a state has {self.num_bits}: {text!r}")
        return np.array([digit == "1" for digit in digits], bool)

    def write(self, symbol: Symbol) -> str:
        """The state as lines of text."""
        return self.line(symbol)

    def line(self, symbol: Symbol) -> str:
        """The state as one line that `read` reads back."""
        return "".join("01"[int(bit)] for bit in symbol)

    def check_reachable(self, start: Symbol, goal: Symbol) -> None:
        """Raises SeadsError if it is known that the rules never lead from the start to the goal."""

    def move(self, before: Symbol, after: Symbol) -> int | None:
        """The game move that makes one state of the other; None if no move does."""
        return None

    def move_name(self, move: int | None) -> str | None:
        """A move in words; None where there is none."""
        return None

    def change(self, before: Symbol, after: Symbol) -> str | None:
        """What makes one state of the other, in words; None if no move of a game does."""
        flipped = [self.bit_name(bit) for bit in np.flatnonzero(before ^ after).tolist()]
        return f"flips {', '.join(flipped)}" if flipped else "does nothing"

    def bit_name(self, bit: int) -> str:
        """What a bit stands for."""
        return f"bit {bit}"


class GameReader(Reader):
    """Boards of a game; a model may predict bits that are no board, and these have no move."""

    def __init__(self, game: Game) -> None:
        super().__init__(game.num_bits)
        self.game = game
        self.goal = game.to_bits(game.goal[None])[0]

    def read(self, text: str) -> Symbol:
        return self.game.to_bits(self.game.parse(text)[None])[0]

    def write(self, symbol: Symbol) -> str:
        try:
            return self.game.format(self._board(symbol))
        except SeadsError:
            return "\n".join(["(no such board)"] + [""] * (self.game.shape[0] - 1))

    def line(self, symbol: Symbol) -> str:
        try:
            return self.game.line(self._board(symbol))
        except SeadsError:
            return "(no such board)"

    def check_reachable(self, start: Symbol, goal: Symbol) -> None:
        self.game.check_reachable(self._board(start), self._board(goal))

    def move(self, before: Symbol, after: Symbol) -> int | None:
        try:
            return self.game.move_between(before, after)
        except SeadsError:
            return None

    def move_name(self, move: int | None) -> str | None:
        return None if move is None else self.game.move_name(move)

    def change(self, before: Symbol, after: Symbol) -> str | None:
        return self.move_name(self.move(before, after))

    def bit_name(self, bit: int) -> str:
        return self.game.bit_name(bit)

    def _board(self, symbol: Symbol) -> UInt8[np.ndarray, "fields"]:
        return self.game.from_bits(symbol[None])[0]


def game_of(env: str) -> Game | None:
    """The game of an environment in the table; None for a user's own."""
    return None if is_own(env) else lookup(env).make_game()


def goal_for(boards: Reader, start: Symbol, goal: Symbol | None) -> Symbol:
    """The goal asked for; raises SeadsError where no move ever leads there from the start."""
    wanted = boards.goal if goal is None else goal
    if wanted is None:
        raise SeadsError("which goal? the environment has no game, so give --goal as 0s and 1s")
    boards.check_reachable(start, wanted)
    return wanted
