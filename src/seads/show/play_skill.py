"""A skill that runs one environment step at a time, so that a person can watch and interfere."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

from seads.agent.agent import Agent
from seads.agent.rollout import act
from seads.envs.embedding import EmbeddedEnv
from seads.planning.executor import SkillRun
from seads.show.play_moves import PlannedMove
from seads.streams import Purpose


class RunningSkill:
    """A skill on row 0 of an environment, from where its body stands."""

    def __init__(
        self,
        agent: Agent,
        env: EmbeddedEnv,
        planned: PlannedMove,
        predicted: Bool[np.ndarray, "bits"],
        noise: Float32[np.ndarray, "steps act"],
    ) -> None:
        self.planned = planned
        self._agent, self._env = agent, env
        self._before, self._predicted, self._noise = env.symbols[0], predicted, noise
        self._onehot: Any = np.eye(agent.num_skills, dtype=np.float32)[[planned.skill]]
        self._low, self._high = np.array(env.spec.action_low), np.array(env.spec.action_high)
        self._steps = 0
        self._observation: Any = env.resume()  # float32, (1, observation)

    def see(self, observation: Any) -> None:
        """Someone changed the board: what the policy sees next."""
        self._observation = observation

    def step(self) -> bool:
        """One environment step; True when the skill has ended."""
        noise: Any = self._noise[[self._steps]]
        chosen = act(self._agent.policy, self._observation, self._onehot, noise)
        action = np.asarray(chosen).astype(np.float64)
        step = self._env.step(self._low + (self._high - self._low) * (action + 1) / 2)
        self._observation = step.observation
        self._steps += 1
        return bool(step.done[0])

    def result(self) -> SkillRun:
        """What it did."""
        after = self._env.symbols[0]
        return SkillRun(
            self.planned.skill, self._before, self._predicted, after, self._steps, plan=0
        )


def skill_noise(
    env: EmbeddedEnv, skill: int, tried: int, seed: int
) -> Float32[np.ndarray, "steps act"]:
    """The policy's noise for every step of a skill: none, but for one that is tried again.

    What failed once from a board would otherwise fail in the same way again and again.
    """
    shape = (env.spec.step_limit, env.spec.action_size)
    if not tried:
        return np.zeros(shape, np.float32)
    return np.random.default_rng([seed, Purpose.RETRY, skill, tried]).standard_normal(
        shape, np.float32
    )
