"""An agent's directory: its weights, and a card that says what they are and where they are from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from seads.agent.arrays import from_arrays, read_arrays, to_arrays, write_arrays
from seads.envs.interface import EnvSpec
from seads.errors import SeadsError, unknown

FORMAT = 1
CARD, WEIGHTS = "card.json", "weights.safetensors"

Shape = TypeVar("Shape")
Networks = TypeVar("Networks")


def check_fits(env: str, architecture: Any, spec: EnvSpec) -> None:
    """Raise unless an agent that was trained in `env` can act in one of that specification."""
    for name in ("observation_size", "action_size", "num_bits"):
        ours, theirs = getattr(architecture, name), getattr(spec, name)
        if ours != theirs:
            raise SeadsError(
                f"agent for {env!r} does not fit {spec.name!r}: {name} is {theirs}, "
                f"the agent needs {ours}"
            )


def write_agent(
    directory: Path,
    env: str,
    env_options: dict[str, Any],
    architecture: Any,
    networks: Any,
    more: dict[str, Any],
) -> None:
    """Write weights and card, each aside first, then renamed."""
    directory.mkdir(parents=True, exist_ok=True)
    weights, card = directory / WEIGHTS, directory / CARD
    write_arrays(weights.with_suffix(".tmp"), to_arrays(networks))
    content = {
        "format": FORMAT,
        "env": env,
        "env_options": env_options,
        "architecture": dataclasses.asdict(architecture),
        **more,
    }
    card.with_suffix(".tmp").write_text(json.dumps(content, indent=2) + "\n")
    for path in (weights, card):
        path.with_suffix(".tmp").rename(path)


def read_card(
    directory: Path,
    kind: Callable[..., Shape],
    algorithms: Collection[str],
    refuse: Callable[[str, str], SeadsError],
) -> tuple[str, dict[str, Any], Shape, dict[str, Any]]:
    """The environment, its options, the architecture, and what else the card says.

    Raises `refuse(algorithm, env)` unless the algorithm is one of `algorithms`.
    """
    path = directory / CARD
    try:
        content = json.loads(path.read_text())
        if content["format"] != FORMAT:
            raise SeadsError(
                f"{path} has format {content['format']}; this version of seads reads format "
                f"{FORMAT}"
            )
        shape = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in content.pop("architecture").items()
        }
        if shape["algorithm"] not in algorithms:  # whose architecture is another one
            raise refuse(str(shape["algorithm"]), str(content["env"]))
        return content.pop("env"), content.pop("env_options"), kind(**shape), content
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SeadsError(f"{path} is not an agent's card: {error}") from None


def read_weights(directory: Path, like: Networks) -> Networks:
    """Networks of the same shapes with the weights that were written."""
    return from_arrays(like, read_arrays(directory / WEIGHTS))


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
