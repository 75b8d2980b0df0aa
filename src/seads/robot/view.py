"""Pictures of the arm over its tablet, in perspective: capsules over a painted board, no OpenGL."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image, ImageDraw, ImageFilter

from seads.envs.manipulator import Place
from seads.envs.render_board import INK, Colour, paint_board
from seads.games.game import Game
from seads.robot.drawing import GLASS, PARTS, Drawing

Pixels = Float[np.ndarray, "points 2"]

_FINER = 2  # pictures are drawn this much larger and then averaged: smooth edges
_SIGHT = 43.0  # degrees from the top of a picture to its bottom
_TABLE: Colour = (244, 245, 248)
_FRAME = 0.012  # metres of the tablet around its screen
_LIGHT = np.array([0.25, 0.35])  # metres that a shadow falls aside for one of height
_BOARD = 600  # pixels of the painted board, before it is laid onto the tablet
_LAYERS = 7  # of light on a round part


class ArmView:
    """Draws one arm as its `Drawing` places it; the camera stands where a page has it."""

    def __init__(
        self, game: Game, drawing: Drawing, camera: Place, look_at: Place, width: int, height: int
    ) -> None:
        self._game, self._drawing = game, drawing
        self._size = (width * _FINER, height * _FINER)
        self._camera = np.array(camera)
        ahead = np.array(look_at) - self._camera
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        self._axes = np.stack([right, np.cross(ahead, right), ahead])
        self._focus = 0.5 * self._size[1] / np.tan(np.radians(_SIGHT / 2))
        self._painted: tuple[bytes, Image.Image] | None = None

    def frame(
        self, board: UInt8[np.ndarray, "fields"], pose: Float[np.ndarray, "3"], touching: bool
    ) -> UInt8[np.ndarray, "height width 3"]:
        """The arm over its board; a pen that has just touched is shown on the glass."""
        picture = self._board(board).copy()
        points = self._drawing.points(self._drawing.on_glass(pose) if touching else pose)
        shade = Image.new("L", self._size, 0)
        fallen = points.copy()
        fallen[:, :2] -= points[:, 2:] * _LIGHT
        fallen[:, 2] = GLASS
        self._draw_parts(ImageDraw.Draw(shade), fallen, None)
        shade = shade.filter(ImageFilter.GaussianBlur(3 * _FINER))
        picture.paste(INK, mask=shade.point(lambda value: value // 4))
        self._draw_parts(ImageDraw.Draw(picture), points, self._camera)
        return np.array(picture.reduce(_FINER))

    def close(self) -> None:
        self._painted = None

    def _board(self, board: UInt8[np.ndarray, "fields"]) -> Image.Image:
        """Tablet and table without the arm, painted anew only for another board."""
        key = board.tobytes()
        if self._painted is None or self._painted[0] != key:
            picture = Image.new("RGB", self._size, _TABLE)
            draw = ImageDraw.Draw(picture)
            for height in np.linspace(0.0, GLASS, 9):
                edge = self._pixels(self._screen(_FRAME, height))[0]
                draw.polygon([tuple(corner) for corner in edge], fill=INK)
            corners = self._pixels(self._screen(0.0, GLASS))[0]
            onto = _perspective(corners, np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * _BOARD)
            way = (self._size, Image.Transform.PERSPECTIVE, onto, Image.Resampling.BICUBIC)
            laid = paint_board(self._game, board, _BOARD).transform(*way)
            picture.paste(laid, mask=Image.new("L", (_BOARD, _BOARD), 255).transform(*way))
            self._painted = key, picture
        return self._painted[1]

    def _screen(self, wider: float, height: float) -> Float[np.ndarray, "4 3"]:
        """The screen's corners from top left on, clockwise."""
        x, y = self._drawing.half_width + wider, self._drawing.half_depth + wider
        return np.array([[-x, y, height], [x, y, height], [x, -y, height], [-x, -y, height]])

    def _pixels(
        self, points: Float[np.ndarray, "points 3"]
    ) -> tuple[Pixels, Float[np.ndarray, "points"]]:
        """Where points are in the picture, and how many pixels a metre has there."""
        seen = (points - self._camera) @ self._axes.T
        scale = self._focus / seen[:, 2]
        return seen[:, :2] * scale[:, None] + np.array(self._size) / 2, scale

    def _draw_parts(
        self, draw: ImageDraw.ImageDraw, points: Float[np.ndarray, "6 3"], eye: np.ndarray | None
    ) -> None:
        """The parts, those far from the eye first; without one their shadows, in white."""
        places, scale = self._pixels(points)
        order = range(len(PARTS))
        if eye is not None:
            middles = 0.5 * (points[:-1] + points[1:])
            order = np.argsort(-np.linalg.norm(middles - eye, axis=1)).tolist()
        for part in order:
            _, radius, colour = PARTS[part]
            radii = radius / 1e3 * scale[part : part + 2]
            ends = places[part : part + 2]
            if eye is None:
                _draw_capsule(draw, ends, radii, 255)
                continue
            for light in np.linspace(0.0, 1.0, _LAYERS):
                shift = -0.45 * light * radii[:, None] * np.array([0.6, 0.8])
                tint = np.clip(np.array(colour) * (0.62 + 0.4 * light) + 14 * light, 0, 255)
                _draw_capsule(draw, ends + shift, radii * (1 - 0.75 * light), _whole(tint))


def _whole(colour: np.ndarray) -> Colour:
    red, green, blue = (round(float(part)) for part in colour)
    return red, green, blue


def _draw_capsule(
    draw: ImageDraw.ImageDraw, ends: Pixels, radii: np.ndarray, colour: Colour | int
) -> None:
    """Two discs and what lies between them."""
    along = ends[1] - ends[0]
    aside = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-9)
    left, right = ends + aside * radii[:, None], ends - aside * radii[:, None]
    draw.polygon([tuple(one) for one in (*left, *right[::-1])], fill=colour)
    for (x, y), radius in zip(ends, radii, strict=True):
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _perspective(places: Pixels, onto: Pixels) -> list[float]:
    """The eight numbers with which Pillow maps four places of a picture to those of its source."""
    rows, values = [], []
    for (x, y), (u, v) in zip(places, onto, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.linalg.solve(np.array(rows), np.array(values)).tolist()
