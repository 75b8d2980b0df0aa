"""A board game embedded in the reach of a manipulator: any game with any body, batched."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt8, UInt64

from seads import streams
from seads.envs.episodes import Episodes, Starts
from seads.envs.interface import EnvSpec, Manipulator, Step
from seads.envs.requests import check_actions, check_rows, check_seeds, check_symbols
from seads.errors import SeadsError
from seads.games.game import NO_MOVE, Game, Split
from seads.streams import RowPurpose

Mode = Literal["skill", "task"]
GivenBoards = tuple[UInt8[np.ndarray, "picked fields"], Int[np.ndarray, "picked"]]
"""Start boards that a caller sets, and their solution depths; -1 where nobody asks for them."""

_START = np.array([[RowPurpose.BODY], [RowPurpose.BOARD]], np.uint64)
_AFTER_MOVE = np.uint64(RowPurpose.MOVE)

# Arrays rather than numbers: numpy converts a number anew in every operation.
_ONE, _NO_MOVE = np.array(1.0), np.array(NO_MOVE)
_ALL = slice(None)


class EmbeddedEnv:
    """A `BatchedEnv` from a game and a manipulator.

    An observation is [body, symbol bits, remaining time in [0, 1]]. In skill mode an episode
    is one skill: `terminated` when the symbol changed, `truncated` when `step_limit` steps
    brought no change; `resume` then starts the next skill. In task mode an episode is a
    board to solve: `terminated`, with reward 1, when it is solved, `truncated` after
    `step_limit` times its solution depth; the body's reaction to a move follows at once.

    Start boards are of a solution depth uniform in `depths` and belong to `split`.
    A call that raises has changed nothing. Arrays handed out are the caller's own.
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
        if split not in ("train", "test", "all"):
            raise SeadsError(f"unknown split {split!r}; choose from train, test, all")
        self.game = game
        self.manipulator = manipulator
        self.num_envs = num_envs
        self._closed = False
        self.depths = depths
        self._lowest_depth = np.array(depths[0])
        self._num_depths = np.array(float(depths[1] - depths[0] + 1))
        self.split: Split = split
        self.spec = EnvSpec(
            name=name,
            observation_size=manipulator.observation_size + game.num_bits + 1,
            action_low=manipulator.action_low,
            action_high=manipulator.action_high,
            num_bits=game.num_bits,
            step_limit=manipulator.step_limit,
            num_moves=game.num_moves,
        )
        self._low = np.tile(manipulator.action_low, (num_envs, 1))
        self._high = np.tile(manipulator.action_high, (num_envs, 1))
        self._everything = np.arange(num_envs)
        self._episodes = Episodes(num_envs, self._draw)

        self._boards = np.tile(game.goal, (num_envs, 1))
        self._observation = np.zeros((num_envs, self.spec.observation_size), np.float32)
        # Its three parts, as views: an index of rows alone is the fastest way to write to some.
        self._seen_body = self._observation[:, : manipulator.observation_size]
        self._seen_symbol = self._observation[:, manipulator.observation_size : -1]
        self._seen_time = self._observation[:, -1]
        self._seeds = np.zeros(num_envs, np.uint64)
        self._moves_made = np.zeros(num_envs, np.uint64)
        self._depths_drawn = np.full(num_envs, -1)
        # Whole numbers as floats: numpy divides integers several times as slowly.
        self._clock = np.zeros(num_envs)
        self._limit = np.full(num_envs, float(manipulator.step_limit))
        self._started = np.zeros(num_envs, bool)
        self._running = np.zeros(num_envs, bool)
        self._terminated = np.zeros(num_envs, bool)
        self._truncated = np.zeros(num_envs, bool)
        self._move = np.full(num_envs, NO_MOVE)
        self._touch = np.full((num_envs, 2), np.nan)
        self._no_reward = np.zeros(num_envs, np.float32)
        self.set_mode(mode)

    def set_mode(self, mode: Mode) -> None:
        """Choose what an episode is; every row must be reset afterwards."""
        if mode not in ("skill", "task"):
            raise SeadsError(f"unknown mode {mode!r}; choose from skill, task")
        self.mode: Mode = mode
        self._limit[:] = self.spec.step_limit  # times the depth of a task, which a reset draws
        self._started[:] = False
        self._running[:] = False

    def reset(
        self,
        seeds: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        symbols: np.ndarray | None = None,
    ) -> Float32[np.ndarray, "rows obs"]:
        """As in `BatchedEnv`; without seeds, the next episodes of the rows' series."""
        rows = check_rows(rows, self._everything)
        given = None if symbols is None else self._given_boards(symbols, rows)
        if seeds is None:
            starts = self._episodes.take(rows)
        else:
            starts = self._draw(check_seeds(seeds, rows), given)
        boards, depths = given or (starts.boards, starts.depths)
        self._seeds[rows] = starts.seeds
        self._moves_made[rows] = 0
        self._depths_drawn[rows] = depths
        self._boards[rows] = boards
        if self.mode == "task":
            self._limit[rows] = self.spec.step_limit * depths
        self._started[rows] = True
        self.manipulator.reset(rows, starts.uniforms)
        return self._begin(rows)

    def start_series(self, seeds: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Give the picked rows (all by default) a series of episodes each, for `reset()`.

        A row's series is a function of its seed alone, and `reset` with seeds leaves it alone.
        Such resets are the fastest: their starts are drawn ahead, many at once.
        """
        rows = check_rows(rows, self._everything)
        self._episodes.restart(rows, check_seeds(seeds, rows))

    def _draw(
        self, seeds: UInt64[np.ndarray, "picked"], given: GivenBoards | None = None
    ) -> Starts:
        """The starts that these seeds give, except for boards that are given."""
        # The body's first number is for the depth, the others are for the pose.
        count = 1 + self.manipulator.num_uniforms
        start, board = streams.uniforms(streams.fork(seeds, _START), count)
        if given is None:
            depths = (start[:, 0] * self._num_depths).astype(np.int64)
            depths += self._lowest_depth
            boards = self.game.draw(depths, self.split, seeds, board[:, 0])
        else:
            boards, depths = given
        return Starts(seeds, depths, boards, start[:, 1:])

    def resume(self, rows: np.ndarray | None = None) -> Float32[np.ndarray, "rows obs"]:
        if self.mode == "task":
            raise ValueError("resume starts the next skill; a task runs on by itself")
        rows = check_rows(rows, self._everything)
        if not self._started[rows].all():
            raise ValueError(f"row {rows[~self._started[rows]][0]} has no episode; reset it first")
        self._after_move(rows[self._terminated[rows]])
        return self._begin(rows)

    def put_boards(
        self, symbols: np.ndarray, rows: np.ndarray | None = None
    ) -> Float32[np.ndarray, "rows obs"]:
        """Change boards under the bodies, as a hand from outside would: nobody's move.

        Poses and clocks stay as they are, and a running skill goes on.
        """
        rows = check_rows(rows, self._everything)
        boards = self.game.from_bits(check_symbols(symbols, rows, self.spec.num_bits))
        self._boards[rows] = boards
        self._seen_symbol[rows] = self.game.to_bits(boards)
        return self._observation.copy()

    def step(
        self,
        actions: np.ndarray,
        active: np.ndarray | None = None,
    ) -> Step:
        rows, actions = check_actions(
            actions, active, self._running, self._everything, self._low, self._high
        )
        at = _ALL if rows is self._everything else rows
        touch = self.manipulator.step(at, actions)
        boards = self._boards[at]
        move = self.game.move_at(touch, boards)
        changed = move != _NO_MOVE
        if np.count_nonzero(changed):
            played = self.game.play(boards, move)
            changed = np.logical_or.reduce(played != boards, axis=1)
            self._boards[at] = played
        self._clock[at] += _ONE
        clock, limit = self._clock[at], self._limit[at]
        task = self.mode == "task"
        terminated = (self._boards[at] == self.game.goal).all(axis=1) if task else changed
        truncated = clock >= limit
        truncated &= ~terminated
        running = ~(terminated | truncated)
        self._terminated[at] = terminated
        self._truncated[at] = truncated
        self._running[at] = running
        self._move[at] = move
        self._touch[at] = touch
        if task:
            self._after_move(rows[changed & running])
        self._seen_time[at] = _ONE - clock / limit
        self._seen_body[at] = self.manipulator.observe(at)
        symbol = self.game.to_bits(self._boards)
        self._seen_symbol[:] = symbol
        return Step(
            observation=self._observation.copy(),
            symbol=symbol,
            terminated=self._terminated.copy(),
            truncated=self._truncated.copy(),
            reward=self._terminated.astype(np.float32) if task else self._no_reward.copy(),
            move=self._move.copy(),
        )

    def _after_move(self, rows: Int[np.ndarray, "picked"]) -> None:
        if len(rows) == 0:
            return
        self._moves_made[rows] += np.uint64(1)
        event = streams.fork(self._seeds[rows], _AFTER_MOVE + self._moves_made[rows])
        uniforms = streams.uniforms(event, self.manipulator.num_uniforms)
        self.manipulator.after_move(rows, uniforms)

    def _begin(self, rows: Int[np.ndarray, "picked"]) -> Float32[np.ndarray, "rows obs"]:
        self._running[rows] = True
        self._clock[rows] = 0
        self._terminated[rows] = False
        self._truncated[rows] = False
        self._move[rows] = _NO_MOVE
        self._seen_time[rows] = 1.0
        # All rows are looked at: that is cheaper than finding those that begin.
        self._seen_body[:] = self.manipulator.observe(_ALL)
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
    def depths_drawn(self) -> Int[np.ndarray, "rows"]:
        """The solution depth each start board was drawn for; -1 where the board was given."""
        return self._depths_drawn.copy()

    @property
    def touch(self) -> Float[np.ndarray, "rows 2"]:
        """The board point each row touched in its last step, NaN if none."""
        return np.where(self._clock[:, None] > 0, self._touch, np.nan)

    def close(self) -> None:
        """Free the body's physics; closing again does nothing."""
        if not self._closed:
            self._closed = True
            self.manipulator.close()
