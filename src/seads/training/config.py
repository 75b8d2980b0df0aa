"""A run's configuration: complete, on disk as config.json, so that resuming needs nothing else."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from seads.agent.settings import DEFAULT, AgentSettings, from_dict
from seads.errors import SeadsError, require, unknown
from seads.files import write_text_aside
from seads.training.algorithms import settings_kind

Settings = TypeVar("Settings")

_ON_DISK = {"settings": "agent"}
"""Names in config.json that differ from those here."""


@dataclass(frozen=True)
class TrainConfig(Generic[Settings]):
    """Everything that decides what a run does."""

    env: str
    """Name of the environment, or module:factory."""
    settings: Settings
    """Settings of the algorithm, which they name: AgentSettings, SACSettings or HACSettings."""
    env_options: dict[str, Any] = field(default_factory=dict)
    """Options of the manipulator, such as physics or observation."""
    preset: str = "default"
    """The preset that the settings started from."""
    changed: list[str] = field(default_factory=list)
    """Names of the settings that were given other values than the preset's."""
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
    """Environment steps between measurements of the coverage on training boards; 0: never."""
    coverage_starts: int = 10
    """Start boards of such a measurement."""

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
        write_text_aside(path, json.dumps(self.as_json(), indent=2) + "\n")

    def as_json(self) -> dict[str, Any]:
        """As config.json has it, where the settings are named agent."""
        values = dataclasses.asdict(self)
        return {_ON_DISK.get(name, name): value for name, value in values.items()}

    def learning_rate(self, env_steps: int) -> float:
        """Constant in the first half of the run, then linear to its end value."""
        settings: Any = self.settings
        start, end = settings.learning_rate, settings.learning_rate_end
        fall = min(max(2 * env_steps / self.env_steps - 1, 0.0), 1.0)
        return start + fall * (end - start)


def read_config(path: Path) -> TrainConfig:
    """Read what `TrainConfig.write` wrote; anything else raises a sentence."""
    try:
        values = json.loads(path.read_text())
        known = [_ON_DISK.get(f.name, f.name) for f in dataclasses.fields(TrainConfig)]
        for name in values:
            if name not in known:
                raise unknown(f"setting in {path}", name, known)
        given = values.pop("agent")
        kind = settings_kind(given.get("algorithm", "seads"))
        # a run from before a setting existed did what the preset default does
        before = DEFAULT if kind is AgentSettings else {}
        return TrainConfig(**values, settings=from_dict(before | given, kind))
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SeadsError(f"{path} is not a run's configuration: {error}") from None
