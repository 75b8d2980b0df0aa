"""The flat agent's replay: what every environment did, step by step."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32

from seads.agent.arrays import stateful
from seads.agent.sac import Transitions
from seads.baselines.ring import Ring, pack, packed_size, unpack
from seads.envs.interface import EnvSpec


@stateful("ring")
class FlatReplay:
    """The newest transitions of all environments; an epoch's steps are added in turn.

    A record is (observation, action, reward, ended); the observation after the step is that
    of the same environment's next record. Where an episode ended the next record begins
    another one, but then nothing is bootstrapped from it.
    """

    def __init__(self, spec: EnvSpec, transitions: int, num_envs: int) -> None:
        self._num_bits = spec.num_bits
        self._symbol = slice(spec.own_size, spec.own_size + spec.num_bits)
        self._num_envs = num_envs
        # a multiple of the environments, so that a record's successor is always `num_envs` on
        self.ring = Ring(
            (transitions // num_envs + 1) * num_envs,
            {
                "floats": ((spec.own_size + 1,), np.float32),  # and the remaining time
                "bits": ((packed_size(spec.num_bits),), np.uint8),
                "actions": ((spec.action_size,), np.float32),
                "rewards": ((), np.float32),
                "ended": ((), np.bool_),
            },
        )

    @property
    def usable(self) -> int:
        """Transitions whose successor is stored, too."""
        return max(self.ring.size - self._num_envs, 0)

    def append(
        self,
        observations: Float32[np.ndarray, "rows obs"],
        actions: Float32[np.ndarray, "rows act"],
        rewards: Float32[np.ndarray, "rows"],
        ended: Bool[np.ndarray, "rows"],
    ) -> None:
        """One step of every environment."""
        self.ring.append(
            floats=np.delete(observations, self._symbol, axis=1),
            bits=pack(observations[:, self._symbol] > 0.5),
            actions=actions,
            rewards=rewards,
            ended=ended,
        )

    def sample(self, count: int, gamma: float, rng: np.random.Generator) -> Transitions:
        """Transitions drawn uniformly, with replacement."""
        ages = rng.integers(self.usable, size=count)
        ended = self.ring.get("ended", ages)
        return Transitions(
            self._observations(ages),
            self.ring.get("actions", ages),
            self.ring.get("rewards", ages),
            self._observations(ages + self._num_envs),
            np.where(ended, 0.0, gamma).astype(np.float32),
        )

    def _observations(self, ages: np.ndarray) -> Float32[np.ndarray, "batch obs"]:
        floats = self.ring.get("floats", ages)
        bits = unpack(self.ring.get("bits", ages), self._num_bits)
        return np.concatenate([floats[:, :-1], bits, floats[:, -1:]], axis=1)
