"""A trained baseline as a file: its policies, and a card that says where it comes from."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from seads.agent.agent import FORMAT, find
from seads.agent.arrays import from_arrays, read_arrays, to_arrays, write_arrays
from seads.agent.networks import MLP, SkillPolicy
from seads.baselines.policies import ActionPolicy, SubgoalPolicy
from seads.baselines.settings import KINDS
from seads.envs.interface import EnvSpec
from seads.errors import SeadsError, unknown


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
    """Acts: on observations (SAC), or on [body, bits, subgoal] (HAC)."""
    high: SubgoalPolicy | None
    """Sets subgoals on [body, bits, goal] (HAC)."""
    card: dict[str, Any]

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
        """Write weights.safetensors and card.json, each aside first, then renamed."""
        directory.mkdir(parents=True, exist_ok=True)
        weights, card = directory / "weights.safetensors", directory / "card.json"
        write_arrays(weights.with_suffix(".tmp"), to_arrays((self.low, self.high)))
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


def is_baseline(source: str | Path) -> bool:
    """Whether a run or agent directory holds a baseline; what cannot be read does not."""
    try:
        card = json.loads((find(source) / "card.json").read_text())
        return card["architecture"]["algorithm"] in KINDS
    except (OSError, ValueError, KeyError, TypeError):
        return False


def load_baseline(source: str | Path) -> BaselineAgent:
    """A baseline from a run directory or an agent directory; reads arrays and JSON only."""
    directory = find(source)
    try:
        content = json.loads((directory / "card.json").read_text())
        if content["format"] != FORMAT:
            raise SeadsError(
                f"{directory / 'card.json'} has format {content['format']}; this version of "
                f"seads reads format {FORMAT}"
            )
        shape = content.pop("architecture")
        shape["hidden"] = tuple(shape["hidden"])
        ours = BaselineArchitecture(**shape)
        env, env_options = content.pop("env"), content.pop("env_options")
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise SeadsError(f"{directory / 'card.json'} is not a baseline's card: {error}") from None
    if ours.algorithm not in KINDS:
        raise unknown("baseline", ours.algorithm, KINDS)
    low, high = _fresh_policies(ours)
    low, high = from_arrays((low, high), read_arrays(directory / "weights.safetensors"))
    return BaselineAgent(env, env_options, ours, low, high, content)


def _fresh_policies(ours: BaselineArchitecture) -> tuple[SkillPolicy, SubgoalPolicy | None]:
    key = jax.random.key(0)
    # a trained policy only acts: what its log-density is measured in no longer matters
    if ours.algorithm == "sac":
        sizes = (ours.observation_size, *ours.hidden, 2 * ours.action_size)
        return ActionPolicy(MLP(sizes, key), 0.0), None
    inputs = ours.observation_size - 1 + ours.num_bits
    low = ActionPolicy(MLP((inputs, *ours.hidden, 2 * ours.action_size), key), 0.0)
    return low, SubgoalPolicy(MLP((inputs, *ours.hidden, ours.num_bits), key), 1.0)
