"""The Jaco arm: nine joints under velocity control, whose fingers press a board's fields."""

from __future__ import annotations

import os
import warnings

import mujoco
import numpy as np
from jaxtyping import Float, Float32, Int
from mujoco.batch import Batch

from seads.envs.interface import Rows
from seads.envs.jaco_kinematics import ArmKinematics
from seads.envs.physics import PRESS_FORCE, physics_options
from seads.errors import SeadsError

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION.value  # with the warm start of the solver

# Start region of the tool centre point: x, y, z, turn about the vertical (paper S.7.3).
_START_LOW = np.array([-0.1, -0.1, 0.2, -np.pi])
_START_HIGH = np.array([0.1, 0.1, 0.4, np.pi])

# Scaled observations, all of the order of one; in brackets the raw spread under random actions.
_TORQUE_SCALE = np.array([15.0] * 3 + [3.4] * 3)  # half the motors' peak (4 to 10, then 1 to 2)
_VELOCITY_SCALE = np.deg2rad([36.0] * 3 + [48.0] * 3)  # the joints' limits (0.3)
_FINGER_MIDDLE, _FINGER_SCALE = 0.75, 0.6  # fingers turn from 0.15 to 1.35 (0.3)
_TOOL_MIDDLE, _TOOL_SCALE = np.array([0.0, 0.0, 0.2]), 0.15  # the air over the board (0.1)
OBSERVATIONS = ("scaled", "raw")


class Jaco:
    """A batch of Jaco arms over boards; a press is looked for at every physics substep.

    The state kept after a press is the one at the press, so a last observation shows it. Each
    row has its own physics state and solver warm start: its trajectory is bit for bit the same
    in any batch, beside any neighbours and on any number of threads.
    """

    name = "jaco"
    num_uniforms = 4
    observation_size = 42
    action_low = (-1.0,) * 9
    action_high = (1.0,) * 9
    step_limit = 50

    def __init__(
        self,
        num_envs: int,
        board: str = "lightsout",
        physics: str = "fast",
        observation: str = "scaled",
        threads: int | None = None,
    ) -> None:
        """`threads` that step the batch; the default is two, or one on a single core."""
        if observation not in OBSERVATIONS:
            choices = ", ".join(OBSERVATIONS)
            raise SeadsError(f"unknown observation {observation!r}; choose from {choices}")
        if threads is not None and threads < 1:
            raise SeadsError(f"threads is {threads}; it must be at least 1")
        with warnings.catch_warnings():
            # dm_control looks for a display when imported; nothing here needs one.
            warnings.simplefilter("ignore")
            from seads.envs.jaco_scene import board_geometry, build_model
        self.geometry = board_geometry(board)
        self.physics = physics_options(physics)
        self.model = build_model(board)
        self.physics.apply(self.model)
        self.kinematics = ArmKinematics(self.model)
        self._scaled = observation == "scaled"
        self._batch = Batch(self.model, num_envs, threads or min(2, os.cpu_count() or 1))
        self._qpos, self._qvel = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._ctrl = self._batch.bind("ctrl")
        self._fresh_sensors = self._batch.bind("sensordata")
        self._start_state = self._batch.state[0].copy()
        self._everything = np.arange(num_envs)
        self._sensors = np.zeros((num_envs, self.model.nsensordata))
        fields = self.geometry.size**2
        self._touch = np.array([self.model.sensor(f"field_{i}").adr[0] for i in range(fields)])
        # Joints turn about their own z axis: the third component is the torque about it.
        self._torque = np.array(
            [self.model.sensor(f"jaco_arm/joint_{i}_torque").adr[0] + 2 for i in range(1, 7)]
        )
        self._board_geoms = {self.model.geom(f"field_{i}").id for i in range(fields)}
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
        if self.geometry.size > 1:
            strongest = touch[each, last].argmax(1)
            points[order[pressed]] = self.geometry.middles[strongest[pressed]]
        else:
            for i in np.flatnonzero(pressed):
                # A sensor tells of the state before its substep.
                state = states[i, last[i] - 1] if last[i] else before[i]
                points[order[i]] = self._contact_point(state)
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

    def _contact_point(self, state: Float[np.ndarray, "state"]) -> Float[np.ndarray, "2"]:
        """Where the plate was pressed hardest, in the unit square."""
        data = self._scratch
        mujoco.mj_setState(self.model, data, state, _STATE)
        mujoco.mj_forward(self.model, data)
        force, strongest, position = np.zeros(6), -1.0, np.zeros(2)
        for i, contact in enumerate(data.contact):
            if self._board_geoms.isdisjoint(contact.geom.tolist()):
                continue
            mujoco.mj_contactForce(self.model, data, i, force)
            if force[0] > strongest:
                strongest, position = force[0], contact.pos[:2].copy()
        return np.clip(self.geometry.unit(position[None])[0], 0.0, 1.0)
