"""Training flat soft actor-critic: steps, replay, updates; the same bits from the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float32, Int, UInt64

from seads.agent.learner import epoch_key
from seads.agent.rollout import act
from seads.agent.sac import SACState
from seads.baselines.agent import BaselineAgent, BaselineArchitecture
from seads.baselines.flat_replay import FlatReplay
from seads.baselines.learner import batches_of, initial_flat, learn
from seads.baselines.outcomes import Outcomes
from seads.baselines.settings import RunConfig, SACSettings, check_updates, updates_due
from seads.envs import make_env
from seads.streams import Purpose, row_seeds


@jax.tree_util.register_dataclass
@dataclass
class Running:
    """The episodes under way: from seeds and actions alone they can be brought about again."""

    seeds: UInt64[np.ndarray, "rows"]
    observations: Float32[np.ndarray, "rows obs"]
    lengths: Int[np.ndarray, "rows"]
    """Steps made in the episode so far."""
    actions: Float32[np.ndarray, "steps rows act"]
    """The newest actions of all rows, back to the start of the oldest episode."""


@jax.tree_util.register_dataclass
@dataclass
class FlatProgress:
    """Where a run stands after an epoch, as one pytree; with the config, all there is to it."""

    learner: SACState
    replay: FlatReplay
    running: Running
    outcomes: Outcomes
    epoch: int = 0
    env_steps: int = 0


class FlatTrainer:
    """Runs epochs of the flat agent, in task mode: reward 1 for the solved board."""

    def __init__(self, config: RunConfig[SACSettings]):
        self.config = config
        settings = config.settings
        check_updates(settings, config.env_steps)
        self.env = make_env(
            config.env, settings.num_envs, split="train", mode="task", **config.env_options
        )
        self._stands_at: Running | None = None
        self._no_skill = np.zeros((settings.num_envs, 0), np.float32)

    def begin(self) -> FlatProgress:
        """The state before the first epoch."""
        config, settings, rows = self.config, self.config.settings, self.env.num_envs
        seeds = row_seeds(config.seed, rows, Purpose.SAC_STARTS, 0)
        none_yet = np.zeros((0, rows, self.env.spec.action_size), np.float32)
        running = Running(seeds, self.env.reset(seeds), np.zeros(rows, np.int64), none_yet)
        self._stands_at = running
        return FlatProgress(
            initial_flat(self.env.spec, settings, config.seed),
            FlatReplay(self.env.spec, settings.replay_transitions, settings.num_envs),
            running,
            Outcomes(),
        )

    def blank(self) -> FlatProgress:
        """The same, to be filled from a checkpoint."""
        return self.begin()

    def epoch(self, progress: FlatProgress) -> tuple[FlatProgress, dict[str, float]]:
        """Some steps in every environment, then the updates that are due."""
        config, settings = self.config, self.config.settings
        if progress.running is not self._stands_at:
            self._play_again(progress.running)
        progress.epoch += 1
        epoch = progress.epoch
        shape = (settings.steps_per_env, self.env.num_envs, self.env.spec.action_size)
        noise = np.random.default_rng([config.seed, epoch, Purpose.SAC_NOISE]).standard_normal(
            shape, np.float32
        )
        for t in range(settings.steps_per_env):
            self._step(progress, noise[t], epoch * settings.steps_per_env + t)
        took = settings.steps_per_env * self.env.num_envs
        progress.env_steps += took

        metrics: dict[str, float] = {}
        due = updates_due(settings.updates, epoch)
        if due and progress.replay.ring.added >= settings.warmup_transitions:
            rng = np.random.default_rng([config.seed, epoch, Purpose.SAC_BATCHES])
            drawn = progress.replay.sample(due * settings.batch, settings.gamma, rng)
            key = epoch_key(config.seed, Purpose.SAC_UPDATES, epoch)
            progress.learner, losses = learn(
                progress.learner,
                batches_of(drawn, due),
                key,
                jnp.float32(config.learning_rate(progress.env_steps, took)),
                settings.alpha,
                settings.tau,
            )
            metrics = {name: float(value) for name, value in losses.items()}
        return progress, metrics | progress.outcomes.metrics()

    def agent(self, progress: FlatProgress, card: dict[str, Any]) -> BaselineAgent:
        """What is shipped: the policy."""
        spec, config = self.env.spec, self.config
        architecture = BaselineArchitecture(
            "sac", spec.observation_size, spec.action_size, spec.num_bits, config.settings.hidden
        )
        policy = progress.learner.policy
        return BaselineAgent(config.env, config.env_options, architecture, card, policy, None)

    def close(self) -> None:
        """End the environments."""
        self.env.close()

    def _step(
        self, progress: FlatProgress, noise: Float32[np.ndarray, "rows act"], label: int
    ) -> None:
        """One step of every environment into the replay; rows that ended start anew."""
        running = progress.running
        actions = np.asarray(
            act(progress.learner.policy, running.observations, self._no_skill, noise)
        )
        step = self.env.step(self.env.spec.scaled(actions))
        # the step limit ends an episode for good, as a solved board does: the remaining time
        # is in the observation, so what comes after it is worth nothing, and known to be
        progress.replay.append(running.observations, actions, step.reward, step.done)
        running.actions = np.concatenate([running.actions, actions[None]])
        running.lengths += 1
        running.observations = step.observation
        ended = np.flatnonzero(step.done)
        if len(ended):
            progress.outcomes.add(step.terminated[ended])
            seeds = row_seeds(self.config.seed, self.env.num_envs, Purpose.SAC_STARTS, label)[ended]
            running.seeds[ended] = seeds
            running.lengths[ended] = 0
            running.observations = self.env.reset(seeds, ended)
            oldest = int(running.lengths.max())
            running.actions = running.actions[len(running.actions) - oldest :]

    def _play_again(self, running: Running) -> None:
        """Bring the environments to where these episodes stand: a row depends on nothing else."""
        self.env.reset(running.seeds)
        for t, taken in enumerate(running.actions):
            active = t >= len(running.actions) - running.lengths
            self.env.step(self.env.spec.scaled(taken), active)
        self._stands_at = running
