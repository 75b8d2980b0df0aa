"""The robot's two manipulators: a uArm with a pen that plays on a tablet (paper S.5).

By default the arms are simulated in this process, as many as there are rows. With `port` there is
one row and it is real: the arm on that serial line, or its twin, at a screen that shows the board.
Same actions, same boards; `tests/robot/test_environment.py` holds the two to each other.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from seads.envs.cursor import PUSH_THRESHOLD
from seads.envs.interface import Rows
from seads.envs.manipulator import Manipulator, Mesh, MeshPose, Point, Stage, View
from seads.errors import SeadsError, check_choice
from seads.games.game import Game
from seads.robot import kinematics
from seads.robot.calibration import Calibration
from seads.robot.drawing import GLASS, Drawing
from seads.robot.kinematics import Speed
from seads.robot.pens import Boards, Moves, Pens, Places
from seads.robot.pushing import HOVER, PUSH_HEIGHT, push_ways
from seads.robot.pushing import seconds as pushing_seconds
from seads.robot.simulated import SimulatedPens


class RobotArm(Manipulator):
    """A batch of arms with pens over tablets; the body's state is the pen's place (x, y).

    Board and pose are never drawn anew while skills are collected: each starts where the last one
    ended. `reset` does bring both to a start, for tests of what was learned: the pen goes there,
    and the screen is made to show the board.

    `observation="scaled"` shows (x, y) mapped to [-1, 1], `"raw"` as they are. `calibration` is a
    file of `seads robot calibrate`; without one the corners are known, each off by
    `calibration_error` mm. Screens do not see a share `missed` of all touches and see a share
    `doubled` twice. These two and the error are for simulated arms.

    `port` is the arm's serial line; the board is then served on `host` and `board_port`, and
    `pace` is how much faster than real a twin's clock runs.
    """

    num_uniforms = 3
    observation_size = 2
    continuing = True
    steps_per_second, frames_per_step = 2.0, 6
    pictures_per_step, poses_after_touch = 6, 3
    clip_frames_per_second = 12
    camera, look_at = (0.42, 0.16, 0.36), (0.0, -0.07, 0.05)
    height: ClassVar[float]
    """z from which the pen comes down."""
    paper: ClassVar[tuple[int, float]]
    """Environment steps of the paper's training on a real arm, and its hours (S.5)."""

    def __init__(
        self,
        num_envs: int,
        game: Game,
        observation: Literal["scaled", "raw"] = "scaled",
        calibration: str | None = None,
        calibration_error: float = 0.0,
        missed: float = 0.0,
        doubled: float = 0.0,
        port: str | None = None,
        host: str = "127.0.0.1",
        board_port: int = 8090,
        pace: float = 1.0,
        acceleration: float = 1.3,
    ) -> None:
        super().__init__(num_envs, game)
        check_choice("observation", observation, ("scaled", "raw"))
        self._scaled = observation == "scaled"
        known = None if calibration is None else Calibration.load(Path(calibration))
        errors = dict(calibration_error=calibration_error, missed=missed, doubled=doubled)
        self.pens: Pens
        if port is None:
            self.pens = SimulatedPens(num_envs, game, self.height, known, **errors)
            return
        if num_envs != 1:
            raise SeadsError(f"{num_envs} rows at {port}, where one arm stands; allowed: 1")
        if known is None:
            raise SeadsError(f"port {port!r} without a calibration; `seads robot calibrate` first")
        if any(errors.values()):
            raise SeadsError(f"{errors} on a real line; allowed: 0, it has its own errors")
        from seads.robot.served_pen import ServedPen

        self.pens = ServedPen(game, self.height, known, port, host, board_port, pace, acceleration)

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        self.pens.reset(rows, uniforms)

    @abstractmethod
    def aim(
        self, here: Places, actions: Float[np.ndarray, "picked act"]
    ) -> tuple[Places, Bool[np.ndarray, "picked"]]:
        """Where actions send pens that are here, and which of them push there."""

    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        return self.pens.act(rows, *self.aim(self.pens.places(rows), actions))

    def seconds(
        self, here: Places, actions: Float[np.ndarray, "picked act"], speed: Speed
    ) -> Float[np.ndarray, "picked"]:
        """How long the arm moves for each action, by its planner."""
        places, pushing = self.aim(here, actions)
        before = push_ways(self.pens.calibration, here, self.height)[:, 0]
        ways = push_ways(self.pens.calibration, places, self.height)
        there = kinematics.duration(before, ways[:, 0], speed)
        return there + np.where(pushing, pushing_seconds(ways, speed), 0.0)

    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        places = self.pens.places(rows).astype(np.float32)
        return 2 * places - 1 if self._scaled else places

    def observed(self, observations: Float[np.ndarray, "picked obs"]) -> Places:
        """Where pens were that saw this."""
        seen = observations[:, : self.observation_size].astype(np.float64)
        return np.clip((seen + 1) / 2 if self._scaled else seen, 0.0, 1.0)

    def play(self, rows: Rows, boards: Boards, touch: Places) -> tuple[Moves, Boards]:
        return self.pens.play(rows, boards, touch)

    def show(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> None:
        self.pens.show(rows, boards)

    def look(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> Boards:
        return self.pens.look(rows, boards)

    def standing(self) -> dict[str, np.ndarray]:
        return self.pens.standing()

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        self.pens.stand(standing)

    def pose(self, row: int) -> Float[np.ndarray, "3"]:
        """The angles of the base, the lower and the upper arm, in degrees."""
        return self.pens.joints(row)[0]

    def joints(self, pose: Float[np.ndarray, "3"]) -> list[Point]:
        """The skeleton seen from above, in the screen's unit square."""
        places = self.pens.calibration.places(kinematics.skeleton(pose))
        return [(float(x), float(y)) for x, y, _ in places]

    def way(
        self, before: Any, after: Float[np.ndarray, "3"], frames: int, touching: bool
    ) -> list[Float[np.ndarray, "3"]]:
        """The joints turn in proportion; a pen that touched goes down to the glass and up again."""
        shares = np.linspace(0.0, 1.0, frames + 1)[1:, None]
        before = after if before is None else before
        way = list(before + shares * (after - before))
        if touching:
            glass = self._drawing.on_glass(after)
            down = list(after + np.linspace(0.0, 1.0, 4)[1:, None] * (glass - after))
            way += [*down, *down[-2::-1], after]
        return way

    def view(self, width: int, height: int) -> View:
        from seads.robot.view import ArmView

        return ArmView(self.game, self._drawing, self.camera, self.look_at, width, height)

    @cached_property
    def _drawing(self) -> Drawing:
        return Drawing(self.pens.calibration)

    @property
    def stage(self) -> Stage:
        tops = (GLASS,) * self.game.num_fields
        return Stage(self._drawing.half_width, tops, True, self._drawing.half_depth)

    def meshes(self) -> list[Mesh]:
        return self._drawing.meshes()

    def mesh_poses(self, pose: Float[np.ndarray, "3"]) -> dict[str, MeshPose]:
        return self._drawing.poses(pose)

    def close(self) -> None:
        self.pens.close()


class AbsolutePushes(RobotArm):
    """An action is a place (x, y) in [0, 1]²: the pen goes above it, onto it, above it again."""

    name = "robot-absolute"
    action_low = (0.0, 0.0)
    action_high = (1.0, 1.0)
    step_limit = 3
    height = PUSH_HEIGHT
    paper = (5_000, 7.5)

    def aim(
        self, here: Places, actions: Float[np.ndarray, "picked act"]
    ) -> tuple[Places, Bool[np.ndarray, "picked"]]:
        # networks act in float32, and the screen ends exactly where it ends
        places = np.clip(actions.astype(np.float64), 0.0, 1.0)
        return places, np.ones(len(places), bool)


class Displacements(RobotArm):
    """An action is (dx, dy, push): the pen goes there at z = 0.3 and pushes where push > 0.6."""

    name = "robot"
    action_low = (-0.2, -0.2, -1.0)
    action_high = (0.2, 0.2, 1.0)
    step_limit = 10
    height = HOVER
    paper = (165_000, 43.5)

    def aim(
        self, here: Places, actions: Float[np.ndarray, "picked act"]
    ) -> tuple[Places, Bool[np.ndarray, "picked"]]:
        return np.clip(here + actions[:, :2], 0.0, 1.0), actions[:, 2] > PUSH_THRESHOLD
