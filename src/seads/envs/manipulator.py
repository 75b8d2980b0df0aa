"""What every manipulator offers: a batch of bodies that can touch a board, and how they look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32, Int, UInt8

from seads.envs.interface import Rows
from seads.games.board_types import NO_MOVE
from seads.games.game import Game

Boards = UInt8[np.ndarray, "picked fields"]
Point = tuple[float, float]
Place = tuple[float, float, float]


@runtime_checkable
class View(Protocol):
    """Draws pictures of one kind of manipulator over its board."""

    def frame(
        self, board: UInt8[np.ndarray, "fields"], pose: Any, touching: bool
    ) -> UInt8[np.ndarray, "height width 3"]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Stage:
    """The board in metres, for a three-dimensional page: it lies around the origin."""

    half_extent: float
    """The board covers [-half_extent, half_extent] along x, its top at the largest y."""
    tops: tuple[float, ...]
    """How high the top of each field is."""
    on_table: bool = False
    """Whether board and manipulator stand on a table that must be drawn, too."""
    half_depth: float | None = None
    """The same along y, where a board is not square."""

    @property
    def size(self) -> tuple[float, float]:
        """How wide and how deep the board is."""
        return 2 * self.half_extent, 2 * (self.half_depth or self.half_extent)


class Mesh(NamedTuple):
    """A rigid part of a manipulator in the frame of the body that moves it."""

    body: str
    name: str
    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[int, int, int]


class MeshPose(NamedTuple):
    """Where a body of meshes is in the world."""

    position: np.ndarray
    wxyz: np.ndarray


class Manipulator(ABC):
    """A batch of bodies that can touch the board of a game.

    Made as `Class(num_envs, game, **options)`. Rows are picked by index so that finished rows
    cost nothing; `step` and `observe` also take `slice(None)` for all of them. Random numbers
    arrive as uniforms in [0, 1), `num_uniforms` a reset, so that a pose is a function of a row's
    seed.

    A new manipulator sets the first six attributes, writes the abstract methods, and is
    added to `seads.envs.registry.MANIPULATORS`. All else is how it is shown.
    """

    name: str
    num_uniforms: int
    observation_size: int
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    step_limit: int

    continuing: bool = False
    """Whether a run collects without resets: board and pose stay as the last skill left them."""

    board_share: float = 0.92
    """How much of a picture's shorter side the board takes; an arm needs room around it."""
    steps_per_second: float = 4.0
    """Environment steps a second at normal speed: real time where there is physics."""
    frames_per_step: int = 3
    """Pictures that a page shows of a step."""
    pictures_per_step: int = 1
    """Pictures that a film has of a step; more where a step is a long way."""
    poses_after_touch: int = 0
    """How many poses of the `way` of a step that touched come after the touch."""
    clip_frames_per_second: int = 5
    """Pictures a second in a short clip."""
    camera: Place = (0.0, -0.34, 0.5)
    """Where one looks from on a page: from the front, row 0 of the board at the top."""
    look_at: Place = (0.0, 0.0, 0.02)

    def __init__(self, num_envs: int, game: Game) -> None:
        self.num_envs, self.game = num_envs, game

    @abstractmethod
    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Put the picked rows into random start poses."""

    @abstractmethod
    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        """Act once; where each row touched the board (unit square, from top left); NaN if none."""

    @abstractmethod
    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        """The body's part of the observation."""

    @abstractmethod
    def pose(self, row: int) -> Any:
        """All that is needed to draw one row."""

    def after_move(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """What a game move does to the bodies that made it: nothing, or a reset (Jaco)."""
        return

    def play(
        self, rows: Rows, boards: Boards, touch: Float[np.ndarray, "picked 2"]
    ) -> tuple[Int[np.ndarray, "picked"], Boards]:
        """The moves that the touches of the last step made, and the boards after them.

        By default the game's rules at each touched point; a screen that keeps a board of its own
        says what it shows.
        """
        moves = self.game.move_at(touch, boards)
        made = np.count_nonzero(moves != NO_MOVE)
        return moves, self.game.play(boards, moves) if made else boards

    def show(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> None:
        """Boards were set from outside; a screen that keeps a board of its own is told."""
        return

    def look(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> Boards:
        """The boards as they are when a skill begins: those given, or what a screen shows."""
        return boards

    def standing(self) -> dict[str, np.ndarray]:
        """Of a `continuing` one: all that the next skill depends on, arrays of a row each."""
        return {}

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        """Go on from there."""
        return

    def contact(self, row: int) -> Float[np.ndarray, "2"] | None:
        """Where exactly the row last touched, if that is not the point that `step` gave."""
        return None

    def close(self) -> None:
        """Free threads and physics."""
        return

    # How it is shown ---------------------------------------------------------------------

    def joints(self, pose: Any) -> list[Point]:
        """The joints in the board's unit square, tip last: by default the pose is the tip."""
        return [(float(pose[0]), float(pose[1]))]

    def tips(self) -> Float[np.ndarray, "rows 2"]:
        """The tool's point of every row in the board's unit square; it may lie outside."""
        return np.array([self.joints(self.pose(row))[-1] for row in range(self.num_envs)])

    def way(self, before: Any, after: Any, frames: int, touching: bool) -> list[Any]:
        """Poses to show of a step, the last one being `after`.

        By default straight from pose to pose; no way is shown where the body was put anew.
        """
        if before is None or np.abs(after - before).max() > 0.5:
            return [after]
        return [before + (after - before) * (i + 1) / frames for i in range(frames)]

    def view(self, width: int, height: int) -> View:
        """What draws pictures of it: by default joints and links over the board, in the plane."""
        from seads.envs.render_flat import FlatView

        return FlatView(self.game, self, width, height)

    @property
    def stage(self) -> Stage:
        """The board in metres."""
        return Stage(half_extent=0.25, tops=(0.02,) * self.game.num_fields)

    def meshes(self) -> list[Mesh] | None:
        """Its parts for a three-dimensional page; None where the joints are drawn instead."""
        return None

    def mesh_poses(self, pose: Any) -> dict[str, MeshPose]:
        """Where the bodies of the meshes are in this pose, by name."""
        return {}
