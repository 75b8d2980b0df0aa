"""How fast the learner is, as ratios within one run; prints one JSON object, tables on stderr.

sac      floating-point rate of soft actor-critic's updates against this machine's own float32
         matrix multiplications of the same shapes, jitted or by numpy, whichever is faster
epoch    an epoch on lightsout-cursor by its parts: collection, drawing batches (scoring and
         relabelling), model updates, bookkeeping; their sum against soft actor-critic's time
growth   the same parts and the peak memory for K = 25, 49, 81, 169 skills, and for Jaco

The sides of a comparison take turns for several rounds and the median of the rounds' ratios
counts, so that a busy machine slows both alike. Times are wall-clock and CPU (all threads).
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from seads.agent import sac
from seads.agent.learner import Batches, draw_batches, learn, scan, score
from seads.agent.networks import make_critics, make_policy
from seads.agent.optimisers import ADAM
from seads.agent.relabel import relabel
from seads.agent.reward import clipped_posterior
from seads.agent.settings import preset
from seads.envs.registry import lookup
from seads.jax_setup import prepare_jax
from seads.training.checkpoint import write_checkpoint
from seads.training.config import TrainConfig
from seads.training.loop import Progress, Trainer

OBSERVATION, ACTION, SKILLS, BATCH = 28, 3, 25, 128
"""Sizes of lightsout-cursor."""
UPDATES = 32
GROWTH = (
    "lightsout-cursor",
    "lightsout-cursor-7x7",
    "lightsout-cursor-9x9",
    "lightsout-cursor-13x13",
    "lightsout-jaco",
)

Work = Callable[[], Any]
Seconds = tuple[float, float]
"""Wall-clock and CPU."""


def take_turns(works: dict[str, Work], rounds: int) -> dict[str, list[Seconds]]:
    """Time every piece of work once a round, after one round that is not counted."""
    times: dict[str, list[Seconds]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            wall, cpu = time.perf_counter(), time.process_time()
            jax.block_until_ready(work())
            if number > 0:
                times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return times


def ratio(times: dict[str, list[Seconds]], above: str, below: str, which: int) -> float:
    pairs = zip(times[above], times[below], strict=True)
    return statistics.median(a[which] / b[which] for a, b in pairs)


def milliseconds(times: list[Seconds]) -> dict[str, float]:
    wall, cpu = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    return {"wall_ms": round(wall, 3), "cpu_ms": round(cpu, 3)}


def layer_flops(sizes: tuple[int, ...]) -> list[int]:
    """Of one pass through each layer: a multiplication and an addition per weight and row."""
    return [2 * BATCH * a * b for a, b in pairwise(sizes)]


def update_flops(hidden: tuple[int, ...]) -> int:
    """The matrix multiplications that one update cannot do without."""
    inputs = OBSERVATION + SKILLS
    policy = layer_flops((inputs, *hidden, 2 * ACTION))
    critic = layer_flops((inputs + ACTION, *hidden, 1))
    targets = sum(policy) + 2 * sum(critic)
    # forward, gradient of the weights, gradient of every layer's input but the first's
    critics = 2 * (sum(critic) + sum(critic) + sum(critic[1:]))
    # the policy's own three passes; the critics forward and back to the actions
    to_actions = sum(critic[1:]) + 2 * BATCH * ACTION * hidden[0]
    improve = sum(policy) + sum(policy) + sum(policy[1:]) + 2 * (sum(critic) + to_actions)
    return targets + critics + improve


def sac_against_matmul(hidden: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """Updates in one jitted scan, as in training, beside a jitted scan of multiplications."""
    k_policy, k_critics, k_data, k_matmul = jax.random.split(jax.random.key(0), 4)
    inputs = OBSERVATION + SKILLS
    state = sac.make_state(
        make_policy(inputs, ACTION, hidden, k_policy),
        make_critics(inputs, ACTION, hidden, k_critics),
        ADAM,
    )
    shape = (UPDATES, BATCH)
    data = sac.Transitions(
        jax.random.normal(k_data, (*shape, inputs)),
        jnp.tanh(jax.random.normal(k_data, (*shape, ACTION))),
        jnp.zeros(shape),
        jax.random.normal(k_data, (*shape, inputs)),
        jnp.full(shape, 0.99),
    )
    noise = jax.random.normal(k_data, (UPDATES, 2, BATCH, ACTION))

    @eqx.filter_jit
    def updates(state, data, noise):
        def step(carry, x):
            batch, noise = x
            return sac.update(carry, batch, noise, ADAM, 3e-4, 0.1, 0.005)

        return scan(step, state, (data, noise))[0]

    # orthogonal, so that repeated multiplication neither grows nor shrinks
    weight, _ = jnp.linalg.qr(jax.random.normal(k_matmul, (hidden[0], hidden[0])))
    start = jax.random.normal(k_matmul, (BATCH, hidden[0]))

    @jax.jit
    def multiplications(rows, weight):
        """The three shapes of a dense layer: forward, back to its input, its weights' gradient."""

        def step(carry, _):
            rows, total = carry
            forward = rows @ weight
            return (forward @ weight.T, total + rows.T @ forward), None

        return jax.lax.scan(step, (rows, jnp.zeros_like(weight)), None, 8 * UPDATES)[0]

    plain_rows, plain_weight = np.array(start), np.array(weight)

    def numpy_multiplications() -> None:
        rows = plain_rows
        for _ in range(8 * UPDATES):
            forward = rows @ plain_weight
            rows.T @ forward
            rows = forward @ plain_weight.T

    times = take_turns(
        {
            "sac": lambda: updates(state, data, noise),
            "jitted_matmul": lambda: multiplications(start, weight),
            "numpy_matmul": numpy_multiplications,
        },
        rounds,
    )
    multiplied = 8 * UPDATES * 3 * 2 * BATCH * hidden[0] ** 2
    flops = {
        "sac": UPDATES * update_flops(hidden),
        "jitted_matmul": multiplied,
        "numpy_matmul": multiplied,
    }

    def share(which: int) -> float:
        """The smaller share: that of the faster reference."""
        references = ("jitted_matmul", "numpy_matmul")
        return min(
            flops["sac"] / multiplied * ratio(times, name, "sac", which) for name in references
        )

    return {
        "flops_per_update": update_flops(hidden),
        "update_ms": round(1e3 * statistics.median(w for w, _ in times["sac"]) / UPDATES, 3),
        **{
            f"{name}_gflops": round(flops[name] / 1e9 / statistics.median(w for w, _ in spent), 1)
            for name, spent in times.items()
        },
        "share_of_matmul_rate": round(share(0), 3),
        "share_of_matmul_rate_cpu": round(share(1), 3),
    }


def trained_for(env: str, epochs: int) -> tuple[Trainer, Progress]:
    """A run of the default preset some epochs after learning has begun."""
    entry = lookup(env)
    agent = preset("default", entry.body, entry.game)
    trainer = Trainer(TrainConfig(env=env, agent=agent, coverage_every=0))
    progress = trainer.begin()
    for _ in range(agent.warmup_episodes // agent.episodes_per_epoch + epochs):
        progress, _ = trainer.epoch(progress)
    return trainer, progress


def epoch_parts(env: str, epochs: int, rounds: int) -> dict[str, Any]:
    """Each part of an epoch alone, with the functions that training calls."""
    trainer, progress = trained_for(env, epochs)
    settings, learner = trainer.config.agent, progress.learner
    buffer = progress.buffer
    assert buffer.stored is not None
    batches, _ = draw_batches(learner.model, buffer, settings, np.random.default_rng(0))
    nothing = {name: array[:0] for name, array in batches._asdict().items()}
    no_sac = batches._replace(**{name: nothing[name] for name in Batches._fields[3:]})
    no_model = batches._replace(**{name: nothing[name] for name in Batches._fields[:3]})
    key, rate = jax.random.key(0), jnp.float32(settings.learning_rate)
    drawn = buffer.sample(settings.sampled_episodes, np.random.default_rng(0))
    episodes = buffer.stored.pick(np.concatenate([buffer.newest(), drawn]))
    posterior, _ = score(learner.model, episodes)
    clipped = clipped_posterior(posterior)

    # of its own, since these two change it: repeated episodes would make drawing cheaper
    twin = trainer.restore(trainer.arrays(progress))

    def whole_epoch() -> Any:
        nonlocal twin
        twin, _ = trainer.epoch(twin)
        return twin.learner

    with TemporaryDirectory() as place:
        saves = trainer.config.checkpoint_every

        def checkpoint() -> None:
            write_checkpoint(Path(place), 1, trainer.arrays(progress), {}, 1)

        times = take_turns(
            {
                "sac": lambda: learn(learner, no_model, key, rate, settings),
                "model": lambda: learn(learner, no_sac, key, rate, settings),
                "draw_batches": lambda: draw_batches(
                    learner.model, buffer, settings, np.random.default_rng(0)
                ),
                "  of which scoring": lambda: score(learner.model, episodes),
                "  of which one relabelling": lambda: relabel(clipped, episodes.skills),
                "collection": lambda: trainer._collect(learner, 1),
                "buffer": lambda: twin.buffer.add(twin.pending),
                "checkpoint": checkpoint,
                "epoch, overlapped": whole_epoch,
            },
            rounds,
        )
    trainer.close()
    times["checkpoint, per epoch"] = [(w / saves, c / saves) for w, c in times.pop("checkpoint")]
    rest = ("model", "draw_batches", "collection", "buffer", "checkpoint, per epoch")
    times["not sac"] = [
        (sum(w for w, _ in spent), sum(c for _, c in spent))
        for spent in zip(*(times[name] for name in rest), strict=True)
    ]
    return {
        "skills": trainer.num_skills,
        "sac_steps": settings.sac_steps,
        "parts": {name: milliseconds(spent) for name, spent in times.items()},
        "not_sac_over_sac": round(ratio(times, "not sac", "sac", 0), 3),
        "not_sac_over_sac_cpu": round(ratio(times, "not sac", "sac", 1), 3),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def show(env: str, found: dict[str, Any]) -> None:
    """A table on stderr."""
    print(f"\n{env}, K = {found['skills']}, peak {found['peak_memory_mb']} MB", file=sys.stderr)
    base = found["parts"]["sac"]
    for name, spent in found["parts"].items():
        shares = (spent["wall_ms"] / base["wall_ms"], spent["cpu_ms"] / base["cpu_ms"])
        print(
            f"  {name:<26}{spent['wall_ms']:9.2f} ms wall {shares[0]:6.1%} of sac"
            f"{spent['cpu_ms']:9.2f} ms CPU {shares[1]:6.1%}",
            file=sys.stderr,
        )


def main() -> None:
    """Measure everything, or the parts of one environment's epoch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--epochs", type=int, default=40, help="of learning before an epoch is timed"
    )
    parser.add_argument("--env", help="only the parts of an epoch on this environment")
    options = parser.parse_args()
    prepare_jax()
    if options.env:
        print(json.dumps(epoch_parts(options.env, options.epochs, options.rounds)))
        return

    growth = {}
    for env in GROWTH:
        # a process each, so that its peak memory is its own
        arguments = ["--env", env, "--rounds", str(options.rounds), "--epochs", str(options.epochs)]
        done = subprocess.run(
            [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True
        )
        growth[env] = json.loads(done.stdout)
        show(env, growth[env])
    report = {
        "devices": [str(device) for device in jax.devices()],
        "sac": {
            "2x256": sac_against_matmul((256, 256), options.rounds),
            "2x512": sac_against_matmul((512, 512), options.rounds),
        },
        "targets": {"share_of_matmul_rate": 0.5, "not_sac_over_sac": 0.6, "jaco_memory_mb": 2048},
        "epoch": growth["lightsout-cursor"],
        "growth": growth,
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
