"""How gradients become steps: Adam for networks, growth and decay for weights that stay sparse."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import optax

ADAM = optax.scale_by_adam()

_LARGEST_CHANGE = 0.15
"""A factor changes by this part of itself at most: it can neither jump nor turn its sign."""


def multiplicative(change: Any, factor: Any) -> Any:
    """The change of a factor u or v of weights u^2 - v^2 by plain gradient descent, bounded.

    Descent on such factors multiplies them up and down: a weight grows in proportion to what it
    already is, so the few that explain the data outgrow the many that only happened to be there.
    Adam would give all of them equal steps.
    """
    limit = _LARGEST_CHANGE * jnp.abs(factor)
    return jnp.clip(change, -limit, limit)
