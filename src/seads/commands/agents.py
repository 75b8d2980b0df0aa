"""`seads agents`: the trained agents that come with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seads.terminal import tell_next

COLUMNS = ("name", "env", "env_steps", "coverage", "success", "seed")
WRITTEN = {"env_steps": "{:,}", "coverage": "{:.2f}", "success": "{:.0%}"}


@dataclass(frozen=True)
class Options:
    """How to list the agents."""

    json: bool = False
    """Print a JSON list instead of a table."""


def run(options: Options) -> list[dict[str, Any]]:
    """List every packaged agent with what its card says."""
    from seads.agent.card import packaged

    found = []
    for name, directory in packaged().items():
        found.append({"name": name, "coverage": None, "success": None, **_card(directory)})
    if not options.json:
        _print_table(found)
    return found


def _card(directory: Path) -> dict[str, Any]:
    import msgspec

    from seads.agent.card import CARD, CARD_IS, Card
    from seads.reading import read_json

    card = read_json(directory / CARD, Card[dict[str, Any]], CARD_IS)
    return msgspec.to_builtins(card)


def _print_table(found: list[dict[str, Any]]) -> None:
    from seads.tables import table_text

    titles = [column.replace("_", " ") for column in COLUMNS]
    rows = [
        ["" if card.get(c) is None else WRITTEN.get(c, "{}").format(card[c]) for c in COLUMNS]
        for card in found
    ]
    print(table_text(titles, rows, left=("name", "env")))
    tell_next("evaluate", found[0]["name"])
