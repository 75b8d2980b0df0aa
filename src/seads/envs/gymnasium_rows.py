"""Many copies of a user's Gymnasium environment, stepped in a loop, by threads or by processes."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from typing import Any, Literal, NamedTuple, Protocol

import gymnasium
import numpy as np

from seads.cores import cores
from seads.errors import FAILURES, SeadsError, told
from seads.terminal import tell
from seads.threads import Threads

Vectorise = Literal["none", "threads", "processes"]
MakeEnv = Callable[[], gymnasium.Env]
NEEDED = ("reset", "step", "close", "observation_space", "action_space", "spec", "unwrapped")
"""What is used of a Gymnasium environment."""
PATIENCE = 0.5
"""Seconds that rows which are still at work when they are closed have to come to an end."""


class RowFailed(SeadsError):
    """A user's environment raised or died: which row, at what, and what it said."""


class NotGymnasium(SeadsError):
    """An environment answered otherwise than Gymnasium's do."""


class Outcome(NamedTuple):
    """What one environment answered; after a reset nothing has ended and the reward is zero."""

    observation: Any
    reward: float = 0.0
    ended: bool = False


class Reset(NamedTuple):
    """Start a row's environment anew."""

    seed: int
    symbol: np.ndarray | None = None

    def apply(self, env: gymnasium.Env) -> Outcome:
        options = None if self.symbol is None else {"symbol": self.symbol}
        return Outcome(_first_observation(env.reset(seed=self.seed, options=options)))


class Act(NamedTuple):
    """Step a row's environment."""

    action: np.ndarray

    def apply(self, env: gymnasium.Env) -> Outcome:
        answer = env.step(self.action)
        _check_parts("step", answer, ("observation", "reward", "terminated", "truncated", "info"))
        observation, reward, terminated, truncated, _ = answer
        return Outcome(observation, float(reward), bool(terminated or truncated))


class Look(NamedTuple):
    """What must be known of an environment before rows of it can be used."""

    observation_space: gymnasium.Space
    action_space: gymnasium.Space
    name: str
    max_episode_steps: int | None
    observation: Any
    """A first one, after a reset."""

    @classmethod
    def at(cls, env: gymnasium.Env) -> Look:
        known, kind = env.spec, type(env.unwrapped).__name__
        return cls(
            env.observation_space,
            env.action_space,
            kind if known is None else known.id,
            None if known is None else known.max_episode_steps,
            _first_observation(env.reset(seed=0)),
        )


def _first_observation(answer: Any) -> Any:
    """Of what a reset returned."""
    _check_parts("reset", answer, ("observation", "info"))
    return answer[0]


def _check_parts(method: str, answer: Any, parts: Sequence[str]) -> None:
    """A method returned what Gymnasium says it does."""
    several = isinstance(answer, tuple | list)
    if several and len(answer) == len(parts):
        return
    got = f"{len(answer)} values" if several else type(answer).__name__
    raise NotGymnasium(f"{method} returned {got}; Gymnasium's returns {', '.join(parts)}")


class RowSet(Protocol):
    """A set of environments, one per row. The first is there at once, to be looked at."""

    look: Look

    @property
    def environments(self) -> tuple[gymnasium.Env, ...]:
        """Each row's environment; raises where these are not within reach."""
        ...

    def build(self) -> None:
        """Wait for the other rows; whatever fails here or before leaves nothing behind."""
        ...

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        """Give each row its order; the answers in the same sequence."""
        ...

    def close(self) -> None:
        """Close the environments, and end whatever runs them; rows that hang are left behind."""
        ...


def apply_to(row: int, env: gymnasium.Env, order: Reset | Act) -> Outcome:
    """An order carried out; whatever the environment raises names the row."""
    try:
        return order.apply(env)
    except NotGymnasium as error:
        raise RowFailed(f"row {row}: {error}") from error
    except FAILURES as error:
        verb = "reset" if isinstance(order, Reset) else "step"
        raise RowFailed(f"row {row} failed in {verb}: {told(error)}") from error


def made(make: MakeEnv, row: int) -> gymnasium.Env:
    """A row's environment; whatever raises in making it names the row."""
    try:
        env = make()
    except FAILURES as error:
        raise RowFailed(f"row {row} could not be made: {told(error)}") from error
    missing = [name for name in NEEDED if not hasattr(env, name)]
    if missing:
        if hasattr(env, "close"):
            close_all({row: env})
        raise RowFailed(
            f"row {row}: make returned {reprlib.repr(env)}, which lacks {', '.join(missing)}; "
            "allowed: a gymnasium.Env"
        )
    return env


def looked_at(env: gymnasium.Env) -> Look:
    """What the first row's environment is like; whatever it raises is told."""
    try:
        return Look.at(env)
    except NotGymnasium as error:
        raise RowFailed(f"row 0: {error}") from error
    except FAILURES as error:
        raise RowFailed(f"row 0 failed at its first reset: {told(error)}") from error


def close_all(envs: Mapping[int, Any]) -> None:
    """Close every row's environment; what is raised there is told, for it does no harm any more."""
    failed = {}
    for row, env in envs.items():
        try:
            env.close()
        except FAILURES as error:
            failed[row] = told(error)
    if failed:
        row, words = next(iter(failed.items()))
        more = f", and {len(failed) - 1} more rows" if len(failed) > 1 else ""
        tell(f"warning: row {row} failed in close: {words}{more}")


class LoopRows:
    """One after the other, in the thread that asks."""

    def __init__(self, make: MakeEnv, num_envs: int) -> None:
        self._make, self._num_envs = make, num_envs
        self._envs = [made(make, 0)]
        self._at_work = False
        try:
            self.look = looked_at(self._envs[0])
        except BaseException:
            self._close_envs()
            raise

    @property
    def environments(self) -> tuple[gymnasium.Env, ...]:
        return tuple(self._envs)

    def build(self) -> None:
        while len(self._envs) < self._num_envs:
            self._envs.append(made(self._make, len(self._envs)))
        self._check_apart()

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        self._at_work = True
        try:
            pairs = zip(rows, orders, strict=True)
            return [apply_to(row, self._envs[row], order) for row, order in pairs]
        finally:
            self._at_work = False

    def close(self) -> None:
        # at work in another thread, that is, which was left behind: its rows are not ours to close
        if not self._at_work:
            self._close_envs()

    def _close_envs(self) -> None:
        close_all(dict(enumerate(self._envs)))

    def _check_apart(self) -> None:
        """No two rows are one environment, of which each would see what the other does."""
        first: dict[int, int] = {}
        for row, env in enumerate(self._envs):
            other = first.setdefault(id(env.unwrapped), row)
            if other != row:
                raise SeadsError(
                    f"rows {other} and {row} are one and the same environment; make must return a "
                    "new one each time"
                )


class ThreadRows(LoopRows):
    """In threads; pays where the environment leaves Python's lock, as MuJoCo does."""

    def __init__(self, make: MakeEnv, num_envs: int) -> None:
        super().__init__(make, num_envs)
        self._threads = Threads(min(num_envs, cores()), "rows")

    def build(self) -> None:
        rest = [self._threads.submit(made, self._make, row) for row in range(1, self._num_envs)]
        wait(rest)
        self._envs += [one.result() for one in rest if one.exception() is None]
        for one in rest:
            one.result()
        self._check_apart()

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        pairs = zip(rows, orders, strict=True)
        futures = [
            self._threads.submit(apply_to, row, self._envs[row], order) for row, order in pairs
        ]
        wait(futures)  # all of them, even if one fails: a row must not run on behind our back
        return [future.result() for future in futures]

    def close(self) -> None:
        if self._threads.close(PATIENCE):
            self._close_envs()
