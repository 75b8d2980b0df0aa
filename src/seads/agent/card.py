"""An agent's directory: its weights, and a card that says what they are and where they are from."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import equinox as eqx
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from seads.agent.arrays import from_arrays, read_arrays
from seads.envs.own import check_env_options, is_own
from seads.errors import SeadsError, unknown
from seads.reading import Count, Name, Options, Share, Text, as_kind, read_bytes, read_json
from seads.trust import refusal

FORMAT = 1
CARD, WEIGHTS = "card.json", "weights.safetensors"
CARD_IS = "an agent's card"

Shape = TypeVar("Shape")
Networks = TypeVar("Networks")


class SkillFacts(Struct, forbid_unknown_fields=True):
    """What a run's own episodes say of a skill."""

    skill: Count
    episodes: Count
    steps: Annotated[float, Meta(ge=0.0, le=1e9)]
    success: Annotated[float, Meta(gt=0.0, lt=1.0)]
    own: bool | UnsetType = UNSET
    """Whether it has an effect of its own; cards from before that was found out say nothing."""
    needs: list[tuple[Count, bool]] | UnsetType = UNSET
    """Bits, and the values that they must have for the skill to do anything."""


Push = tuple[Count, float, float]
"""Skill, x and y of a touch."""


class FirstAndLast(Struct, forbid_unknown_fields=True):
    """Where the first and the last skills of a run touched the board."""

    first: Annotated[list[Push], Meta(max_length=10_000)]
    last: Annotated[list[Push], Meta(max_length=10_000)]


class Card(Struct, Generic[Shape], forbid_unknown_fields=True):
    """card.json: what the weights are, then where they come from and what was measured of them."""

    format: Literal[1]
    env: Name
    env_options: Options
    architecture: Shape
    env_steps: Count | UnsetType = UNSET
    budgets: list[Count] | UnsetType = UNSET
    """Every budget of environment steps that its run has had."""
    epoch: Count | UnsetType = UNSET
    command: Text | UnsetType = UNSET
    preset: Name | UnsetType = UNSET
    seed: Count | UnsetType | None = UNSET
    commit: Name | UnsetType | None = UNSET
    version: Name | UnsetType = UNSET
    seal: Name | UnsetType | None = UNSET
    """Marks an agent as trained here in an environment of the user's own."""
    skills: list[SkillFacts] | UnsetType = UNSET
    pushes: FirstAndLast | UnsetType = UNSET
    """On older cards alone; a run has a file of its own for them."""
    coverage: Annotated[float, Meta(ge=0.0, le=1000000000.0)] | UnsetType | None = UNSET
    coverage_of: Count | UnsetType = UNSET
    model_accuracy: Share | UnsetType | None = UNSET
    success: Share | UnsetType | None = UNSET
    success_by_depth: dict[Name, Share] | UnsetType = UNSET
    success_without_replanning: Share | UnsetType | None = UNSET
    measured_by: list[Text] | UnsetType = UNSET

    def __post_init__(self) -> None:
        check_env_options(self.env_options)

    def facts(self) -> dict[str, Any]:
        """What it says besides what the agent is."""
        known = msgspec.to_builtins(self)
        first = ("format", "env", "env_options", "architecture")
        return {name: value for name, value in known.items() if name not in first}

    def code_refusal(self, source: str | Path, allow: str | None) -> str | None:
        """Why the code that its environment names may not be imported; None if there is none."""
        if not is_own(self.env):
            return None
        return refusal(source, self.env, self.env_options, self.seal or None, allow)


class _Algorithm(Struct):
    algorithm: Name


class _Format(Struct):
    format: int


class _First(Struct):
    """What must be known before the rest can be read."""

    env: Name
    architecture: _Algorithm


def read_card(
    directory: Path,
    kind: type[Shape],
    algorithms: Collection[str],
    refuse: Callable[[str, str], SeadsError],
) -> Card[Shape]:
    """The card of an agent whose architecture is of this kind.

    Raises `refuse(algorithm, env)` unless the algorithm is one of `algorithms`.
    """
    path = directory / CARD
    content, complaint = read_bytes(path, CARD_IS), f"{path} is not {CARD_IS}"
    made = as_kind(content, _Format, complaint).format
    if made != FORMAT:
        raise SeadsError(f"{path} has format {made}; this version of seads reads format {FORMAT}")
    first = as_kind(content, _First, complaint)
    if first.architecture.algorithm not in algorithms:  # whose architecture is another one
        raise refuse(first.architecture.algorithm, first.env)
    return as_kind(content, Card[kind], complaint)  # type: ignore[valid-type]


def algorithm_of(directory: Path) -> str:
    """The algorithm that a card names."""
    return read_json(directory / CARD, _First, CARD_IS).architecture.algorithm


def read_facts(directory: Path) -> dict[str, Any]:
    """All that a card says but for the sizes of the networks: what a list or a report shows."""
    card = read_json(directory / CARD, Card[_Algorithm], CARD_IS)
    return {"env": card.env, "algorithm": card.architecture.algorithm, **card.facts()}


def read_weights(directory: Path, make: Callable[[], Networks]) -> Networks:
    """The networks that `make` makes, with the weights that were written.

    Only their shapes are made before the file has been found to hold such arrays: a card cannot
    ask for more than there is.
    """
    path = directory / WEIGHTS
    arrays = read_arrays(path)
    try:
        return from_arrays(eqx.filter_eval_shape(make), arrays)
    except SeadsError as error:
        raise SeadsError(f"{path}: {error}") from None


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
