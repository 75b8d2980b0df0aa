"""The environments with Gymnasium's interfaces, one row or many; `seads.envs` registers their ids.

After `import seads.envs`, `gymnasium.make("seads/LightsOutCursor-v0")` and
`gymnasium.make_vec("seads/LightsOutCursor-v0", num_envs=32)` work; so does
`gymnasium.make("seads.envs:seads/LightsOutCursor-v0")` without it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float, Float32, Int, UInt8

from seads.envs.embedding import EmbeddedEnv, Starts
from seads.envs.interface import Step
from seads.envs.registry import make_env
from seads.envs.render import Renderer
from seads.errors import SeadsError, check_choice
from seads.games.game import NO_MOVE
from seads.streams import fork

METADATA = {"render_modes": ["rgb_array"], "render_fps": 10}
AHEAD = 32  # episodes of a row that are drawn at a time; two kilobytes on a board of 5x5
AUTORESET = {"same_step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}
RESET_OPTIONS = ("reset_mask", "symbol", "resume")
Seeds = int | np.integer | Sequence[SupportsIndex | None] | np.ndarray | None
"""One for all rows, or one a row; None leaves a row its own."""


class SeadsVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """All rows of a batched environment; `options` are those of `make_env`, such as `mode`.

    The n-th episode of a row, n from 0, has the seed `fork(root, n)`. A root is a seed that the
    caller gave; until then it differs from run to run. With the robot, which is never reset by
    itself, only episode 0 has a start of its own: each other goes on where the last one ended.

    `reset` takes `options={"symbol": bits}` to start from a given board, and in skill mode
    `options={"resume": True}` to start the next skill where the last one ended, which no seed
    and no symbol can change. `info` has the symbol and, after a game move, the move.
    In skill mode rewards are zero; in task mode solving the board gives 1.

    `autoreset="same_step"` resets a finished row at once and puts its last observation and
    info into `final_obs` and `final_info`; `"disabled"` leaves that to the caller, who
    resets rows by `options={"reset_mask": mask}`. Gymnasium's next-step mode inserts
    transitions that nobody should learn from, so it is not offered.
    """

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        autoreset: str = "same_step",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_choice("autoreset", autoreset, AUTORESET)
        if render_mode not in (None, "rgb_array"):
            raise SeadsError(f"unknown render_mode {render_mode!r}; choose from rgb_array, None")
        env = make_env(name, num_envs, **options)
        if not isinstance(env, EmbeddedEnv):
            raise SeadsError(f"{name!r} is no environment of the table")
        self.batch = env
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = {**METADATA, "autoreset_mode": AUTORESET[autoreset]}
        self.single_observation_space, self.single_action_space = spaces(env)
        self.observation_space: gymnasium.Space = batch_space(
            self.single_observation_space, num_envs
        )
        self.action_space: gymnasium.Space = batch_space(self.single_action_space, num_envs)
        self._roots = np.random.default_rng().integers(0, 2**64, num_envs, np.uint64)
        self._episodes = np.zeros(num_envs, np.int64)
        # Of each row: the first episode that is drawn ahead, and the starts of all that are.
        self._first = np.full(num_envs, -AHEAD)
        self._ahead: Starts | None = None
        self._renderer: Renderer | None = None
        self._continues = env.spec.continuing and env.mode == "skill"

    def reset(
        self,
        *,
        seed: Seeds = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Float32[np.ndarray, "rows obs"], dict[str, Any]]:
        """Reset all rows or those of `reset_mask`; an int seeds row i with `seed + i`."""
        options = options or {}
        for key in options:
            check_choice("reset option", key, RESET_OPTIONS)
        mask = self._check_mask(options.get("reset_mask"))
        seeds = self._check_seed(seed)
        resumed = bool(options.get("resume"))
        if resumed and (options.get("symbol") is not None or any(s is not None for s in seeds)):
            raise ValueError("resume goes on where the last skill ended: give no seed or symbol")
        super().reset(seed=seeds[0] if isinstance(seed, int | np.integer) else None)
        rows = mask.nonzero()[0]
        if resumed:
            observation = self.batch.resume(rows)
        else:
            for row in rows:
                if (root := seeds[row]) is not None:
                    self._roots[row], self._episodes[row] = root % 2**64, 0
                    self._first[row] = -AHEAD  # what was drawn ahead is another root's
            given = options.get("symbol")
            symbols = None if given is None else np.tile(np.asarray(given), (len(rows), 1))
            observation = self.start(rows, symbols)
        symbol = self.batch.symbols & mask[:, None]
        return observation, {"symbol": symbol, "_symbol": mask}

    def start(
        self, rows: Int[np.ndarray, "picked"], symbols: np.ndarray | None = None
    ) -> Float32[np.ndarray, "rows obs"]:
        """Start the next episode of each picked row; one that is refused is not used up.

        Where skills follow one another without resets, all but the first of a seed go on.
        """
        numbers = self._episodes[rows]
        if symbols is None and self._continues and (begun := numbers > 0).any():
            observation = self.batch.resume(rows[begun])
            self._episodes[rows[begun]] += 1
            if begun.all():
                return observation
            rows, numbers = rows[~begun], numbers[~begun]
        if symbols is None:
            observation = self.batch.start(self._starts(rows, numbers), rows)
        else:
            seeds = fork(self._roots[rows], numbers.astype(np.uint64))
            observation = self.batch.reset(seeds, rows, symbols)
        self._episodes[rows] = numbers + 1
        return observation

    def _starts(
        self, rows: Int[np.ndarray, "picked"], numbers: Int[np.ndarray, "picked"]
    ) -> Starts:
        """How these episodes start, looked up.

        Drawing for a few rows takes nearly as long as for hundreds, and in most steps a few rows
        end: so starts are drawn ahead, for all rows, since soon the others will need theirs.
        """
        place = numbers - self._first[rows]
        if self._ahead is None or np.count_nonzero(place >= AHEAD):
            self._first = self._episodes.copy()
            ahead = np.add.outer(self._first, np.arange(AHEAD)).astype(np.uint64)
            drawn = self.batch.draw_starts(fork(np.repeat(self._roots, AHEAD), ahead.ravel()))
            self._ahead = Starts(*map(np.ascontiguousarray, drawn))
            place = np.zeros_like(place)
        places = rows * AHEAD + place
        return Starts(*(part.take(places, axis=0) for part in self._ahead))

    def step(
        self, actions: Float[np.ndarray, "rows act"]
    ) -> tuple[
        Float32[np.ndarray, "rows obs"],
        Float[np.ndarray, "rows"],
        Bool[np.ndarray, "rows"],
        Bool[np.ndarray, "rows"],
        dict[str, Any],
    ]:
        step = self.batch.step(actions)
        observation, done = step.observation, step.done
        everywhere = np.ones(self.num_envs, bool)
        if self.metadata["autoreset_mode"] is AutoresetMode.DISABLED or not done.any():
            info = {"symbol": step.symbol, "_symbol": everywhere} | _moves(step, everywhere)
        else:
            ended = done.nonzero()[0]
            final = np.full(self.num_envs, None, dtype=object)
            for row, last in zip(ended, observation[ended], strict=True):
                final[row] = last
            symbol = step.symbol & done[:, None]
            final_info = {"symbol": symbol, "_symbol": done.copy()} | _moves(step, done)
            observation = self.start(ended)
            info = {"symbol": self.batch.symbols, "_symbol": everywhere} | _moves(step, ~done)
            info |= {"final_obs": final, "_final_obs": done}
            info |= {"final_info": final_info, "_final_info": done.copy()}
        return observation, step.reward.astype(np.float64), step.terminated, step.truncated, info

    def render(self) -> tuple[UInt8[np.ndarray, "height width 3"], ...] | None:
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = Renderer(self.batch)
        return tuple(self._renderer.frame(row) for row in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        if self._renderer is not None:
            self._renderer.close()
        self.batch.close()

    def _check_mask(self, mask: Any) -> Bool[np.ndarray, "rows"]:
        if mask is None:
            return np.ones(self.num_envs, bool)
        given = np.asarray(mask)
        if given.shape != (self.num_envs,) or given.dtype != np.bool_:
            raise ValueError(
                f"reset_mask is {given.dtype} {given.shape}; expected bool ({self.num_envs},)"
            )
        return given.copy()

    def _check_seed(self, seed: Seeds) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            seed = range(int(seed), int(seed) + self.num_envs)
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds were given for {self.num_envs} environments")
        return [None if one is None else _whole(one) for one in seed]


class SeadsEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A `SeadsVectorEnv` of one row, which the caller resets."""

    metadata = METADATA

    def __init__(self, name: str, render_mode: str | None = None, **options: Any) -> None:
        self._rows = SeadsVectorEnv(name, 1, "disabled", render_mode, **options)
        self.batch, self.render_mode = self._rows.batch, render_mode
        self.observation_space = self._rows.single_observation_space
        self.action_space = self._rows.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32[np.ndarray, "obs"], dict[str, Any]]:
        super().reset(seed=seed)
        observation, info = self._rows.reset(seed=seed, options=options)
        return observation[0], {"symbol": info["symbol"][0]}

    def step(
        self, action: np.ndarray
    ) -> tuple[Float32[np.ndarray, "obs"], float, bool, bool, dict[str, Any]]:
        step = self.batch.step(np.asarray(action)[None])
        move = int(step.move[0])
        info: dict[str, Any] = {"symbol": step.symbol[0]}
        info |= {} if move == NO_MOVE else {"move": move}
        ended = bool(step.terminated[0]), bool(step.truncated[0])
        return step.observation[0], float(step.reward[0]), *ended, info

    def render(self) -> UInt8[np.ndarray, "height width 3"] | None:
        pictures = self._rows.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        self._rows.close()


def _whole(seed: Any) -> int:
    """A seed as a number of Python's own; raises if it is none, or below 0."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"seed {seed!r} is not allowed; choose a whole number, 0 or more")
    return number


def _moves(step: Step, rows: Bool[np.ndarray, "rows"]) -> dict[str, Any]:
    """The picked rows' moves in Gymnasium's vector form, an array and a mask, if there are any."""
    moved = rows & (step.move != NO_MOVE)
    return {"move": np.where(moved, step.move, 0), "_move": moved} if moved.any() else {}


def spaces(env: EmbeddedEnv) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """The observation and action space of one row: the body is unbounded, bits and time are not."""
    high = np.ones(env.spec.observation_size, np.float32)
    low = np.zeros_like(high)
    body = slice(env.manipulator.observation_size)
    low[body], high[body] = -np.inf, np.inf
    weakest, strongest = np.array([env.spec.action_low, env.spec.action_high], np.float32)
    return gymnasium.spaces.Box(low, high), gymnasium.spaces.Box(weakest, strongest)
