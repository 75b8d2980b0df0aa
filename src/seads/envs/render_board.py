"""The boards as the paper's figure 1 draws them: painted flat, on a square picture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from seads.errors import unknown
from seads.games.game import Game
from seads.games.lights_out import LightsOut
from seads.games.tile_swap import TileSwap

Colour = tuple[int, int, int]

PAPER: Colour = (250, 250, 248)
GROUND: Colour = (236, 237, 239)
# Red is much darker than grey, so the two differ for eyes that see no red too.
ON: Colour = (196, 30, 42)
OFF: Colour = (190, 194, 200)
INK: Colour = (38, 44, 56)
_ON_HALF: Colour = (224, 120, 126)
_OFF_HALF: Colour = (158, 164, 172)
_CHIP: Colour = (255, 255, 255)
_ZONE: Colour = (208, 222, 238)
_ZONE_EDGE: Colour = (120, 150, 186)

_TILE_GAP = 0.05  # of a tile's width: what a tile keeps free on each side
_TILE_ROUNDING = 0.1
_CHIP_RADIUS = 0.29  # of a field's width


def paint_board(game: Game, board: UInt8[np.ndarray, "fields"], side: int) -> Image.Image:
    """The unit square of the board as a picture `side` pixels wide, origin top left."""
    if game.name not in PAINTERS:
        raise unknown("game to draw", game.name, PAINTERS)
    picture = Image.new("RGB", (side, side), GROUND)
    PAINTERS[game.name](game, board, ImageDraw.Draw(picture), side)
    return picture


def paint_lights(
    game: LightsOut, board: UInt8[np.ndarray, "fields"], draw: ImageDraw.ImageDraw, side: int
) -> None:
    """Red fields are on, grey ones off; a half-field board has its halves set apart."""
    half = game.tile_width * (0.5 - _TILE_GAP) * side
    for field, value in enumerate(board):
        x, y = (side * middle for middle in game.point_of(field))
        box = (x - half, y - half, x + half, y + half)
        rounding = _TILE_ROUNDING * 2 * half
        draw.rounded_rectangle(box, rounding, fill=ON if value else OFF)
        if game.half_fields:
            # A lit field is put out on its lower half, a dark one lit on its upper half.
            middle = y + half * (0.5 if value else -0.5)
            reach = half * 0.3
            colour = _ON_HALF if value else _OFF_HALF
            draw.line((x - half, y, x + half, y), fill=colour, width=max(1, round(half * 0.06)))
            arrow = reach if value else -reach
            tip = [(x - reach, middle), (x + reach, middle), (x, middle + arrow)]
            draw.polygon(tip, fill=colour)


def paint_chips(
    game: TileSwap, board: UInt8[np.ndarray, "fields"], draw: ImageDraw.ImageDraw, side: int
) -> None:
    """Numbered chips over the rhombi in which a touch swaps two of them."""
    field_width = side / game.size
    reach = field_width / 2
    line = max(1, round(side * 0.006))
    for move in range(game.num_moves):
        x, y = (side * middle for middle in game.point_of(move))
        corners = [(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]
        draw.polygon(corners, fill=_ZONE)
        draw.line([*corners, corners[0], corners[1]], fill=_ZONE_EDGE, width=line, joint="curve")
    radius = _CHIP_RADIUS * field_width
    font = ImageFont.load_default(radius * 1.35)
    for field, chip in enumerate(board):
        row, column = divmod(field, game.size)
        x, y = (column + 0.5) * field_width, (row + 0.5) * field_width
        disc = (x - radius, y - radius, x + radius, y + radius)
        draw.ellipse(disc, fill=_CHIP, outline=INK, width=2 * line)
        draw.text((x, y), str(chip), fill=INK, font=font, anchor="mm")


PAINTERS: dict[str, Callable[..., None]] = {"lightsout": paint_lights, "tileswap": paint_chips}
