"""A trained baseline as a file: its policies, and a card that says where it comes from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from seads.agent.card import CARD, check_fits, find, read_card, read_weights, write_agent
from seads.agent.networks import MLP, SkillPolicy, make_policy
from seads.baselines.policies import SubgoalPolicy
from seads.baselines.settings import KINDS
from seads.envs.interface import EnvSpec
from seads.errors import SeadsError, unknown
from seads.jax_setup import prepare_jax


@dataclass(frozen=True)
class BaselineArchitecture:
    """All that is needed to rebuild the policies and to act with them."""

    algorithm: str
    observation_size: int
    action_size: int
    num_bits: int
    hidden: tuple[int, ...]
    horizon_low: int = 0
    """Of HAC: steps for one subgoal."""
    horizon_high: int = 0
    """Of HAC: subgoals for one board."""


@dataclass(frozen=True)
class BaselineAgent:
    """What evaluation needs of a baseline: policies from observations to actions."""

    env: str
    env_options: dict[str, Any]
    architecture: BaselineArchitecture
    low: SkillPolicy
    """Acts: on observations (SAC), or on [manipulator, bits, subgoal] (HAC)."""
    high: SubgoalPolicy | None
    """Sets subgoals on [manipulator, bits, goal] (HAC)."""
    card: dict[str, Any]

    def check_fits(self, spec: EnvSpec) -> None:
        """Raise unless this agent can act in an environment of that specification."""
        check_fits(self.env, self.architecture, spec)

    def save(self, directory: Path) -> None:
        """Write weights.safetensors and card.json, each aside first, then renamed."""
        networks = (self.low, self.high)
        write_agent(directory, self.env, self.env_options, self.architecture, networks, self.card)


def is_baseline(source: str | Path) -> bool:
    """Whether a run or agent directory holds a baseline; what cannot be read does not."""
    try:
        card = json.loads((find(source) / CARD).read_text())
        return card["architecture"]["algorithm"] in KINDS
    except (OSError, ValueError, KeyError, TypeError):
        return False


def load_baseline(source: str | Path) -> BaselineAgent:
    """A baseline from a run directory or an agent directory; reads arrays and JSON only."""
    prepare_jax()

    def refuse(algorithm: str, env: str) -> SeadsError:
        return unknown("baseline", algorithm, KINDS)

    directory = find(source)
    env, env_options, ours, card = read_card(directory, BaselineArchitecture, KINDS, refuse)
    low, high = read_weights(directory, _fresh_policies(ours))
    return BaselineAgent(env, env_options, ours, low, high, card)


def _fresh_policies(ours: BaselineArchitecture) -> tuple[SkillPolicy, SubgoalPolicy | None]:
    key = jax.random.key(0)
    # a trained policy only acts: what its log-density is measured in no longer matters
    if ours.algorithm == "sac":
        return make_policy(ours.observation_size, ours.action_size, ours.hidden, key), None
    inputs = ours.observation_size - 1 + ours.num_bits
    low = make_policy(inputs, ours.action_size, ours.hidden, key)
    return low, SubgoalPolicy(MLP((inputs, *ours.hidden, ours.num_bits), key), 1.0)
