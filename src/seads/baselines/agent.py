"""A trained baseline as a file: its policies, and a card that says where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import jax
from msgspec import Meta, Struct

from seads.agent.card import algorithm_of, find, read_card, read_weights
from seads.agent.networks import MLP, SkillPolicy, make_policy
from seads.agent.trained import Trained
from seads.baselines.policies import SubgoalPolicy
from seads.baselines.settings import KINDS
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
class BaselineAgent(Trained[BaselineArchitecture]):
    """What evaluation needs of a baseline: policies from observations to actions."""

    low: SkillPolicy
    """Acts: on observations (SAC), or on [manipulator, bits, subgoal] (HAC)."""
    high: SubgoalPolicy | None
    """Sets subgoals on [manipulator, bits, goal] (HAC)."""

    @property
    def networks(self) -> tuple[SkillPolicy, SubgoalPolicy | None]:
        """All that has weights."""
        return self.low, self.high


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
    return BaselineAgent(
        card.env,
        card.env_options,
        ours,
        card.facts(),
        low,
        high,
        code_refusal=card.code_refusal(source, allow),
    )


def _fresh_policies(ours: BaselineArchitecture) -> tuple[SkillPolicy, SubgoalPolicy | None]:
    key = jax.random.key(0)
    # a trained policy only acts: what its log-density is measured in no longer matters
    if ours.algorithm == "sac":
        return make_policy(ours.observation_size, ours.action_size, ours.hidden, key), None
    inputs = ours.observation_size - 1 + ours.num_bits
    low = make_policy(inputs, ours.action_size, ours.hidden, key)
    return low, SubgoalPolicy(MLP((inputs, *ours.hidden, ours.num_bits), key), 1.0)
