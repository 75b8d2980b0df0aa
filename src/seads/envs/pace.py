"""What rows of an environment cost: time to build, memory, and steps in a second."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seads import streams
from seads.envs.from_gymnasium import INSTEAD, GymBatch
from seads.envs.gymnasium_rows import Vectorise
from seads.envs.interface import BatchedEnv
from seads.envs.registry import make_env

SPEED_SECONDS = 2.0
"""How long rows are stepped to see how fast they are."""


@dataclass(frozen=True)
class Pace:
    """What rows cost, run in one of the ways there are."""

    env_steps_per_second: float
    seconds_per_row: float
    """To build it and reset it for the first time."""
    megabytes_per_row: float


@contextmanager
def built(
    name: str, rows: int, options: dict[str, Any], vectorise: Vectorise | None = None
) -> Iterator[tuple[BatchedEnv, tuple[float, float]]]:
    """An environment whose rows have been reset, and the seconds and megabytes that each took.

    Whatever is wrong with its observations' numbers is let through, to be told as a whole.
    """
    before, began = _used_megabytes(), time.perf_counter()
    token = INSTEAD.set(vectorise)
    try:
        env = make_env(name, rows, **options)
    finally:
        INSTEAD.reset(token)
    if isinstance(env, GymBatch):
        env.any_number = True
    with closing(env):
        env.reset(streams.row_seeds(0, rows))
        seconds = time.perf_counter() - began
        yield env, (seconds / rows, max(0.0, _used_megabytes() - before) / rows)


def measure(env: BatchedEnv, seconds_per_row: float, megabytes: float) -> Pace:
    """What rows cost that were built so: how fast they are when nothing else is done."""
    rng = np.random.default_rng(0)
    env.reset(streams.row_seeds(0, env.num_envs))
    steps, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < SPEED_SECONDS or not steps:
        step = env.step(env.spec.scaled(rng.uniform(-1, 1, (env.num_envs, env.spec.action_size))))
        steps += env.num_envs
        if step.done.any():
            done = np.flatnonzero(step.done)
            env.reset(rng.integers(2**63, size=len(done), dtype=np.uint64), done)
    return Pace(steps / passed, seconds_per_row, megabytes)


def _used_megabytes() -> float:
    """Memory of this process and of those it started."""
    processes = [os.getpid(), *(child.pid for child in multiprocessing.active_children())]
    pages = 0
    for process in processes:
        pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def available_megabytes() -> float:
    """Memory that could still be used on this machine."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 / 1e6
    return math.inf
