"""About how long runs take: at the speed of finished ones of their kind, else by counting work."""

from __future__ import annotations

import time
from contextlib import closing
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from seads.envs import make_env
from seads.studies.runs import spec_of
from seads.studies.sweep import Sweep
from seads.training.config import TrainConfig

FLOPS = 45e9
"""Floating-point operations of a core a second in matrices of these sizes, measured."""
PASSES = 18
"""Times that an update multiplies with the weights of a critic, forwards and backwards."""
EPISODE = 0.4
"""Mean length of a skill as a share of its step limit, along a run."""
MEASURING = 30.0
"""Seconds that the evaluations of a run take."""


def estimate(sweep: Sweep, cores: int) -> dict[str, float]:
    """Seconds that each run still needs on a share of cores, by name; a guess within a factor two.

    The second core of a run is worth half: an update waits for the one before.
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
            speeds[run.kind] = counted_speed(run.config) * (1 + 0.5 * (min(cores, 2) - 1))
        left = 0 if now.trained else max(0, run.config.env_steps - now.env_steps)
        found[run.name] = left / speeds[run.kind] + MEASURING * bool(now.missing)
    return found


def counted_speed(config: TrainConfig) -> float:
    """Env steps a second on one core, from the sizes of networks, batches and boards."""
    rows, steps, operations = _epoch(config)
    acting = _seconds_a_step(config.env, rows, tuple(sorted(config.env_options.items())))
    return steps / (operations / FLOPS + steps * acting)


def _epoch(config: TrainConfig) -> tuple[int, float, float]:
    """Rows side by side, env steps, and floating-point operations of an epoch."""
    settings: Any = config.settings
    spec = spec_of(config)
    sizes = (spec.observation_size + spec.action_size, *settings.hidden)
    weights = sum(a * b for a, b in pairwise(sizes))
    if hasattr(settings, "steps_per_env"):
        update = settings.updates * settings.batch
        return (
            settings.num_envs,
            settings.num_envs * settings.steps_per_env,
            2 * PASSES * weights * update,
        )
    if hasattr(settings, "horizon_high"):
        steps = settings.episodes_per_epoch * settings.horizon_low * settings.horizon_high / 2
        update = 2 * settings.updates * settings.batch  # both levels
        return settings.episodes_per_epoch, steps, 2 * PASSES * weights * update
    skills = settings.skills_in(spec)
    model = (spec.num_bits + skills, *settings.model_hidden, spec.num_bits)
    model_weights = sum(a * b for a, b in pairwise(model))
    learned = settings.recent_episodes + settings.sampled_episodes
    scored = 2 * learned * skills * 2 * model_weights
    fitted = settings.model_steps * settings.model_batch * 6 * model_weights
    rows = 1 if spec.continuing else settings.episodes_per_epoch
    steps = settings.episodes_in(spec, rows, skills) * EPISODE * spec.step_limit
    by_steps = getattr(settings, "updates_per_step", 0.0) * steps
    updates = max(settings.sac_steps, by_steps) * settings.sac_batch
    updated = 2 * PASSES * (weights + skills * sizes[1]) * updates
    return rows, steps, scored + fitted + updated


@cache
def _seconds_a_step(env: str, rows: int, options: tuple[tuple[str, Any], ...]) -> float:
    """What a row's step costs, measured for a moment."""
    with closing(make_env(env, rows, **dict(options))) as made:
        actions = made.spec.scaled(np.zeros((rows, made.spec.action_size), np.float32))
        made.reset(np.arange(rows))
        made.step(actions)
        spent = 0.0
        for _ in range(5):
            made.reset(np.arange(rows))  # an episode may be over after one step
            began = time.perf_counter()
            made.step(actions)
            spent += time.perf_counter() - began
        return spent / (5 * rows)
