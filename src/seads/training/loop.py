"""Training: collect, store, relabel, update, log, checkpoint; the same bits from the same seed."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from seads.agent.buffer import EpisodeBuffer, Episodes
from seads.agent.learner import LearnerState, Shapes, epoch_key, initial_state, learn, take_in
from seads.agent.model_kinds import kind_of
from seads.agent.networks import action_log_volume
from seads.agent.settings import AgentSettings
from seads.agent.skill_costs import REMEMBERED, skill_statistics
from seads.agent.skill_model import ForwardModel
from seads.envs import make_env
from seads.envs.interface import BatchedEnv
from seads.envs.registry import lasting_options, training_rows
from seads.errors import WorldFault
from seads.evaluation.coverage import SkillRuns, run_all_skills
from seads.solving.agent import Agent, Architecture
from seads.streams import Purpose
from seads.threads import Threads
from seads.training.chaining import Reach
from seads.training.collector import Standing, after_resets, collect, no_episodes
from seads.training.config import TrainConfig
from seads.training.pushes import Pushes, Touches, none

BUFFER_BYTES = 2**29
"""The long-term buffer takes no more memory than this: where episodes are large it keeps fewer."""
LOOKING = 0.1
"""Looks at the coverage take at most this share of the steps that a run collects."""
PATIENCE = 0.5
"""Seconds that a collection under way has to come to its end, when the run has come to its."""


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
    standing: Standing = field(default_factory=dict)
    """Where collection goes on, if the environment is never reset."""
    pushes: Pushes | None = None
    """Of such an environment: the first and the last touches."""
    reach: Reach | None = None
    """Of one whose skills may be chained: how far resets reach, and skills."""


Collected = tuple[Episodes, Standing, Touches]
"""An epoch's episodes, how the environment stands after them, where it was touched."""


class Trainer:
    """Runs epochs; what happens between them (logging, checkpoints) is the caller's affair."""

    def __init__(self, config: TrainConfig[AgentSettings]):
        settings = config.settings
        rows = training_rows(config.env, settings.episodes_per_epoch)
        self.env = make_env(config.env, rows, split="train", **config.env_options)
        spec = self.env.spec
        self.num_skills: int = settings.skills_in(spec)
        self.shapes = Shapes(
            spec.observation_size, spec.action_size, spec.num_bits, self.num_skills
        )
        self.config = dataclasses.replace(
            config, settings=settings.for_environment(spec, self.num_skills)
        )
        self._collector = Threads(1, "collector")
        self._stands_at: Standing | None = None
        """The progress' own dictionary while the environment stands as it says."""
        self._fault: WorldFault | None = None
        """What ended the last collection; the epoch that lacks its episodes tells of it."""

    def begin(self) -> Progress:
        """The state before the first epoch."""
        blank = self.blank()
        return _with(blank, self._collect(blank, 0, None))

    def blank(self) -> Progress:
        """The same with nothing collected, to be filled: the environment is left alone."""
        config, settings = self.config, self.config.settings
        volume = action_log_volume(self.env.spec) if settings.entropy_in_action_units else 0.0
        learner = initial_state(self.shapes, settings, config.seed, volume)
        pending = no_episodes(self.env.spec)
        an_epoch = settings.episodes_in(self.env.spec, self.env.num_envs, self.num_skills)
        recent = max(settings.recent_episodes, an_epoch)
        room = min(settings.buffer_episodes, BUFFER_BYTES // pending.bytes_each)
        buffer = EpisodeBuffer(
            pending,
            max(room, recent),
            recent,
            self.num_skills + 1,
            settings.balanced_buffer,
        )
        coverage = config.coverage_every
        pushes = Pushes() if self.env.spec.continuing else None
        reach = Reach.of_nothing(self.env.spec.own_size) if self.env.spec.chained else None
        return Progress(learner, buffer, pending, 0, 0, coverage, self._standing(), pushes, reach)

    def epoch(self, progress: Progress) -> tuple[Progress, dict[str, float]]:
        """One epoch; the episodes for the next one are collected while this one learns.

        Where the world fails meanwhile this epoch is whole, and the next one cannot begin.
        """
        if self._fault is not None:
            raise self._fault
        if not len(progress.pending):  # the world failed there, and has been mended
            again = self._collect(progress, progress.epoch, progress.standing)
            progress = _with(progress, again)
        config, settings = self.config, self.config.settings
        epoch = progress.epoch + 1
        upcoming = self._collector.submit(self._collect, progress, epoch, progress.standing)
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
            rounds = settings.rounds(new_steps)
            learner, metrics = learn(learner, progress.buffer, settings, rng, key, rate, rounds)
        reach = progress.reach
        if reach is not None:
            reach = self._reached(reach, new)
            metrics["outside_resets"] = reach.outside
        progress = dataclasses.replace(
            progress,
            learner=learner,
            pending=no_episodes(self.env.spec),
            epoch=epoch,
            env_steps=env_steps,
            reach=reach,
        )
        try:
            progress = _with(progress, upcoming.result())
        except WorldFault as fault:
            self._fault = fault
        knows_moves = self.env.spec.num_moves is not None
        if knows_moves and config.coverage_every and env_steps >= progress.next_coverage:
            runs = self.measure_coverage(progress)
            metrics["coverage"] = float(runs.distinct.mean())
            pause = int(runs.lengths.sum() / LOOKING)
            progress.next_coverage = env_steps + max(config.coverage_every, pause)
        return progress, metrics

    def measure_coverage(self, progress: Progress) -> SkillRuns:
        """What the averaged policy does on a few training boards (evaluation has test boards).

        In the rows that collect, which are idle between epochs and reset before the next; of an
        environment that is never reset, in a simulated one.
        """
        with self._rows_for_coverage() as env:
            return run_all_skills(
                env,
                progress.learner.acting(average=True),
                self.num_skills,
                self.config.coverage_starts,
                self.config.seed,
                Purpose.COVERAGE_OF_RUN,
            )

    def _rows_for_coverage(self) -> AbstractContextManager[BatchedEnv]:
        if not self.env.spec.continuing:
            return nullcontext(self.env)
        options = lasting_options(self.config.env, self.config.env_options)
        return closing(make_env(self.config.env, 256, split="train", **options))

    def agent(self, progress: Progress, card: dict[str, Any]) -> Agent:
        """What is shipped: the averaged policy and the skill model."""
        settings = self.config.settings
        policy, model = progress.learner.acting(average=True), progress.learner.average[1]
        kind = settings.model
        if isinstance(model, ForwardModel):
            model = model.shipped
            kind = kind_of(model)
        architecture = Architecture(
            settings.algorithm,
            **dataclasses.asdict(self.shapes),
            hidden=settings.hidden,
            model_hidden=settings.model_hidden,
            model=kind,
            policy_sees_symbol=settings.policy_sees_symbol,
        )
        if len(progress.buffer):
            newest = progress.buffer.stored.pick(progress.buffer.newest_of_each(REMEMBERED))
            card = {**card, "skills": skill_statistics(model, newest)}
        options = lasting_options(self.config.env, self.config.env_options)
        return Agent(self.config.env, options, architecture, card, policy, model)

    def close(self) -> None:
        """End the collector and the environments.

        A row that hangs is left behind; but not an arm, which must come to rest.
        """
        self._collector.close(None if self.env.spec.continuing else PATIENCE)
        self.env.close()

    def _reached(self, reach: Reach, new: Episodes) -> Reach:
        fresh = np.flatnonzero(after_resets(len(new), self.env.num_envs))
        seen = new.observations[..., : self.env.spec.own_size]
        return reach.updated(seen[fresh, 0], seen[fresh, new.lengths[fresh]])

    def _collect(self, progress: Progress, epoch: int, standing: Standing | None) -> Collected:
        settings, seed = self.config.settings, self.config.seed
        policy = progress.learner.acting(settings.act_with_average)
        chained = progress.reach is not None and progress.reach.chained
        if standing and standing is not self._stands_at:
            self.env.stand(standing)  # type: ignore[attr-defined]
        going_on = standing is not None
        touched: list[tuple[int, float, float]] | None = [] if self.env.spec.continuing else None
        episodes = collect(
            self.env, policy, settings, self.num_skills, seed, epoch, going_on, chained, touched
        )
        self._stands_at = self._standing()
        return episodes, self._stands_at, np.array(touched or none(), np.float32)

    def _standing(self) -> Standing:
        return self.env.standing() if self.env.spec.continuing else {}  # type: ignore[attr-defined]


def _with(progress: Progress, collected: Collected) -> Progress:
    pending, standing, touches = collected
    pushes = progress.pushes and progress.pushes.add(touches)
    return dataclasses.replace(progress, pending=pending, standing=standing, pushes=pushes)
