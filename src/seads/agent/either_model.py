"""Three forward models side by side; used is the plainest that foresees new episodes as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from seads.agent.skill_model import (
    ForwardModel,
    LinearForwardModel,
    NetworkForwardModel,
    TableForwardModel,
    log_likelihoods,
)

if TYPE_CHECKING:
    from seads.agent.settings import AgentSettings

LEAD_RATE = 0.02
"""How far the leads move with an epoch's episodes."""
LEAD_NEEDED = 0.1
"""Nats an episode that a plainer model, which carries further, may be behind and still count."""
SURE = 3.9
"""Log-odds beyond which, 98 % here, being surer is no merit of what an agent takes along,"""
LEAD_NEEDED_A_BIT = 0.004
"""for which that many nats a bit are no lead, either: with many bits a little doubt adds up."""


class EitherForwardModel(ForwardModel):
    """A table, a sparse linear map and a network, all learning from the same episodes and labels.

    Which of them counts is decided by new episodes before any has learned from them. Each can
    express more than the one before it, needs more episodes, and is wrong more easily on boards
    far from all that were seen. While learning, the surer of two that are right is better: labels
    and rewards go by likelihoods. What an agent takes along needs only be right.
    """

    table: TableForwardModel
    linear: LinearForwardModel
    network: NetworkForwardModel
    leads: Float[Array, "models"]
    """By how many nats an episode each foresees new changes better than the table, averaged over
    epochs,"""
    leads_if_sure: Float[Array, "models"]
    """and if being surer than `SURE` counts for nothing."""
    num_skills: int = eqx.field(static=True)

    def __init__(self, num_bits: int, num_skills: int, hidden: tuple[int, ...], key: PRNGKeyArray):
        k_linear, k_network = jax.random.split(key)
        self.linear = LinearForwardModel(num_bits, num_skills, k_linear)
        self.table = TableForwardModel(num_bits, num_skills, k_linear)
        self.network = NetworkForwardModel(num_bits, num_skills, hidden, k_network)
        self.leads = self.leads_if_sure = jnp.zeros(len(self.models))
        self.num_skills = num_skills

    @property
    def models(self) -> tuple[TableForwardModel, LinearForwardModel, NetworkForwardModel]:
        """The plainest first."""
        return self.table, self.linear, self.network

    @property
    def best(self) -> Int[Array, ""]:
        """Which counts: the plainest that is not clearly behind any other."""
        return _plainest(self.leads, LEAD_NEEDED)

    @property
    def shipped(self) -> ForwardModel:
        """One of them by itself: the plainest that is right as often as any other."""
        needed = max(LEAD_NEEDED, LEAD_NEEDED_A_BIT * self.table.bias.shape[1])
        return self.models[int(_plainest(self.leads_if_sure, needed))].shipped

    def flip_logits(
        self, before: Bool[Array, "batch bits"], skills: Int[Array, "batch"]
    ) -> Float[Array, "batch bits"]:
        """Those of the model that counts."""
        return self._ask(lambda model: model.flip_logits(before, skills))

    def all_flip_logits(
        self, before: Bool[Array, "batch bits"]
    ) -> Float[Array, "batch skills bits"]:
        """Those of the model that counts."""
        return self._ask(lambda model: model.all_flip_logits(before))

    def _ask(self, question: Callable[[ForwardModel], Array]) -> Array:
        answers = [lambda model=model: question(model) for model in self.models]
        return jax.lax.switch(self.best, answers)

    def loss(
        self,
        before: Bool[Array, "batch bits"],
        skills: Int[Array, "batch"],
        after: Bool[Array, "batch bits"],
    ) -> Float[Array, ""]:
        """The sum of the models' losses, which share no weights."""
        losses = [model.loss(before, skills, after) for model in self.models]
        return jnp.stack(losses).sum()

    def judged(
        self,
        before: Bool[Array, "batch bits"],
        after: Bool[Array, "batch bits"],
    ) -> Self:
        """The leads after new episodes, of which those count in which something changed."""
        changed = (before != after).any(-1)

        def moved(leads: Float[Array, "models"], sure: float) -> Float[Array, "models"]:
            foreseen = jnp.stack([_foreseen(model, before, after, sure) for model in self.models])
            ahead = foreseen - foreseen[0]
            mean = jnp.where(changed, ahead, 0.0).sum(-1) / jnp.maximum(changed.sum(), 1)
            return jnp.where(changed.any(), leads + LEAD_RATE * (mean - leads), leads)

        leads = moved(self.leads, math.inf), moved(self.leads_if_sure, SURE)
        return eqx.tree_at(lambda model: (model.leads, model.leads_if_sure), self, leads)

    def optimiser(self, settings: AgentSettings) -> optax.GradientTransformation:
        """Each model's own."""
        own = [model.optimiser(settings) for model in self.models]

        def init(either: EitherForwardModel) -> Any:
            return tuple(one.init(model) for one, model in zip(own, either.models, strict=True))

        def update(gradient: Any, state: Any, either: Any = None) -> tuple[Any, Any]:
            each = zip(own, gradient.models, state, either.models, strict=True)
            made = [one.update(*rest) for one, *rest in each]
            change = eqx.tree_at(lambda tree: tree.models, gradient, tuple(one for one, _ in made))
            return change, tuple(after for _, after in made)

        return optax.GradientTransformation(init, update)

    @property
    def metrics(self) -> dict[str, float]:
        """The leads over the table."""
        _, linear, network = map(float, self.leads)
        return {"linear_lead": linear, "network_lead": network}

    def forget_board(self, share: Float[Array, ""]) -> Self:
        """The network with its weights on the board this share smaller."""
        return eqx.tree_at(lambda model: model.network, self, self.network.forget_board(share))


def _plainest(leads: Float[Array, "models"], needed: float) -> Int[Array, ""]:
    """The first that is not further behind any other."""
    return (leads >= leads.max() - needed).argmax()


def _foreseen(
    model: ForwardModel,
    before: Bool[Array, "batch bits"],
    after: Bool[Array, "batch bits"],
    sure: float,
) -> Float[Array, "batch"]:
    """log q(z_T | z_0), whichever skill it was, and no less than by tossing a coin for each bit.

    Log-odds beyond `sure` count as that.
    """
    logits = jnp.clip(model.all_flip_logits(before), -sure, sure)
    likelihoods = jax.nn.logsumexp(log_likelihoods(logits, before, after), -1)
    blind = -before.shape[-1] * jnp.log(2.0)
    return jnp.maximum(likelihoods - jnp.log(float(model.num_skills)), blind)
