"""The three-dimensional scene: a board and a manipulator, drawn with viser into a scene handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from seads.envs.embedding import EmbeddedEnv
from seads.envs.manipulator import Manipulator
from seads.envs.render_board import OFF, ON
from seads.show.play.board import PlannedMove

Colour = tuple[int, int, int]
Click = Callable[[int], None]
World = Callable[[Sequence[float]], tuple[float, float]]

GAP = 0.92
"""Share of a field that its box covers."""
TARGET_HEIGHT = 0.008
TABLE: Colour = (228, 231, 236)
TABLE_TOP: Colour = (244, 245, 248)
CHIP: Colour = (250, 250, 250)
PICKED: Colour = (255, 190, 0)
LINK: Colour = (66, 96, 140)
LIMBS: Colour = (71, 92, 128)
TIP: Colour = (38, 44, 56)
TOUCHING: Colour = (255, 190, 0)


class PlayScene:
    """The board and the body of an environment's row 0; `scene` is a server's or a client's."""

    def __init__(self, scene: Any, env: EmbeddedEnv, clicked: Click | None = None) -> None:
        self._scene, self._env, self._game = scene, env, env.game
        self._stage = env.manipulator.stage
        self._add_table()
        fields = range(self._game.num_fields)
        self._fields = [self._add_field(field, clicked) for field in fields]
        chips = any(face.chip is not None for face in self._game.faces(self._game.goal))
        self._chips = [self._add_chip(field) for field in fields] if chips else []
        self._labels: dict[int, Any] = {}
        self._shown: tuple[bytes, int | None] | None = None
        self._body = make_body(scene, env.manipulator, self.world)
        self._plan: tuple[PlannedMove, ...] = ()
        self._target: Any = None

    def world(self, point: Sequence[float]) -> tuple[float, float]:
        """World x, y of a point of the board's unit square."""
        width, depth = self._stage.size
        return (point[0] - 0.5) * width, (0.5 - point[1]) * depth

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
        for field, face in enumerate(self._game.faces(board)):
            lit = ON if face.lit else OFF
            self._fields[field].color = PICKED if field == picked else lit
            if self._chips:
                disc, number = self._chips[field]
                disc.visible = number.visible = bool(face.chip)
                number.text = face.chip or ""

    def show_plan(self, moves: Sequence[PlannedMove]) -> None:
        """Number the places that the plan will touch, in order."""
        if tuple(moves) == self._plan:
            return
        self._plan = tuple(moves)
        numbers: dict[int, list[str]] = {}
        # where fields show numbers, the steps of a plan must be told from them
        write = str if self._game.fields_are_bits else ordinal
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
        if move is None:
            if self._target is not None:
                self._target.visible = False
            return
        box = self._game.mark(move)
        if self._target is None:
            width, depth = self._stage.size
            size = (box.width * width, box.height * depth, TARGET_HEIGHT)
            self._target = self._scene.add_box("/plan/target", TOUCHING, size, cast_shadow=False)
        raised = 0.0015 if self._chips else 0.0005
        height = self._top_at(box) + raised - TARGET_HEIGHT
        self._target.position = (*self.world(box), height)
        self._target.visible = True

    def _add_label(self, move: int) -> Any:
        """Made once and changed from then on: one that is made anew is gone for a moment."""
        box = self._game.mark(move)
        place = (*self.world(box), self._top_at(box) + 0.012)
        return self._scene.add_label(
            f"/plan/{move}", "", position=place, anchor="center-center", visible=False
        )

    def _add_chip(self, field: int) -> tuple[Any, Any]:
        """A white disc with a dark rim, and the number on it."""
        name, box = f"/board/chips/{field}", self._game.fields[field]
        width, depth = self._stage.size
        radius = 0.27 * min(box.width * width, box.height * depth)
        place = (*self.world(box), self._stage.tops[field])
        disc = self._scene.add_frame(name, show_axes=False, position=place)
        for part, wide, high, colour in (("rim", 1.1, 0.006, TIP), ("disc", 1.0, 0.0065, CHIP)):
            self._scene.add_cylinder(
                f"{name}/{part}", wide * radius, high, colour, position=(0.0, 0.0, high / 2)
            )
        number = self._scene.add_label(
            f"{name}/number", "", position=(0.0, 0.0, 0.009), anchor="center-center"
        )
        return disc, number

    def _add_table(self) -> None:
        width, depth = (side + 0.06 for side in self._stage.size)
        self._scene.add_box(
            "/table", TABLE, (width, depth, 0.01), position=(0.0, 0.0, -0.006), cast_shadow=False
        )
        if self._stage.on_table:  # an arm stands beside its board, on the same table
            self._scene.add_box(
                "/table/top",
                TABLE_TOP,
                (0.76, 0.96, 0.02),
                position=(0.0, 0.13, -0.016),
                cast_shadow=False,
            )

    def _add_field(self, field: int, clicked: Click | None) -> Any:
        box, height = self._game.fields[field], self._stage.tops[field]
        width, depth = (side * GAP for side in self._stage.size)
        handle = self._scene.add_box(
            f"/board/{field}",
            OFF,
            (box.width * width, box.height * depth, height),
            position=(*self.world(box), height / 2),
        )
        if clicked is not None:
            handle.on_click(lambda _: clicked(field))
        return handle

    def _top_at(self, point: Sequence[float]) -> float:
        """How high the board is at the field nearest to a point."""
        middles = np.array([box[:2] for box in self._game.fields])
        return self._stage.tops[int(np.abs(middles - point[:2]).sum(1).argmin())]


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    teens = 10 < number % 100 < 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


class Body(Protocol):
    """A manipulator in the scene."""

    def place(self, pose: Any, touching: bool) -> None:
        """Move the drawn body."""
        ...


def make_body(scene: Any, manipulator: Manipulator, world: World) -> Body:
    """Meshes where the manipulator has some, else its joints over the board."""
    has_meshes = manipulator.meshes() is not None
    return Meshes(scene, manipulator) if has_meshes else Joints(scene, manipulator, world)


class Joints:
    """Links that lie over the board, and a finger; a single joint is the point of a pin."""

    def __init__(self, scene: Any, manipulator: Manipulator, world: World) -> None:
        self._manipulator, self._world = manipulator, world
        self._height = max(manipulator.stage.tops) + 0.05
        joints = np.array([world(p) for p in manipulator.joints(manipulator.pose(0))])
        self._links = []
        for number, length in enumerate(np.linalg.norm(np.diff(joints, axis=0), axis=1)):
            frame = scene.add_frame(f"/body/{number}", show_axes=False)
            scene.add_box(
                f"/body/{number}/link", LINK, (length, 0.03, 0.02), position=(length / 2, 0, 0)
            )
            scene.add_icosphere(f"/body/{number}/joint", 0.02, LIMBS)
            self._links.append(frame)
        self._finger = scene.add_frame("/body/finger", show_axes=False)
        self._tip = scene.add_icosphere("/body/finger/tip", 0.015, TIP)
        if not self._links:
            scene.add_cylinder("/body/finger/pin", 0.004, 0.12, LINK, position=(0.0, 0.0, 0.07))

    def place(self, pose: Any, touching: bool) -> None:
        joints = [self._world(point) for point in self._manipulator.joints(pose)]
        for frame, ((x, y), (next_x, next_y)) in zip(self._links, pairwise(joints), strict=True):
            angle = np.arctan2(next_y - y, next_x - x)
            frame.position = (x, y, self._height)
            frame.wxyz = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
        drop = 0.04 if touching else 0.015
        self._finger.position = (*joints[-1], self._height - drop)
        self._tip.color = TOUCHING if touching else TIP


class Meshes:
    """A mesh for each part of the manipulator, moved as its kinematics says."""

    def __init__(self, scene: Any, manipulator: Manipulator) -> None:
        self._manipulator = manipulator
        self._frames: dict[str, Any] = {}
        for mesh in manipulator.meshes() or ():
            if mesh.body not in self._frames:
                self._frames[mesh.body] = scene.add_frame(f"/arm/{mesh.body}", show_axes=False)
            scene.add_mesh_simple(
                f"/arm/{mesh.body}/{mesh.name}", mesh.vertices, mesh.faces, color=mesh.colour
            )

    def place(self, pose: Any, touching: bool) -> None:
        places = self._manipulator.mesh_poses(pose)
        for body, frame in self._frames.items():
            frame.position, frame.wxyz = places[body]
