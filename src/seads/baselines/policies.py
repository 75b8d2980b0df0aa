"""What HAC adds to soft actor-critic's networks: a policy over subgoals, and bounded values."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from seads.agent.networks import MLP, Critics, SkillPolicy


class SubgoalPolicy(SkillPolicy):
    """Factorised relaxed Bernoulli (binary Concrete) over subgoals in (0, 1)^D."""

    temperature: float = eqx.field(static=True)

    def __call__(  # type: ignore[override]
        self, inputs: Float[Array, "batch inputs"]
    ) -> Float[Array, "batch bits"]:
        """The logits: sigmoid of them is each bit's probability."""
        return self.mlp(inputs)

    def sample(
        self, inputs: Float[Array, "batch inputs"], noise: Float[Array, "batch bits"]
    ) -> tuple[Float[Array, "batch bits"], Float[Array, "batch"]]:
        """Relaxed bits for standard logistic noise, and their log-density on (0, 1)^D."""
        logits = self(inputs)
        raw = (logits + noise) / self.temperature
        # the logistic density of `raw`, then the change of variables to sigmoid(raw)
        logistic = (
            jnp.log(self.temperature) + jax.nn.log_sigmoid(noise) + jax.nn.log_sigmoid(-noise)
        )
        stretch = jax.nn.softplus(raw) + jax.nn.softplus(-raw)
        return jax.nn.sigmoid(raw), (logistic + stretch).sum(-1)

    def draw_noise(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """The noise that `sample` expects."""
        return jax.random.logistic(key, shape)


class BoundedCritics(Critics):
    """Critics whose values lie in [-horizon, 0], as those of a level of HAC must."""

    horizon: int = eqx.field(static=True)

    def __call__(
        self, inputs: Float[Array, "batch inputs"], actions: Float[Array, "batch act"]
    ) -> Float[Array, "critics batch"]:
        return -self.horizon * jax.nn.sigmoid(super().__call__(inputs, actions))


def make_subgoal_policy(
    inputs: int, num_bits: int, hidden: tuple[int, ...], key: PRNGKeyArray, temperature: float
) -> SubgoalPolicy:
    """A fresh policy over subgoals."""
    return SubgoalPolicy(MLP((inputs, *hidden, num_bits), key), temperature)


@eqx.filter_jit
def propose(
    policy: SubgoalPolicy,
    states: Float[np.ndarray, "rows state"],
    goals: Float[np.ndarray, "rows bits"],
    noise: Float[np.ndarray, "rows bits"],
) -> Array:
    """Rounded subgoals: Bernoulli for logistic noise, the likeliest for none."""
    return policy(jnp.concatenate([states, goals], -1)) + noise > 0
