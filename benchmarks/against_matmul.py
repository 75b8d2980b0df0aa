"""Soft actor-critic's updates against this machine's own float32 matrix multiplications."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.sac import SACState, Transitions

PAUSE = 0.5
"""Seconds in which the threads of the last piece of work come to rest; numpy's go on spinning."""
MULTIPLICATIONS = 256
"""Rounds of a dense layer's three multiplications in one piece of work."""

Work = Callable[[], Any]
Seconds = tuple[float, float]
"""Wall-clock and CPU."""


@dataclass(frozen=True)
class UpdateShape:
    """What decides how much there is to multiply in one update of policy and two critics."""

    inputs: int
    """Of the policy; the critics take the action besides."""
    outputs: int
    """Of the policy: two for each action, or one for each bit."""
    actions: int
    hidden: tuple[int, ...]
    batch: int

    @property
    def flops(self) -> int:
        """The matrix multiplications that one update cannot do without."""
        policy = self._passes(self.inputs, *self.hidden, self.outputs)
        critic = self._passes(self.inputs + self.actions, *self.hidden, 1)
        targets = sum(policy) + 2 * sum(critic)
        # forward, gradient of the weights, gradient of every layer's input but the first's
        critics = 2 * (2 * sum(critic) + sum(critic[1:]))
        # the policy's own three passes; the critics forward and back to the actions
        to_actions = sum(critic[1:]) + 2 * self.batch * self.actions * self.hidden[0]
        improve = 2 * sum(policy) + sum(policy[1:]) + 2 * (sum(critic) + to_actions)
        return targets + critics + improve

    def _passes(self, *sizes: int) -> list[int]:
        """Of one pass through each layer: a multiplication and an addition per weight and row."""
        return [2 * self.batch * a * b for a, b in pairwise(sizes)]

    def transitions(self, updates: int) -> Transitions:
        """Made-up batches, stacked for one scan of updates."""
        first, second, third = jax.random.split(jax.random.key(0), 3)
        rows = (updates, self.batch)
        return Transitions(
            jax.random.normal(first, (*rows, self.inputs)),
            jax.random.uniform(second, (*rows, self.actions)),
            -jnp.ones(rows),
            jax.random.normal(third, (*rows, self.inputs)),
            jnp.full(rows, 0.99),
        )


def take_turns(works: dict[str, Work], rounds: int, pause: float = 0.0) -> dict[str, list[Seconds]]:
    """Time every piece of work once a round, after one round that is not counted."""
    times: dict[str, list[Seconds]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            time.sleep(pause)
            wall, cpu = time.perf_counter(), time.process_time()
            jax.block_until_ready(work())
            if number > 0:
                times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return times


def ratio(times: dict[str, list[Seconds]], above: str, below: str, which: int) -> float:
    """The median of the rounds' ratios; `which` is 0 for wall-clock time and 1 for CPU."""
    pairs = zip(times[above], times[below], strict=True)
    return statistics.median(a[which] / b[which] for a, b in pairs)


def multiplications(batch: int, width: int) -> dict[str, Work]:
    """The three shapes of a dense layer, forward, back to its input and its weights' gradient,
    jitted and by numpy."""
    key = jax.random.key(1)
    # orthogonal, so that repeated multiplication neither grows nor shrinks
    weight, _ = jnp.linalg.qr(jax.random.normal(key, (width, width)))
    start = jax.random.normal(key, (batch, width))

    @jax.jit
    def jitted(rows: jax.Array, weight: jax.Array) -> Any:
        def step(carry: tuple[jax.Array, jax.Array], _: None) -> tuple[Any, None]:
            rows, total = carry
            forward = rows @ weight
            return (forward @ weight.T, total + rows.T @ forward), None

        return jax.lax.scan(step, (rows, jnp.zeros_like(weight)), None, MULTIPLICATIONS)[0]

    plain_start, plain_weight = np.array(start), np.array(weight)

    def plain() -> None:
        rows = plain_start
        for _ in range(MULTIPLICATIONS):
            forward = rows @ plain_weight
            rows.T @ forward
            rows = forward @ plain_weight.T

    return {"jitted_matmul": lambda: jitted(start, weight), "numpy_matmul": plain}


def against_matmul(
    shape: UpdateShape,
    learn: Callable[[SACState, Transitions], Any],
    state: SACState,
    updates: int,
    rounds: int,
) -> dict[str, Any]:
    """A scan of updates by `learn`, as training calls it, beside multiplications of its shapes."""
    data = shape.transitions(updates)
    references = multiplications(shape.batch, shape.hidden[0])
    times = take_turns({"sac": lambda: learn(state, data), **references}, rounds, PAUSE)
    multiplied = MULTIPLICATIONS * 3 * 2 * shape.batch * shape.hidden[0] ** 2
    flops = dict.fromkeys(references, multiplied) | {"sac": updates * shape.flops}
    wall = {name: statistics.median(w for w, _ in spent) for name, spent in times.items()}

    def share(which: int) -> float:
        """The smaller share: that of the faster reference."""
        return min(
            flops["sac"] / flops[name] * ratio(times, name, "sac", which) for name in references
        )

    return {
        "flops_per_update": shape.flops,
        "update_ms": round(1e3 * wall["sac"] / updates, 3),
        "updates_per_second": round(updates / wall["sac"], 1),
        **{f"{name}_gflops": round(flops[name] / 1e9 / wall[name], 1) for name in times},
        "share_of_matmul_rate": round(share(0), 3),
        "share_of_matmul_rate_cpu": round(share(1), 3),
    }
