"""The network of a perfectly trained agent, built from operators instead of learned.

It stands in for a trained forward model where only its size and its answers matter: in tests
and in benchmarks/planning.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.skill_model import NetworkForwardModel
from seads.planning.operators import Compiled
from seads.solving.symbolic_model import LearnedModel

# Larger than any activation: switches a unit off unless its own skill is executed.
_OFF = 4.0


def exact_network(compiled: Compiled, hidden: int = 256, seed: int = 0) -> LearnedModel:
    """A two-layer network that flips exactly the bits the operators flip.

    Each unit watches one skill and one condition: always, one bit on or off, or two bits
    that differ. Units that are not needed for this get random weights and no say.
    """
    if compiled.opaque:
        raise ValueError(f"skills {list(compiled.opaque)} have no operator to build from")
    units: dict[tuple[int, tuple[int, ...], bool, int], int] = {}
    wires: list[tuple[int, int]] = []
    for skill, operator in compiled.operators.items():
        for bit in range(compiled.num_bits):
            deciding = tuple(int(d) for d in np.flatnonzero(operator.decides[bit]))
            negated = bool(operator.always[bit])
            if not deciding and not negated:
                continue
            if len(deciding) > 2 or (len(deciding) == 2 and negated):
                raise ValueError(f"skill {skill}, bit {bit}: no unit for deciding bits {deciding}")
            for side in (1, -1) if len(deciding) == 2 else (1,):
                unit = units.setdefault((skill, deciding, negated, side), len(units))
                wires.append((unit, bit))
    hidden = max(hidden, len(units))
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(compiled.num_bits, hidden))
    skills = rng.normal(size=(compiled.num_skills, hidden))
    bias = np.zeros(hidden)
    second = rng.normal(size=(hidden, hidden)) / np.sqrt(hidden)
    last = np.zeros((hidden, compiled.num_bits))
    state[:, : len(units)] = 0.0
    skills[:, : len(units)] = 0.0
    second[:, : len(units)] = 0.0
    for (skill, deciding, negated, side), unit in units.items():
        skills[skill, unit] = _OFF
        bias[unit] = -_OFF
        if not deciding:
            bias[unit] += 1.0
        elif len(deciding) == 1:
            state[deciding[0], unit] = -1.0 if negated else 1.0
            bias[unit] += 1.0 if negated else 0.0
        else:
            state[deciding[0], unit], state[deciding[1], unit] = side, -side
        second[unit, unit] = 1.0
    for unit, bit in wires:
        last[unit, bit] = 1.0
    last_bias = np.full(compiled.num_bits, -0.5)
    weights = (np.concatenate([state, skills]), bias, second, np.zeros(hidden), last, last_bias)
    return forward_model(compiled.num_bits, compiled.num_skills, weights)


def forward_model(num_bits: int, num_skills: int, weights: Sequence[np.ndarray]) -> LearnedModel:
    """The mode of a network with these weights: a matrix and a bias for each layer, in order."""
    sizes = tuple(len(bias) for bias in weights[1:-1:2])
    like = NetworkForwardModel(num_bits, num_skills, sizes, jax.random.key(0))
    leaves = [jnp.asarray(array, jnp.float32) for array in weights]
    return LearnedModel(jax.tree.unflatten(jax.tree.structure(like), leaves), num_bits)
