"""A run's configuration: complete, on disk as config.json, so that resuming needs nothing else."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from msgspec import Struct

from seads.envs.own import check_env_options
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
    """Names of the settings that were given besides the preset, whatever their values."""
    seed: int = 0
    """The one seed of all random streams."""
    env_steps: int = 100_000
    """The run ends with the first epoch that reaches this many environment steps."""
    earlier_budgets: list[int] = field(default_factory=list)
    """Budgets that the run had before it was extended, in their order.

    The learning rate has a schedule for each budget, from the end of the one before it.
    """
    earlier_configs: list[str] = field(default_factory=list)
    """SHA-256 of config.json while it had each of them: what was stored then is still good."""
    log_every: int = 10
    """Epochs between metric lines."""
    checkpoint_every: int = 100
    """Epochs between checkpoints."""
    keep_checkpoints: int = 2
    """How many checkpoints can be resumed from; of older ones only the agent is kept."""
    coverage_every: int = 10_000
    """At least so many environment steps between looks at the coverage; 0: no look ever."""
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
        require(self, self.env_steps <= 2**53, "env_steps", "up to 2**53")
        ascending = all(a < b for a, b in itertools.pairwise(self.budgets))
        require(self, ascending, "earlier_budgets", "ascending, and below env_steps")
        check_env_options(self.env_options)
        require(self, self.coverage_starts <= 10_000, "coverage_starts", "up to 10000")

    def write(self, path: Path) -> None:
        """Write as JSON, aside first: a run killed meanwhile leaves no half of it."""
        write_text_aside(path, json.dumps(self.as_json(), indent=2) + "\n")

    def as_json(self) -> dict[str, Any]:
        """As config.json has it, where the settings are named agent."""
        values = dataclasses.asdict(self)
        return {_ON_DISK.get(name, name): value for name, value in values.items()}

    @property
    def budgets(self) -> list[int]:
        """Every budget that the run has had, and its present one."""
        return [*self.earlier_budgets, self.env_steps]

    def learning_rate(self, env_steps: int, took: int) -> float:
        """The rate of an epoch of `took` environment steps that ends after `env_steps`.

        Constant in the first half of a budget, then linear to its end value. An epoch belongs to
        the budget in which it begins, as when the run ended with it.
        """
        settings: Any = self.settings
        start, end = settings.learning_rate, settings.learning_rate_end
        legs = list(itertools.pairwise([0, *self.budgets]))
        first, last = next((leg for leg in legs if env_steps - took < leg[1]), legs[-1])
        fall = min(max(2 * (env_steps - first) / (last - first) - 1, 0.0), 1.0)
        return start + fall * (end - start)


def fingerprint(path: Path) -> str:
    """What ties a checkpoint to the configuration in a file."""
    return _fingerprint(read_bytes(path, CONFIG_IS))


def _fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
    return read_config_and_fingerprint(path)[0]


def read_config_and_fingerprint(path: Path) -> tuple[TrainConfig, str]:
    """A configuration, and the fingerprint of the very bytes that it was read from."""
    content = read_bytes(path, CONFIG_IS)
    complaint = f"{path} is not {CONFIG_IS}"
    kind = settings_kind(as_kind(content, _Named, complaint).agent.algorithm)
    values = as_kind(content, dict[str, Any], complaint)
    settings = as_kind(values.pop("agent"), kind, f"{complaint}: agent")
    # what has been read as settings already is passed on as it is
    found = as_kind(values | {"settings": None}, TrainConfig[None], complaint)
    return dataclasses.replace(found, settings=settings), _fingerprint(content)
