"""`seads envs`: the environments one can train on, as a table or as JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass
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


def run(options: Options) -> list[dict[str, Any]]:
    """Show every environment; returns one description each."""
    from seads.envs.registry import ENVIRONMENTS, describe

    found = [describe(name) for name in ENVIRONMENTS]
    if not options.json:
        _print_table(found)
    return found


def _print_table(found: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else FULL_WIDTH)
    keys = [key for key in COLUMNS if key != "gym_id" or console.width >= FULL_WIDTH]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for key in keys:
        number = isinstance(found[0].get(key), int)
        table.add_column(COLUMNS[key], justify="right" if number else "left", no_wrap=True)
    for one in found:
        cells = {**one, "board": f"{one['size']}×{one['size']}"}
        table.add_row(*(str(cells[key]) for key in keys))
    console.print(table)
