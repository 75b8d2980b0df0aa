"""What was learned for an environment, by whatever algorithm: networks, and a card with them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from seads.agent.arrays import to_arrays, write_arrays
from seads.agent.card import CARD, FORMAT, WEIGHTS
from seads.envs import make_env
from seads.envs.interface import BatchedEnv, EnvSpec
from seads.errors import SeadsError
from seads.files import written_aside


class Sizes(Protocol):
    """What an architecture has in common with an environment."""

    @property
    def observation_size(self) -> int: ...
    @property
    def action_size(self) -> int: ...
    @property
    def num_bits(self) -> int: ...


Shape = TypeVar("Shape", bound=Sizes)


@dataclass(frozen=True)
class Trained(ABC, Generic[Shape]):
    """An agent of any algorithm: it knows its environment, and how it is written to disk."""

    env: str
    """Name of its environment, or module:factory."""
    env_options: dict[str, Any]
    architecture: Shape
    card: dict[str, Any]
    """Where it comes from: command, seed, commit, env steps, what was measured."""
    code_refusal: str | None = field(default=None, kw_only=True)
    """Why the code of its environment, which a file has named, may not be imported."""

    @property
    @abstractmethod
    def networks(self) -> Any:
        """All that has weights."""

    def make_env(self, num_envs: int = 1, **options: Any) -> BatchedEnv:
        """A batch of the agent's environment, made as it was trained; close it after use."""
        if self.code_refusal is not None:
            raise SeadsError(self.code_refusal)
        made = make_env(self.env, num_envs, **{**self.env_options, **options})
        try:
            self.check_fits(made.spec)
        except BaseException:
            made.close()
            raise
        return made

    def check_fits(self, spec: EnvSpec) -> None:
        """Raise unless this agent can act in an environment of that specification."""
        for name in ("observation_size", "action_size", "num_bits"):
            ours, theirs = getattr(self.architecture, name), getattr(spec, name)
            if ours != theirs:
                raise SeadsError(
                    f"agent for {self.env!r} does not fit {spec.name!r}: {name} is {theirs}, "
                    f"the agent needs {ours}"
                )

    def save(self, directory: Path) -> None:
        """Write weights.safetensors and card.json: both aside first, then into place."""
        directory.mkdir(parents=True, exist_ok=True)
        content = {
            "format": FORMAT,
            "env": self.env,
            "env_options": self.env_options,
            "architecture": msgspec.to_builtins(self.architecture),
            **self.card,
        }
        # the card comes into place last: an agent is found by it
        with written_aside(directory / CARD) as card, written_aside(directory / WEIGHTS) as weights:
            write_arrays(weights, to_arrays(self.networks))
            card.write_bytes(json.dumps(content, indent=2).encode() + b"\n")
