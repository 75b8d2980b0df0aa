"""HAC's replays: attempts and steps as they happened, made into transitions when drawn.

The low level learns from what it did and from hindsight goals; the high level from hindsight
actions, hindsight goals and missed tests. Copies are made on drawing, so nothing is stored twice.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32, Int, UInt8

from seads.agent.arrays import stateful
from seads.agent.sac import Transitions
from seads.baselines.hierarchical_episodes import HierarchicalEpisodes
from seads.baselines.ring import Columns, Ring, pack, packed_size, unpack
from seads.envs.interface import EnvSpec

Packed = UInt8[np.ndarray, "batch bytes"]


class LevelReplay:
    """What both levels share: records in the order of their episodes, with links ahead."""

    def __init__(self, spec: EnvSpec, capacity: int, extra: Columns):
        self._num_bits = spec.num_bits
        width = packed_size(spec.num_bits)
        self.ring = Ring(
            capacity,
            {
                "manipulator": ((spec.own_size,), np.float32),
                "symbols": ((width,), np.uint8),
                "subgoals": ((width,), np.uint8),
                "left": ((), np.int32),
                **extra,
            },
        )

    def _draw(self, count: int, rng: np.random.Generator) -> Int[np.ndarray, "batch"]:
        """Uniform over records that begin a transition; those that end an episode do not."""
        ages = rng.integers(self.ring.size, size=count)
        while (last := self.ring.get("left", ages) == 0).any():
            ages[last] = rng.integers(self.ring.size, size=last.sum())
        return ages

    def _reached_later(
        self, ages: Int[np.ndarray, "batch"], rng: np.random.Generator
    ) -> UInt8[np.ndarray, "batch bytes"]:
        """The symbol after this or a later action toward the same goal, drawn uniformly."""
        ahead = 1 + (rng.random(len(ages)) * self.ring.get("left", ages)).astype(np.int64)
        return self.ring.get("symbols", ages + ahead)

    def _inputs(
        self, ages: Int[np.ndarray, "batch"], goals: Packed
    ) -> Float32[np.ndarray, "batch inputs"]:
        symbols = unpack(self.ring.get("symbols", ages), self._num_bits)
        return np.concatenate(
            [self.ring.get("manipulator", ages), symbols, unpack(goals, self._num_bits)], axis=1
        )


@stateful("ring")
class LowReplay(LevelReplay):
    """Steps of the manipulator toward subgoals."""

    def __init__(self, spec: EnvSpec, capacity: int):
        super().__init__(spec, capacity, {"actions": ((spec.action_size,), np.float32)})

    def append(self, episodes: HierarchicalEpisodes) -> None:
        """Add every step, and what was seen after the last one."""
        kept = _until_the_end(episodes)
        self.ring.append(
            manipulator=episodes.states[kept],
            symbols=pack(episodes.symbols[kept]),
            subgoals=pack(_padded(episodes.subgoals)[kept]),
            left=steps_left(episodes)[kept],
            actions=_padded(episodes.actions)[kept],
        )

    def sample(
        self, count: int, gamma: float, hindsight_goals: int, rng: np.random.Generator
    ) -> Transitions:
        """Transitions, of which all but one in `hindsight_goals` + 1 have a goal reached later."""
        ages = self._draw(count, rng)
        hindsight = rng.random(count) < hindsight_goals / (hindsight_goals + 1)
        later = self._reached_later(ages, rng)
        goals = np.where(hindsight[:, None], later, self.ring.get("subgoals", ages))
        rewards, discounts = until_reached(self.ring.get("symbols", ages + 1), goals, gamma)
        return Transitions(
            self._inputs(ages, goals),
            self.ring.get("actions", ages),
            rewards,
            self._inputs(ages + 1, goals),
            discounts,
        )


@stateful("ring")
class HighReplay(LevelReplay):
    """Attempts at subgoals toward the end goal."""

    def __init__(self, spec: EnvSpec, capacity: int, goal: Bool[np.ndarray, "bits"], horizon: int):
        super().__init__(spec, capacity, {"missed": ((), np.bool_)})
        self._goal = pack(goal)
        self._horizon = horizon

    def append(self, episodes: HierarchicalEpisodes) -> None:
        """Add every attempt, and what was seen after the last one."""
        begins = _padded(episodes.begins)
        steps = np.arange(begins.shape[1])
        kept = begins | (steps == episodes.lengths[:, None])
        self.ring.append(
            manipulator=episodes.states[kept],
            symbols=pack(episodes.symbols[kept]),
            subgoals=pack(_padded(episodes.subgoals)[kept]),
            left=np.cumsum(begins[:, ::-1], axis=1)[:, ::-1][kept],
            missed=_padded(episodes.missed)[kept],
        )

    def sample(
        self, count: int, gamma: float, hindsight_goals: int, rng: np.random.Generator
    ) -> Transitions:
        """Hindsight actions, with the end goal or one reached later, and missed tests."""
        ages = self._draw(count, rng)
        # a missed test yields one transition more, beside its hindsight copies
        copies = hindsight_goals + 1
        penalty = self.ring.get("missed", ages) & (rng.random(count) < 1 / (copies + 1))
        later = rng.random(count) < hindsight_goals / copies
        goals = np.where(
            (later & ~penalty)[:, None], self._reached_later(ages, rng), self._goal[None]
        )
        reached = self.ring.get("symbols", ages + 1)
        rewards, discounts = until_reached(reached, goals, gamma)
        actions = np.where(penalty[:, None], self.ring.get("subgoals", ages), reached)
        return Transitions(
            self._inputs(ages, goals),
            unpack(actions, self._num_bits),
            np.where(penalty, np.float32(-self._horizon), rewards),
            self._inputs(ages + 1, goals),
            np.where(penalty, np.float32(0), discounts),
        )


def until_reached(
    reached: Packed, goals: Packed, gamma: float
) -> tuple[Float32[np.ndarray, "batch"], Float32[np.ndarray, "batch"]]:
    """Reward -1 and discount gamma until the goal is reached, then 0 and 0."""
    there = (reached == goals).all(1)
    return np.where(there, 0, -1).astype(np.float32), np.where(there, 0, gamma).astype(np.float32)


def steps_left(episodes: HierarchicalEpisodes) -> Int[np.ndarray, "rows steps+1"]:
    """Steps from here to the end of the attempt; 0 where the episode is over."""
    steps = episodes.begins.shape[1]
    # the step at which the next attempt begins, or the episode ends, seen from the right
    after = np.where(_padded(episodes.begins), np.arange(steps + 1), steps + 1)
    following = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
    following = np.concatenate([following[:, 1:], np.full((len(after), 1), steps + 1)], axis=1)
    ends = np.minimum(following, episodes.lengths[:, None])
    return np.maximum(ends - np.arange(steps + 1), 0)


def _until_the_end(episodes: HierarchicalEpisodes) -> Bool[np.ndarray, "rows steps+1"]:
    steps = np.arange(episodes.begins.shape[1] + 1)
    return steps <= episodes.lengths[:, None]


def _padded(values: np.ndarray) -> np.ndarray:
    """One empty step more, so that steps and what was seen around them have the same length."""
    return np.concatenate([values, np.zeros_like(values[:, :1])], axis=1)
