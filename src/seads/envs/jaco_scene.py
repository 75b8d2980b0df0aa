"""The Jaco arm and hand over a board: one scene for MuJoCo's C steppers and for composer.

World frame in metres: the board lies around the origin, the arm's base stands behind it at
y = 0.4. Seen from above with y upwards, the board's top left is at (-x, +y): row 0 of the
board is the one nearest to the base, column 0 the one at smallest x.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from dm_control import composer, mjcf
from dm_control.entities.manipulators import kinova
from jaxtyping import Float

from seads.envs.jaco_kinematics import ELBOW_UP
from seads.envs.physics import CONTROL_TIMESTEP, PHYSICS, PRESS_FORCE
from seads.errors import SeadsError

BASE_POSITION = (0.0, 0.4, 0.0)
_PLATE_HALF_HEIGHT = 0.01
_SITE_FRACTION = 0.7  # a press near a field's edge is nobody's
_SITE_HALF_HEIGHT = 0.005


@dataclass(frozen=True)
class BoardGeometry:
    """Square boxes, row by row from the top left, each with a touch sensor on its top."""

    half_extent: float
    """The board covers [-half_extent, half_extent]² (paper S.7.3)."""
    half_heights: tuple[tuple[float, ...], ...]
    """The boxes' half heights, a row of the board per tuple; they stand on the ground."""
    site_fraction: float
    """How much of a box's width the touch sensor covers."""

    @property
    def size(self) -> int:
        return len(self.half_heights)

    @property
    def half_width(self) -> float:
        """Half the width of a box."""
        return self.half_extent / self.size

    def world(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """World x, y of points of the unit square (origin top left, y downwards)."""
        return (points * 2 - 1) * self.half_extent * np.array([1.0, -1.0])

    def unit(self, positions: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """Points of the unit square for world x, y; the inverse of `world`."""
        return (positions * np.array([1.0, -1.0]) / self.half_extent + 1) / 2

    @property
    def middles(self) -> Float[np.ndarray, "fields 2"]:
        """The middle of each box in the unit square."""
        column, row = np.meshgrid(np.arange(self.size), np.arange(self.size))
        return (np.stack([column, row], -1).reshape(-1, 2) + 0.5) / self.size


def _rings(heights: Float[np.ndarray, "rings"]) -> tuple[tuple[float, ...], ...]:
    """Heights by Chebyshev distance from the centre: the first in the middle, the last outside."""
    middle = len(heights) - 1
    fields = range(2 * middle + 1)
    return tuple(
        tuple(float(heights[max(abs(r - middle), abs(c - middle))]) for c in fields) for r in fields
    )


BOARDS = {
    "lightsout": BoardGeometry(0.25, ((0.01,) * 5,) * 5, _SITE_FRACTION),
    # A bowl: the centre is recessed, the outer ring highest (paper: LightsOut3DJaco).
    "lightsout3d": BoardGeometry(0.25, _rings(np.linspace(0.01, 0.05, 3)), _SITE_FRACTION),
    # One plate: where it was touched decides, so the sensor covers all of it.
    "tileswap": BoardGeometry(0.15, ((_PLATE_HALF_HEIGHT,),), 1.0),
}


def board_geometry(board: str) -> BoardGeometry:
    """The geometry of a named board."""
    if board not in BOARDS:
        raise SeadsError(f"unknown board {board!r}; choose from {', '.join(BOARDS)}")
    return BOARDS[board]


class BoardArena(composer.Arena):
    """The ground, a light and the board; fields are `field_0`, `field_1`, ... from the top left."""

    def _build(self, geometry: BoardGeometry) -> None:
        super()._build(name="arena")
        self.touch_sensors: list[mjcf.Element] = []
        world = self.mjcf_model.worldbody
        world.add("light", pos=(0, 0, 1.5), dir=(0, 0, -1), diffuse=(0.7, 0.7, 0.7))
        world.add("geom", name="ground", type="plane", size=(1, 1, 0.1), rgba=(0.3, 0.35, 0.4, 1))
        world.add("camera", name="front", pos=(0, -0.75, 0.75), xyaxes=(1, 0, 0, 0, 0.7, 0.75))
        world.add("camera", name="top", pos=(0, 0, 1.2), xyaxes=(1, 0, 0, 0, 1, 0))
        half_width, heights = geometry.half_width, np.ravel(geometry.half_heights)
        site_half = geometry.site_fraction * half_width
        for field, (x, y) in enumerate(geometry.world(geometry.middles)):
            name, half_height = f"field_{field}", float(heights[field])
            body = world.add("body", name=name, pos=(x, y, half_height))
            size = (half_width, half_width, half_height)
            body.add("geom", name=name, type="box", size=size, rgba=(0.8, 0.8, 0.8, 1))
            touch = body.add(
                "site",
                name=name,
                type="box",
                pos=(0, 0, half_height),
                size=(site_half, site_half, _SITE_HALF_HEIGHT),
                group=composer.SENSOR_SITES_GROUP,
                rgba=(0, 0, 0, 0),
            )
            self.touch_sensors.append(self.mjcf_model.sensor.add("touch", name=name, site=touch))


class JacoTask(composer.Task):
    """The task as dm_control would run it, press by press: the reference, in speed too."""

    def __init__(self, geometry: BoardGeometry) -> None:
        self._arena = BoardArena(geometry)
        self._arm, self._hand = kinova.JacoArm(), kinova.JacoHand(use_pinch_site_as_tcp=True)
        self._arm.attach(self._hand)
        self._arena.attach(self._arm).pos = BASE_POSITION
        for entity in (self._arm, self._hand):
            entity.observables.enable_all()
        self.set_timesteps(CONTROL_TIMESTEP, PHYSICS["reference"].timestep)
        self.pressed: int | None = None

    @property
    def root_entity(self) -> composer.Entity:
        return self._arena

    def initialize_episode(
        self, physics: mjcf.Physics, random_state: np.random.RandomState
    ) -> None:
        """The tool centre point somewhere above the board (paper S.7.3)."""
        self.pressed = None
        physics.bind(self._arm.joints).qpos = ELBOW_UP
        turn = random_state.uniform(-np.pi, np.pi) / 2
        self._arm.set_site_to_xpos(
            physics,
            random_state,
            self._hand.tool_center_point,
            random_state.uniform((-0.1, -0.1, 0.2), (0.1, 0.1, 0.4)),
            np.array([0.0, np.cos(turn + np.pi / 4), np.sin(turn + np.pi / 4), 0.0]),
        )

    def after_substep(self, physics: mjcf.Physics, random_state: np.random.RandomState) -> None:
        touch = physics.bind(self._arena.touch_sensors).sensordata
        if self.pressed is None and touch.max() > PRESS_FORCE:
            self.pressed = int(touch.argmax())

    def should_terminate_episode(self, physics: mjcf.Physics) -> bool:
        return self.pressed is not None

    def get_reward(self, physics: mjcf.Physics) -> float:
        return 0.0


def composer_environment(board: str) -> composer.Environment:
    """The same scene run by dm_control itself: the reference for tests and for speed."""
    return composer.Environment(
        JacoTask(board_geometry(board)), strip_singleton_obs_buffer_dim=True
    )


def build_model(board: str) -> mujoco.MjModel:
    """The scene compiled by plain MuJoCo from composer's own export."""
    root = JacoTask(board_geometry(board)).root_entity.mjcf_model
    return mujoco.MjModel.from_xml_string(root.to_xml_string(), root.get_assets())
