"""The board games: rules, symbols, exact solution depths and the train/test split."""

from __future__ import annotations

from typing import Any

from seads.errors import check_choice
from seads.games.checks import check_options
from seads.games.game import NO_MOVE, Boards, Game, Split
from seads.games.lights_out import LightsOut
from seads.games.tile_swap import TileSwap

GAMES: dict[str, type[Game]] = {"lightsout": LightsOut, "tileswap": TileSwap}

__all__ = ["GAMES", "NO_MOVE", "Boards", "Game", "LightsOut", "Split", "TileSwap", "make_game"]


def make_game(name: str, **options: Any) -> Game:
    """A game by name, with its options such as `size`."""
    check_choice("game", name, GAMES)
    check_options(name, GAMES[name], options)
    return GAMES[name](**options)
