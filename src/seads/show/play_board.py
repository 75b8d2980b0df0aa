"""The board of `play` with the body that works on it, as a person sets it up and changes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.agent.agent import Agent
from seads.envs import make_env
from seads.envs.embedding import EmbeddedEnv
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.evaluation.boards import AnyGame, GameReader, game_of
from seads.evaluation.depths import deepest
from seads.evaluation.tasks import draw_tasks
from seads.games import LightsOut
from seads.streams import Purpose, row_seeds


class PlayBoard:
    """One board of an agent's environment. Close it to free the physics.

    Whatever changes the board in place returns what the body then observes.
    """

    def __init__(self, agent: Agent, seed: int) -> None:
        game = game_of(agent.env)
        if game is None:
            raise SeadsError(f"play shows boards, and {agent.env!r} has none")
        self.game: AnyGame = game
        self.reader = GameReader(game)
        self.depths = lookup(agent.env).depths
        """Lowest and highest solution depth of the boards that the agent learned on."""
        self.deepest = deepest(game, "test")
        """Highest depth that boards may be drawn of."""
        self.goal: Bool[np.ndarray, "bits"] = game.to_bits(game.goal[None])[0]
        """The solved board."""
        self._seed, self._rng_uses = seed, 0
        made = make_env(agent.env, 1, split="test", **agent.env_options)
        if not isinstance(made, EmbeddedEnv):
            raise SeadsError(f"play cannot show {agent.env!r}")
        self.env: EmbeddedEnv = made
        try:
            agent.check_fits(made.spec)
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
        self.begin(draw_tasks(self.game, [depth], 1, "test", seed)[1][0])

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
        """Switch a light, or exchange two chips."""
        board = self.env.boards[0]
        for one in (field, other):
            if one is not None:
                _check(one, self.game.num_fields)
        if isinstance(self.game, LightsOut):
            board[field] ^= 1
        elif other is not None:
            board[[field, other]] = board[[other, field]]
        return self._put(board)

    def press(self, move: int) -> Any:
        """Make a move of the game."""
        _check(move, self.game.num_moves)
        return self._put(self.game.play(self.env.boards, np.array([move]))[0])

    def press_any(self) -> Any:
        """Make a random move of the game."""
        rng = np.random.default_rng(self._next_seed())
        return self.press(int(rng.integers(self.game.num_moves)))

    def close(self) -> None:
        """Free the physics; closing again does nothing."""
        self.env.close()

    # -------------------------------------------------------------------------------------

    def _put(self, board: np.ndarray) -> Any:
        return self.env.put_boards(self.game.to_bits(board[None]))

    def _next_seed(self) -> Any:
        self._rng_uses += 1
        return row_seeds(self._seed, 1, Purpose.PLAY, self._rng_uses)


def _check(field: int, count: int) -> None:
    if not 0 <= field < count:
        raise SeadsError(f"field {field} is not there; choose 0 to {count - 1}")
