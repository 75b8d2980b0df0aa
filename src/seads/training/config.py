"""A run's configuration: complete, on disk as config.json, so that resuming needs nothing else."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from seads.agent.settings import from_dict
from seads.errors import SeadsError, require, unknown
from seads.training.algorithms import settings_kind

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class TrainConfig(Generic[Settings]):
    """Everything that decides what a run does."""

    env: str
    """Name of the environment, or module:factory."""
    agent: Settings
    """Settings of the algorithm, which they name: AgentSettings, SACSettings or HACSettings."""
    env_options: dict[str, Any] = field(default_factory=dict)
    """Options of the manipulator, such as physics or observation."""
    preset: str = "default"
    """The preset that the agent's settings started from."""
    changed: list[str] = field(default_factory=list)
    """Names of the agent's settings that were given other values than the preset's."""
    seed: int = 0
    """The one seed of all random streams."""
    env_steps: int = 100_000
    """The run ends with the first epoch that reaches this many environment steps."""
    log_every: int = 10
    """Epochs between metric lines."""
    checkpoint_every: int = 100
    """Epochs between checkpoints."""
    keep_checkpoints: int = 2
    """How many checkpoints can be resumed from; of older ones only the agent is kept."""
    coverage_every: int = 10_000
    """Environment steps between looks at the coverage on training boards; 0: never."""
    coverage_starts: int = 10
    """Start boards of such a look."""

    def __post_init__(self) -> None:
        for name, least in (
            ("env_steps", 1),
            ("log_every", 1),
            ("checkpoint_every", 1),
            ("keep_checkpoints", 1),
            ("coverage_every", 0),
            ("coverage_starts", 1),
            ("seed", 0),
        ):
            require(self, getattr(self, name) >= least, name, f"{least} or more")
        require(self, self.seed < 2**32, "seed", "below 2**32")

    def write(self, path: Path) -> None:
        """Write as JSON, aside first: a run killed meanwhile leaves no half of it."""
        aside = path.with_suffix(".tmp")
        aside.write_text(json.dumps(dataclasses.asdict(self), indent=2) + "\n")
        aside.rename(path)

    def learning_rate(self, env_steps: int) -> float:
        """Constant in the first half of the run, then linear to its end value."""
        agent: Any = self.agent
        start, end = agent.learning_rate, agent.learning_rate_end
        fall = min(max(2 * env_steps / self.env_steps - 1, 0.0), 1.0)
        return start + fall * (end - start)


SCHEDULES: dict[str, dict[str, int]] = {
    "cursor": dict(env_steps=99_500, checkpoint_every=100, coverage_every=10_000),
    "reacher": dict(env_steps=998_000, checkpoint_every=200, coverage_every=100_000),
    "jaco": dict(env_steps=998_000, checkpoint_every=200, coverage_every=100_000),
}
"""How long a run lasts by default, and how often it saves and looks, for each manipulator.

An epoch short of a round number, since the last epoch goes past the budget.
"""

BASELINE_SCHEDULES: dict[str, dict[str, dict[str, int]]] = {
    "sac": {
        "cursor": dict(env_steps=500_000, log_every=250, checkpoint_every=2_500),
        "reacher": dict(env_steps=1_000_000, log_every=1_250, checkpoint_every=12_500),
        "jaco": dict(env_steps=1_000_000, log_every=1_250, checkpoint_every=12_500),
    },
    "hac": {
        "cursor": dict(env_steps=500_000, log_every=5, checkpoint_every=50),
        "reacher": dict(env_steps=1_000_000, log_every=5, checkpoint_every=50),
        "jaco": dict(env_steps=1_000_000, log_every=5, checkpoint_every=50),
    },
}
"""The same for the baselines, whose epochs are of another size: 8 steps, or 16 boards."""


def read_config(path: Path) -> TrainConfig:
    """Read what `TrainConfig.write` wrote; anything else raises a sentence."""
    try:
        values = json.loads(path.read_text())
        known = [f.name for f in dataclasses.fields(TrainConfig)]
        for name in values:
            if name not in known:
                raise unknown(f"setting in {path}", name, known)
        kind = settings_kind(values["agent"].get("algorithm", "seads"))
        return TrainConfig(**values | {"agent": from_dict(values["agent"], kind)})
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SeadsError(f"{path} is not a run's configuration: {error}") from None
