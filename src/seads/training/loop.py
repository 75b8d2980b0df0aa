"""Training: collect, store, relabel, update, log, checkpoint; the same bits from the same seed."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.agent import Agent, Architecture
from seads.agent.arrays import from_arrays, to_arrays
from seads.agent.buffer import EpisodeBuffer, Episodes
from seads.agent.learner import LearnerState, Shapes, draw_batches, initial_state, learn
from seads.agent.statistics import skill_statistics
from seads.envs import make_env
from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError
from seads.evaluation.coverage import distinct_moves, run_all_skills
from seads.streams import Purpose
from seads.training.checkpoint import part, prefixed
from seads.training.collector import collect
from seads.training.config import TrainConfig


@dataclass
class Progress:
    """Where a run stands after an epoch; with the config, all there is to know of it."""

    learner: LearnerState
    buffer: EpisodeBuffer
    pending: Episodes
    """Collected with the policy of the epoch before, to be stored in the next epoch."""
    epoch: int = 0
    env_steps: int = 0
    next_look: int = 0
    """Environment steps at which the coverage is looked at again."""


class Trainer:
    """Runs epochs; what happens between them (logging, checkpoints) is the caller's affair."""

    def __init__(self, config: TrainConfig):
        self.config = config
        self.env = make_env(
            config.env, config.agent.episodes_per_epoch, split="train", **config.env_options
        )
        spec = self.env.spec
        num_skills = config.agent.num_skills or spec.num_moves
        if num_skills is None or num_skills < 2:
            self.env.close()
            raise SeadsError(
                f"num_skills=0 takes the number of moves of {config.env!r}, which is "
                f"{num_skills or 'unknown'}; set num_skills to 2 or more"
            )
        self.num_skills: int = num_skills
        self.shapes = Shapes(
            spec.observation_size, spec.action_size, spec.num_bits, self.num_skills
        )
        self._look_env: BatchedEnv | None = None
        self._collector = ThreadPoolExecutor(1, "collector")

    def begin(self) -> Progress:
        """The state before the first epoch."""
        learner = initial_state(self.shapes, self.config.agent, self.config.seed)
        pending = self._collect(learner, 0)
        return Progress(
            learner, self._empty_buffer(), pending, next_look=self.config.coverage_every
        )

    def epoch(self, progress: Progress) -> tuple[Progress, dict[str, float]]:
        """One epoch; the episodes for the next one are collected while this one learns."""
        config, agent = self.config, self.config.agent
        epoch = progress.epoch + 1
        upcoming = self._collector.submit(self._collect, progress.learner, epoch)
        progress.buffer.add(progress.pending)
        env_steps = progress.env_steps + int(progress.pending.lengths.sum())
        learner = progress.learner
        metrics: dict[str, float] = {}
        if progress.buffer.added >= agent.warmup_episodes:
            rng = np.random.default_rng([config.seed, epoch, Purpose.BATCHES])
            batches, metrics = draw_batches(learner.model, progress.buffer, agent, rng)
            key = jax.random.fold_in(
                jax.random.fold_in(jax.random.key(config.seed), Purpose.UPDATES), epoch
            )
            rate = jnp.float32(config.learning_rate(env_steps))
            learner, losses = learn(learner, batches, key, rate, agent)
            metrics |= {name: float(value) for name, value in losses.items()}
        for name, value in metrics.items():
            require_finite(name, value, epoch, env_steps)
        progress = dataclasses.replace(
            progress, learner=learner, pending=upcoming.result(), epoch=epoch, env_steps=env_steps
        )
        knows_moves = self.env.spec.num_moves is not None
        if knows_moves and config.coverage_every and env_steps >= progress.next_look:
            metrics["coverage"] = self.look(progress)
            progress.next_look = env_steps + config.coverage_every
        return progress, metrics

    def look(self, progress: Progress) -> float:
        """Coverage of the averaged policy on a few training boards (evaluation has test boards)."""
        if self._look_env is None:
            self._look_env = make_env(
                self.config.env,
                self.num_skills * min(self.config.coverage_starts, max(1, 256 // self.num_skills)),
                split="train",
                **self.config.env_options,
            )
        runs = run_all_skills(
            self._look_env,
            progress.learner.average[0],
            self.num_skills,
            self.config.coverage_starts,
            self.config.seed,
            Purpose.COVERAGE_OF_RUN,
        )
        return float(distinct_moves(runs["moves"]).mean())

    def agent(self, progress: Progress, card: dict[str, Any]) -> Agent:
        """What is shipped: the averaged policy and the skill model."""
        settings = self.config.agent
        architecture = Architecture(
            settings.algorithm,
            **dataclasses.asdict(self.shapes),
            hidden=settings.hidden,
            model_hidden=settings.model_hidden,
            model=settings.model,
            policy_sees_symbol=settings.policy_sees_symbol,
        )
        card = {"env_steps": progress.env_steps, "epoch": progress.epoch, **card}
        learner = progress.learner
        if progress.buffer.stored is not None:
            newest = progress.buffer.stored.pick(progress.buffer.newest())
            card["skills"] = skill_statistics(learner.average[1], newest)
        return Agent(
            self.config.env,
            self.config.env_options,
            architecture,
            *learner.average,
            card,
        )

    def arrays(self, progress: Progress) -> dict[str, np.ndarray]:
        """Everything of the progress that is an array, for a checkpoint.

        Raises if the learner holds a NaN that no loss has shown yet.
        """
        learner = to_arrays(progress.learner)
        for name, value in learner.items():
            if not np.isfinite(value).all():
                require_finite(f"learner{name}", float("nan"), progress.epoch, progress.env_steps)
        pending = {f.name: getattr(progress.pending, f.name) for f in dataclasses.fields(Episodes)}
        counters = np.array([progress.epoch, progress.env_steps, progress.next_look])
        return dict(
            [
                *prefixed("learner", learner),
                *prefixed("buffer", progress.buffer.arrays()),
                *prefixed("pending", pending),
                ("counters", counters),
            ]
        )

    def restore(self, arrays: dict[str, np.ndarray]) -> Progress:
        """The progress that `arrays` was made of."""
        like = initial_state(self.shapes, self.config.agent, self.config.seed)
        buffer = self._empty_buffer()
        try:
            learner = from_arrays(like, part("learner", arrays))
            buffer.restore(part("buffer", arrays))
            pending = Episodes(**part("pending", arrays))
            epoch, env_steps, next_look = map(int, arrays["counters"])
        except (KeyError, TypeError) as error:
            raise SeadsError(f"the checkpoint belongs to another kind of run: {error}") from None
        return Progress(learner, buffer, pending, epoch, env_steps, next_look)

    def close(self) -> None:
        """End the collector and the environments."""
        self._collector.shutdown()
        self.env.close()
        if self._look_env is not None:
            self._look_env.close()

    def _collect(self, learner: LearnerState, epoch: int) -> Episodes:
        policy = learner.average[0] if self.config.agent.act_with_average else learner.sac.policy
        return collect(
            self.env, policy, self.config.agent, self.num_skills, self.config.seed, epoch
        )

    def _empty_buffer(self) -> EpisodeBuffer:
        agent = self.config.agent
        return EpisodeBuffer(
            agent.buffer_episodes,
            agent.recent_episodes,
            self.num_skills + 1,
            agent.balanced_buffer,
        )


def require_finite(name: str, value: float, epoch: int, env_steps: int) -> None:
    """Raise where a metric is no longer a number: learning has gone wrong."""
    if not math.isfinite(value):
        raise SeadsError(
            f"{name} became {value} in epoch {epoch} after {env_steps} env steps; the run is "
            "stopped and its last checkpoint is from before that. Lower learning_rate in a new run"
        )
