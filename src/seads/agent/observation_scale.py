"""What a run's observations are like, so that networks see numbers of the order of one."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from seads.agent.networks import SkillPolicy

FAR = 5.0
"""How far from zero a scaled number may be: what moves seldom would be far off when it does."""
ALIKE = 0.999
"""A number whose correlation with a bit of the symbol is beyond this is that bit in disguise."""
ROUNDING = 1e-6
"""A share of a number's size: eight times the distance of neighbouring float32 numbers."""
NOISE = 1e-12
"""What is nearer to zero than this is no unit, but what is left of numbers that cancel out."""


class ObservationScale(eqx.Module):
    """Mean, deviation and reach of every observation's body part over all that was collected.

    The symbol's bits and the remaining time, which end an observation, stay as they are. A number
    of the body that only tells a bit of the symbol, as in many environments of users' own, is
    left out: what a skill does must not depend on it, and it drowns what the arm is told by.
    """

    mean: Float[Array, "obs"]
    variance: Float[Array, "obs"]
    low: Float[Array, "obs"]
    high: Float[Array, "obs"]
    with_bits: Float[Array, "obs bits"]
    """Covariance of every number with every bit of the symbol."""
    count: Float[Array, ""]
    symbol: tuple[int, int] = eqx.field(static=True)
    """Where the symbol's bits are; the body is before them."""
    scales: bool = eqx.field(static=True)
    """Whether anything is done at all."""

    def __init__(self, observation_size: int, symbol: tuple[int, int], scales: bool = True):
        self.mean, self.variance = jnp.zeros(observation_size), jnp.ones(observation_size)
        self.low, self.high = jnp.zeros(observation_size), jnp.zeros(observation_size)
        self.with_bits = jnp.zeros((observation_size, symbol[1] - symbol[0]))
        self.count = jnp.zeros(())
        self.symbol, self.scales = symbol, scales

    @property
    def _body(self) -> Bool[Array, "obs"]:
        return (jnp.arange(len(self.mean)) < self.symbol[0]) & self.scales & (self.count > 0)

    @property
    def _constant(self) -> Bool[Array, "obs"]:
        """Never further apart than rounding makes them, whatever their unit."""
        size = jnp.maximum(abs(self.high), abs(self.low))
        return self.high - self.low <= jnp.maximum(ROUNDING * size, NOISE)

    @property
    def centre(self) -> Float[Array, "obs"]:
        """What becomes zero."""
        return jnp.where(self._body, self.mean, 0.0)

    @property
    def deviation(self) -> Float[Array, "obs"]:
        """What becomes one; one where a number never changes."""
        reach = jnp.maximum(self.high - self.mean, self.mean - self.low)
        usual = jnp.maximum(jnp.sqrt(self.variance), reach / FAR)
        return jnp.where(self._body & ~self._constant, usual, 1.0)

    @property
    def seen(self) -> Bool[Array, "obs"]:
        """Which numbers are not a bit of the symbol in disguise."""
        bits = self.variance[slice(*self.symbol)]
        alike = self.with_bits**2 > ALIKE**2 * self.variance[:, None] * bits
        varies = ~self._constant[:, None] & (bits > 1e-6)
        return ~(self._body & (alike & varies).any(1))

    def __call__(self, observations: Float[Array, "*batch obs"]) -> Float[Array, "*batch obs"]:
        """Observations as the networks see them."""
        return jnp.where(self.seen, (observations - self.centre) / self.deviation, 0.0)

    def updated(
        self, observations: Float[Array, "rows steps obs"], counts: Bool[Array, "rows steps"]
    ) -> ObservationScale:
        """The statistics with more observations, of which those that count."""
        weight = counts[..., None].astype(jnp.float32)
        new = weight.sum()
        mean = (observations * weight).sum((0, 1)) / new
        off = (observations - mean) * weight
        variance = (off**2).sum((0, 1)) / new
        bits = slice(*self.symbol)
        with_bits = jnp.einsum("rto,rtb->ob", off, off[..., bits]) / new
        share, gap = new / (self.count + new), mean - self.mean
        first = self.count == 0
        low = jnp.where(counts[..., None], observations, jnp.inf).min((0, 1))
        high = jnp.where(counts[..., None], observations, -jnp.inf).max((0, 1))

        def merged(old: Array, one: Array, apart: Array) -> Array:
            return old + share * (one - old) + share * (1 - share) * apart

        return eqx.tree_at(
            lambda s: (s.mean, s.variance, s.low, s.high, s.with_bits, s.count),
            self,
            (
                self.mean + share * gap,
                # merging with the one it starts from would round a small variance away
                jnp.where(
                    first & (variance < ROUNDING),
                    variance,
                    merged(self.variance, variance, gap**2),
                ),
                jnp.where(first, low, jnp.minimum(self.low, low)),
                jnp.where(first, high, jnp.maximum(self.high, high)),
                merged(self.with_bits, with_bits, gap[:, None] * gap[bits]),
                self.count + new,
            ),
        )

    def folded(self, policy: SkillPolicy) -> SkillPolicy:
        """A policy on scaled observations as the same policy on plain ones."""
        first = policy.mlp.layers[0]
        size = len(self.mean)
        scaled = jnp.where(self.seen, 1 / self.deviation, 0.0)
        weight = first.weight.at[:size].multiply(scaled[:, None])
        bias = first.bias - self.centre @ weight[:size]
        return eqx.tree_at(
            lambda p: (p.mlp.layers[0].weight, p.mlp.layers[0].bias), policy, (weight, bias)
        )
