"""A user's own environment: any Gymnasium environment with Box actions, plus a function phi."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import gymnasium
import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from seads import streams
from seads.envs.checks import (
    FARTHEST,
    check_actions,
    check_count,
    check_rows,
    check_seeds,
    check_symbols,
)
from seads.envs.gymnasium_rows import (
    Act,
    Look,
    LoopRows,
    MakeEnv,
    Outcome,
    Reset,
    RowFailed,
    RowSet,
    ThreadRows,
    Vectorise,
)
from seads.envs.interface import EnvSpec, Step
from seads.envs.own import CALLED
from seads.envs.process_rows import ProcessRows
from seads.errors import FAILURES, SeadsError, check_choice, told
from seads.games.game import NO_MOVE

Phi = Callable[[Any], Any]
KINDS: dict[str, Callable[[MakeEnv, int], RowSet]] = {
    "none": LoopRows,
    "threads": ThreadRows,
    "processes": ProcessRows,
}
"""How rows may be run, by the name that `vectorise` has for it."""
INSTEAD: ContextVar[Vectorise | None] = ContextVar("vectorise instead", default=None)
"""What is used whatever a factory asks for, to compare them."""


class GymBatch:
    """A `BatchedEnv` of Gymnasium environments, whose symbolic state is `phi(observation)`.

    `make` returns a new environment; `phi` maps one of its observations to a vector of bits,
    always of the same length (`num_bits`, checked where given). An observation here is
    [the environment's, flattened; bits; remaining time in [0, 1]]. `step_limit` is the
    longest skill, by default the environment's own `max_episode_steps`.

    A skill ends when phi changes (`terminated`), at the limit or when the environment ends
    by itself (`truncated`). After the latter the row must be reset: `resume` raises, and
    `ended` tells which rows these are. Make the environment with `max_episode_steps=-1` if
    its clock should not interrupt skills that follow each other.

    `reset(symbols=...)` passes `options={"symbol": bits}` to the environment and raises if
    it does not start there. `vectorise` chooses a loop, threads or processes; trajectories
    are the same. `reward` is the environment's, `move` is always -1. `num_moves` is how many
    different effects there are: the default number of skills, and what coverage is out of.
    `chained` allows that in training skills start where the one before ended, as in a plan, if
    resets do not lead there; without it each starts from a reset.
    """

    def __init__(
        self,
        make: MakeEnv,
        phi: Phi,
        num_envs: int,
        num_bits: int | None = None,
        step_limit: int | None = None,
        vectorise: Vectorise = "none",
        name: str | None = None,
        num_moves: int | None = None,
        chained: bool = True,
    ) -> None:
        check_count("num_envs", num_envs)
        self.num_envs = num_envs
        vectorise = INSTEAD.get() or vectorise
        check_choice("vectorise", vectorise, KINDS)
        self._phi = phi
        self._rows = KINDS[vectorise](make, num_envs)
        self._closed = False
        try:
            look = self._rows.look
            _check_first(look)  # or phi would be blamed for what it cannot read
            bits = _ask(phi, look.observation, num_bits)
            self.spec = _describe(look, name, len(bits), step_limit, num_moves, chained)
            self._rows.build()
        except BaseException:
            self.close()
            raise
        self._called = CALLED.get() or self.spec.name
        self._space = look.observation_space
        self._action_shape = look.action_space.shape or ()
        self._action_dtype = look.action_space.dtype
        self._low = np.tile(self.spec.action_low, (num_envs, 1))
        self._high = np.tile(self.spec.action_high, (num_envs, 1))

        self.seen: list[Any] = [look.observation] * num_envs
        """Each row's newest observation as its environment gave it, which may change it later."""
        self.vectorise = vectorise
        self.any_number = False
        """Whether to take observations also where nothing can be learned from their numbers."""
        self._observation = np.zeros((num_envs, self.spec.observation_size), np.float32)
        self._bits = np.zeros((num_envs, self.spec.num_bits), bool)
        self._clock = np.zeros(num_envs, np.int64)
        self._started = np.zeros(num_envs, bool)
        self._terminated = np.zeros(num_envs, bool)
        self._truncated = np.zeros(num_envs, bool)
        self._ended = np.zeros(num_envs, bool)
        self._reward = np.zeros(num_envs, np.float32)

    def reset(
        self,
        seeds: np.ndarray,
        rows: np.ndarray | None = None,
        symbols: np.ndarray | None = None,
    ) -> Float32[np.ndarray, "rows obs"]:
        rows = check_rows(rows, self.num_envs)
        seeds = check_seeds(seeds, rows)
        # Gymnasium's environments take seeds below 2**31.
        small = (streams.mix(seeds) >> np.uint64(33)).astype(np.int64).tolist()
        if symbols is None:
            orders = [Reset(seed) for seed in small]
        else:
            symbols = check_symbols(symbols, rows, self.spec.num_bits)
            orders = [Reset(s, bits) for s, bits in zip(small, symbols.copy(), strict=True)]
        # Should the environment or phi fail, these rows have no episode until the next reset.
        self._started[rows] = False
        with self._failures_named():
            self._take(rows, self._rows.apply(rows.tolist(), orders))
            if symbols is not None and (self._bits[rows] != symbols).any():
                row = rows[(self._bits[rows] != symbols).any(axis=1)][0]
                raise SeadsError(
                    f"row {row} did not start with the symbol asked for: the environment "
                    "must follow reset(options={'symbol': bits})"
                )
        self._started[rows] = True
        return self._begin(rows)

    def resume(self, rows: np.ndarray | None = None) -> Float32[np.ndarray, "rows obs"]:
        rows = check_rows(rows, self.num_envs)
        if not self._started[rows].all():
            raise ValueError(f"row {rows[~self._started[rows]][0]} has no episode; reset it first")
        if self._ended[rows].any():
            raise ValueError(
                f"row {rows[self._ended[rows]][0]}: the environment itself has ended; reset it"
            )
        return self._begin(rows)

    def step(self, actions: np.ndarray, active: np.ndarray | None = None) -> Step:
        running = self._started & ~(self._terminated | self._truncated)
        picked, actions = check_actions(actions, active, running, self._low, self._high)
        rows = np.arange(self.num_envs)[picked]
        shaped = actions.reshape(len(rows), *self._action_shape).astype(self._action_dtype)
        before = self._bits[rows]
        self._started[rows] = False
        with self._failures_named():
            self._take(rows, self._rows.apply(rows.tolist(), [Act(action) for action in shaped]))
        self._started[rows] = True
        self._clock[rows] += 1
        changed = (self._bits[rows] != before).any(axis=1)
        over = (self._clock[rows] >= self.spec.step_limit) | self._ended[rows]
        self._terminated[rows] = changed
        self._truncated[rows] = over & ~changed
        self._observation[rows, -1] = 1.0 - self._clock[rows] / self.spec.step_limit
        return Step(
            observation=self._observation.copy(),
            symbol=self._bits.copy(),
            terminated=self._terminated.copy(),
            truncated=self._truncated.copy(),
            reward=self._reward.copy(),
            move=np.full(self.num_envs, NO_MOVE),
        )

    def _take(self, rows: Int[np.ndarray, "picked"], outcomes: list[Outcome]) -> None:
        """Keep what the environments answered; raises before keeping anything of what is wrong."""
        own = self.spec.own_size
        bits = np.zeros((len(rows), self.spec.num_bits), bool)
        seen = np.zeros((len(rows), own))
        for at, outcome in enumerate(outcomes):
            try:
                seen[at] = self._flat(outcome.observation)
                bits[at] = self.symbol_of(outcome.observation)
            except SeadsError as error:
                raise SeadsError(f"row {rows[at]}: {error}") from error
        with np.errstate(over="ignore"):  # of what is taken whatever its numbers
            self._observation[rows, :own] = seen
        self._observation[rows, own:-1] = bits
        self._bits[rows] = bits
        for row, outcome in zip(rows, outcomes, strict=True):
            self.seen[row] = outcome.observation
            self._reward[row] = outcome.reward
            self._ended[row] = outcome.ended

    def _flat(self, observation: Any) -> Float[np.ndarray, "own"]:
        """An observation's numbers in a row; raises unless they fit, and can be learned from."""
        flat = _flatten(self._space, observation, self.spec.own_size)
        good = np.abs(flat) <= FARTHEST  # which no NaN is
        if np.count_nonzero(good) < len(flat) and not self.any_number:
            place = int(good.argmin())
            raise SeadsError(
                f"observation[{place}] is {flat[place]:g}; allowed: finite numbers, of "
                f"{FARTHEST:.0e} at most"
            )
        return flat

    @contextmanager
    def _failures_named(self) -> Iterator[None]:
        """Whatever fails in it is told with the environment's name."""
        try:
            yield
        except SeadsError as error:
            raise RowFailed(f"environment {self._called!r}: {error}") from error

    def symbol_of(self, observation: Any) -> Bool[np.ndarray, "bits"]:
        """What phi says of an observation of the environment's own."""
        return _ask(self._phi, observation, self.spec.num_bits)

    def _begin(self, rows: Int[np.ndarray, "picked"]) -> Float32[np.ndarray, "rows obs"]:
        self._clock[rows] = 0
        self._terminated[rows] = False
        self._truncated[rows] = False
        self._reward[rows] = 0.0
        self._observation[rows, -1] = 1.0
        return self._observation.copy()

    @property
    def symbols(self) -> Bool[np.ndarray, "rows bits"]:
        return self._bits.copy()

    @property
    def ended(self) -> Bool[np.ndarray, "rows"]:
        """Rows whose environment ended by itself: they can be reset, not resumed."""
        return self._ended.copy()

    @property
    def environments(self) -> tuple[gymnasium.Env, ...]:
        """What `make` returned for each row, which threads may have made in another order.

        Those of worker processes are elsewhere: asking for them raises.
        """
        return self._rows.environments

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._rows.close()


wrap = GymBatch
"""`GymBatch`, by what one does with it: `return wrap(make, phi, num_envs)` in a factory."""


def _flatten(space: gymnasium.Space, observation: Any, size: int) -> Float[np.ndarray, "own"]:
    """An observation's numbers in a row; raises unless it fits its space, of this size."""
    try:
        flat = np.asarray(gymnasium.spaces.flatten(space, observation), np.float64)
    except FAILURES as error:
        raise SeadsError(f"an observation does not fit the space {space}: {told(error)}") from error
    if flat.shape != (size,):
        raise SeadsError(f"an observation has {flat.size} numbers; its space {space} has {size}")
    return flat


def _check_first(look: Look) -> None:
    """Observations can be flattened, and the first one fits its space."""
    space = look.observation_space
    if not space.is_np_flattenable:
        raise SeadsError(f"observations of {space} cannot be flattened")
    _flatten(space, look.observation, gymnasium.spaces.flatdim(space))


def _ask(phi: Phi, observation: Any, num_bits: int | None) -> Bool[np.ndarray, "bits"]:
    try:
        symbol = phi(observation)
    except FAILURES as error:
        raise SeadsError(f"phi failed: {told(error)}") from error
    return _check_bits(symbol, num_bits)


def _check_bits(symbol: Any, num_bits: int | None) -> Bool[np.ndarray, "bits"]:
    """What phi returned, as bits; raises if it is not a vector of them of the known length."""
    try:
        bits = np.asarray(symbol)
    except Exception as error:  # such as lists of different lengths
        raise SeadsError(
            f"phi must return a vector of bits, not {reprlib.repr(symbol)}: {told(error)}"
        ) from error
    if bits.ndim != 1 or bits.size == 0:
        raise SeadsError(f"phi must return a vector of bits, not an array of shape {bits.shape}")
    if num_bits is not None and len(bits) != num_bits:
        raise SeadsError(f"phi returned {len(bits)} bits; expected {num_bits}")
    if bits.dtype != np.bool_ and not np.isin(bits, (0, 1)).all():
        wrong = next(value for value in bits.tolist() if value not in (0, 1))
        raise SeadsError(f"phi must return bits (0 and 1), not {wrong!r}")
    return bits.astype(bool)


def _describe(
    look: Look,
    name: str | None,
    num_bits: int,
    step_limit: int | None,
    num_moves: int | None,
    chained: bool,
) -> EnvSpec:
    space = look.action_space
    if not isinstance(space, gymnasium.spaces.Box):
        raise SeadsError(f"the action space must be a Box, not {space}")
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise SeadsError(f"the action space must be bounded, not {space}")
    limit = look.max_episode_steps if step_limit is None else step_limit
    if limit is None:
        raise SeadsError("step_limit is needed: the environment has no max_episode_steps")
    check_count("step_limit", limit)
    if num_moves is not None:
        check_count("num_moves", num_moves)
    return EnvSpec(
        name=name or look.name,
        observation_size=gymnasium.spaces.flatdim(look.observation_space) + num_bits + 1,
        action_low=tuple(float(bound) for bound in space.low.ravel()),
        action_high=tuple(float(bound) for bound in space.high.ravel()),
        num_bits=num_bits,
        step_limit=limit,
        num_moves=num_moves,
        chained=chained,
    )
