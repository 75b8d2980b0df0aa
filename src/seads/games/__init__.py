"""The board games: rules, symbols, exact solution depths and the train/test split."""

from __future__ import annotations

import inspect
from typing import Any

from seads.errors import SeadsError, unknown
from seads.games.game import NO_MOVE, Boards, Game, Split
from seads.games.lights_out import LightsOut
from seads.games.tile_swap import TileSwap

GAMES: dict[str, type[Game]] = {"lightsout": LightsOut, "tileswap": TileSwap}

__all__ = ["GAMES", "NO_MOVE", "Boards", "Game", "LightsOut", "Split", "TileSwap", "make_game"]


def make_game(name: str, **options: Any) -> Game:
    """A game by name, with its options such as `size`."""
    if name not in GAMES:
        raise unknown("game", name, GAMES)
    known = inspect.signature(GAMES[name]).parameters
    for option in options:
        if option not in known:
            raise SeadsError(
                f"unknown option {option!r} of game {name!r}; choose from {', '.join(known)}"
            )
    return GAMES[name](**options)
