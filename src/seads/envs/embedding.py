"""A board game embedded in the reach of a manipulator: any game with any manipulator, batched."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt8, UInt64

from seads import streams
from seads.envs.checks import check_actions, check_rows, check_seeds, check_symbols
from seads.envs.interface import EnvSpec, Step
from seads.envs.manipulator import Manipulator
from seads.errors import SeadsError, check_choice
from seads.games.board_types import NO_MOVE, SPLITS, Split
from seads.games.game import Game
from seads.streams import RowPurpose

Mode = Literal["skill", "task"]
GivenBoards = tuple[UInt8[np.ndarray, "picked fields"], Int[np.ndarray, "picked"]]
"""Start boards that a caller sets, and their solution depths; -1 where they are not needed."""


_STANDING = ("boards", "seeds", "moves_made", "terminated")


class Starts(NamedTuple):
    """How episodes start, a row each."""

    seeds: UInt64[np.ndarray, "episodes"]
    boards: UInt8[np.ndarray, "episodes fields"]
    depths: Int[np.ndarray, "episodes"]
    """The solution depth each board was drawn for."""
    uniforms: Float[np.ndarray, "episodes n"]
    """What the manipulator's pose is drawn from."""


class EmbeddedEnv:
    """A `BatchedEnv` from a game and a manipulator.

    An observation is [body, symbol bits, remaining time in [0, 1]]. In skill mode an episode
    is one skill: `terminated` when the symbol changed, `truncated` when `step_limit` steps
    brought no change; `resume` then starts the next skill. In task mode an episode is a
    board to solve: `terminated`, with reward 1, when it is solved, `truncated` after
    `step_limit` times its solution depth; the body's reaction to a move follows at once.

    Start boards are of a solution depth uniform in `depths` and belong to `split`.
    A request that is refused has changed nothing; after a fault of the body its rows must be
    reset. Arrays handed out are the caller's own.
    """

    def __init__(
        self,
        game: Game,
        manipulator: Manipulator,
        name: str,
        num_envs: int,
        depths: tuple[int, int] = (1, 5),
        split: Split = "train",
        mode: Mode = "skill",
    ) -> None:
        if not 1 <= depths[0] <= depths[1]:
            raise SeadsError(f"depths {depths} must be (low, high) with 1 <= low <= high")
        check_choice("split", split, SPLITS)
        check_choice("mode", mode, ("skill", "task"))
        self.game = game
        self.manipulator = manipulator
        self.num_envs = num_envs
        self.depths = depths
        self.split: Split = split
        self.mode: Mode = mode
        self.spec = EnvSpec(
            name=name,
            observation_size=manipulator.observation_size + game.num_bits + 1,
            action_low=manipulator.action_low,
            action_high=manipulator.action_high,
            num_bits=game.num_bits,
            step_limit=manipulator.step_limit,
            num_moves=game.num_moves,
            continuing=manipulator.continuing,
        )
        self._low = np.tile(manipulator.action_low, (num_envs, 1))
        self._high = np.tile(manipulator.action_high, (num_envs, 1))

        self._boards = np.tile(game.goal, (num_envs, 1))
        self._observation = np.zeros((num_envs, self.spec.observation_size), np.float32)
        # Its three parts, as views: an index of rows alone is the fastest way to write to some.
        self._seen_body = self._observation[:, : manipulator.observation_size]
        self._seen_symbol = self._observation[:, manipulator.observation_size : -1]
        self._seen_time = self._observation[:, -1]
        self._seeds = np.zeros(num_envs, np.uint64)
        self._moves_made = np.zeros(num_envs, np.uint64)
        # Whole numbers as floats: numpy divides integers several times as slowly.
        self._clock = np.zeros(num_envs)
        self._limit = np.full(num_envs, float(manipulator.step_limit))
        self._started = np.zeros(num_envs, bool)
        self._running = np.zeros(num_envs, bool)
        self._terminated = np.zeros(num_envs, bool)
        self._truncated = np.zeros(num_envs, bool)
        self._move = np.full(num_envs, NO_MOVE)
        self._touch = np.full((num_envs, 2), np.nan)
        self._closed = False

    def reset(
        self,
        seeds: np.ndarray,
        rows: np.ndarray | None = None,
        symbols: np.ndarray | None = None,
    ) -> Float32[np.ndarray, "rows obs"]:
        rows = check_rows(rows, self.num_envs)
        seeds = check_seeds(seeds, rows)
        given = None if symbols is None else self._given_boards(symbols, rows)
        return self.start(self.draw_starts(seeds, given), rows)

    def draw_starts(
        self, seeds: UInt64[np.ndarray, "episodes"], given: GivenBoards | None = None
    ) -> Starts:
        """The starts that these seeds give, of any number of episodes; boards may be given."""
        # The first number is for the depth, the others are for the pose.
        count = 1 + self.manipulator.num_uniforms
        uniforms = streams.uniforms(streams.fork(seeds, RowPurpose.BODY), count)
        if given is None:
            low, high = self.depths
            depths = low + (uniforms[:, 0] * (high - low + 1)).astype(np.int64)
            given = self.game.draw(depths, self.split, seeds), depths
        boards, depths = given
        return Starts(seeds, boards, depths, uniforms[:, 1:])

    def start(
        self, starts: Starts, rows: Int[np.ndarray, "picked"]
    ) -> Float32[np.ndarray, "rows obs"]:
        """Start new episodes in the picked rows, drawn before."""
        # Should the body fail, these rows have no episode until the next reset.
        self._started[rows] = self._running[rows] = False
        self._seeds[rows] = starts.seeds
        self._moves_made[rows] = 0
        self._boards[rows] = starts.boards
        if self.mode == "task":
            self._limit[rows] = self.spec.step_limit * starts.depths
        self.manipulator.show(rows, starts.boards)
        self.manipulator.reset(rows, starts.uniforms)
        self._started[rows] = True
        return self._begin(rows)

    def resume(self, rows: np.ndarray | None = None) -> Float32[np.ndarray, "rows obs"]:
        if self.mode == "task":
            raise ValueError("resume starts the next skill; a task runs on by itself")
        rows = check_rows(rows, self.num_envs)
        if not self._started[rows].all():
            raise ValueError(f"row {rows[~self._started[rows]][0]} has no episode; reset it first")
        self._after_move(rows[self._terminated[rows]])
        self._boards[rows] = self.manipulator.look(rows, self._boards[rows])
        return self._begin(rows)

    def standing(self) -> dict[str, np.ndarray]:
        """How everything stands between two skills; `stand` brings it back, `resume` goes on."""
        kept = {name: getattr(self, f"_{name}").copy() for name in _STANDING}
        return kept | {f"body_{k}": value for k, value in self.manipulator.standing().items()}

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        """Bring boards and bodies of all rows to where they stood."""
        self._started[:] = self._running[:] = False
        for name in _STANDING:
            getattr(self, f"_{name}")[:] = standing[name]
        body = {k.removeprefix("body_"): v for k, v in standing.items() if k.startswith("body_")}
        self.manipulator.show(np.arange(self.num_envs), self._boards)
        self.manipulator.stand(body)
        self._started[:] = True

    def put_boards(
        self, symbols: np.ndarray, rows: np.ndarray | None = None
    ) -> Float32[np.ndarray, "rows obs"]:
        """Change boards under the bodies, as a hand from outside would: no move of the game.

        Poses and clocks stay as they are, and a running skill goes on.
        """
        rows = check_rows(rows, self.num_envs)
        boards = self.game.from_bits(check_symbols(symbols, rows, self.spec.num_bits))
        self._boards[rows] = boards
        self.manipulator.show(rows, boards)
        self._seen_symbol[rows] = self.game.to_bits(boards)
        return self._observation.copy()

    def step(self, actions: np.ndarray, active: np.ndarray | None = None) -> Step:
        at, actions = check_actions(actions, active, self._running, self._low, self._high)
        touch = self.manipulator.step(at, actions)
        boards = self._boards[at]
        move, played = self.manipulator.play(at, boards, touch)
        if played is boards:
            changed = np.zeros(len(boards), bool)
        else:
            changed = (played != boards).any(axis=1)
            self._boards[at] = played
        clock, limit = self._clock[at] + 1, self._limit[at]
        task = self.mode == "task"
        terminated = (played == self.game.goal).all(axis=1) if task else changed
        done = terminated | (clock >= limit)
        self._clock[at] = clock
        self._terminated[at] = terminated
        self._truncated[at] = done ^ terminated
        self._running[at] = ~done
        self._move[at] = move
        self._touch[at] = touch
        if task:
            goes_on = np.zeros(self.num_envs, bool)
            goes_on[at] = changed & ~done
            self._after_move(np.flatnonzero(goes_on))
        self._seen_time[at] = 1 - clock / limit
        self._seen_body[at] = self.manipulator.observe(at)
        symbol = self.game.to_bits(self._boards)
        self._seen_symbol[:] = symbol
        reward = np.zeros(self.num_envs, np.float32)
        if task:
            reward[:] = self._terminated
        return Step(
            observation=self._observation.copy(),
            symbol=symbol,
            terminated=self._terminated.copy(),
            truncated=self._truncated.copy(),
            reward=reward,
            move=self._move.copy(),
        )

    def _after_move(self, rows: Int[np.ndarray, "picked"]) -> None:
        if len(rows) == 0:
            return
        self._moves_made[rows] += np.uint64(1)
        event = streams.fork(self._seeds[rows], np.uint64(RowPurpose.MOVE) + self._moves_made[rows])
        uniforms = streams.uniforms(event, self.manipulator.num_uniforms)
        self.manipulator.after_move(rows, uniforms)

    def _begin(self, rows: Int[np.ndarray, "picked"]) -> Float32[np.ndarray, "rows obs"]:
        self._running[rows] = True
        self._clock[rows] = 0
        self._terminated[rows] = False
        self._truncated[rows] = False
        self._move[rows] = NO_MOVE
        self._seen_time[rows] = 1.0
        # All rows are looked at: that is cheaper than finding those that begin.
        self._seen_body[:] = self.manipulator.observe(slice(None))
        self._seen_symbol[:] = self.game.to_bits(self._boards)
        return self._observation.copy()

    def _given_boards(self, symbols: np.ndarray, rows: Int[np.ndarray, "picked"]) -> GivenBoards:
        """The start boards that a caller asks for, and their depths if a task needs them."""
        boards = self.game.from_bits(check_symbols(symbols, rows, self.spec.num_bits))
        if self.mode == "skill":
            return boards, np.full(len(rows), -1)
        depths = self.game.depth(boards)
        if (depths < 1).any():
            at = int(np.argmax(depths < 1))
            reason = "is solved already" if depths[at] == 0 else "has no solution"
            raise SeadsError(
                f"row {rows[at]}: board {self.game.format(boards[at])!r} {reason}, so it is no task"
            )
        return boards, depths

    @property
    def symbols(self) -> Bool[np.ndarray, "rows bits"]:
        return self.game.to_bits(self._boards)

    @property
    def boards(self) -> UInt8[np.ndarray, "rows fields"]:
        """The board of every row now."""
        return self._boards.copy()

    @property
    def touch(self) -> Float[np.ndarray, "rows 2"]:
        """The board point each row touched in its last step, with or without effect; NaN if none.

        Where a manipulator feels more finely than the game asks, where exactly it touched.
        """
        touch = np.where(self._clock[:, None] > 0, self._touch, np.nan)
        for row in np.flatnonzero(np.isfinite(touch[:, 0])):
            exact = self.manipulator.contact(int(row))
            if exact is not None:
                touch[row] = exact
        return touch

    def close(self) -> None:
        """Free the manipulator's physics; closing again does nothing."""
        if not self._closed:
            self._closed = True
            self.manipulator.close()
