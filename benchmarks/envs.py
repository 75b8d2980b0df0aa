"""How fast environments step, as ratios within one run; prints one JSON object.

Random actions, 32 rows, resets included; actions are drawn beforehand, and on both sides every
environment starts the next episode of its own series. The two sides of a comparison take turns
for several rounds and the median of the rounds' ratios counts, so that a busy machine slows both
alike. A ratio is given in wall-clock time and in CPU time (all threads of the process together).
Each comparison says which one its target is set for: CPU time where both sides run on one
thread, so that other programs do not blur it, and wall-clock time where two threads are the
point (jaco); that one needs two idle cores to mean anything.

cursor   the batch, and Gymnasium's vector environment made of it, against a Python loop over 32
         single Gymnasium environments; the batch also against 32 batches of one
reacher  the batch against 32 of dm_control's suite environments stepped in turn, both 2
         physics steps of 0.02 s an action; the suite computes its own reward and observations
         (no board), the batch those of the game
jaco     the batch on two threads, with the default and with the reference physics, against the
         same scene run by dm_control's composer (50 physics steps of 0.002 s an action)
scaling  what a row costs as the batch grows from 32 to 1,024: CPU time, held against linear
         growth, and memory, by how much more a large batch takes than a small one
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from seads import streams
from seads.envs import EmbeddedEnv, make_env
from seads.envs.registry import gym_id
from seads.envs.to_gymnasium import SeadsVectorEnv
from seads.games import LightsOut

ROWS = 32
LINEAR = 1.1  # a row's cost in the largest batch, over its cost in the smallest; 0.1 is noise
Run = Callable[[int], None]
"""Makes about this many environment steps (rows x steps)."""


def batch(name: str, rows: int, **options: Any) -> Run:
    """Steps of a batched environment under random actions; finished rows start new episodes."""
    series = SeadsVectorEnv(name, rows, **options)
    env = series.batch
    series.start(np.arange(rows))
    low, high = np.array(env.spec.action_low), np.array(env.spec.action_high)
    actions = np.random.default_rng(0).uniform(low, high, (64, rows, len(low)))
    clock = 0

    def run(env_steps: int) -> None:
        nonlocal clock
        for _ in range(env_steps // rows):
            clock += 1
            ended = env.step(actions[clock % 64]).done.nonzero()[0]
            if len(ended):
                series.start(ended)

    return run


def gymnasium_vector(name: str, rows: int) -> Run:
    """The same by the vector environment that `gymnasium.make_vec` gives."""
    env = gymnasium.make_vec(gym_id(name), num_envs=rows)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(64)]

    def run(env_steps: int) -> None:
        for step in range(env_steps // rows):
            env.step(actions[step % 64])

    return run


def loop_of_singles(name: str, rows: int) -> Run:
    """The same by a plain loop over environments of one row."""
    runs = [batch(name, 1) for _ in range(rows)]

    def run(env_steps: int) -> None:
        for _ in range(env_steps // rows):
            for single in runs:
                single(1)

    return run


def loop_of_gymnasium(name: str, rows: int) -> Run:
    """The same by a plain loop over environments as `gymnasium.make` gives them."""
    envs = [gymnasium.make(gym_id(name)) for _ in range(rows)]
    for row, env in enumerate(envs):
        env.reset(seed=row)
        env.action_space.seed(row)
    actions = [[env.action_space.sample() for env in envs] for _ in range(64)]

    def run(env_steps: int) -> None:
        for step in range(env_steps // rows):
            for env, action in zip(envs, actions[step % 64], strict=True):
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset()

    return run


def dm_control(envs: list[Any], episode_steps: int) -> Run:
    """Steps of dm_control environments in turn, reset after a skill's limit or when one ends."""
    spec = envs[0].action_spec()
    actions = np.random.default_rng(0).uniform(spec.minimum, spec.maximum, (64, *spec.shape))
    clocks = [0] * len(envs)
    for env in envs:
        env.reset()

    def run(env_steps: int) -> None:
        for step in range(env_steps // len(envs)):
            for i, env in enumerate(envs):
                clocks[i] += 1
                if env.step(actions[(step + i) % 64]).last() or clocks[i] == episode_steps:
                    env.reset()
                    clocks[i] = 0

    return run


def suite_reacher(count: int) -> Run:
    from dm_control import suite

    timestep = {"control_timestep": 0.04}
    load = partial(suite.load, "reacher", "easy", environment_kwargs=timestep)
    return dm_control([load() for _ in range(count)], 50)


def composer_jaco() -> Run:
    sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout: tests are not installed
    from tests.envs.composer_jaco import composer_environment

    from seads.envs.jaco_scene import board_geometry

    return dm_control([composer_environment(board_geometry(LightsOut()))], 50)


def seconds_per_step(run: Run, env_steps: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    run(env_steps)
    return (
        (time.perf_counter() - wall) / env_steps,
        (time.process_time() - cpu) / env_steps,
    )


def compare(
    fast: Run,
    slow: Run,
    fast_steps: int,
    slow_steps: int,
    rounds: int,
    target: str | None = None,
) -> dict[str, Any]:
    """How many times the fast side's steps per second are the slow side's; `target` in words."""
    seconds_per_step(fast, fast_steps)
    seconds_per_step(slow, slow_steps)  # both warm
    pairs = [
        (seconds_per_step(fast, fast_steps), seconds_per_step(slow, slow_steps))
        for _ in range(rounds)
    ]
    return {
        "target": target,
        "ratio_wall": round(statistics.median(s[0] / f[0] for f, s in pairs), 1),
        "ratio_cpu": round(statistics.median(s[1] / f[1] for f, s in pairs), 1),
        "ratios_wall": [round(s[0] / f[0], 1) for f, s in pairs],
        "ratios_cpu": [round(s[1] / f[1], 1) for f, s in pairs],
        "fast_steps_per_cpu_second": round(1 / statistics.median(f[1] for f, _ in pairs)),
        "slow_steps_per_cpu_second": round(1 / statistics.median(s[1] for _, s in pairs)),
    }


def kilobytes(name: str, rows: int) -> tuple[float, float]:
    """What a batch keeps in memory, and takes at most while it steps; run in its own process."""
    make_and_step(name, 1)  # libraries and the tables of boards are there now
    return_freed_memory()
    before = memory("VmRSS")
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # the peak starts anew
    env = make_and_step(name, rows)
    most = memory("VmHWM") - before
    return_freed_memory()
    kept = memory("VmRSS") - before
    env.close()
    return kept, most


def return_freed_memory() -> None:
    """What was freed would count as kept if the C library held it back."""
    ctypes.CDLL(None).malloc_trim(0)


def make_and_step(name: str, rows: int) -> EmbeddedEnv:
    env = make_env(name, rows)
    assert isinstance(env, EmbeddedEnv)
    env.reset(streams.row_seeds(0, rows))
    for _ in range(3):
        env.step(np.zeros((rows, env.spec.action_size)))
    return env


def memory(entry: str) -> float:
    """An entry of the process's status, in kilobytes."""
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) for line in status if line.startswith(entry))


def kilobytes_per_row(name: str, few: int, many: int) -> dict[str, float]:
    """The slope between two batch sizes, in which what every batch needs cancels."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as fresh:
        small, large = fresh.starmap(kilobytes, [(name, few), (name, many)], chunksize=1)
    kept, most = (round((large[i] - small[i]) / (many - few), 1) for i in (0, 1))
    return {"kept": kept, "at_most_while_stepping": most}


def scaling(name: str, sizes: tuple[int, ...], steps: int, rounds: int) -> dict[str, Any]:
    """CPU time per row and step at several batch sizes, and what a row adds to memory."""
    runs = {rows: batch(name, rows) for rows in sizes}
    times: dict[int, list[float]] = {rows: [] for rows in sizes}
    for rows in sizes:
        runs[rows](2 * rows)  # warm
    for _ in range(rounds):
        for rows in sizes:
            times[rows].append(seconds_per_step(runs[rows], steps * rows)[1])
    cost = {rows: statistics.median(times[rows]) for rows in sizes}
    few, many = min(sizes), max(sizes)
    ratio = round(cost[many] / cost[few], 2)
    return {
        "microseconds_per_row": {str(rows): round(1e6 * cost[rows], 2) for rows in sizes},
        "growth": f"{'at most' if ratio <= LINEAR else 'MORE THAN'} linear: a row of {many} costs "
        f"{ratio} times a row of {few}",
        "growth_ratio": ratio,
        "kilobytes_per_row": kilobytes_per_row(name, few, many),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")  # dm_control looks for a display when imported
    cursor = "lightsout-cursor"
    sizes = (32, 128, 512, 1024)
    composer = composer_jaco()
    results = {
        "rows": ROWS,
        "rounds": rounds,
        "cpus": os.cpu_count(),
        "cursor_batch_against_gymnasium_singles": compare(
            batch(cursor, ROWS),
            loop_of_gymnasium(cursor, ROWS),
            6400,
            640,
            rounds,
            target="ratio_cpu >= 20",
        ),
        "cursor_vector_env_against_gymnasium_singles": compare(
            gymnasium_vector(cursor, ROWS), loop_of_gymnasium(cursor, ROWS), 6400, 640, rounds
        ),
        "cursor_batch_against_batches_of_one": compare(
            batch(cursor, ROWS), loop_of_singles(cursor, ROWS), 6400, 640, rounds
        ),
        "reacher_batch_against_suite": compare(
            batch("lightsout-reacher", ROWS),
            suite_reacher(ROWS),
            3200,
            320,
            rounds,
            target="ratio_cpu >= 10",
        ),
        "jaco_batch_against_composer": compare(
            batch("lightsout-jaco", ROWS, threads=2),
            composer,
            640,
            40,
            rounds,
            target="ratio_wall >= 15 on two idle cores",
        ),
        "jaco_reference_physics_batch_against_composer": compare(
            batch("lightsout-jaco", ROWS, physics="reference", threads=2),
            composer,
            320,
            40,
            rounds,
        ),
        "scaling": {
            cursor: scaling(cursor, sizes, 40, rounds),
            "lightsout-reacher": scaling("lightsout-reacher", sizes, 10, rounds),
            "lightsout-jaco": scaling("lightsout-jaco", sizes, 1, min(rounds, 3)),
        },
    }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
