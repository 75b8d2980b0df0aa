"""A trained agent as a file: policy, skill model, and a card that says where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from seads.agent.card import CARD, check_fits, read_card, read_weights, write_agent
from seads.agent.networks import SkillPolicy, make_policy
from seads.agent.skill_model import Discriminator, ForwardModel, make_model
from seads.envs.interface import EnvSpec, symbol_columns
from seads.errors import SeadsError, unknown

ALGORITHMS = ("seads", "vic")
"""Those that learn skills."""
WITHOUT_SKILLS = ("sac", "hac")
"""Those of `seads train` that do not."""


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
    model: str = "network"
    policy_sees_symbol: bool = True

    @property
    def unseen(self) -> tuple[int, int]:
        """The inputs that the policy does not see."""
        symbol = symbol_columns(self.observation_size, self.num_bits)
        return (0, 0) if self.policy_sees_symbol else symbol


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
        check_fits(self.env, self.architecture, spec)

    def save(self, directory: Path) -> None:
        """Write weights.safetensors and card.json, each aside first, then renamed."""
        networks = (self.policy, self.model)
        write_agent(directory, self.env, self.env_options, self.architecture, networks, self.card)


def load(source: str | Path) -> Agent:
    """An agent by its name in the package, or from a run directory or an agent directory.

    Reads arrays and JSON only: loading an agent never runs code.
    """

    def refuse(algorithm: str, env: str) -> SeadsError:
        if algorithm not in WITHOUT_SKILLS:
            return unknown("algorithm with skills", algorithm, ALGORITHMS)
        return SeadsError(
            f"{source} was trained with --algo {algorithm}, which learns no skills to plan with: "
            f"`seads evaluate {source}` measures it, `seads train {env}` learns skills"
        )

    directory = find(source)
    env, env_options, architecture, card = read_card(directory, Architecture, ALGORITHMS, refuse)
    policy = make_policy(
        architecture.observation_size + architecture.num_skills,
        architecture.action_size,
        architecture.hidden,
        jax.random.key(0),
        architecture.unseen,
    )
    model = make_model(
        architecture.algorithm,
        architecture.model,
        architecture.num_bits,
        architecture.num_skills,
        architecture.model_hidden,
        jax.random.key(0),
    )
    policy, model = read_weights(directory, (policy, model))
    return Agent(env, env_options, architecture, policy, model, card)


def packaged() -> dict[str, Path]:
    """The trained agents that come with the package, by name."""
    home = Path(__file__).parent.parent / "agents"
    return {card.parent.name: card.parent for card in sorted(home.glob(f"*/{CARD}"))}


def find(source: str | Path) -> Path:
    """The directory that holds an agent's card: of a run, of an agent, or in the package."""
    path = Path(source)
    for candidate in (path / "agent", path):
        if (candidate / CARD).is_file():
            return candidate
    if path.is_dir():
        raise SeadsError(_why_none(path))
    if str(source) in packaged():
        return packaged()[str(source)]
    raise unknown("run or agent", str(source), [*packaged(), "a run directory"])


def _why_none(directory: Path) -> str:
    """Why a directory holds no agent, and what to do: wait, name a run, or train one."""
    if (directory / "config.json").is_file():
        return (
            f"{directory} holds no trained agent yet: a run stores one with its first checkpoint; "
            f"wait for it, or if it has stopped, `seads train --resume {directory}`"
        )
    runs = sorted(card.parent.parent for card in directory.glob(f"*/agent/{CARD}"))
    if runs:
        return f"{directory} holds runs, not an agent; choose from {', '.join(map(str, runs))}"
    return (
        f"{directory} holds no trained agent: there is no agent/{CARD} in it; `seads train ENV` "
        "makes one, and `seads agents` lists those that come with the package"
    )
