"""Training: collect, store, relabel, update, log, checkpoint; the same bits from the same seed."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from seads.agent.buffer import EpisodeBuffer, Episodes
from seads.agent.either_model import EitherForwardModel
from seads.agent.learner import LearnerState, Shapes, epoch_key, initial_state, learn, take_in
from seads.agent.networks import action_log_volume
from seads.agent.settings import AgentSettings
from seads.agent.skill_costs import skill_statistics
from seads.agent.skill_model import LinearForwardModel
from seads.envs import make_env
from seads.envs.interface import EnvSpec
from seads.evaluation.coverage import run_all_skills
from seads.solving.agent import Agent, Architecture
from seads.streams import Purpose
from seads.training.collector import collect
from seads.training.config import TrainConfig


@jax.tree_util.register_dataclass
@dataclass
class Progress:
    """Where a run stands after an epoch, as one pytree; with the config, all there is to it."""

    learner: LearnerState
    buffer: EpisodeBuffer
    pending: Episodes
    """Collected with the policy of the epoch before, to be stored in the next epoch."""
    epoch: int = 0
    env_steps: int = 0
    next_coverage: int = 0
    """Environment steps at which the coverage is measured again."""


def skills_for(spec: EnvSpec) -> int:
    """How many skills to learn where nobody knows how many moves there are.

    Two for each bit, to switch it on and off; what is too many turns out to be spare.
    """
    return min(max(2 * spec.num_bits, 4), 64)


class Trainer:
    """Runs epochs; what happens between them (logging, checkpoints) is the caller's affair."""

    def __init__(self, config: TrainConfig[AgentSettings]):
        settings = config.settings
        self.env = make_env(
            config.env, settings.episodes_per_epoch, split="train", **config.env_options
        )
        spec = self.env.spec
        num_skills = settings.num_skills or max(spec.num_moves or skills_for(spec), 2)
        self.num_skills: int = num_skills
        self.shapes = Shapes(
            spec.observation_size, spec.action_size, spec.num_bits, self.num_skills
        )
        self.config = dataclasses.replace(
            config, settings=settings.for_environment(spec, num_skills)
        )
        self._collector = ThreadPoolExecutor(1, "collector")

    def begin(self) -> Progress:
        """The state before the first epoch."""
        config, settings = self.config, self.config.settings
        volume = action_log_volume(self.env.spec) if settings.entropy_in_action_units else 0.0
        learner = initial_state(self.shapes, settings, config.seed, volume)
        pending = self._collect(learner, 0)
        buffer = EpisodeBuffer(
            pending,
            settings.buffer_episodes,
            settings.recent_episodes,
            self.num_skills + 1,
            settings.balanced_buffer,
        )
        return Progress(learner, buffer, pending, next_coverage=config.coverage_every)

    def epoch(self, progress: Progress) -> tuple[Progress, dict[str, float]]:
        """One epoch; the episodes for the next one are collected while this one learns."""
        config, settings = self.config, self.config.settings
        epoch = progress.epoch + 1
        upcoming = self._collector.submit(self._collect, progress.learner, epoch)
        new = progress.pending
        progress.buffer.add(new)
        new_steps = int(new.lengths.sum())
        env_steps = progress.env_steps + new_steps
        learner = take_in(progress.learner, new.observations, new.lengths, new.before, new.after)
        metrics: dict[str, float] = {}
        if progress.buffer.added >= settings.warmup_episodes:
            rng = np.random.default_rng([config.seed, epoch, Purpose.BATCHES])
            key = epoch_key(config.seed, Purpose.UPDATES, epoch)
            rate = config.learning_rate(env_steps, new_steps)
            rounds = max(1, round(settings.updates_per_step * new_steps / settings.sac_steps))
            learner, metrics = learn(learner, progress.buffer, settings, rng, key, rate, rounds)
        progress = dataclasses.replace(
            progress,
            learner=learner,
            pending=upcoming.result(),
            epoch=epoch,
            env_steps=env_steps,
        )
        knows_moves = self.env.spec.num_moves is not None
        if knows_moves and config.coverage_every and env_steps >= progress.next_coverage:
            metrics["coverage"] = self.measure_coverage(progress)
            progress.next_coverage = env_steps + config.coverage_every
        return progress, metrics

    def measure_coverage(self, progress: Progress) -> float:
        """Coverage of the averaged policy on a few training boards (evaluation has test boards).

        In the rows that collect, which are idle between epochs and reset before the next.
        """
        runs = run_all_skills(
            self.env,
            progress.learner.acting(average=True),
            self.num_skills,
            self.config.coverage_starts,
            self.config.seed,
            Purpose.COVERAGE_OF_RUN,
        )
        return float(runs.distinct.mean())

    def agent(self, progress: Progress, card: dict[str, Any]) -> Agent:
        """What is shipped: the averaged policy and the skill model."""
        settings = self.config.settings
        policy, model = progress.learner.acting(average=True), progress.learner.average[1]
        kind = settings.model
        if isinstance(model, EitherForwardModel):
            model = model.chosen
            kind = "linear" if isinstance(model, LinearForwardModel) else "network"
        elif isinstance(model, LinearForwardModel):
            model = model.learned
        architecture = Architecture(
            settings.algorithm,
            **dataclasses.asdict(self.shapes),
            hidden=settings.hidden,
            model_hidden=settings.model_hidden,
            model=kind,
            policy_sees_symbol=settings.policy_sees_symbol,
        )
        if len(progress.buffer):
            # enough that every skill was tried some ten times
            newest = progress.buffer.stored.pick(progress.buffer.newest(10 * self.num_skills))
            card = {**card, "skills": skill_statistics(model, newest)}
        return Agent(self.config.env, self.config.env_options, architecture, policy, model, card)

    def close(self) -> None:
        """End the collector and the environments."""
        self._collector.shutdown()
        self.env.close()

    def _collect(self, learner: LearnerState, epoch: int) -> Episodes:
        settings, seed = self.config.settings, self.config.seed
        policy = learner.acting(settings.act_with_average)
        return collect(self.env, policy, settings, self.num_skills, seed, epoch)
