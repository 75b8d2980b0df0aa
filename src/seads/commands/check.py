"""`seads check`: is an environment ready to be learned, before a long run is spent on it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from seads.commands.progress import working
from seads.errors import Refused
from seads.terminal import tell


@dataclass(frozen=True)
class Options:
    """Which environment to look at."""

    env: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ENV")]
    """module:factory for your own, or a name that `seads envs` lists."""
    env_set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Options of the environment, as for `seads train`."""
    seconds: float = 30.0
    """About how long to act at random; up to three times as long where steps are slow."""
    seed: int = 0
    """Seed of the starts and of the actions."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Act at random, print what was found and the command to run next."""
    from seads.agent.presets import preset
    from seads.envs.readiness import check
    from seads.training.configure import named_values

    doing = f"{options.env}: acting at random"
    if not sys.stderr.isatty():  # where nothing turns, a line says that it has begun
        tell(f"{doing} for about {options.seconds:g} s")
    with working(doing):
        found = check(
            options.env,
            named_values(options.env_set),
            seconds=options.seconds,
            seed=options.seed,
            episodes=preset().episodes_per_epoch,
        )
    print(found)
    result = found.to_json()
    if not found.ready:
        raise Refused(f"environment {options.env!r}: {found.verdict}", result | {"next": None})
    given = ["--env-set", *options.env_set] if options.env_set else []
    command = shlex.join(["seads", "train", options.env, *given])
    print(f"next: {command}")
    return result | {"next": command}
