"""The three-dimensional scene: a board and a body, drawn with viser into any scene handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from jaxtyping import Float

from seads.envs.embedding import EmbeddedEnv
from seads.envs.render_board import OFF, ON
from seads.games import LightsOut
from seads.show.play_moves import PlannedMove

if TYPE_CHECKING:
    import mujoco

Colour = tuple[int, int, int]
Click = Callable[[int], None]

HALF_EXTENT = 0.25
"""Half the width of a board that has no size of its own, in metres."""
FIELD_HEIGHT = 0.02
GAP = 0.92
"""Share of a field that its box covers."""
TARGET_HEIGHT = 0.008
TABLE: Colour = (228, 231, 236)
TABLE_TOP: Colour = (244, 245, 248)
CHIP: Colour = (250, 250, 250)
PICKED: Colour = (255, 190, 0)
LINK: Colour = (66, 96, 140)
TIP: Colour = (38, 44, 56)
TOUCHING: Colour = (255, 190, 0)
LIMBS: Colour = (71, 92, 128)
RINGS: Colour = (184, 194, 209)
FINGERS: Colour = (117, 138, 168)
CAMERAS: dict[str, tuple[float, float, float]] = {
    "cursor": (0.0, -0.34, 0.5),
    "reacher": (0.0, -0.4, 0.62),
    "jaco": (-0.27, -0.74, 0.7),
}
"""From the front: the base behind the board, row 0 at the top; an arm needs room above it."""
LOOK_AT: dict[str, tuple[float, float, float]] = {
    "cursor": (0.0, 0.0, 0.02),
    "reacher": (0.0, 0.0, 0.02),
    "jaco": (0.0, 0.12, 0.2),
}
"""The middle of the board, or of board and arm."""


class BodyView(Protocol):
    """A body in the scene."""

    def place(self, pose: Any, touching: bool) -> None:
        """Move the drawn body."""
        ...


class PlayScene:
    """The board and the body of an environment's row 0; `scene` is a server's or a client's."""

    def __init__(self, scene: Any, env: EmbeddedEnv, clicked: Click | None = None) -> None:
        self._scene, self._env = scene, env
        self._geometry = getattr(env.manipulator, "geometry", None)
        extent = HALF_EXTENT if self._geometry is None else self._geometry.half_extent
        self._extent = extent
        self._add_table()
        self._fields = [self._add_field(field, clicked) for field in range(env.game.num_fields)]
        self._labels: dict[int, Any] = {}
        lights = isinstance(env.game, LightsOut)
        self._chips = [] if lights else [self._add_chip(one) for one in range(env.game.num_fields)]
        self._shown: tuple[bytes, int | None] | None = None
        self._body: BodyView = BODIES[env.manipulator.name](scene, env, self.world)
        self._plan: tuple[PlannedMove, ...] = ()
        self._target = self._add_target()

    def world(self, point: Sequence[float]) -> tuple[float, float]:
        """World x, y of a point of the board's unit square."""
        return (point[0] * 2 - 1) * self._extent, (1 - point[1] * 2) * self._extent

    def update(self, pose: Any | None = None, picked: int | None = None) -> None:
        """Draw the row as it is now, or with its body in another pose."""
        env = self._env
        touching = bool(np.isfinite(env.touch[0]).all())
        self._body.place(env.manipulator.pose(0) if pose is None else pose, touching)
        board = env.boards[0]
        key = (board.tobytes(), picked)
        if key == self._shown:
            return
        self._shown = key
        if isinstance(env.game, LightsOut):
            for handle, value in zip(self._fields, board, strict=True):
                handle.color = ON if value else OFF
            return
        for field, handle in enumerate(self._fields):
            handle.color = PICKED if field == picked else OFF
        for field, chip in enumerate(board):
            self._chips[chip].position = (*self.world(self._middle(field)), self._top(field))

    def show_plan(self, moves: Sequence[PlannedMove]) -> None:
        """Number the places that the plan will touch, in order."""
        if tuple(moves) == self._plan:
            return
        self._plan = tuple(moves)
        numbers: dict[int, list[str]] = {}
        write = str if isinstance(self._env.game, LightsOut) else ordinal  # chips have numbers too
        for number, one in enumerate(moves, 1):
            if one.move is not None:
                numbers.setdefault(one.move, []).append(write(number))
        for move, texts in numbers.items():
            if move not in self._labels:
                self._labels[move] = self._add_label(move)
            self._labels[move].text = ", ".join(texts)
        for move, label in self._labels.items():
            label.visible = move in numbers
        self._mark(moves[0].move if moves else None)

    def _mark(self, move: int | None) -> None:
        """A frame around the place of the next move."""
        self._target.visible = move is not None
        if move is not None:
            x, y = self.world(self._env.game.point_of(move))
            top = self._top(self._nearest_field(move))
            raised = 0.0005 if isinstance(self._env.game, LightsOut) else 0.0015
            self._target.position = (x, y, top + raised - TARGET_HEIGHT)

    def _add_target(self) -> Any:
        game = self._env.game
        share = game.tile_width if isinstance(game, LightsOut) else 0.2 / game.size
        width = share * 2 * self._extent
        return self._scene.add_box(
            "/plan/target",
            TOUCHING,
            (width, width, TARGET_HEIGHT),
            visible=False,
            cast_shadow=False,
        )

    def _add_label(self, move: int) -> Any:
        """Made once and changed from then on: one that is made anew is gone for a moment."""
        x, y = self.world(self._env.game.point_of(move))
        place = (x, y, self._top(self._nearest_field(move)) + 0.012)
        return self._scene.add_label(
            f"/plan/{move}", "", position=place, anchor="center-center", visible=False
        )

    def _add_chip(self, chip: int) -> Any:
        """A white disc with a dark rim and a number; where it lies is for `update` to say."""
        name = f"/board/chips/{chip}"
        radius = 0.27 * 2 * self._extent / self._env.game.size
        frame = self._scene.add_frame(name, show_axes=False)
        for part, wide, high, colour in (("rim", 1.1, 0.006, TIP), ("disc", 1.0, 0.0065, CHIP)):
            self._scene.add_cylinder(
                f"{name}/{part}", wide * radius, high, colour, position=(0.0, 0.0, high / 2)
            )
        self._scene.add_label(
            f"{name}/number", str(chip), position=(0.0, 0.0, 0.009), anchor="center-center"
        )
        return frame

    def _add_table(self) -> None:
        width = 2 * self._extent + 0.06
        self._scene.add_box(
            "/table", TABLE, (width, width, 0.01), position=(0.0, 0.0, -0.006), cast_shadow=False
        )
        if self._geometry is not None:  # an arm stands beside its board, on the same table
            self._scene.add_box(
                "/table/top",
                TABLE_TOP,
                (0.76, 0.96, 0.02),
                position=(0.0, 0.13, -0.016),
                cast_shadow=False,
            )

    def _add_field(self, field: int, clicked: Click | None) -> Any:
        x, y = self.world(self._middle(field))
        game = self._env.game
        share = game.tile_width if isinstance(game, LightsOut) else 1 / game.size
        width = share * 2 * self._extent * GAP
        height = self._top(field)
        handle = self._scene.add_box(
            f"/board/{field}", OFF, (width, width, height), position=(x, y, height / 2)
        )
        if clicked is not None:
            handle.on_click(lambda _: clicked(field))
        return handle

    def _middle(self, field: int) -> tuple[float, float]:
        game = self._env.game
        if isinstance(game, LightsOut):
            return game.point_of(field)
        row, column = divmod(field, game.size)
        return (column + 0.5) / game.size, (row + 0.5) / game.size

    def _top(self, field: int) -> float:
        geometry = self._geometry
        if geometry is None:
            return FIELD_HEIGHT
        heights = np.ravel(geometry.half_heights)
        return float(2 * heights[field if len(heights) > 1 else 0])

    def _nearest_field(self, move: int) -> int:
        point = np.array(self._env.game.point_of(move))
        middles = np.array([self._middle(f) for f in range(self._env.game.num_fields)])
        return int(np.abs(middles - point).sum(1).argmin())


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    teens = 10 < number % 100 < 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


class CursorView:
    """A pin whose point is over the board."""

    def __init__(self, scene: Any, env: EmbeddedEnv, world: Callable[..., Any]) -> None:
        self._world = world
        self._frame = scene.add_frame("/cursor", show_axes=False)
        self._tip = scene.add_icosphere("/cursor/tip", 0.014, TIP)
        scene.add_cylinder("/cursor/pin", 0.004, 0.12, LINK, position=(0.0, 0.0, 0.07))

    def place(self, pose: Float[np.ndarray, "2"], touching: bool) -> None:
        x, y = self._world(pose)
        self._frame.position = (x, y, FIELD_HEIGHT + (0.012 if touching else 0.05))
        self._tip.color = TOUCHING if touching else TIP


class ReacherView:
    """Two links that lie over the board, and a finger."""

    def __init__(self, scene: Any, env: EmbeddedEnv, world: Callable[..., Any]) -> None:
        self._world, self._body = world, env.manipulator
        self._height = FIELD_HEIGHT + 0.05
        lengths = [2 * HALF_EXTENT * length for length in _link_lengths(env)]
        self._links = []
        for number, length in enumerate(lengths):
            frame = scene.add_frame(f"/reacher/{number}", show_axes=False)
            scene.add_box(
                f"/reacher/{number}/link", LINK, (length, 0.03, 0.02), position=(length / 2, 0, 0)
            )
            scene.add_icosphere(f"/reacher/{number}/joint", 0.02, LIMBS)
            self._links.append(frame)
        self._finger = scene.add_icosphere("/reacher/finger", 0.016, TIP)

    def place(self, pose: Float[np.ndarray, "2"], touching: bool) -> None:
        from seads.envs.render_flat import JOINTS

        joints = [self._world(point) for point in JOINTS["reacher"](self._body, pose)]
        for frame, (x, y), (next_x, next_y) in zip(
            self._links, joints[:-1], joints[1:], strict=True
        ):
            angle = np.arctan2(next_y - y, next_x - x)
            frame.position = (x, y, self._height)
            frame.wxyz = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
        drop = 0.04 if touching else 0.015
        self._finger.position = (*joints[-1], self._height - drop)
        self._finger.color = TOUCHING if touching else TIP


def _link_lengths(env: EmbeddedEnv) -> list[float]:
    """The links' lengths in widths of the board."""
    from seads.envs.render_flat import JOINTS

    joints = np.array(JOINTS["reacher"](env.manipulator, np.zeros(2)))
    return np.linalg.norm(np.diff(joints, axis=0), axis=1).tolist()


class JacoView:
    """The arm and hand, a mesh for each geom, moved by MuJoCo's kinematics."""

    def __init__(self, scene: Any, env: EmbeddedEnv, world: Callable[..., Any]) -> None:
        import mujoco

        arm: Any = env.manipulator
        self._model: mujoco.MjModel = arm.model
        self._data = mujoco.MjData(self._model)
        self._kinematics = mujoco.mj_kinematics
        self._frames: dict[int, Any] = {}
        for body, name, vertices, faces, colour in arm_meshes(env.spec.name, self._model):
            if body not in self._frames:
                self._frames[body] = scene.add_frame(f"/arm/{body}", show_axes=False)
            scene.add_mesh_simple(f"/arm/{body}/{name}", vertices, faces, color=colour)

    def place(self, pose: Float[np.ndarray, "joints"], touching: bool) -> None:
        self._data.qpos[:] = pose
        self._kinematics(self._model, self._data)
        for body, frame in self._frames.items():
            frame.position = self._data.xpos[body]
            frame.wxyz = self._data.xquat[body]


Mesh = tuple[int, str, np.ndarray, np.ndarray, Colour]
_meshes: dict[str, list[Mesh]] = {}


def arm_meshes(name: str, model: mujoco.MjModel) -> list[Mesh]:
    """Body, name, vertices, faces and colour of each visible part of the arm, found once."""
    if name in _meshes:
        return _meshes[name]
    import trimesh
    from mjviser.conversions import merge_geoms

    found: list[Mesh] = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        named = model.body(body).name
        if "jaco" not in named or model.geom_group[geom] > 2:
            continue
        mesh: trimesh.Trimesh = merge_geoms(model, [geom])
        found.append((body, str(geom), mesh.vertices, mesh.faces, _arm_colour(model, geom, named)))
    _meshes[name] = found
    return found


def _arm_colour(model: mujoco.MjModel, geom: int, body: str) -> Colour:
    material = int(model.geom_matid[geom])
    if material < 0 or "dark" in model.mat(material).name:
        return LIMBS
    return FINGERS if "hand" in body else RINGS


BODIES: dict[str, Callable[..., BodyView]] = {
    "cursor": CursorView,
    "reacher": ReacherView,
    "jaco": JacoView,
}
