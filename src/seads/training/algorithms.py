"""Which trainer and which settings belong to an algorithm: one table, imported when needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from seads.errors import unknown

if TYPE_CHECKING:
    from seads.baselines.agent import BaselineAgent
    from seads.solving import Agent
    from seads.training.config import TrainConfig

ALGORITHMS: dict[str, tuple[str, str]] = {
    "seads": ("seads.training.loop:Trainer", "seads.agent.settings:AgentSettings"),
    "vic": ("seads.training.loop:Trainer", "seads.agent.settings:AgentSettings"),
    "sac": ("seads.baselines.flat_trainer:FlatTrainer", "seads.baselines.settings:SACSettings"),
    "hac": (
        "seads.baselines.hierarchical_trainer:HierarchicalTrainer",
        "seads.baselines.settings:HACSettings",
    ),
}


class AnyProgress(Protocol):
    """What a run asks of the state between epochs, which is a pytree of arrays and numbers."""

    learner: Any
    epoch: int
    env_steps: int


class AnyTrainer(Protocol):
    """What a run asks of a trainer."""

    def begin(self) -> Any:
        """The progress before the first epoch."""
        ...

    def blank(self) -> Any:
        """The same to be filled from a checkpoint; what it has collected does not matter."""
        ...

    def epoch(self, progress: Any) -> tuple[Any, dict[str, float]]:
        """One epoch from any progress of this configuration: the new one, and its metrics.

        Both are decided by the configuration alone. The old progress is used up; but not where
        the world failed (WorldFault), which ends the epoch before it begins.
        """
        ...

    def agent(self, progress: Any, card: dict[str, Any]) -> Agent | BaselineAgent:
        """What is shipped."""
        ...

    def close(self) -> None:
        """End threads and environments."""
        ...


def make_trainer(config: TrainConfig) -> AnyTrainer:
    """The trainer of the configured algorithm."""
    return _imported(_entry(config.settings.algorithm)[0])(config)


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
