"""A trained baseline as a file: its policies, and a card that says where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import jax
from msgspec import Meta, Struct

from seads.agent.card import (
    algorithm_of,
    check_fits,
    find,
    read_card,
    read_weights,
    write_agent,
)
from seads.agent.networks import MLP, SkillPolicy, make_policy
from seads.baselines.policies import SubgoalPolicy
from seads.baselines.settings import KINDS
from seads.envs import make_env
from seads.envs.interface import BatchedEnv, EnvSpec
from seads.errors import SeadsError, unknown
from seads.jax_setup import prepare_jax
from seads.reading import Layers, Size

Horizon = Annotated[int, Meta(ge=0, le=65_536)]


class BaselineArchitecture(Struct, frozen=True, forbid_unknown_fields=True):
    """All that is needed to rebuild the policies and to act with them."""

    algorithm: str
    observation_size: Size
    action_size: Size
    num_bits: Size
    hidden: Layers
    horizon_low: Horizon = 0
    """Of HAC: steps for one subgoal."""
    horizon_high: Horizon = 0
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
    code_refusal: str | None = None
    """Why the code of its environment, which a file has named, may not be imported."""

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
        check_fits(self.env, self.architecture, spec)

    def save(self, directory: Path) -> None:
        """Write weights.safetensors and card.json, each aside first, then renamed."""
        networks = (self.low, self.high)
        write_agent(directory, self.env, self.env_options, self.architecture, networks, self.card)


def is_baseline(source: str | Path) -> bool:
    """Whether a run or agent directory holds a baseline; what cannot be read does not."""
    try:
        return algorithm_of(find(source)) in KINDS
    except (OSError, SeadsError):
        return False


def load_baseline(source: str | Path, *, allow: str | None = None) -> BaselineAgent:
    """A baseline from a run directory or an agent directory; reads arrays and JSON only.

    `allow` is as for `seads.load`.
    """
    prepare_jax()

    def refuse(algorithm: str, env: str) -> SeadsError:
        return unknown("baseline", algorithm, KINDS)

    directory = find(source)
    card = read_card(directory, BaselineArchitecture, KINDS, refuse)
    ours = card.architecture
    low, high = read_weights(directory, lambda: _fresh_policies(ours))
    untrusted = card.code_refusal(source, allow)
    return BaselineAgent(card.env, card.env_options, ours, low, high, card.facts(), untrusted)


def _fresh_policies(ours: BaselineArchitecture) -> tuple[SkillPolicy, SubgoalPolicy | None]:
    key = jax.random.key(0)
    # a trained policy only acts: what its log-density is measured in no longer matters
    if ours.algorithm == "sac":
        return make_policy(ours.observation_size, ours.action_size, ours.hidden, key), None
    inputs = ours.observation_size - 1 + ours.num_bits
    low = make_policy(inputs, ours.action_size, ours.hidden, key)
    return low, SubgoalPolicy(MLP((inputs, *ours.hidden, ours.num_bits), key), 1.0)
