"""The boards as the paper's figure 1 draws them: painted flat, on a square picture."""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from seads.games.game import Game
from seads.games.look import Face, FieldBox

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
    picture = Image.new("RGB", (side, side), GROUND)
    draw = ImageDraw.Draw(picture)
    line = max(1, round(side * 0.006))
    for outline in game.zones:
        corners = [(side * x, side * y) for x, y in outline]
        draw.polygon(corners, fill=_ZONE)
        draw.line([*corners, *corners[:2]], fill=_ZONE_EDGE, width=line, joint="curve")
    for box, face in zip(game.fields, game.faces(board), strict=True):
        scaled = FieldBox(*(side * one for one in box))
        if face.chip is None:
            _paint_tile(draw, scaled, face)
        else:
            _paint_chip(draw, scaled, face.chip, 2 * line)
    return picture


def _paint_tile(draw: ImageDraw.ImageDraw, box: FieldBox, face: Face) -> None:
    """Red tiles are on, grey ones off; the half that must be touched has an arrow."""
    x, y = box.x, box.y
    across, down = (0.5 - _TILE_GAP) * box.width, (0.5 - _TILE_GAP) * box.height
    half = min(across, down)
    corners = (x - across, y - down, x + across, y + down)
    draw.rounded_rectangle(corners, _TILE_ROUNDING * 2 * half, fill=ON if face.lit else OFF)
    if face.half is not None:
        sign = 1 if face.half == "lower" else -1
        middle, reach = y + sign * down / 2, half * 0.3
        colour = _ON_HALF if face.lit else _OFF_HALF
        draw.line((x - across, y, x + across, y), fill=colour, width=max(1, round(half * 0.06)))
        tip = [(x - reach, middle), (x + reach, middle), (x, middle + sign * reach)]
        draw.polygon(tip, fill=colour)


def _paint_chip(draw: ImageDraw.ImageDraw, box: FieldBox, label: str, rim: int) -> None:
    x, y = box.x, box.y
    radius = _CHIP_RADIUS * min(box.width, box.height)
    disc = (x - radius, y - radius, x + radius, y + radius)
    draw.ellipse(disc, fill=_CHIP, outline=INK, width=rim)
    font = ImageFont.load_default(radius * 1.35)
    draw.text((x, y), label, fill=INK, font=font, anchor="mm")
