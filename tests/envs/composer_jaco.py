"""The Jaco scene run by dm_control itself: the reference for tests and for speed."""

from __future__ import annotations

import numpy as np
from dm_control import composer, mjcf

from seads.envs.jaco_kinematics import ELBOW_UP
from seads.envs.jaco_scene import BoardGeometry, build_scene
from seads.envs.physics import CONTROL_TIMESTEP, PHYSICS, PRESS_FORCE


class JacoTask(composer.Task):
    """The task as dm_control would run it, press by press."""

    def __init__(self, geometry: BoardGeometry) -> None:
        self._arena, self._arm, self._hand = build_scene(geometry)
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


def composer_environment(geometry: BoardGeometry) -> composer.Environment:
    """The same scene, stepped by dm_control."""
    return composer.Environment(JacoTask(geometry), strip_singleton_obs_buffer_dim=True)
