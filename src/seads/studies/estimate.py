"""About how long runs take: at the speed of one of their kind that has begun, else by counting."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seads.agent.settings import AgentSettings
from seads.baselines.settings import KINDS, HACSettings, SACSettings
from seads.envs import make_env
from seads.envs.interface import BatchedEnv
from seads.envs.registry import training_rows
from seads.studies.runs import StudyRun, spec_of
from seads.studies.sweep import Sweep
from seads.training.config import TrainConfig

FLOPS = 84e9
"""Floating-point operations of a core a second in matrices of these sizes, measured."""
PASSES = 15
"""Times that an update multiplies with the weights of a critic, forwards and backwards."""
EPISODE = 0.4
"""Mean length of a skill as a share of its step limit, along a run."""
HORIZON = 0.3
"""Mean length of a board's episode as a share of the most that two levels may take, measured."""
EPOCH = 0.02
"""Seconds of an epoch besides, such as drawing and relabelling episodes."""
ASKING = 0.001
"""Seconds to ask a policy once for the actions of all rows."""
MEASURING = 30.0
"""Seconds that the evaluations of a run take."""


def estimate(sweep: Sweep, cores: int) -> dict[str, float]:
    """Seconds that each run still needs on a share of cores, by name; a guess within a factor two.

    Once a run of a kind has begun, all of the kind count as being as fast as that.
    """
    speeds: dict[tuple[str, str], float] = {}
    for run in sweep.runs:
        speed = sweep.standings[run.name].steps_per_second
        if speed:
            speeds[run.kind] = speed
    found = {}
    for run in sweep.runs:
        now = sweep.standings[run.name]
        if run.kind not in speeds:
            speeds[run.kind] = _speed(run.config, cores)
        left = 0 if now.trained else max(0, run.config.env_steps - now.env_steps)
        found[run.name] = left / speeds[run.kind] + MEASURING * bool(now.missing)
    return found


def seconds_of(run: StudyRun, cores: int) -> float:
    """Seconds of a run of which nothing is known yet."""
    return run.config.env_steps / _speed(run.config, cores) + MEASURING


def _speed(config: TrainConfig, cores: int) -> float:
    """The second core of a run is worth half: an update waits for the one before."""
    return counted_speed(config) * (1 + 0.5 * (min(cores, 2) - 1))


def counted_speed(config: TrainConfig) -> float:
    """Env steps a second on one core, from the sizes of networks, batches and boards."""
    epoch = _baseline(config) if config.settings.algorithm in KINDS else _skills(config)
    acting = ASKING * epoch.asked + epoch.steps * _seconds_a_step(config, epoch.rows)
    return epoch.steps / (epoch.operations / FLOPS + acting + epoch.besides)


@dataclass(frozen=True)
class _Epoch:
    """What an epoch is made of."""

    rows: int
    """Environments side by side."""
    steps: float
    """Env steps of all rows."""
    asked: float
    """How often a policy is asked for actions."""
    operations: float
    """Floating-point operations of its updates."""
    besides: float = 0.0
    """Seconds of what is not counted."""


def _baseline(config: TrainConfig) -> _Epoch:
    settings: SACSettings | HACSettings = config.settings
    updated = settings.updates * _update(config, settings.batch)
    steps = settings.longest_epoch()
    if isinstance(settings, SACSettings):
        rows = settings.num_envs
        return _Epoch(rows, steps, steps / rows, updated)
    rows = settings.episodes_per_epoch
    return _Epoch(rows, HORIZON * steps, HORIZON * steps / rows, 2 * updated)  # both levels


def _skills(config: TrainConfig) -> _Epoch:
    settings: AgentSettings = config.settings
    spec = spec_of(config)
    skills = settings.skills_in(spec)
    rows = training_rows(config.env, settings.episodes_per_epoch)
    episodes = settings.episodes_in(spec, rows, skills)
    steps = episodes * EPISODE * spec.step_limit
    asked = steps if rows == 1 else episodes / rows * spec.step_limit  # one row takes it all
    updates = max(settings.sac_steps, settings.updates_per_step * steps)
    updated = updates * _update(config, settings.sac_batch, skills)

    plain = settings.model in ("table", "linear")  # which cost next to nothing
    sizes = (spec.num_bits + skills, *settings.model_hidden, spec.num_bits)
    model = 0 if plain else _weights(*sizes)
    fitted = 6 * settings.model_steps * settings.model_batch
    drawn = settings.sampled_episodes * (1 if settings.shared_sample else 2)
    scored = settings.recent_episodes + drawn
    if settings.score_again:
        scored += settings.recent_episodes + settings.sampled_episodes
    if settings.algorithm == "seads":
        scored *= skills  # a discriminator tells all skills at once
    if settings.model == "either":
        scored = 0  # by the model that counts, and mostly that is the table
    return _Epoch(rows, steps, asked, updated + model * (fitted + 2 * scored), EPOCH)


def _update(config: TrainConfig, batch: int, skills: int = 0) -> float:
    """Floating-point operations of one update of soft actor-critic."""
    spec = spec_of(config)
    hidden = config.settings.hidden
    return 2 * PASSES * batch * _weights(spec.observation_size + spec.action_size + skills, *hidden)


def _weights(*sizes: int) -> int:
    """Weights of a network with layers of these sizes."""
    return sum(a * b for a, b in pairwise(sizes))


_SECONDS: dict[str, float] = {}
"""Of a row's step, by environment, options and rows."""


def _seconds_a_step(config: TrainConfig, rows: int) -> float:
    """What a row's step costs of a core's time, measured once; other processes may be busy."""
    key = json.dumps([config.env, config.env_options, rows], sort_keys=True)
    if key not in _SECONDS:
        with closing(make_env(config.env, rows, **config.env_options)) as made:
            _SECONDS[key] = _measured_step(made, rows)
    return _SECONDS[key]


def _measured_step(env: BatchedEnv, rows: int) -> float:
    actions = env.spec.scaled(np.zeros((rows, env.spec.action_size), np.float32))
    env.reset(np.arange(rows))
    env.step(actions)
    spent = 0.0
    for _ in range(5):
        env.reset(np.arange(rows))  # an episode may be over after one step
        began = time.process_time()
        env.step(actions)
        spent += time.process_time() - began
    return spent / (5 * rows)
