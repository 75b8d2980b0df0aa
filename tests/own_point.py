"""The text of a user's own environment: a point on a line, which tests write to a file."""

from __future__ import annotations

POINT = """
import gymnasium
import numpy as np
from seads.envs import wrap

class Point(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.x, {}

    def step(self, action):
        self.x = np.clip(self.x + 0.3 * action, -1, 1).astype(np.float32)
        return self.x, 0.0, False, False, {}

def phi(x):
    return x > np.array([-0.3, 0.3])
"""
