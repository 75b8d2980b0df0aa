"""Which trainer and which settings belong to an algorithm: one table, imported when needed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seads.errors import unknown

if TYPE_CHECKING:
    from seads.training.config import TrainConfig

ALGORITHMS: dict[str, tuple[str, str]] = {
    "seads": ("seads.training.loop:Trainer", "seads.agent.settings:AgentSettings"),
    "vic": ("seads.training.loop:Trainer", "seads.agent.settings:AgentSettings"),
    "sac": ("seads.training.flat_loop:FlatTrainer", "seads.baselines.settings:SACSettings"),
    "hac": (
        "seads.training.hierarchical_loop:HierarchicalTrainer",
        "seads.baselines.settings:HACSettings",
    ),
}


class AnyProgress(Protocol):
    """What a run asks of a state between epochs."""

    epoch: int
    env_steps: int


class AnyAgent(Protocol):
    """What a run asks of an agent."""

    def save(self, directory: Path) -> None:
        """Write weights and card."""
        ...


class AnyTrainer(Protocol):
    """What a run asks of a trainer; a progress goes back only to the trainer it came from."""

    config: TrainConfig

    def begin(self) -> Any:
        """The progress before the first epoch."""
        ...

    def epoch(self, progress: Any) -> tuple[Any, dict[str, float]]:
        """One epoch: the new progress, and metrics that the seed decides."""
        ...

    def arrays(self, progress: Any) -> dict[str, np.ndarray]:
        """All of a progress, for a checkpoint."""
        ...

    def restore(self, arrays: dict[str, np.ndarray]) -> Any:
        """The progress that `arrays` was made of."""
        ...

    def agent(self, progress: Any, card: dict[str, Any]) -> AnyAgent:
        """What is shipped."""
        ...

    def close(self) -> None:
        """End threads and environments."""
        ...


def make_trainer(config: TrainConfig) -> AnyTrainer:
    """The trainer of the configured algorithm."""
    return _imported(_entry(config.agent.algorithm)[0])(config)


def settings_kind(algorithm: str) -> type:
    """The class of an algorithm's settings."""
    return _imported(_entry(algorithm)[1])


def _entry(algorithm: str) -> tuple[str, str]:
    if algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    return ALGORITHMS[algorithm]


def _imported(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
