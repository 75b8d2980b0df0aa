"""The Jaco arm and hand over a board: one scene for MuJoCo's C steppers and for composer.

World frame in metres: the board lies around the origin, the arm's base stands behind it at
y = 0.4. Seen from above with y upwards, the board's top left is at (-x, +y): row 0 of the
board is the one nearest to the base, column 0 the one at smallest x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from dm_control import composer, mjcf
from dm_control.entities.manipulators import kinova
from jaxtyping import Float

from seads.errors import SeadsError, check_choice
from seads.games.game import Game
from seads.games.look import FieldBox

BASE_POSITION = (0.0, 0.4, 0.0)
MOST_FIELDS = 5  # more of them side by side are narrower than 0.1 m: the arm must reach them
_HALF_HEIGHT = 0.01
_HIGHEST_HALF_HEIGHT = 0.05
_SITE_FRACTION = 0.7  # a press near a field's edge is of no field
_SITE_HALF_HEIGHT = 0.005


@dataclass(frozen=True)
class BoardGeometry:
    """Boxes that stand on the ground, each with a touch sensor on its top."""

    half_extent: float
    """The board covers [-half_extent, half_extent]² (paper S.7.3)."""
    boxes: tuple[FieldBox, ...]
    """Where the boxes are in the unit square."""
    half_heights: tuple[float, ...]
    site_fraction: float
    """How much of a box's width the touch sensor covers."""

    def world(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """World x, y of points of the unit square (origin top left, y downwards)."""
        return (points * 2 - 1) * self.half_extent * np.array([1.0, -1.0])

    def unit(self, positions: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """Points of the unit square for world x, y; the inverse of `world`."""
        return (positions * np.array([1.0, -1.0]) / self.half_extent + 1) / 2

    @property
    def middles(self) -> Float[np.ndarray, "boxes 2"]:
        """The middle of each box in the unit square."""
        return np.array([(box.x, box.y) for box in self.boxes])


def board_geometry(game: Game, heights: str = "flat") -> BoardGeometry:
    """The board of a game: a box for each field, or one plate where the point touched decides.

    With `heights="rings"` it is a bowl: the middle field is lowest, the outer ring highest
    (paper: LightsOut3DJaco).
    """
    check_choice("heights", heights, ("flat", "rings"))
    half_extent = min(game.size, MOST_FIELDS) / 20  # fields are 0.1 m wide
    if game.touch == "field":
        half_heights = (_HALF_HEIGHT,) * game.num_fields if heights == "flat" else _rings(game)
        return BoardGeometry(half_extent, game.fields, half_heights, _SITE_FRACTION)
    if heights == "rings":
        raise SeadsError(
            f"heights='rings' needs fields apart, and {game.name} is played on one plate"
        )
    return BoardGeometry(half_extent, (FieldBox(0.5, 0.5, 1.0, 1.0),), (_HALF_HEIGHT,), 1.0)


def _rings(game: Game) -> tuple[float, ...]:
    """Half heights by Chebyshev distance from the centre: the lowest in the middle."""
    rows, columns = game.shape
    heights = np.linspace(_HALF_HEIGHT, _HIGHEST_HALF_HEIGHT, (game.size + 1) // 2)
    return tuple(
        float(heights[int(max(abs(row - (rows - 1) / 2), abs(column - (columns - 1) / 2)))])
        for row in range(rows)
        for column in range(columns)
    )


class Scene(NamedTuple):
    """The parts of the scene, for dm_control's composer."""

    arena: BoardArena
    arm: kinova.JacoArm
    hand: kinova.JacoHand


class BoardArena(composer.Arena):
    """The ground, a light and the board; fields are `field_0`, `field_1`, ... from the top left."""

    def _build(self, geometry: BoardGeometry) -> None:
        super()._build(name="arena")
        self.touch_sensors: list[mjcf.Element] = []
        world = self.mjcf_model.worldbody
        world.add("light", pos=(0, 0, 1.5), dir=(0, 0, -1), diffuse=(0.7, 0.7, 0.7))
        world.add("geom", name="ground", type="plane", size=(1, 1, 0.1), rgba=(0.3, 0.35, 0.4, 1))
        places = zip(geometry.boxes, geometry.world(geometry.middles), strict=True)
        for field, (box, (x, y)) in enumerate(places):
            name, half_height = f"field_{field}", geometry.half_heights[field]
            body = world.add("body", name=name, pos=(x, y, half_height))
            half_widths = (box.width * geometry.half_extent, box.height * geometry.half_extent)
            size = (*half_widths, half_height)
            body.add("geom", name=name, type="box", size=size, rgba=(0.8, 0.8, 0.8, 1))
            touch = body.add(
                "site",
                name=name,
                type="box",
                pos=(0, 0, half_height),
                size=(*(geometry.site_fraction * half for half in half_widths), _SITE_HALF_HEIGHT),
                group=composer.SENSOR_SITES_GROUP,
                rgba=(0, 0, 0, 0),
            )
            self.touch_sensors.append(self.mjcf_model.sensor.add("touch", name=name, site=touch))


def build_scene(geometry: BoardGeometry) -> Scene:
    """The arm with its hand, attached to the board's arena."""
    arena = BoardArena(geometry)
    arm, hand = kinova.JacoArm(), kinova.JacoHand(use_pinch_site_as_tcp=True)
    arm.attach(hand)
    arena.attach(arm).pos = BASE_POSITION
    return Scene(arena, arm, hand)


def build_model(geometry: BoardGeometry) -> mujoco.MjModel:
    """The scene compiled by plain MuJoCo from composer's own export."""
    root = build_scene(geometry).arena.mjcf_model
    return mujoco.MjModel.from_xml_string(root.to_xml_string(), root.get_assets())
