"""A run's configuration: complete, on disk as config.json, so that resuming needs nothing else."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from msgspec import Struct

from seads.agent.card import check_env_options
from seads.agent.settings import DEFAULT, AgentSettings
from seads.errors import require
from seads.files import write_text_aside
from seads.reading import Count, Name, Options, as_kind, read_bytes
from seads.training.algorithms import settings_kind

Settings = TypeVar("Settings")

CONFIG_IS = "a run's configuration"
_ON_DISK = {"settings": "agent"}
"""Names in config.json that differ from those here."""


@dataclass(frozen=True)
class TrainConfig(Generic[Settings]):
    """Everything that decides what a run does."""

    env: Name
    """Name of the environment, or module:factory."""
    settings: Settings
    """Settings of the algorithm, which they name: AgentSettings, SACSettings or HACSettings."""
    env_options: Options = field(default_factory=dict)
    """Options of the manipulator, such as physics or observation."""
    preset: Name = "default"
    """The preset that the settings started from."""
    changed: list[Name] = field(default_factory=list)
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
        check_env_options(self.env_options)
        require(self, self.coverage_starts <= 10_000, "coverage_starts", "up to 10000")

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


class _Algorithm(Struct):
    algorithm: Name = "seads"


class _Named(Struct):
    """Whose settings they are, which must be known before they can be read."""

    agent: _Algorithm


class StoredConfig(TypedDict):
    """A configuration of any version of seads, as far as it can be shown."""

    env: Name
    preset: Name
    seed: Count
    agent: Options
    """The settings by name, whatever they are."""
    env_options: NotRequired[Options]
    changed: NotRequired[list[Name]]
    env_steps: NotRequired[Count]
    log_every: NotRequired[Count]
    checkpoint_every: NotRequired[Count]
    keep_checkpoints: NotRequired[Count]
    coverage_every: NotRequired[Count]
    coverage_starts: NotRequired[Count]


def read_stored_config(path: Path) -> tuple[StoredConfig, str]:
    """A run's configuration to be shown, also where this version could not continue the run.

    The second value is the algorithm.
    """
    content, complaint = read_bytes(path, CONFIG_IS), f"{path} is not {CONFIG_IS}"
    algorithm = as_kind(content, _Named, complaint).agent.algorithm
    return as_kind(content, StoredConfig, complaint), algorithm


def read_config(path: Path) -> TrainConfig:
    """Read what `TrainConfig.write` wrote; anything else raises a sentence."""
    content = read_bytes(path, CONFIG_IS)
    complaint = f"{path} is not {CONFIG_IS}"
    kind = settings_kind(as_kind(content, _Named, complaint).agent.algorithm)
    values = as_kind(content, dict[str, Any], complaint)
    # a run from before a setting existed did what the preset default does
    before = DEFAULT if kind is AgentSettings else {}
    settings = as_kind(before | values.pop("agent"), kind, f"{complaint}: agent")
    # what has been read as settings already is passed on as it is
    found = as_kind(values | {"settings": None}, TrainConfig[None], complaint)
    return dataclasses.replace(found, settings=settings)
