"""How fast the baselines learn, as ratios within one run; prints one JSON object.

sac, hac_low, hac_high   updates a second, and their floating-point rate against this machine's
                         own float32 matrix multiplications of the same shapes, taken in turns
replay                   bytes of a full replay of a million transitions, and the time to draw a
                         batch from it against the time of the update it is for

Sizes are those of the paper's presets on lightsout-cursor; the replay's are tileswap-jaco's.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.sac import SACState, Transitions
from seads.baselines.flat_replay import FlatReplay
from seads.baselines.learner import initial_flat, initial_hierarchy, learn
from seads.baselines.settings import HACSettings, SACSettings
from seads.envs.interface import EnvSpec
from seads.jax_setup import prepare_jax

CURSOR = EnvSpec("lightsout-cursor", 28, (-0.2, -0.2, -1.0), (0.2, 0.2, 1.0), 25, 10, 25)
JACO = EnvSpec("tileswap-jaco", 42 + 81 + 1, (-1.0,) * 9, (1.0,) * 9, 81, 50, 12)
BATCH, UPDATES = 256, 8

Work = Callable[[], Any]


def take_turns(works: dict[str, Work], rounds: int) -> dict[str, list[float]]:
    """Wall-clock seconds of every piece of work in each round, after one that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            began = time.perf_counter()
            jax.block_until_ready(work())
            if number > 0:
                times[name].append(time.perf_counter() - began)
    return times


def update_flops(inputs: int, outputs: int, actions: int, hidden: tuple[int, ...]) -> int:
    """The matrix multiplications that one update of policy and two critics cannot do without."""

    def passes(*sizes: int) -> list[int]:
        return [2 * BATCH * a * b for a, b in pairwise(sizes)]

    policy, critic = passes(inputs, *hidden, outputs), passes(inputs + actions, *hidden, 1)
    targets = sum(policy) + 2 * sum(critic)
    # forward, gradient of the weights, gradient of every layer's input but the first's
    critics = 2 * (2 * sum(critic) + sum(critic[1:]))
    to_actions = sum(critic[1:]) + 2 * BATCH * actions * hidden[0]
    improve = 2 * sum(policy) + sum(policy[1:]) + 2 * (sum(critic) + to_actions)
    return targets + critics + improve


def against_matmul(
    state: SACState, inputs: int, outputs: int, actions: int, width: int, depth: int, rounds: int
) -> dict[str, float]:
    """`learn` as training calls it, beside a scan of dense layers' three multiplications."""
    key = jax.random.key(0)
    shape = (UPDATES, BATCH)
    data = Transitions(
        jax.random.normal(key, (*shape, inputs)),
        jax.random.uniform(key, (*shape, actions)),
        -jnp.ones(shape),
        jax.random.normal(key, (*shape, inputs)),
        jnp.full(shape, 0.99),
    )
    weight, _ = jnp.linalg.qr(jax.random.normal(key, (width, width)))
    rows = jax.random.normal(key, (BATCH, width))

    @jax.jit
    def multiplications(rows: jax.Array, weight: jax.Array) -> tuple[jax.Array, jax.Array]:
        def step(carry: tuple[jax.Array, jax.Array], _: None) -> tuple[Any, None]:
            rows, total = carry
            forward = rows @ weight
            return (forward @ weight.T, total + rows.T @ forward), None

        return jax.lax.scan(step, (rows, jnp.zeros_like(weight)), None, 8 * UPDATES)[0]

    times = take_turns(
        {
            "updates": lambda: learn(state, data, key, jnp.float32(3e-4), 0.1, 0.005)[0],
            "matmul": lambda: multiplications(rows, weight),
        },
        rounds,
    )
    flops = UPDATES * update_flops(inputs, outputs, actions, (width,) * depth)
    matmul_flops = 8 * UPDATES * 3 * 2 * BATCH * width**2
    turns = zip(times["updates"], times["matmul"], strict=True)
    share = statistics.median((flops / u) / (matmul_flops / m) for u, m in turns)
    return {
        "updates_per_second": round(UPDATES / statistics.median(times["updates"]), 1),
        "gflops_per_update": round(flops / UPDATES / 1e9, 3),
        "share_of_matmul_rate": round(share, 3),
    }


def full_replay(rounds: int) -> dict[str, float]:
    """A million transitions of the largest observation: memory, and drawing a batch."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    replay = FlatReplay(JACO, 1_000_000, 100)
    rng = np.random.default_rng(0)
    observations = rng.random((100, JACO.observation_size), np.float32)
    actions = rng.random((100, JACO.action_size), np.float32)
    for _ in range(10_001):
        replay.append(observations, actions, np.zeros(100, np.float32), np.zeros(100, bool))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = take_turns({"draw": lambda: replay.sample(BATCH, 0.99, rng)}, 20 * rounds)
    return {
        "megabytes": round((after - before) / 1024, 1),
        "draw_batch_ms": round(1e3 * statistics.median(times["draw"]), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    prepare_jax()
    levels = initial_hierarchy(CURSOR, HACSettings(), 0)
    flat = initial_flat(CURSOR, SACSettings(), 0)
    bits, act = CURSOR.num_bits, CURSOR.action_size
    goal_inputs = CURSOR.observation_size - 1 + bits
    results = {
        "sac": against_matmul(flat, CURSOR.observation_size, 2 * act, act, 512, 3, rounds),
        "hac_low": against_matmul(levels.low, goal_inputs, 2 * act, act, 512, 2, rounds),
        "hac_high": against_matmul(levels.high, goal_inputs, bits, bits, 512, 2, rounds),
        "replay": full_replay(rounds),
    }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
