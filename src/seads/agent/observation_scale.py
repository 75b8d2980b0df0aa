"""What a run's observations are like, so that networks see numbers of the order of one."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from seads.agent.networks import SkillPolicy


class ObservationScale(eqx.Module):
    """Mean and variance of every observation's body part over all that was collected.

    The symbol's bits and the remaining time, which end an observation, stay as they are.
    """

    mean: Float[Array, "obs"]
    variance: Float[Array, "obs"]
    count: Float[Array, ""]
    scaled: int = eqx.field(static=True)
    """How many of the first numbers are scaled."""

    def __init__(self, observation_size: int, scaled: int):
        self.mean, self.variance = jnp.zeros(observation_size), jnp.ones(observation_size)
        self.count = jnp.zeros(())
        self.scaled = scaled

    @property
    def deviation(self) -> Float[Array, "obs"]:
        """Standard deviations; one where a number hardly ever changes."""
        constant = self.variance < 1e-10 * (1 + self.mean**2)
        return jnp.where(constant, 1.0, jnp.sqrt(self.variance))

    def __call__(self, observations: Float[Array, "*batch obs"]) -> Float[Array, "*batch obs"]:
        """Observations as the networks see them."""
        return (observations - self.mean) / self.deviation

    def updated(
        self, observations: Float[Array, "rows steps obs"], counts: Bool[Array, "rows steps"]
    ) -> ObservationScale:
        """The statistics with more observations, of which those that count."""
        weight = counts[..., None].astype(jnp.float32)
        new = weight.sum()
        mean = (observations * weight).sum((0, 1)) / new
        variance = ((observations - mean) ** 2 * weight).sum((0, 1)) / new
        total = self.count + new
        share, gap = new / total, mean - self.mean
        body = jnp.arange(len(mean)) < self.scaled
        merged = self.variance + share * (variance - self.variance) + share * (1 - share) * gap**2
        return eqx.tree_at(
            lambda scale: (scale.mean, scale.variance, scale.count),
            self,
            (
                jnp.where(body, self.mean + share * gap, 0.0),
                jnp.where(body, merged, 1.0),
                total,
            ),
        )

    def folded(self, policy: SkillPolicy) -> SkillPolicy:
        """A policy on scaled observations as the same policy on plain ones."""
        first = policy.mlp.layers[0]
        size = len(self.mean)
        weight = first.weight.at[:size].divide(self.deviation[:, None])
        bias = first.bias - self.mean @ weight[:size]
        return eqx.tree_at(
            lambda p: (p.mlp.layers[0].weight, p.mlp.layers[0].bias), policy, (weight, bias)
        )
