"""The one batched interface through which everything else sees an environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt64

IN_A_ROW = 4
"""So many skills follow each other where they are chained (see `EnvSpec`); then comes a reset."""

Rows = Int[np.ndarray, "picked"] | slice
"""Which rows: their numbers, or `slice(None)` for all."""


@dataclass(frozen=True)
class EnvSpec:
    """What an agent must know about an environment before it meets it."""

    name: str
    observation_size: int
    """Length of an observation; it ends with the symbol's bits and the remaining time."""
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    num_bits: int
    """D, the length of the symbolic state z."""
    step_limit: int
    """Steps after which a skill ends though no symbol has changed (t_max)."""
    num_moves: int | None
    """How many ground-truth moves there are to learn; None where that is not known."""
    continuing: bool = False
    """Whether a run collects one skill after the other in one row that is never reset.

    Such an environment also has `standing`, arrays that say how it stands, and `stand`, which
    brings it back there, for `resume` to go on.
    """
    chained: bool = False
    """Whether skills may follow each other without a reset in training, as they do in a plan.

    They do if resets do not lead to all that skills lead to, such as an object that is held.
    """

    @property
    def action_size(self) -> int:
        return len(self.action_low)

    @property
    def own_size(self) -> int:
        """How many numbers of an observation come before the symbol: what the body tells."""
        return symbol_columns(self.observation_size, self.num_bits)[0]

    def scaled(self, actions: Float[np.ndarray, "*rows act"]) -> Float[np.ndarray, "*rows act"]:
        """Actions in [-1, 1], as policies give them, within this environment's bounds."""
        low, high = np.array(self.action_low), np.array(self.action_high)
        return low + (high - low) * (actions.astype(np.float64) + 1) / 2


def symbol_columns(observation_size: int, num_bits: int) -> tuple[int, int]:
    """Where the symbol begins and ends in an observation; the remaining time comes after it."""
    return observation_size - 1 - num_bits, observation_size - 1


class Step(NamedTuple):
    """What one step brought, a row per environment; rows that were not stepped repeat themselves.

    In skill mode an episode ends when the symbol changed (`terminated`) or at the step
    limit (`truncated`); in task mode when the board is solved or at the task's limit.
    `move` is the ground truth for evaluation only: an agent must not learn from it.
    """

    observation: Float32[np.ndarray, "rows obs"]
    symbol: Bool[np.ndarray, "rows bits"]
    terminated: Bool[np.ndarray, "rows"]
    truncated: Bool[np.ndarray, "rows"]
    reward: Float32[np.ndarray, "rows"]
    move: Int[np.ndarray, "rows"]

    @property
    def done(self) -> Bool[np.ndarray, "rows"]:
        return self.terminated | self.truncated


@runtime_checkable
class BatchedEnv(Protocol):
    """N environments reset and stepped together, each row on its own.

    Row i's trajectory is a function of its seed and its actions alone: neither the batch
    size nor what other rows do can be seen in it.
    """

    spec: EnvSpec
    num_envs: int

    def reset(
        self,
        seeds: UInt64[np.ndarray, "picked"],
        rows: Int[np.ndarray, "picked"] | None = None,
        symbols: Bool[np.ndarray, "picked bits"] | None = None,
    ) -> Float32[np.ndarray, "rows obs"]:
        """Start new episodes in the picked rows (all by default), each from its own seed.

        `symbols` sets the start boards instead of drawing them. Returns all observations.
        """
        ...

    def resume(
        self, rows: Int[np.ndarray, "picked"] | None = None
    ) -> Float32[np.ndarray, "rows obs"]:
        """Start the next skill where the last one ended: board kept, clock at zero."""
        ...

    def step(
        self,
        actions: Float[np.ndarray, "rows act"],
        active: Bool[np.ndarray, "rows"] | None = None,
    ) -> Step:
        """Step the active rows (all by default); stepping a finished row raises."""
        ...

    @property
    def symbols(self) -> Bool[np.ndarray, "rows bits"]:
        """Phi(s): the symbolic state of every row now."""
        ...

    def close(self) -> None:
        """Free threads, processes and renderers."""
        ...
