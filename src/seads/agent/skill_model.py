"""What tells skills apart: the symbolic forward model, or VIC's discriminator in its place."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from seads.agent.networks import MLP
from seads.agent.optimisers import ADAM, multiplicative

if TYPE_CHECKING:
    from seads.agent.settings import AgentSettings

WITHOUT_XOR = "network-without-xor"
"""The kind of VIC's discriminator that is not shown which bits changed."""


class SkillModel(eqx.Module):
    """What learning asks of either; a kind with nothing to say to a question leaves it."""

    num_skills: eqx.AbstractVar[int]

    @abstractmethod
    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """What makes steps of gradients, at the rate that fits the kind of model."""

    def judged(self, before: Bool[Array, "batch bits"], after: Bool[Array, "batch bits"]) -> Self:
        """What new episodes tell before anything is learned from them."""
        return self

    def forget_board(self, share: Float[Array, ""]) -> Self:
        """The model with its weights on the board this share smaller."""
        return self

    @property
    def metrics(self) -> dict[str, float]:
        """What a run logs of it."""
        return {}


class ForwardModel(SkillModel):
    """q_theta(z_T | z_0, k): each bit flips on its own with probability f_theta(z_0, k).

    Predicting flips, not values, is easy where a skill's effect does not depend on the board.
    """

    @property
    def shipped(self) -> ForwardModel:
        """What an agent takes along of it, which only predicts."""
        return self

    @abstractmethod
    def flip_logits(
        self, before: Bool[Array, "batch bits"], skills: Int[Array, "batch"]
    ) -> Float[Array, "batch bits"]:
        """Logits of the probability that each bit of z_0 toggles."""

    @abstractmethod
    def all_flip_logits(
        self, before: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills bits"]:
        """`flip_logits` for every skill."""

    def log_likelihoods(
        self, before: Bool[Array, "batch bits"], after: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills"]:
        """log q_theta(z_T | z_0, k) for every skill k."""
        return log_likelihoods(self.all_flip_logits(before), before, after)

    def evidence(
        self, before: Bool[Array, "batch bits"], after: Bool[Array, "batch bits"]
    ) -> tuple[Float[Array, "batch skills"], Float[Array, "batch"]]:
        """Posterior by Bayes' rule with uniform p(k); novelty is -max_k log q(z_T | z_0, k)."""
        likelihoods = self.log_likelihoods(before, after)
        return jax.nn.log_softmax(likelihoods, -1), -likelihoods.max(-1)

    def loss(
        self,
        before: Bool[Array, "batch bits"],
        skills: Int[Array, "batch"],
        after: Bool[Array, "batch bits"],
    ) -> Float[Array, ""]:
        """Mean of -log q_theta(z_T | z_0, k)."""
        sign = jnp.where(before ^ after, 1.0, -1.0)
        return -jax.nn.log_sigmoid(self.flip_logits(before, skills) * sign).sum(-1).mean()


def log_likelihoods(
    logits: Float[Array, "batch skills bits"],
    before: Bool[Array, "batch bits"],
    after: Bool[Array, "batch bits"],
) -> Float[Array, "batch skills"]:
    """log q(z_T | z_0, k) for every skill k, from the logits of its flips."""
    sign = jnp.where(before ^ after, 1.0, -1.0)
    return jax.nn.log_sigmoid(logits * sign[:, None]).sum(-1)


def first_bias(num_bits: int, num_skills: int, key: PRNGKeyArray) -> Float[Array, "skills bits"]:
    """Skills must differ from the start, and flips be rare."""
    return 0.1 * jax.random.normal(key, (num_skills, num_bits)) - 2.0


class NetworkForwardModel(ForwardModel):
    """The paper's: one network on [z_0, onehot(k)], which can learn any effect."""

    mlp: MLP
    num_skills: int = eqx.field(static=True)

    def __init__(self, num_bits: int, num_skills: int, hidden: tuple[int, ...], key: PRNGKeyArray):
        self.mlp = MLP((num_bits + num_skills, *hidden, num_bits), key)
        self.num_skills = num_skills

    def flip_logits(
        self, before: Bool[Array, "batch bits"], skills: Int[Array, "batch"]
    ) -> Float[Array, "batch bits"]:
        """Logits of the probability that each bit of z_0 toggles."""
        return self.mlp(
            jnp.concatenate(
                [before.astype(jnp.float32), jax.nn.one_hot(skills, self.num_skills)], -1
            )
        )

    def all_flip_logits(
        self, before: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills bits"]:
        """`flip_logits` for every skill; the part of the first layer that sees z_0 is shared."""
        first, *rest = self.mlp.layers
        num_bits = before.shape[1]
        board = before.astype(jnp.float32) @ first.weight[:num_bits] + first.bias
        x = jax.nn.relu(board[:, None] + first.weight[num_bits:])
        x = x.reshape(-1, x.shape[-1])
        for layer in rest[:-1]:
            x = jax.nn.relu(layer(x))
        return rest[-1](x).reshape(before.shape[0], self.num_skills, num_bits)

    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """Adam."""
        return optax.chain(ADAM, optax.scale(settings.model_learning_rate))

    def forget_board(self, share: Float[Array, ""]) -> Self:
        """The model with its weights on the board this share smaller.

        What data keep asking for grows back. The rest, which says something of the boards seen
        and anything of others, is gone, so that effects are those of the skill alone.
        """
        weight = self.mlp.layers[0].weight
        board = (jnp.arange(len(weight)) < len(weight) - self.num_skills)[:, None]
        smaller = jnp.where(board, (1 - share) * weight, weight)
        return eqx.tree_at(lambda model: model.mlp.layers[0].weight, self, smaller)


class LinearForwardModel(ForwardModel):
    """A sparse linear map of the board for each skill, which extrapolates to boards never seen.

    A bit's logit is bias + sum of the weights of the bits that are set: enough where single bits
    decide what a skill flips, or none, as in both games. The weights are u^2 - v^2 with small
    factors at the start, so that learning keeps those of idle bits near zero.

    A model that learns has one bit more, which is always set: what a skill flips on every board
    must grow from as little as what it flips on some, or the first would be taken for the second.
    """

    grow: Float[Array, "inputs skill_bits"]
    shrink: Float[Array, "inputs skill_bits"]
    bias: Float[Array, "skills bits"]
    num_skills: int = eqx.field(static=True)

    def __init__(self, num_bits: int, num_skills: int, key: PRNGKeyArray, learns: bool = True):
        self.grow = jnp.full((num_bits + learns, num_skills * num_bits), 0.02, jnp.float32)
        self.shrink = self.grow
        self.bias = first_bias(num_bits, num_skills, key)
        self.num_skills = num_skills

    @property
    def weights(self) -> Float[Array, "inputs skills bits"]:
        """What each bit that is set adds to the logits."""
        weights = self.grow**2 - self.shrink**2
        return weights.reshape(-1, *self.bias.shape)

    def flip_logits(
        self, before: Bool[Array, "batch bits"], skills: Int[Array, "batch"]
    ) -> Float[Array, "batch bits"]:
        """Logits of the probability that each bit of z_0 toggles."""
        # a product with the weights of each row's skill: of all skills it would be K times as much
        weights = self.weights.swapaxes(0, 1)[skills]
        return jnp.einsum("bi,bij->bj", self._inputs(before), weights) + self.bias[skills]

    def all_flip_logits(
        self, before: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills bits"]:
        """`flip_logits` for every skill, in one product."""
        return jnp.tensordot(self._inputs(before), self.weights, 1) + self.bias

    def _inputs(self, before: Bool[Array, "batch bits"]) -> Float[Array, "batch inputs"]:
        """The board's bits, and the one that is always set if there is one."""
        always = jnp.ones((before.shape[0], len(self.grow) - before.shape[1]))
        return jnp.concatenate([before, always], 1)

    @property
    def shipped(self) -> LinearForwardModel:
        """The same map without the bit that is always set."""
        plain = LinearForwardModel(self.bias.shape[1], self.num_skills, jax.random.key(0), False)
        size = len(plain.grow)
        arrays = (self.grow[:size], self.shrink[:size], self.bias + self.weights[size:].sum(0))
        return eqx.tree_at(lambda model: (model.grow, model.shrink, model.bias), plain, arrays)

    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """Gradient descent that multiplies weights up and down, and cannot turn a bias positive.

        A skill has its share of a batch only, so the rate is times the number of skills.
        """
        rate = settings.linear_learning_rate * self.num_skills
        bounded = optax.stateless(lambda change, model: jax.tree.map(multiplicative, change, model))
        return optax.chain(optax.scale(rate), bounded)


class TableForwardModel(ForwardModel):
    """Each skill flips the same bits on every board: a table, which few episodes fill.

    Where that is so, as in LightsOut, maps that see the board learn accidents of the boards seen.
    """

    bias: Float[Array, "skills bits"]
    num_skills: int = eqx.field(static=True)

    def __init__(self, num_bits: int, num_skills: int, key: PRNGKeyArray):
        self.bias = first_bias(num_bits, num_skills, key)
        self.num_skills = num_skills

    def flip_logits(
        self, before: Bool[Array, "batch bits"], skills: Int[Array, "batch"]
    ) -> Float[Array, "batch bits"]:
        """Logits of the probability that each bit of z_0 toggles."""
        return self.bias[skills]

    def all_flip_logits(
        self, before: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills bits"]:
        """`flip_logits` for every skill."""
        return jnp.broadcast_to(self.bias, (len(before), *self.bias.shape))

    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """Gradient descent, at the rate of the linear map."""
        return optax.scale(settings.linear_learning_rate * self.num_skills)


class Discriminator(SkillModel):
    """VIC: q_theta(k | z_0, z_T) directly; knows no novelty.

    Its input is [z_0, z_T, z_0 xor z_T], or [z_0, z_T] without the xor (S.11's (ii) and (i)).
    """

    mlp: MLP
    num_skills: int = eqx.field(static=True)
    xor: bool = eqx.field(static=True)

    def __init__(
        self,
        num_bits: int,
        num_skills: int,
        hidden: tuple[int, ...],
        key: PRNGKeyArray,
        xor: bool = True,
    ):
        self.mlp = MLP(((3 if xor else 2) * num_bits, *hidden, num_skills), key)
        self.num_skills, self.xor = num_skills, xor

    def evidence(
        self, before: Bool[Array, "batch bits"], after: Bool[Array, "batch bits"]
    ) -> tuple[Float[Array, "batch skills"], Float[Array, "batch"]]:
        """The network's own posterior; novelty is zero."""
        inputs = [before, after, before ^ after] if self.xor else [before, after]
        logits = self.mlp(jnp.concatenate(inputs, -1).astype(jnp.float32))
        return jax.nn.log_softmax(logits, -1), jnp.zeros(before.shape[0])

    def loss(
        self,
        before: Bool[Array, "batch bits"],
        skills: Int[Array, "batch"],
        after: Bool[Array, "batch bits"],
    ) -> Float[Array, ""]:
        """Mean of -log q_theta(k | z_0, z_T)."""
        posterior, _ = self.evidence(before, after)
        return -jnp.take_along_axis(posterior, skills[:, None], 1).mean()

    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """Adam."""
        return optax.chain(ADAM, optax.scale(settings.model_learning_rate))
