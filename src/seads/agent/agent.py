"""A trained agent as a file: policy, skill model, and a card that says where it comes from."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from seads.agent.arrays import from_arrays, read_arrays, to_arrays, write_arrays
from seads.agent.networks import SkillPolicy, make_policy
from seads.agent.skill_model import Discriminator, ForwardModel
from seads.envs.interface import EnvSpec
from seads.errors import SeadsError, unknown

FORMAT = 1
MODELS = {"seads": ForwardModel, "vic": Discriminator}


@dataclass(frozen=True)
class Architecture:
    """All that is needed to rebuild the networks before their weights are read."""

    algorithm: str
    observation_size: int
    action_size: int
    num_bits: int
    num_skills: int
    hidden: tuple[int, ...]
    model_hidden: tuple[int, ...]


@dataclass(frozen=True)
class Agent:
    """What evaluate, plan, solve and play need: skills and what they do."""

    env: str
    env_options: dict[str, Any]
    architecture: Architecture
    policy: SkillPolicy
    model: ForwardModel | Discriminator
    card: dict[str, Any]

    @property
    def num_skills(self) -> int:
        return self.architecture.num_skills

    def check_fits(self, spec: EnvSpec) -> None:
        """Raise unless this agent can act in an environment of that specification."""
        ours = self.architecture
        for name in ("observation_size", "action_size", "num_bits"):
            if getattr(spec, name) != getattr(ours, name):
                raise SeadsError(
                    f"agent for {self.env!r} does not fit {spec.name!r}: {name} is "
                    f"{getattr(spec, name)}, the agent needs {getattr(ours, name)}"
                )

    def save(self, directory: Path) -> None:
        """Write weights.safetensors and card.json, each aside first, then renamed."""
        directory.mkdir(parents=True, exist_ok=True)
        weights, card = directory / "weights.safetensors", directory / "card.json"
        write_arrays(weights.with_suffix(".tmp"), to_arrays((self.policy, self.model)))
        content = {
            "format": FORMAT,
            "env": self.env,
            "env_options": self.env_options,
            "architecture": dataclasses.asdict(self.architecture),
            **self.card,
        }
        card.with_suffix(".tmp").write_text(json.dumps(content, indent=2) + "\n")
        for path in (weights, card):
            path.with_suffix(".tmp").rename(path)


def load(source: str | Path) -> Agent:
    """An agent by its name in the package, or from a run directory or an agent directory.

    Reads arrays and JSON only: loading an agent never runs code.
    """
    directory = find(source)
    try:
        content = json.loads((directory / "card.json").read_text())
        if content["format"] != FORMAT:
            raise SeadsError(
                f"{directory / 'card.json'} has format {content['format']}; this version of "
                f"seads reads format {FORMAT}"
            )
        shape = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in content.pop("architecture").items()
        }
        if shape["algorithm"] not in MODELS:  # the baselines have no skills, and other cards
            raise unknown("algorithm with skills", str(shape["algorithm"]), MODELS)
        architecture = Architecture(**shape)
        env, env_options = content.pop("env"), content.pop("env_options")
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise SeadsError(f"{directory / 'card.json'} is not an agent's card: {error}") from None
    policy = make_policy(
        architecture.observation_size + architecture.num_skills,
        architecture.action_size,
        architecture.hidden,
        jax.random.key(0),
    )
    model = MODELS[architecture.algorithm](
        architecture.num_bits, architecture.num_skills, architecture.model_hidden, jax.random.key(0)
    )
    policy, model = from_arrays((policy, model), read_arrays(directory / "weights.safetensors"))
    return Agent(env, env_options, architecture, policy, model, content)


def packaged() -> dict[str, Path]:
    """The trained agents that come with the package, by name."""
    home = Path(__file__).parent.parent / "agents"
    return {card.parent.name: card.parent for card in sorted(home.glob("*/card.json"))}


def find(source: str | Path) -> Path:
    """The directory that holds an agent's card: of a run, of an agent, or in the package."""
    path = Path(source)
    for candidate in (path / "agent", path):
        if (candidate / "card.json").is_file():
            return candidate
    if path.is_dir():
        raise SeadsError(f"{path} holds no trained agent: there is no agent/card.json in it")
    if str(source) in packaged():
        return packaged()[str(source)]
    raise unknown("run or agent", str(source), packaged() or ["a run directory"])
