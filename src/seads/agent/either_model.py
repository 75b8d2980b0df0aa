"""Two forward models side by side; the one that foresees new episodes better is the one used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from seads.agent.skill_model import ForwardModel, LinearForwardModel, NetworkForwardModel

if TYPE_CHECKING:
    from seads.agent.settings import AgentSettings

LEAD_RATE = 0.02
"""How far the lead moves with an epoch's episodes."""
LEAD_NEEDED = 0.1
"""Nats an episode by which the network must be ahead: it errs on boards far from all it saw."""


class EitherForwardModel(ForwardModel):
    """A sparse linear map and a network, both learning from the same episodes and labels.

    Which of them counts is decided by new episodes before either has learned from them. The linear
    map is right on boards never seen wherever it can express the effects at all; the network can
    express any effect.
    """

    linear: LinearForwardModel
    network: NetworkForwardModel
    lead: Float[Array, ""]
    """By how many nats an episode the network foresees new changes better, averaged over epochs."""
    num_skills: int = eqx.field(static=True)

    def __init__(self, num_bits: int, num_skills: int, hidden: tuple[int, ...], key: PRNGKeyArray):
        k_linear, k_network = jax.random.split(key)
        self.linear = LinearForwardModel(num_bits, num_skills, k_linear)
        self.network = NetworkForwardModel(num_bits, num_skills, hidden, k_network)
        self.lead = jnp.zeros(())
        self.num_skills = num_skills

    @property
    def chosen(self) -> LinearForwardModel | NetworkForwardModel:
        """The better one by itself, which is what an agent takes along."""
        return self.network if self.lead > LEAD_NEEDED else self.linear.learned

    def flip_logits(
        self, before: Bool[Array, "batch bits"], skills: Int[Array, "batch"]
    ) -> Float[Array, "batch bits"]:
        """Those of the better model."""
        return jax.lax.cond(
            self.lead > LEAD_NEEDED,
            lambda: self.network.flip_logits(before, skills),
            lambda: self.linear.flip_logits(before, skills),
        )

    def all_flip_logits(
        self, before: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills bits"]:
        """Those of the better model."""
        return jax.lax.cond(
            self.lead > LEAD_NEEDED,
            lambda: self.network.all_flip_logits(before),
            lambda: self.linear.all_flip_logits(before),
        )

    def loss(
        self,
        before: Bool[Array, "batch bits"],
        skills: Int[Array, "batch"],
        after: Bool[Array, "batch bits"],
    ) -> Float[Array, ""]:
        """The sum of both models' losses, which share no weights."""
        return self.linear.loss(before, skills, after) + self.network.loss(before, skills, after)

    def judged(
        self,
        before: Bool[Array, "batch bits"],
        after: Bool[Array, "batch bits"],
    ) -> EitherForwardModel:
        """The lead after new episodes, of which those count in which something changed."""
        changed = (before != after).any(-1)
        ahead = _foreseen(self.network, before, after) - _foreseen(self.linear, before, after)
        mean = jnp.where(changed, ahead, 0.0).sum() / jnp.maximum(changed.sum(), 1)
        lead = jnp.where(changed.any(), self.lead + LEAD_RATE * (mean - self.lead), self.lead)
        return eqx.tree_at(lambda model: model.lead, self, lead)

    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """Each model's own."""
        linear, network = self.linear.optimiser(settings), self.network.optimiser(settings)

        def init(model: EitherForwardModel) -> Any:
            return linear.init(model.linear), network.init(model.network)

        def update(gradient: Any, state: Any, model: Any = None) -> tuple[Any, Any]:
            for_linear, state_linear = linear.update(gradient.linear, state[0], model.linear)
            for_network, state_network = network.update(gradient.network, state[1], model.network)
            change = eqx.tree_at(
                lambda tree: (tree.linear, tree.network), gradient, (for_linear, for_network)
            )
            return change, (state_linear, state_network)

        return optax.GradientTransformation(init, update)

    def forget_board(self, share: Float[Array, ""]) -> EitherForwardModel:
        """The network with its weights on the board this share smaller."""
        return eqx.tree_at(lambda model: model.network, self, self.network.forget_board(share))


def _foreseen(
    model: ForwardModel, before: Bool[Array, "batch bits"], after: Bool[Array, "batch bits"]
) -> Float[Array, "batch"]:
    """log q(z_T | z_0), whichever skill it was, and no less than by tossing a coin for each bit."""
    likelihoods = jax.nn.logsumexp(model.log_likelihoods(before, after), -1)
    blind = -before.shape[-1] * jnp.log(2.0)
    return jnp.maximum(likelihoods - jnp.log(float(model.num_skills)), blind)
