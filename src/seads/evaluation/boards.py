"""Boards as people give and read them, for games and for environments without one."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Bool, Int, UInt8

from seads.agent.agent import Agent
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.games import LightsOut, TileSwap

AnyGame = LightsOut | TileSwap


class Reader(Protocol):
    """Symbolic states from and to text, and the moves between them."""

    goal: Bool[np.ndarray, "bits"] | None
    """What is asked for unless someone says otherwise; None where nobody knows."""

    def read(self, text: str) -> Bool[np.ndarray, "bits"]:
        """The symbolic state a person typed; raises SeadsError naming what is wrong with it."""
        ...

    def write(self, symbol: Bool[np.ndarray, "bits"]) -> str:
        """The state as lines of text."""
        ...

    def line(self, symbol: Bool[np.ndarray, "bits"]) -> str:
        """The state as one line that `read` reads back."""
        ...

    def check_reachable(
        self, start: Bool[np.ndarray, "bits"], goal: Bool[np.ndarray, "bits"]
    ) -> None:
        """Raises SeadsError if the rules never lead from the start to the goal."""
        ...

    def move_between(
        self, before: Bool[np.ndarray, "bits"], after: Bool[np.ndarray, "bits"]
    ) -> int | None:
        """The game move that makes one state of the other; None if no move does."""
        ...

    def move_name(self, move: int | None) -> str:
        """A move in words."""
        ...

    def bit_name(self, bit: int) -> str:
        """What a bit stands for."""
        ...


class GameReader:
    """Boards of a game."""

    def __init__(self, game: AnyGame) -> None:
        self.game = game
        self.goal: Bool[np.ndarray, "bits"] | None = game.to_bits(game.goal[None])[0]

    def read(self, text: str) -> Bool[np.ndarray, "bits"]:
        return self.game.to_bits(self.game.parse(text)[None])[0]

    def write(self, symbol: Bool[np.ndarray, "bits"]) -> str:
        try:
            return self.game.format(self._board(symbol))
        except SeadsError:  # a model may predict bits that are no board
            return "\n".join(["(no such board)"] + [""] * (self.game.size - 1))

    def line(self, symbol: Bool[np.ndarray, "bits"]) -> str:
        digits = isinstance(self.game, LightsOut) or self.game.num_fields <= 10
        rows = self.write(symbol).split("\n")
        return "/".join(("" if digits else ",").join(row.split()) for row in rows)

    def check_reachable(
        self, start: Bool[np.ndarray, "bits"], goal: Bool[np.ndarray, "bits"]
    ) -> None:
        game, board, wanted = self.game, self._board(start), self._board(goal)
        if np.array_equal(wanted, game.goal) or not isinstance(game, LightsOut):
            game.check_feasible(board)
            game.check_feasible(wanted)
            return
        # presses add up: what they must bring about is the difference of the two boards
        try:
            game.check_feasible(board ^ wanted)
        except SeadsError:
            raise SeadsError(
                f"no presses lead from board {self.line(start)} to goal {self.line(goal)}"
            ) from None

    def move_between(
        self, before: Bool[np.ndarray, "bits"], after: Bool[np.ndarray, "bits"]
    ) -> int | None:
        moves = np.arange(self.game.num_moves)
        boards = np.repeat(self.game.from_bits(before[None]), len(moves), axis=0)
        made = self.game.to_bits(self.game.play(boards, moves))
        found = np.flatnonzero((made == after).all(1))
        return int(found[0]) if len(found) else None

    def move_name(self, move: int | None) -> str:
        return "no move of the game" if move is None else self.game.move_name(move)

    def bit_name(self, bit: int) -> str:
        chip, field = divmod(bit, self.game.num_fields)
        row, column = divmod(field, self.game.size)
        place = f"r{row + 1}c{column + 1}"
        return place if isinstance(self.game, LightsOut) else f"{chip} on {place}"

    def _board(self, symbol: Bool[np.ndarray, "bits"]) -> UInt8[np.ndarray, "fields"]:
        return self.game.from_bits(symbol[None])[0]


class BitReader:
    """Symbolic states of an environment without a game: strings of 0 and 1."""

    goal: Bool[np.ndarray, "bits"] | None = None

    def __init__(self, num_bits: int) -> None:
        self.num_bits = num_bits

    def read(self, text: str) -> Bool[np.ndarray, "bits"]:
        digits = "".join(text.replace(",", " ").replace("/", " ").split())
        for position, digit in enumerate(digits, 1):
            if digit not in "01":
                raise SeadsError(f"unexpected {digit!r} as bit {position}; write 0 and 1")
        if len(digits) != self.num_bits:
            raise SeadsError(f"found {len(digits)} bits; a state has {self.num_bits}: {text!r}")
        return np.array([digit == "1" for digit in digits], bool)

    def write(self, symbol: Bool[np.ndarray, "bits"]) -> str:
        return self.line(symbol)

    def line(self, symbol: Bool[np.ndarray, "bits"]) -> str:
        return "".join("01"[int(bit)] for bit in symbol)

    def check_reachable(
        self, start: Bool[np.ndarray, "bits"], goal: Bool[np.ndarray, "bits"]
    ) -> None:
        """Nobody knows the rules: the planner will tell."""

    def move_between(
        self, before: Bool[np.ndarray, "bits"], after: Bool[np.ndarray, "bits"]
    ) -> int | None:
        return None

    def move_name(self, move: int | None) -> str:
        return ""

    def bit_name(self, bit: int) -> str:
        return f"bit {bit}"


def game_of(env: str) -> AnyGame | None:
    """The game of an environment in the table; None for a user's own."""
    if ":" in env:
        return None
    game = lookup(env).make_game()
    if not isinstance(game, AnyGame):
        raise TypeError(f"{env} has the game {type(game).__name__}, which has no reader")
    return game


def exact_depths(
    game: AnyGame, symbols: Bool[np.ndarray, "boards bits"]
) -> Int[np.ndarray, "boards"] | None:
    """The solution depth of each board; None where boards are too many to know it exactly."""
    boards = game.from_bits(symbols)
    try:
        return game.depth(boards)
    except SeadsError:
        return None


def reader_for(agent: Agent) -> Reader:
    """How to read the boards of an agent's game, or plain bits where there is none."""
    game = game_of(agent.env)
    return BitReader(agent.architecture.num_bits) if game is None else GameReader(game)


def goal_for(
    boards: Reader, start: Bool[np.ndarray, "bits"], goal: str | None
) -> Bool[np.ndarray, "bits"]:
    """The goal asked for; raises SeadsError where no move ever leads there from the start."""
    if goal is not None:
        wanted = boards.read(goal)
    elif boards.goal is not None:
        wanted = boards.goal
    else:
        raise SeadsError("which goal? the environment has no game, so give --goal as 0s and 1s")
    boards.check_reachable(start, wanted)
    return wanted
