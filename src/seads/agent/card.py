"""An agent's directory: its weights, and a card that says what they are and where they are from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from seads.agent.arrays import from_arrays, read_arrays, to_arrays, write_arrays
from seads.envs.interface import EnvSpec
from seads.errors import SeadsError

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
