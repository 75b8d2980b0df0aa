"""Random actions in an environment: what changes, how often, how soon, and what is seen meanwhile.

The measurements behind `seads check`, before anything is learned.
"""

from __future__ import annotations

import copy
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from seads import streams
from seads.envs.from_gymnasium import GymBatch
from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError

ENOUGH_CHANGES = 500
"""More changes of the symbolic state would not tell more."""
LEAST_STEPS = 2_000
"""Steps for what is said of observations."""
PATIENCE = 10_000
"""Steps without any change after which none is expected."""
OVERTIME = 3
"""How many times as long as asked for these steps may take."""
LEAST_SECONDS = 5.0
"""How long they may take however little was asked for."""
REMEMBERED = 200
"""Observations that phi is asked about again,"""
RESETS = 8
"""after so many resets of all rows: something may be drawn anew by these alone."""
BEYOND = 4
"""How many times the step limit a row may go on without a change before it is reset."""
CORRELATION = 0.8
"""Of the noise in half of the rows: some things happen only to who keeps going."""


@dataclass
class Probe:
    """What random actions brought."""

    steps: int = 0
    seconds: float = 0.0
    skills: int = 0
    """Skills that began: after a reset, a change or at the step limit."""
    ended: int = 0
    """Of these, how many the environment itself ended."""
    effects: Counter[tuple[int, ...]] = field(default_factory=Counter)
    """How often each set of bits changed together."""
    times: list[int] = field(default_factory=list)
    """Steps from a reset or a change until the next change."""
    low: Float[np.ndarray, "obs"] = field(default_factory=lambda: np.zeros(0))
    """The least that was seen in each place of the observation."""
    high: Float[np.ndarray, "obs"] = field(default_factory=lambda: np.zeros(0))
    not_finite: Bool[np.ndarray, "obs"] = field(default_factory=lambda: np.zeros(0, bool))
    hidden_bits: list[int] = field(default_factory=list)
    """Bits that phi gave otherwise when it was asked about the same observation again."""
    repeats: bool = True
    """Whether equal seeds and actions gave equal observations, whatever happened before."""

    @property
    def changes(self) -> int:
        """How often the symbolic state changed."""
        return sum(self.effects.values())

    @property
    def enough(self) -> bool:
        """Whether there were steps enough for a verdict."""
        return self.steps >= (LEAST_STEPS if self.changes else PATIENCE)


def probe(env: BatchedEnv, seconds: float, seed: int = 0) -> Probe:
    """Act at random for about so many seconds; less where that is enough, more if it is not.

    But never much longer than `OVERTIME` of them, however slow the environment is.
    """
    found, rows, size = Probe(), env.num_envs, env.spec.action_size
    first = _replay(env, seed, seconds / 5)
    memory = _Memory(env)
    rng = np.random.default_rng(seed)
    observations = env.reset(streams.row_seeds(seed, rows))
    found.low, found.high = np.full((2, observations.shape[1]), [[np.inf], [-np.inf]])
    found.not_finite = np.zeros(observations.shape[1], bool)
    _note_observations(found, observations)
    since, drift = np.zeros(rows, np.int64), np.zeros((rows, size))
    found.skills = rows
    began = time.perf_counter()
    while _goes_on(found, seconds):
        before = env.symbols
        drift = CORRELATION * drift
        drift += np.sqrt(1 - CORRELATION**2) * rng.standard_normal((rows, size))
        actions = np.clip(drift, -1, 1)
        actions[::2] = rng.uniform(-1, 1, actions[::2].shape)
        step = env.step(env.spec.scaled(actions))
        since += 1
        found.steps += rows
        _note_observations(found, step.observation)
        memory.note(step.symbol, rng)
        for row in np.flatnonzero(step.terminated).tolist():
            found.effects[tuple(np.flatnonzero(before[row] ^ step.symbol[row]).tolist())] += 1
            found.times.append(int(since[row]))
        since[step.terminated] = 0
        _begin_again(env, found, step.done, since, rng)
        found.seconds = time.perf_counter() - began
    found.hidden_bits = _hidden_bits(env, memory, rng, seconds / 5)
    again = _replay(env, seed, steps=len(first) - 1)
    found.repeats = first.tobytes() == again.tobytes()
    return found


def _hidden_bits(
    env: BatchedEnv, memory: _Memory, rng: np.random.Generator, seconds: float
) -> list[int]:
    """Bits that phi gives otherwise now, or after a reset; after several while there is time."""
    until = time.perf_counter() + seconds
    differing = memory.differing()
    for _ in range(RESETS):
        env.reset(rng.integers(2**63, size=env.num_envs, dtype=np.uint64))
        differing |= memory.differing()
        if time.perf_counter() > until:
            break
    return sorted(differing)


def _goes_on(found: Probe, seconds: float) -> bool:
    """Until enough was seen or the time is up, but not with a verdict from a few steps."""
    if found.seconds < seconds:
        return not found.enough or found.changes < ENOUGH_CHANGES
    return not found.enough and found.seconds < max(OVERTIME * seconds, LEAST_SECONDS)


def _begin_again(
    env: BatchedEnv,
    found: Probe,
    done: Bool[np.ndarray, "rows"],
    since: Int[np.ndarray, "rows"],
    rng: np.random.Generator,
) -> None:
    """The next skill where one has ended, without a reset while that is possible and of use."""
    ended = getattr(env, "ended", np.zeros_like(done)) & done
    found.ended += int(ended.sum())
    found.skills += int(done.sum())
    anew = ended | (done & (since >= BEYOND * env.spec.step_limit))
    if anew.any():
        rows = np.flatnonzero(anew)
        seeds = rng.integers(2**63, size=len(rows), dtype=np.uint64)
        _note_observations(found, env.reset(seeds, rows)[rows])
        since[anew] = 0
    if (done & ~anew).any():
        env.resume(np.flatnonzero(done & ~anew))


def _note_observations(found: Probe, seen: Float[np.ndarray, "rows obs"]) -> None:
    finite = np.isfinite(seen)
    found.not_finite |= ~finite.all(0)
    found.low = np.minimum(found.low, np.where(finite, seen, np.inf).min(0))
    found.high = np.maximum(found.high, np.where(finite, seen, -np.inf).max(0))


def _replay(
    env: BatchedEnv, seed: int, seconds: float = math.inf, steps: int = 10
) -> Float[np.ndarray, "steps rows obs"]:
    """A few steps in every row, from seeds and by actions that are always the same.

    As many as asked for, unless the skills are over before, or the time; one at least.
    """
    rng = np.random.default_rng(seed)
    seen = [env.reset(streams.row_seeds(seed, env.num_envs))]
    active = np.ones(env.num_envs, bool)
    until = time.perf_counter() + seconds
    while active.any() and len(seen) <= steps:
        actions = rng.uniform(-1, 1, (env.num_envs, env.spec.action_size))
        step = env.step(env.spec.scaled(actions), active)
        seen.append(step.observation)
        active &= ~step.done
        if time.perf_counter() > until:
            break
    return np.stack([np.where(np.isnan(one), 0, one) for one in seen])


class _Memory:
    """Observations as phi was given them, and its answers, to ask it again later."""

    def __init__(self, env: BatchedEnv) -> None:
        self._env = env if isinstance(env, GymBatch) else None
        self._kept: list[tuple[Any, Bool[np.ndarray, "bits"]]] = []
        self._noted = 0

    def note(self, symbols: Bool[np.ndarray, "rows bits"], rng: np.random.Generator) -> None:
        """Keep one row's; of all that were noted each is as likely to be kept as another."""
        if self._env is None:  # no phi: the symbolic state is part of the environment
            return
        self._noted += 1
        row, slot = int(rng.integers(len(symbols))), int(rng.integers(self._noted))
        if self._noted <= REMEMBERED:
            slot = len(self._kept)
        if slot < REMEMBERED:
            new = copy.deepcopy(self._env.seen[row]), symbols[row]
            self._kept[slot : slot + 1] = [new]

    def differing(self) -> set[int]:
        """The bits that phi gives otherwise now, for the same observations."""
        if self._env is None:
            return set()
        differs = np.zeros(self._env.spec.num_bits, bool)
        for observation, symbol in self._kept:
            try:
                differs |= self._env.symbol_of(observation) != symbol
            except SeadsError:
                differs[:] = True
        return set(np.flatnonzero(differs).tolist())
