"""`seads envs`: the environments one can train on, as a table, as JSON and as pictures."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLUMNS = {
    "name": "environment",
    "board": "board",
    "moves": "skills",
    "bits": "bits",
    "observation_size": "observation",
    "action_size": "action",
    "step_limit": "steps",
    "gym_id": "Gymnasium id",
}
# A narrower terminal does without the Gymnasium id; in a pipe nothing is ever cut.
FULL_WIDTH = 120


@dataclass(frozen=True)
class Options:
    """What to show of the environments."""

    json: bool = False
    """Print a JSON list instead of a table."""
    pictures: Path | None = None
    """Write a picture of each environment, NAME.png, into this directory."""


def run(options: Options) -> list[dict[str, Any]]:
    """Show every environment; returns one description each."""
    from seads.envs.registry import ENVIRONMENTS, describe

    found = [describe(name) for name in ENVIRONMENTS]
    if not options.json:
        _print_table(found)
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for one in found:
            picture = options.pictures / f"{one['name']}.png"
            _draw(one["name"], picture)
            one["picture"] = str(picture)
        print(f"{len(found)} pictures in {options.pictures}")
    if not options.json:
        print(f"next: seads train {found[0]['name']}")
    return found


def _draw(name: str, picture: Path) -> None:
    """Write how an environment looks at the start of an episode."""
    from PIL import Image

    from seads.envs import make_env
    from seads.envs.render import Renderer
    from seads.streams import row_seeds

    with closing(make_env(name)) as env:
        env.reset(row_seeds(0, 1))
        with closing(Renderer(env)) as renderer:
            Image.fromarray(renderer.frame(0)).save(picture)


def _print_table(found: list[dict[str, Any]]) -> None:
    from rich.console import Console

    from seads.commands.table import plain_table

    console = Console(width=None if sys.stdout.isatty() else FULL_WIDTH)
    keys = [key for key in COLUMNS if key != "gym_id" or console.width >= FULL_WIDTH]
    words = [COLUMNS[key] for key in keys if not isinstance(found[0].get(key), int)]
    table = plain_table((COLUMNS[key] for key in keys), left=words, no_wrap=True)
    for one in found:
        cells = {**one, "board": f"{one['size']}×{one['size']}"}
        table.add_row(*(str(cells[key]) for key in keys))
    console.print(table)
