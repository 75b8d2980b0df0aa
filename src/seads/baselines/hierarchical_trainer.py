"""Training Hierarchical Actor-Critic: boards played on two levels, hindsight, updates of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.learner import epoch_key
from seads.agent.sac import SACState
from seads.baselines.agent import BaselineAgent, BaselineArchitecture
from seads.baselines.hierarchical_episodes import HierarchicalEpisodes, Horizons, end_goal, play
from seads.baselines.hindsight_replay import HighReplay, LowReplay
from seads.baselines.learner import Hierarchy, batches_of, initial_hierarchy, learn
from seads.baselines.outcomes import Outcomes
from seads.baselines.settings import HACSettings, RunConfig, check_updates, updates_due
from seads.envs import make_env
from seads.streams import Purpose, row_seeds


@jax.tree_util.register_dataclass
@dataclass
class HierarchicalProgress:
    """Where a run stands after an epoch, as one pytree; with the config, all there is to it."""

    learner: Hierarchy
    low: LowReplay
    high: HighReplay
    outcomes: Outcomes
    epoch: int = 0
    env_steps: int = 0


class HierarchicalTrainer:
    """Runs epochs of the two levels: one board in every environment, then updates."""

    def __init__(self, config: RunConfig[HACSettings]):
        self.config = config
        settings = config.settings
        self.horizons = Horizons(settings.horizon_low, settings.horizon_high)
        check_updates(settings, config.env_steps)
        self.goal = end_goal(config.env)
        self.env = make_env(
            config.env,
            settings.episodes_per_epoch,
            split="train",
            mode="task",
            **config.env_options,
        )

    def begin(self) -> HierarchicalProgress:
        """The state before the first epoch."""
        config, settings, spec = self.config, self.config.settings, self.env.spec
        capacity = settings.replay_transitions
        return HierarchicalProgress(
            initial_hierarchy(spec, settings, config.seed),
            LowReplay(spec, capacity),
            HighReplay(spec, capacity, self.goal, self.horizons.high),
            Outcomes(),
        )

    def blank(self) -> HierarchicalProgress:
        """The same, to be filled from a checkpoint."""
        return self.begin()

    def epoch(
        self, progress: HierarchicalProgress
    ) -> tuple[HierarchicalProgress, dict[str, float]]:
        """A board in every environment into the replays, then the updates that are due."""
        progress.epoch += 1
        episodes = self._play(progress)
        progress.low.append(episodes)
        progress.high.append(episodes)
        progress.outcomes.add(episodes.solved)
        took = int(episodes.lengths.sum())
        progress.env_steps += took

        metrics = _attempts(episodes)
        due = updates_due(self.config.settings.updates, progress.epoch)
        if due and progress.low.ring.added >= self.config.settings.warmup_transitions:
            metrics |= self._learn(progress, due, took)
        return progress, metrics | progress.outcomes.metrics()

    def agent(self, progress: HierarchicalProgress, card: dict[str, Any]) -> BaselineAgent:
        """What is shipped: the policies of both levels."""
        spec, config = self.env.spec, self.config
        architecture = BaselineArchitecture(
            "hac",
            spec.observation_size,
            spec.action_size,
            spec.num_bits,
            config.settings.hidden,
            self.horizons.low,
            self.horizons.high,
        )
        return BaselineAgent(
            config.env,
            config.env_options,
            architecture,
            card,
            progress.learner.low.policy,
            progress.learner.high.policy,
        )

    def close(self) -> None:
        """End the environments."""
        self.env.close()

    def _play(self, progress: HierarchicalProgress) -> HierarchicalEpisodes:
        seed, epoch = self.config.seed, progress.epoch
        return play(
            self.env,
            self.env.reset(row_seeds(seed, self.env.num_envs, Purpose.HAC_STARTS, epoch)),
            progress.learner.low.policy,
            progress.learner.high.policy,
            self.goal,
            self.horizons,
            np.random.default_rng([seed, epoch, Purpose.HAC_EXPLORATION]),
            self.config.settings.subgoal_tests,
        )

    def _learn(self, progress: HierarchicalProgress, due: int, took: int) -> dict[str, float]:
        config, settings = self.config, self.config.settings
        rng = np.random.default_rng([config.seed, progress.epoch, Purpose.HAC_BATCHES])
        rate = jnp.float32(config.learning_rate(progress.env_steps, took))
        k_low, k_high = jax.random.split(
            epoch_key(config.seed, Purpose.HAC_UPDATES, progress.epoch)
        )
        learned: dict[str, SACState] = {}
        metrics: dict[str, float] = {}
        for name, replay, state, key, alpha in (
            ("low", progress.low, progress.learner.low, k_low, settings.alpha_low),
            ("high", progress.high, progress.learner.high, k_high, settings.alpha_high),
        ):
            drawn = replay.sample(
                due * settings.batch, settings.gamma, settings.hindsight_goals, rng
            )
            learned[name], losses = learn(
                state, batches_of(drawn, due), key, rate, alpha, settings.tau
            )
            metrics |= {f"{name}_{key}": float(value) for key, value in losses.items()}
        progress.learner = Hierarchy(**learned)
        return metrics


def _attempts(episodes: HierarchicalEpisodes) -> dict[str, float]:
    """How many subgoals a board took, and how many tests of them were missed."""
    attempts = episodes.begins.sum()
    return {
        "subgoals": float(attempts / len(episodes.lengths)),
        "missed": float(episodes.missed.sum() / attempts),
    }
