"""Manipulators seen from above, drawn in two dimensions: no OpenGL needed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from seads.envs.manipulator import Manipulator, Point
from seads.envs.render_board import INK, PAPER, Colour, paint_board
from seads.games.game import Game

_FINER = 3  # pictures are drawn this much larger and then averaged: smooth edges
_WHITE: Colour = (255, 255, 255)
_LINK: Colour = (66, 96, 140)
_TOUCHING: Colour = (255, 190, 0)


class FlatView:
    """Pictures of a manipulator that moves in the plane of the board: its joints and links."""

    def __init__(self, game: Game, manipulator: Manipulator, width: int, height: int) -> None:
        self._game, self._manipulator = game, manipulator
        self._size = (width * _FINER, height * _FINER)
        self._side = round(manipulator.board_share * min(self._size))
        self._corner = ((self._size[0] - self._side) // 2, (self._size[1] - self._side) // 2)
        self._painted: tuple[bytes, Image.Image] | None = None

    def frame(
        self, board: UInt8[np.ndarray, "fields"], pose: Any, touching: bool
    ) -> UInt8[np.ndarray, "height width 3"]:
        """The board, the arm if there is one, and the tip, which lights up while it touches."""
        picture = self._board(board).copy()
        draw = ImageDraw.Draw(picture)
        joints = [self._pixel(point) for point in self._manipulator.joints(pose)]
        self._draw_arm(draw, joints)
        self._draw_tip(draw, joints[-1], touching)
        return np.array(picture.reduce(_FINER))

    def close(self) -> None:
        self._painted = None

    def _pixel(self, point: Point) -> Point:
        return self._corner[0] + self._side * point[0], self._corner[1] + self._side * point[1]

    def _board(self, board: UInt8[np.ndarray, "fields"]) -> Image.Image:
        """The picture without the manipulator, painted anew only for another board."""
        key = board.tobytes()
        if self._painted is None or self._painted[0] != key:
            picture = Image.new("RGB", self._size, PAPER)
            picture.paste(paint_board(self._game, board, self._side), self._corner)
            self._painted = key, picture
        return self._painted[1]

    def _draw_arm(self, draw: ImageDraw.ImageDraw, joints: list[Point]) -> None:
        radius = 0.033 * self._side  # 1 cm, as thick as the model's links
        for thickness, colour in ((1.25, _WHITE), (1.0, _LINK)):
            for start, end in pairwise(joints):
                draw.line([start, end], fill=colour, width=round(2 * radius * thickness))
                _disc(draw, start, radius * thickness, colour)
        for joint in joints[:-1]:
            _disc(draw, joint, radius * 0.45, _WHITE)

    def _draw_tip(self, draw: ImageDraw.ImageDraw, tip: Point, touching: bool) -> None:
        radius = 0.026 * min(self._size)
        _disc(draw, tip, radius, _WHITE)
        _disc(draw, tip, radius * 0.86, INK)
        _disc(draw, tip, radius * 0.6, _TOUCHING if touching else _WHITE)
        _disc(draw, tip, radius * 0.3, INK)


def _disc(draw: ImageDraw.ImageDraw, middle: Point, radius: float, colour: Colour) -> None:
    x, y = middle
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
