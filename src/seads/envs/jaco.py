"""The Jaco arm: nine joints under velocity control, whose fingers press a board's fields."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
from jaxtyping import Float, Float32, Int
from mujoco.batch import Batch

from seads.cores import cores
from seads.envs.checks import check_count
from seads.envs.interface import Rows
from seads.envs.jaco_kinematics import ArmKinematics
from seads.envs.manipulator import Manipulator, Mesh, MeshPose, Point, Stage, View
from seads.envs.physics import PHYSICS, PRESS_FORCE
from seads.errors import check_choice
from seads.games.game import Game

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION.value  # with the warm start of the solver

# Start region of the tool centre point: x, y, z, turn about the vertical (paper S.7.3).
_START_LOW = np.array([-0.1, -0.1, 0.2, -np.pi])
_START_HIGH = np.array([0.1, 0.1, 0.4, np.pi])

# Scaled observations, all of the order of one; in brackets the raw spread under random actions.
_TORQUE_SCALE = np.array([15.0] * 3 + [3.4] * 3)  # half the motors' peak (4 to 10, then 1 to 2)
_VELOCITY_SCALE = np.deg2rad([36.0] * 3 + [48.0] * 3)  # the joints' limits (0.3)
_FINGER_MIDDLE, _FINGER_SCALE = 0.75, 0.6  # fingers turn from 0.15 to 1.35 (0.3)
_TOOL_MIDDLE, _TOOL_SCALE = np.array([0.0, 0.0, 0.2]), 0.15  # the air over the board (0.1)


class Jaco(Manipulator):
    """A batch of Jaco arms over boards; a press is looked for at every physics substep.

    The state kept after a press is the one at the press, so a last observation shows it. Each
    row has its own physics state and solver warm start: its trajectory is bit for bit the same
    in any batch, beside any neighbours and on any number of threads.

    Where which field was touched decides a game's moves, a press is at its field's middle, and
    `contact` tells where exactly the finger was; else it is where the finger was.
    """

    name = "jaco"
    num_uniforms = 4
    observation_size = 42
    action_low = (-1.0,) * 9
    action_high = (1.0,) * 9
    step_limit = 50

    steps_per_second, frames_per_step = 10.0, 3
    clip_frames_per_second = 12
    camera, look_at = (-0.27, -0.74, 0.7), (0.0, 0.12, 0.2)

    def __init__(
        self,
        num_envs: int,
        game: Game,
        physics: str = "fast",
        observation: str = "scaled",
        threads: int | None = None,
        heights: str = "flat",
    ) -> None:
        """`threads` that step the batch; the default is two, or one on a single core."""
        super().__init__(num_envs, game)
        check_choice("observation", observation, ("scaled", "raw"))
        threads = min(2, cores()) if threads is None else threads
        check_count("threads", threads, most=256)
        with warnings.catch_warnings():
            # dm_control looks for a display when imported; nothing here needs one.
            warnings.simplefilter("ignore")
            from seads.envs.jaco_scene import board_geometry, build_model
        self.geometry = board_geometry(game, heights)
        check_choice("physics", physics, PHYSICS)
        self.physics = PHYSICS[physics]
        self.model = build_model(self.geometry)
        self.physics.apply(self.model)
        self.kinematics = ArmKinematics(self.model)
        self._scaled = observation == "scaled"
        self._batch = Batch(self.model, num_envs, threads)
        self._qpos, self._qvel = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._ctrl = self._batch.bind("ctrl")
        self._fresh_sensors = self._batch.bind("sensordata")
        self._start_state = self._batch.state[0].copy()
        self._everything = np.arange(num_envs)
        self._sensors = np.zeros((num_envs, self.model.nsensordata))
        boxes = [f"field_{i}" for i in range(len(self.geometry.boxes))]
        self._touch = np.array([self.model.sensor(name).adr[0] for name in boxes])
        # Joints turn about their own z axis: the third component is the torque about it.
        self._torque = np.array(
            [self.model.sensor(f"jaco_arm/joint_{i}_torque").adr[0] + 2 for i in range(1, 7)]
        )
        self._box_geoms = [self.model.geom(name).id for name in boxes]
        self._presses: dict[int, tuple[Float[np.ndarray, "state"], int]] = {}
        bodies = {self.model.body(i).name: i for i in range(self.model.nbody)}
        self._arm_bodies = {name: i for name, i in bodies.items() if "jaco" in name}
        self._scratch = mujoco.MjData(self.model)

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked n"]
    ) -> None:
        """Hand down somewhere above the board, at rest, fingers at zero (paper S.7.3)."""
        if not len(rows):
            return
        start = _START_LOW + uniforms * (_START_HIGH - _START_LOW)
        self._batch.state[rows] = self._start_state
        self._qpos[rows] = 0.0
        self._qpos[rows, :6] = self.kinematics.inverse(start[:, :3], start[:, 3])
        self._batch.forward(np.sort(rows))
        self._sensors[rows] = self._fresh_sensors[rows]

    after_move = reset

    def step(
        self, rows: Rows, actions: Float[np.ndarray, "picked act"]
    ) -> Float[np.ndarray, "picked 2"]:
        """Move the joints for 0.1 s or until a press; the board point pressed, NaN if none."""
        rows = self._everything[rows]
        points = np.full((len(rows), 2), np.nan)
        if not len(rows):
            return points
        low, high = self.model.actuator_ctrlrange.T
        self._ctrl[rows] = low + (np.clip(actions, -1.0, 1.0) + 1.0) / 2 * (high - low)
        order = np.argsort(rows)
        picked = rows[order]
        before = self._batch.state[picked]
        record = self._batch.rollout(
            self.physics.substeps, record=("sensordata", _STATE), ids=picked
        )
        states, sensors = record[_STATE], record["sensordata"]
        touch = sensors[..., self._touch]
        over = (touch > PRESS_FORCE).any(-1)
        pressed = over.any(1)
        last = np.where(pressed, over.argmax(1), self.physics.substeps - 1)
        each = np.arange(len(rows))
        self._batch.state[picked] = states[each, last]
        self._sensors[picked] = sensors[each, last]
        for i in np.flatnonzero(pressed):
            # A sensor tells of the state before its substep.
            state = states[i, last[i] - 1] if last[i] else before[i]
            row, box = int(picked[i]), int(touch[i, last[i]].argmax())
            self._presses[row] = (state.copy(), box)
            point = None if self.game.touch == "field" else self.contact(row)
            points[order[i]] = self.geometry.middles[box] if point is None else point
        return points

    def observe(self, rows: Rows) -> Float32[np.ndarray, "picked obs"]:
        """Sines and cosines of the arm's joints (12), torques (6), velocities (6), finger
        positions (3) and velocities (3), tool position (3) and rotation matrix (9).
        """
        qpos, qvel = self._qpos[rows], self._qvel[rows]
        angles, velocities = np.ascontiguousarray(qpos[:, :6]), qvel[:, :6]
        fingers, finger_velocities = qpos[:, 6:], qvel[:, 6:]
        torques = self._sensors[rows][:, self._torque]
        tool = self.kinematics.forward(angles)
        position, rotation = tool.position, tool.rotation.reshape(len(angles), 9)
        if self._scaled:
            # An impact is a hundred times the usual torque, hence the soft bound.
            torques = np.tanh(torques / _TORQUE_SCALE)
            velocities = velocities / _VELOCITY_SCALE
            fingers = (fingers - _FINGER_MIDDLE) / _FINGER_SCALE
            position = (position - _TOOL_MIDDLE) / _TOOL_SCALE
        parts = [np.sin(angles), np.cos(angles), torques, velocities]
        parts += [fingers, finger_velocities, position, rotation]
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def pose(self, row: int) -> Float[np.ndarray, "9"]:
        """Joint positions of one row, to be drawn with `model`."""
        return self._qpos[row].copy()

    def close(self) -> None:
        """Free the threads."""
        del self._batch

    def contact(self, row: int) -> Float[np.ndarray, "2"] | None:
        """Where the row last pressed the pressed box hardest, in the unit square."""
        if row not in self._presses:
            return None
        state, box = self._presses[row]
        data = self._scratch
        mujoco.mj_setState(self.model, data, state, _STATE)
        mujoco.mj_forward(self.model, data)
        force, strongest, position = np.zeros(6), -1.0, None
        for i, contact in enumerate(data.contact):
            if self._box_geoms[box] not in contact.geom.tolist():
                continue
            mujoco.mj_contactForce(self.model, data, i, force)
            if force[0] > strongest:
                strongest, position = force[0], contact.pos[:2].copy()
        return None if position is None else np.clip(self.geometry.unit(position[None])[0], 0, 1)

    # How it is shown ---------------------------------------------------------------------

    def joints(self, pose: Float[np.ndarray, "9"]) -> list[Point]:
        """The arm's six joints and the point between the fingers, seen from above."""
        chain = self.kinematics.forward(pose[None, :6])
        points = np.vstack([chain.anchors[0, :, :2], chain.position[:, :2]])
        return [(float(x), float(y)) for x, y in self.geometry.unit(points)]

    def tips(self) -> Float[np.ndarray, "rows 2"]:
        """The points between the fingers, seen from above."""
        return self.geometry.unit(self.kinematics.forward(self._qpos[:, :6]).position[:, :2])

    def view(self, width: int, height: int) -> View:
        """Pictures in three dimensions: they need OpenGL, but no screen."""
        from seads.envs.render_jaco import JacoView

        return JacoView(self.game, self.geometry, width, height)

    @property
    def stage(self) -> Stage:
        tops = [2 * height for height in self.geometry.half_heights]
        tops = tops if self.game.touch == "field" else tops * self.game.num_fields
        return Stage(self.geometry.half_extent, tuple(tops), on_table=True)

    def meshes(self) -> list[Mesh]:
        from seads.envs.jaco_meshes import arm_meshes

        return arm_meshes(self.model)

    def mesh_poses(self, pose: Float[np.ndarray, "9"]) -> dict[str, MeshPose]:
        data = self._scratch
        data.qpos[:] = pose
        mujoco.mj_kinematics(self.model, data)
        return {
            name: MeshPose(data.xpos[body].copy(), data.xquat[body].copy())
            for name, body in self._arm_bodies.items()
        }
