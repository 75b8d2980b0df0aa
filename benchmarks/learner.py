"""How fast the learner is, as ratios within one run; prints one JSON object, tables on stderr.

sac        updates a second of the agent's soft actor-critic, and their floating-point rate against
           this machine's own float32 matrix multiplications of the same shapes, jitted or by
           numpy, whichever is faster
baselines  the same for flat SAC and for both levels of HAC
replay     memory of a full replay of a million transitions of the baselines
epoch      an epoch on lightsout-cursor by its parts: collection, drawing batches (scoring and
           relabelling), model updates, bookkeeping; their sum against soft actor-critic's time
growth     the same parts and the peak memory for K = 25, 49, 81, 169 skills, and for Jaco;
           `idle` is the share of an epoch that the cores had nothing to do, on a quiet machine
start      seconds from the start of a process to a coverage of 24.5 moves on lightsout-cursor

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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from against_matmul import Seconds, UpdateShape, against_matmul, ratio, take_turns

from seads.agent import sac
from seads.agent.arrays import from_arrays, to_arrays
from seads.agent.batches import draw_episodes, model_batches, reward_episodes
from seads.agent.learner import update_model, update_sac
from seads.agent.networks import make_critics, make_policy
from seads.agent.presets import preset
from seads.agent.relabel import relabel
from seads.agent.reward import clipped_posterior
from seads.agent.scoring import score
from seads.baselines.flat_replay import FlatReplay
from seads.baselines.learner import initial_flat, initial_hierarchy
from seads.baselines.learner import learn as learn_baseline
from seads.baselines.settings import HACSettings, SACSettings
from seads.cores import cores
from seads.envs.interface import EnvSpec
from seads.envs.registry import lookup
from seads.jax_setup import prepare_jax
from seads.training.checkpoint import write_checkpoint
from seads.training.config import TrainConfig
from seads.training.loop import Progress, Trainer

UPDATES = 32
"""In one scan."""
GROWTH = (
    "lightsout-cursor",
    "lightsout-cursor-7x7",
    "lightsout-cursor-9x9",
    "lightsout-cursor-13x13",
    "lightsout-jaco",
)


def milliseconds(times: list[Seconds]) -> dict[str, float]:
    wall, cpu = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    return {"wall_ms": round(wall, 3), "cpu_ms": round(cpu, 3)}


def agent_updates(hidden: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """The agent's updates at the sizes of lightsout-cursor."""
    shape = UpdateShape(28 + 25, 2 * 3, 3, hidden, 128)
    k_policy, k_critics, key = jax.random.split(jax.random.key(0), 3)
    state = sac.make_state(
        make_policy(shape.inputs, shape.actions, hidden, k_policy),
        make_critics(shape.inputs, shape.actions, hidden, k_critics),
    )

    @eqx.filter_jit
    def learn(state: sac.SACState, data: sac.Transitions) -> sac.SACState:
        return sac.updates(state, data, key, 3e-4, 0.1, 0.005)[0]

    return against_matmul(shape, learn, state, UPDATES, rounds)


def baseline_updates(rounds: int) -> dict[str, dict[str, Any]]:
    """Flat SAC's and both of HAC's levels' updates, at the paper's sizes on lightsout-cursor."""
    env = EnvSpec("lightsout-cursor", 28, (-0.2, -0.2, -1.0), (0.2, 0.2, 1.0), 25, 10, 25)
    flat, both = SACSettings(), HACSettings()
    levels = initial_hierarchy(env, both, 0)
    bits, act = env.num_bits, env.action_size
    toward_goal = env.observation_size - 1 + bits
    shapes = {
        "sac": UpdateShape(env.observation_size, 2 * act, act, flat.hidden, flat.batch),
        "hac_low": UpdateShape(toward_goal, 2 * act, act, both.hidden, both.batch),
        "hac_high": UpdateShape(toward_goal, bits, bits, both.hidden, both.batch),
    }
    states = {"sac": initial_flat(env, flat, 0), "hac_low": levels.low, "hac_high": levels.high}
    key, rate = jax.random.key(0), jnp.float32(3e-4)

    def learn(state: sac.SACState, data: sac.Transitions) -> Any:
        return learn_baseline(state, data, key, rate, 0.1, 0.005)[0]

    return {
        name: against_matmul(shape, learn, states[name], UPDATES // 4, rounds)
        for name, shape in shapes.items()
    }


def full_replay(rounds: int) -> dict[str, float]:
    """A million transitions of the largest observation: memory, and drawing a batch of 256."""
    env = EnvSpec("tileswap-jaco", 42 + 81 + 1, (-1.0,) * 9, (1.0,) * 9, 81, 50, 12)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    replay = FlatReplay(env, 1_000_000, 100)
    rng = np.random.default_rng(0)
    observations = rng.random((100, env.observation_size), np.float32)
    actions = rng.random((100, env.action_size), np.float32)
    for _ in range(10_001):
        replay.append(observations, actions, np.zeros(100, np.float32), np.zeros(100, bool))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = take_turns({"draw": lambda: replay.sample(256, 0.99, rng)}, 10 * rounds)
    return {
        "megabytes": round((after - before) / 1024, 1),
        "draw_batch_ms": milliseconds(times["draw"])["wall_ms"],
    }


def trained_for(env: str, epochs: int) -> tuple[Trainer, Progress]:
    """A run of the default preset some epochs after learning has begun."""
    settings = preset("default", lookup(env))
    trainer = Trainer(TrainConfig(env=env, settings=settings, coverage_every=0))
    progress = trainer.begin()
    for _ in range(settings.warmup_episodes // settings.episodes_per_epoch + epochs):
        progress, _ = trainer.epoch(progress)
    return trainer, progress


def epoch_parts(env: str, epochs: int, rounds: int) -> dict[str, Any]:
    """Each part of an epoch alone, with the functions that training calls."""
    trainer, progress = trained_for(env, epochs)
    settings, learner = trainer.config.settings, progress.learner
    buffer = progress.buffer

    def draw() -> Any:
        rng = np.random.default_rng(0)
        drawn = draw_episodes(learner.model, buffer, settings, rng)
        rewarded, _ = reward_episodes(drawn, settings, settings.gamma)
        return model_batches(drawn, settings, rng), rewarded.batches(rng)

    for_model, for_sac = draw()
    key, rate = jax.random.key(0), jnp.float32(settings.learning_rate)
    drawn = buffer.sample(settings.sampled_episodes, np.random.default_rng(0))
    episodes = buffer.stored.pick(np.concatenate([buffer.newest(), drawn]))
    posterior, _ = score(learner.model, episodes.before, episodes.after)
    clipped = clipped_posterior(posterior)

    rounds_an_epoch = settings.rounds(int(progress.pending.lengths.sum()))

    def updates() -> Any:
        state = learner
        for _ in range(rounds_an_epoch):
            state, _ = update_sac(state, for_sac, key, rate, settings)
        return state

    # of its own, since these two change it: repeated episodes would make drawing cheaper
    twin = from_arrays(trainer.begin(), to_arrays(progress))

    def whole_epoch() -> Any:
        nonlocal twin
        twin, _ = trainer.epoch(twin)
        return twin.learner

    with TemporaryDirectory() as place:
        saves = trainer.config.checkpoint_every

        def checkpoint() -> None:
            write_checkpoint(Path(place), 1, to_arrays(progress), {}, 1)

        times = take_turns(
            {
                "sac": updates,
                "model": lambda: update_model(learner, for_model, rate, settings),
                "draw_batches": draw,
                "  of which scoring": lambda: score(learner.model, episodes.before, episodes.after),
                "  of which one relabelling": lambda: relabel(clipped, episodes.skills),
                "collection": lambda: trainer._collect(progress, 1, {}),
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
    idle = [1 - cpu / (cores() * wall) for wall, cpu in times["epoch, overlapped"]]
    return {
        "skills": trainer.num_skills,
        "idle": round(statistics.median(idle), 3),
        "updates": rounds_an_epoch * settings.sac_steps,
        "parts": {name: milliseconds(spent) for name, spent in times.items()},
        "not_sac_over_sac": round(ratio(times, "not sac", "sac", 0), 3),
        "not_sac_over_sac_cpu": round(ratio(times, "not sac", "sac", 1), 3),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


START = """
import seads, signal, sys
def stop(event, facts):
    if facts.get("coverage", 0) >= 24.5:
        print(facts["env_steps"], flush=True)
        signal.raise_signal(signal.SIGTERM)
seads.train("lightsout-cursor", out=sys.argv[1], report=stop)
"""


def start_to_coverage() -> dict[str, float]:
    """A run in a process of its own, looked at every 10,000 environment steps."""
    with TemporaryDirectory() as place:
        command = [sys.executable, "-c", START, f"{place}/run"]
        began = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds = time.perf_counter() - began
    return {"seconds": round(seconds, 1), "env_steps": int(done.stdout)}


def show(env: str, found: dict[str, Any]) -> None:
    """A table on stderr."""
    head = (
        f"{env}, K = {found['skills']}, peak {found['peak_memory_mb']} MB, {found['idle']:.0%} idle"
    )
    print(f"\n{head}", file=sys.stderr)
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

    start = start_to_coverage()  # first, while nothing else is busy
    replay = full_replay(options.rounds)  # early, since its memory is a difference of peaks
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
            "2x256": agent_updates((256, 256), options.rounds),
            "2x512": agent_updates((512, 512), options.rounds),
        },
        "baselines": baseline_updates(options.rounds),
        "replay": replay,
        "targets": {"share_of_matmul_rate": 0.5, "not_sac_over_sac": 0.6, "jaco_memory_mb": 2048},
        "epoch": growth["lightsout-cursor"],
        "growth": growth,
        "start": start,
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
