"""How gradients become steps: Adam for networks, growth and decay for weights that stay sparse."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

ADAM = optax.scale_by_adam()

_LARGEST_CHANGE = 0.1
"""A factor's gradient counts up to this part of the factor: it can neither jump nor turn sign."""


def _bounded(gradient: Any, factor: Any) -> Any:
    limit = _LARGEST_CHANGE * jnp.abs(factor)
    return jnp.clip(gradient, -limit, limit)


# Plain gradient descent on the factors u and v of weights u^2 - v^2 multiplies them up and down:
# a weight grows in proportion to what it already is, so the few that explain the data outgrow
# the many that only happened to be there. Adam would give all of them equal steps.
MULTIPLICATIVE = optax.stateless(
    lambda gradient, factors: jax.tree.map(_bounded, gradient, factors)
)
