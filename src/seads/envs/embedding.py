"""A board game embedded in the reach of a manipulator: any game with any body, batched."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt8

from seads import streams
from seads.envs.interface import EnvSpec, Manipulator, Step
from seads.envs.requests import check_actions, check_rows, check_seeds, check_symbols
from seads.errors import SeadsError
from seads.games.game import DRAW, NO_MOVE, Game, Split

Mode = Literal["skill", "task"]

# What a row's seed is used for; each purpose has its own stream, and each move one of its own.
_START = np.array([[1], [DRAW]], np.uint64)  # of the body, and of the board
_AFTER_MOVE = np.uint64(2**32)

# Arrays rather than numbers: numpy converts a number anew in every operation.
_ONE, _STEP, _NO_MOVE = np.array(1.0), np.array(1), np.array(NO_MOVE)


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
        self._low = np.array(manipulator.action_low)
        self._high = np.array(manipulator.action_high)
        self._everything = np.arange(num_envs)

        self._boards = np.tile(game.goal, (num_envs, 1))
        self._observation = np.zeros((num_envs, self.spec.observation_size), np.float32)
        # Its three parts, as views: an index of rows alone is the fastest way to write to some.
        self._body_size = manipulator.observation_size
        self._seen_body = self._observation[:, : self._body_size]
        self._seen_symbol = self._observation[:, self._body_size : -1]
        self._seen_time = self._observation[:, -1]
        self._seeds = np.zeros(num_envs, np.uint64)
        self._moves_made = np.zeros(num_envs, np.uint64)
        self._depths_drawn = np.full(num_envs, -1)
        self._clock = np.zeros(num_envs, np.int64)
        self._limit = np.full(num_envs, manipulator.step_limit)
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
        seeds: np.ndarray,
        rows: np.ndarray | None = None,
        symbols: np.ndarray | None = None,
    ) -> Float32[np.ndarray, "rows obs"]:
        rows = check_rows(rows, self._everything)
        seeds = check_seeds(seeds, rows)
        # The body's first number is for the depth, the others are for the pose.
        count = 1 + self.manipulator.num_uniforms
        start, board = streams.uniforms(streams.fork(seeds, _START), count)
        if symbols is None:
            depths = (start[:, 0] * self._num_depths).astype(np.int64)
            depths += self._lowest_depth
            boards = self.game.draw(depths, self.split, seeds, board[:, 0])
        else:
            boards = self.game.from_bits(check_symbols(symbols, rows, self.spec.num_bits))
            depths = np.full(len(rows), -1)
            if self.mode == "task":
                depths = self._task_depths(boards, rows)
        self._seeds[rows] = seeds
        self._moves_made[rows] = 0
        self._depths_drawn[rows] = depths
        self._boards[rows] = boards
        if self.mode == "task":
            self._limit[rows] = self.spec.step_limit * depths
        self._started[rows] = True
        self.manipulator.reset(rows, start[:, 1:])
        return self._begin(rows)

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
        # A slice instead of row numbers where all rows step: numpy is faster without looking up.
        at = slice(None) if rows is self._everything else rows
        touch = self.manipulator.step(rows, actions)
        move = self.game.move_at(touch, self._boards[at])
        changed = self._play(rows, move)
        self._clock[at] += _STEP
        clock, limit = self._clock[at], self._limit[at]
        task = self.mode == "task"
        terminated = (self._boards[at] == self.game.goal).all(axis=1) if task else changed
        truncated = (clock >= limit) & ~terminated
        running = ~(terminated | truncated)
        self._terminated[at] = terminated
        self._truncated[at] = truncated
        self._running[at] = running
        self._move[at] = move
        self._touch[at] = touch
        if task:
            self._after_move(rows[changed & running])
        symbol = self.game.to_bits(self._boards)
        self._seen_body[at] = self.manipulator.observe(rows)
        self._seen_symbol[:] = symbol
        self._seen_time[at] = _ONE - clock / limit
        return Step(
            observation=self._observation.copy(),
            symbol=symbol,
            terminated=self._terminated.copy(),
            truncated=self._truncated.copy(),
            reward=self._terminated.astype(np.float32) if task else self._no_reward.copy(),
            move=self._move.copy(),
        )

    def _play(
        self, rows: Int[np.ndarray, "picked"], move: Int[np.ndarray, "picked"]
    ) -> Bool[np.ndarray, "picked"]:
        """Make the moves on the boards; which rows' symbols that changed."""
        changed = move != _NO_MOVE
        moved = changed.nonzero()[0]
        if len(moved) == 0:
            return changed
        rows = rows.take(moved)
        before = self._boards.take(rows, axis=0)
        boards = self.game.play(before, move.take(moved))
        changed[moved] = np.logical_or.reduce(boards != before, axis=1)
        self._boards[rows] = boards
        return changed

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
        seen = np.empty((len(rows), self.spec.observation_size), np.float32)
        seen[:, : self._body_size] = self.manipulator.observe(rows)
        seen[:, self._body_size : -1] = self.game.to_bits(self._boards.take(rows, axis=0))
        seen[:, -1] = 1.0
        self._observation[rows] = seen
        return self._observation.copy()

    def _task_depths(
        self, boards: UInt8[np.ndarray, "picked fields"], rows: Int[np.ndarray, "picked"]
    ) -> Int[np.ndarray, "picked"]:
        depths = self.game.depth(boards)
        if (depths < 1).any():
            at = int(np.argmax(depths < 1))
            reason = "is solved already" if depths[at] == 0 else "has no solution"
            raise SeadsError(
                f"row {rows[at]}: board {self.game.format(boards[at])!r} {reason}, so it is no task"
            )
        return np.asarray(depths, np.int64)

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
