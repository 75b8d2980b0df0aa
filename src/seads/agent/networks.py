"""The networks: multilayer perceptrons on batches, the tanh-Gaussian skill policy, twin critics."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from seads.envs.interface import EnvSpec

LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0


class Linear(eqx.Module):
    """x W + b on a batch; Xavier-uniform weights, zero bias."""

    weight: Float[Array, "fan_in fan_out"]
    bias: Float[Array, "fan_out"]

    def __init__(self, fan_in: int, fan_out: int, key: PRNGKeyArray):
        limit = (6.0 / (fan_in + fan_out)) ** 0.5
        self.weight = jax.random.uniform(key, (fan_in, fan_out), minval=-limit, maxval=limit)
        self.bias = jnp.zeros(fan_out)

    def __call__(self, x: Float[Array, "batch fan_in"]) -> Float[Array, "batch fan_out"]:
        return x @ self.weight + self.bias


class MLP(eqx.Module):
    """Hidden layers with ReLU, optionally layer-normalised (no learned scale), linear output."""

    layers: tuple[Linear, ...]
    layer_norm: bool = eqx.field(static=True)

    def __init__(
        self,
        sizes: tuple[int, ...],
        key: PRNGKeyArray,
        layer_norm: bool = False,
    ):
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = tuple(
            Linear(fan_in, fan_out, k)
            for fan_in, fan_out, k in zip(sizes, sizes[1:], keys, strict=False)
        )
        self.layer_norm = layer_norm

    def __call__(self, x: Float[Array, "batch inputs"]) -> Float[Array, "batch outputs"]:
        for layer in self.layers[:-1]:
            x = layer(x)
            if self.layer_norm:
                x = normalise(x)
            x = jax.nn.relu(x)
        return self.layers[-1](x)


def normalise(x: Float[Array, "batch units"]) -> Float[Array, "batch units"]:
    """Each row to zero mean and unit variance."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


class SkillPolicy(eqx.Module):
    """pi(a | s, k): a Gaussian squashed to [-1, 1] by tanh, on [s, onehot(k)]."""

    mlp: MLP
    unseen: tuple[int, int] = eqx.field(static=True, default=(0, 0), kw_only=True)
    """First and last (exclusive) input that counts as zero."""
    log_volume: float = eqx.field(static=True, default=0.0, kw_only=True)
    """log of what one unit of volume in [-1, 1]^n becomes in the environment; 0: nothing else."""

    def __call__(
        self, inputs: Float[Array, "batch inputs"]
    ) -> tuple[Float[Array, "batch act"], Float[Array, "batch act"]]:
        """Mean and log standard deviation before the squashing."""
        begin, end = self.unseen
        if begin < end:
            inputs = jnp.asarray(inputs).at[..., begin:end].set(0.0)
        mean, log_std = jnp.split(self.mlp(inputs), 2, axis=-1)
        return mean, jnp.clip(log_std, LOG_STD_MIN, LOG_STD_MAX)

    def sample(
        self, inputs: Float[Array, "batch inputs"], noise: Float[Array, "batch act"]
    ) -> tuple[Float[Array, "batch act"], Float[Array, "batch"]]:
        """Actions for standard normal noise, and their log-density after the squashing.

        With `log_volume` the density is that of the environment's actions, not of [-1, 1]^n. The
        unit decides what entropy pays: on the cursor at most +2.1 nats a step, or -1.1 in its own.
        """
        mean, log_std = self(inputs)
        raw = mean + jnp.exp(log_std) * noise
        gaussian = -0.5 * noise**2 - log_std - 0.5 * jnp.log(2 * jnp.pi)
        # log(1 - tanh(x)^2) in a form that does not underflow for large |x|
        squash = 2 * (jnp.log(2.0) - raw - jax.nn.softplus(-2 * raw))
        return jnp.tanh(raw), (gaussian - squash).sum(-1) - self.log_volume

    def draw_noise(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
        """The noise that `sample` expects."""
        return jax.random.normal(key, shape)


class Critics(eqx.Module):
    """Independent action values Q(s, k, a); two in the paper."""

    # separate networks rather than one batched weight: XLA on CPU multiplies plain
    # matrices at full speed, batched ones not
    mlps: tuple[MLP, ...]
    unseen: tuple[int, int] = eqx.field(static=True, default=(0, 0), kw_only=True)
    """First and last (exclusive) input that is left out."""

    def __call__(
        self, inputs: Float[Array, "batch inputs"], actions: Float[Array, "batch act"]
    ) -> Float[Array, "critics batch"]:
        begin, end = self.unseen
        x = jnp.concatenate([inputs[..., :begin], inputs[..., end:], actions], -1)
        return jnp.stack([mlp(x)[:, 0] for mlp in self.mlps])


def make_policy(
    inputs: int,
    actions: int,
    hidden: tuple[int, ...],
    key: PRNGKeyArray,
    unseen: tuple[int, int] = (0, 0),
    log_volume: float = 0.0,
) -> SkillPolicy:
    """A fresh policy for `inputs` = observation + skills, or whatever it conditions on."""
    mlp = MLP((inputs, *hidden, 2 * actions), key)
    return SkillPolicy(mlp, unseen=unseen, log_volume=log_volume)


def action_log_volume(spec: EnvSpec) -> float:
    """`log_volume` of a policy whose density is to be in the environment's action units."""
    half = (np.array(spec.action_high) - np.array(spec.action_low)) / 2
    return float(np.log(half).sum())


def make_critics(
    inputs: int,
    actions: int,
    hidden: tuple[int, ...],
    key: PRNGKeyArray,
    layer_norm: bool = False,
    count: int = 2,
    unseen: tuple[int, int] = (0, 0),
) -> Critics:
    """Fresh critics, each from its own key."""
    keys = jax.random.split(key, count)
    sizes = (inputs - (unseen[1] - unseen[0]) + actions, *hidden, 1)
    return Critics(tuple(MLP(sizes, k, layer_norm) for k in keys), unseen=unseen)
