"""The board of `play` with the body that works on it, as a person sets it up and changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.envs.embedding import EmbeddedEnv
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.games import NO_MOVE
from seads.planning.words import move_words
from seads.solving.agent import Agent
from seads.solving.boards import GameReader
from seads.solving.tasks import draw_tasks
from seads.streams import Purpose, row_seeds

NO_SOLUTION = "this board has no solution: no sequence of moves leads to the goal"


@dataclass(frozen=True)
class PlannedMove:
    """A step of the plan: the skill, and the game move that the model takes it for."""

    skill: int
    move: int | None
    name: str


class PlayBoard:
    """One board of an agent's environment. Close it to free the physics.

    Whatever changes the board in place returns what the body then observes.
    """

    def __init__(self, agent: Agent, seed: int) -> None:
        if not isinstance(agent.boards, GameReader):
            raise SeadsError(f"play shows boards, and {agent.env!r} has none")
        self.reader = agent.boards
        self.game = self.reader.game
        self.depths = lookup(agent.env).depths
        """Lowest and highest solution depth of the boards that the agent learned on."""
        self.deepest = self.game.deepest("test")
        """Highest depth that boards may be drawn of."""
        self.goal: Bool[np.ndarray, "bits"] = self.game.to_bits(self.game.goal[None])[0]
        """The solved board."""
        self._seed, self._seeds_used = seed, 0
        made = agent.make_env(1, split="test")
        if not isinstance(made, EmbeddedEnv):
            raise SeadsError(f"play cannot show {agent.env!r}")
        self.env: EmbeddedEnv = made
        try:
            self.draw(self.depths[1])
        except BaseException:
            made.close()
            raise

    @property
    def symbol(self) -> Bool[np.ndarray, "bits"]:
        """The symbolic state now."""
        return self.env.symbols[0]

    @property
    def solved(self) -> bool:
        """Whether the board is the goal now."""
        return bool((self.symbol == self.goal).all())

    # A board from the start, the body in a new pose --------------------------------------

    def draw(self, depth: int) -> None:
        """A random board of this solution depth."""
        if not 1 <= depth <= self.deepest:
            raise SeadsError(f"depth {depth} is not possible; choose from 1 to {self.deepest}")
        seed = int(self._next_seed()[0] % np.uint64(2**31))
        self.begin(draw_tasks(self.game, [depth], 1, "test", seed).starts[0])

    def begin(self, symbol: Bool[np.ndarray, "bits"]) -> None:
        """This board."""
        self._start = symbol.copy()
        self.env.reset(self._next_seed(), symbols=symbol[None])

    def begin_again(self) -> None:
        """The last board that was set up."""
        self.begin(self._start)

    def keep(self) -> None:
        """Count the board as it is now as set up."""
        self._start = self.symbol

    # The board changed under the body's hands --------------------------------------------

    def touch(self, field: int, other: int | None) -> Any:
        """Change a field by hand, or exchange two, whatever the rules say."""
        return self._put(self.game.edit(self.env.boards[0], field, other))

    def press(self, field: int) -> Any:
        """Make the move that touching this field makes."""
        move = self.game.press(field)
        if move == NO_MOVE:
            raise SeadsError(f"touching the middle of field {field} is no move of this game")
        return self._play(move)

    def press_any(self) -> Any:
        """Make a random move of the game."""
        rng = np.random.default_rng(self._next_seed())
        return self._play(int(rng.integers(self.game.num_moves)))

    def planned(
        self, skill: int, before: Bool[np.ndarray, "bits"], after: Bool[np.ndarray, "bits"]
    ) -> PlannedMove:
        """What the model expects of a skill on a board, as a move of the game."""
        move = self.reader.move(before, after)
        return PlannedMove(skill, move, move_words(self.reader.move_name(move)))

    def advice(self) -> str:
        """Why the board has no solution, and a single field that would give it one, if any does."""
        board = self.env.boards[0]
        if self.game.fields_per_edit == 1:
            for field in range(self.game.num_fields):
                if self.game.solvable(self.game.edit(board, field)):
                    row, column = divmod(field, self.game.shape[1])
                    place = f"row {row + 1}, column {column + 1}"
                    return f"{NO_SOLUTION}; switch {place} and it has one"
        return NO_SOLUTION

    def close(self) -> None:
        """Free the physics; closing again does nothing."""
        self.env.close()

    def _play(self, move: int) -> Any:
        return self._put(self.game.play(self.env.boards, np.array([move]))[0])

    def _put(self, board: np.ndarray) -> Any:
        return self.env.put_boards(self.game.to_bits(board[None]))

    def _next_seed(self) -> Any:
        self._seeds_used += 1
        return row_seeds(self._seed, 1, Purpose.PLAY, self._seeds_used)
