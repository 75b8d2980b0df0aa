"""dm_control's finger: it flicks a spinner, whose tip points into one of four quarters.

    seads check dm_control_finger:factory
    seads train dm_control_finger:factory --env-steps 2e5
    seads solve runs/dm_control_finger-factory-seads-default-seed0 --goal 11  # up and to the right

dm_control has an interface of its own: `Suite` makes a Gymnasium environment of any task.

What came out with seed 0: 2 effects; 1.81 from each of 100 starts, on average, after 200,276 steps.
"""

import os
from functools import partial

# Nothing is drawn, and without a screen looking for one ends in a warning.
os.environ.setdefault("MUJOCO_GL", "disable")

import gymnasium
import numpy as np
from dm_control import suite

from seads.envs import wrap


class Suite(gymnasium.Env):
    """A task of dm_control's suite; its observations one after the other, by their names."""

    def __init__(self, domain, task):
        # No time limit of its own: skills follow each other without a reset.
        self._env = suite.load(
            domain,
            task,
            task_kwargs={"time_limit": float("inf")},
            environment_kwargs={"flat_observation": True},
        )
        actions = self._env.action_spec()
        size = self._env.observation_spec()["observations"].shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, size)
        self.action_space = gymnasium.spaces.Box(
            actions.minimum.astype(np.float32), actions.maximum.astype(np.float32)
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # A task draws its starts from a generator of its own.
        self._env.task.random.seed(seed)
        return self._seen(self._env.reset()), {}

    def step(self, action):
        time_step = self._env.step(action)
        return self._seen(time_step), float(time_step.reward or 0), time_step.last(), False, {}

    def _seen(self, time_step):
        return time_step.observation["observations"].astype(np.float32)


def phi(observation):
    """Does the spinner's tip point to the right, does it point up?"""
    return observation[2:4] > 0


def factory(num_envs, vectorise="threads"):
    make = partial(Suite, "finger", "spin")
    return wrap(make, phi, num_envs, step_limit=50, num_moves=2, vectorise=vectorise)
