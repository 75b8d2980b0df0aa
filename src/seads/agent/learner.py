"""The SEADS learner: one epoch from stored episodes to a better policy and skill model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from seads.agent import sac
from seads.agent.batches import (
    ModelBatches,
    SACBatches,
    draw_episodes,
    model_batches,
    reward_episodes,
)
from seads.agent.buffer import EpisodeBuffer
from seads.agent.model_kinds import make_model
from seads.agent.networks import SkillPolicy, make_critics, make_policy
from seads.agent.observation_scale import ObservationScale
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import Discriminator, ForwardModel
from seads.envs.interface import symbol_columns
from seads.streams import Purpose

AVERAGED = 0.08
"""Policy and model are averaged over this share of all rounds so far, the last, in long runs."""


class LearnerState(eqx.Module):
    """All that learning changes, as one pytree."""

    sac: sac.SACState
    model: ForwardModel | Discriminator
    model_optimiser: Any
    average: tuple[SkillPolicy, ForwardModel | Discriminator]
    """Policy and model averaged over rounds: steadier than they are, and what is shipped."""
    scale: ObservationScale
    """What policy and critics see their observations by."""
    rounds: Float[Array, ""]
    """How many rounds of updates there have been."""

    def acting(self, average: bool) -> SkillPolicy:
        """The policy, or its average, for observations as the environment gives them."""
        return self.scale.folded(self.average[0] if average else self.sac.policy)


@dataclass(frozen=True)
class Shapes:
    """What of an environment the networks must fit."""

    observation_size: int
    action_size: int
    num_bits: int
    num_skills: int


def initial_state(
    shapes: Shapes, settings: AgentSettings, seed: int, log_volume: float = 0.0
) -> LearnerState:
    """Fresh networks and optimisers; `log_volume` is the policy's."""
    k_policy, k_critics, k_model = jax.random.split(jax.random.key(seed), 3)
    inputs = shapes.observation_size + shapes.num_skills
    symbol = symbol_columns(shapes.observation_size, shapes.num_bits)
    unseen = (0, 0) if settings.policy_sees_symbol else symbol
    policy = make_policy(inputs, shapes.action_size, settings.hidden, k_policy, unseen, log_volume)
    critics = make_critics(
        inputs,
        shapes.action_size,
        settings.hidden,
        k_critics,
        settings.layer_norm,
        settings.critics,
        unseen,
    )
    model = make_model(
        settings.algorithm,
        settings.model,
        shapes.num_bits,
        shapes.num_skills,
        settings.model_hidden,
        k_model,
    )
    return LearnerState(
        sac.make_state(policy, critics),
        model,
        model.optimiser(settings).init(eqx.filter(model, eqx.is_array)),
        jax.tree.map(jnp.copy, (policy, model)),
        ObservationScale(shapes.observation_size, symbol, settings.scale_observations),
        jnp.zeros(()),
    )


@eqx.filter_jit
def take_in(
    state: LearnerState,
    observations: Float[Array, "episodes steps_plus_1 obs"],
    lengths: Int[Array, "episodes"],
    before: Bool[Array, "episodes bits"],
    after: Bool[Array, "episodes bits"],
) -> LearnerState:
    """What new episodes tell before anything is learned from them."""
    counts = jnp.arange(observations.shape[1]) <= lengths[:, None]
    scale = state.scale.updated(observations, counts)
    return replace(state, scale=scale, model=state.model.judged(before, after))


def learn(
    state: LearnerState,
    buffer: EpisodeBuffer,
    settings: AgentSettings,
    rng: np.random.Generator,
    key: Array,
    learning_rate: float,
    rounds: int = 1,
) -> tuple[LearnerState, dict[str, float]]:
    """The updates of an epoch (paper S.8.3): the skill model's, then soft actor-critic's.

    The paper samples, relabels and rewards for soft actor-critic with the model just updated
    (`score_again`); otherwise one pass of the model before its update serves both. Policy and
    critics make `rounds` of `settings.sac_steps` updates each.
    """
    rate = jnp.float32(learning_rate)
    drawn = draw_episodes(state.model, buffer, settings, rng)
    state, model_loss = update_model(state, model_batches(drawn, settings, rng), rate, settings)
    if settings.score_again:
        drawn = drawn.scored_by(state.model)
    rewarded, metrics = reward_episodes(drawn, settings, settings.discount(learning_rate))
    metrics |= {"model_loss": float(model_loss)} | state.model.metrics
    for i in range(rounds):
        k_round = jax.random.fold_in(key, i)
        state, losses = update_sac(state, rewarded.batches(rng), k_round, rate, settings)
        metrics |= {name: float(losses[name]) for name in sorted(losses)}
    return state, metrics


@eqx.filter_jit
def update_model(
    state: LearnerState,
    batches: ModelBatches,
    learning_rate: Float[Array, ""],
    settings: AgentSettings,
) -> tuple[LearnerState, Float[Array, ""]]:
    """An update of the skill model for every batch, and the mean loss.

    `learning_rate` is that of policy and critics now; where it has fallen, the model's has
    fallen in proportion.
    """
    share = learning_rate / settings.learning_rate
    optimiser_of = state.model.optimiser(settings)

    def step(carry: Any, batch: ModelBatches) -> tuple[Any, Any]:
        model, optimiser = carry
        loss, gradient = eqx.filter_value_and_grad(lambda m: m.loss(*batch))(model)
        model, optimiser = sac.descend(model, gradient, optimiser, optimiser_of, share)
        if settings.board_decay:
            model = model.forget_board(share * settings.board_decay)
        return (model, optimiser), loss

    (model, optimiser), losses = sac.scan(step, (state.model, state.model_optimiser), batches)
    return replace(state, model=model, model_optimiser=optimiser), losses.mean()


@eqx.filter_jit
def update_sac(
    state: LearnerState,
    batches: SACBatches,
    key: Array,
    learning_rate: Float[Array, ""],
    settings: AgentSettings,
) -> tuple[LearnerState, dict[str, Float[Array, ""]]]:
    """An update of policy and critics for every batch, then one of the averages.

    In the beginning the averages are those of all rounds, not to be held back by the first; in
    long runs they reach back further. Where the learning rate has fallen, the entropy weight has by
    the power `alpha_fall` of that.
    """
    share = learning_rate / settings.learning_rate
    alpha = share**settings.alpha_fall * settings.alpha
    onehot = jax.nn.one_hot(batches.skills, state.model.num_skills)
    transitions = sac.Transitions(
        jnp.concatenate([state.scale(batches.observations), onehot], -1),
        batches.actions,
        batches.rewards,
        jnp.concatenate([state.scale(batches.next_observations), onehot], -1),
        batches.discounts,
    )
    learned, metrics = sac.updates(state.sac, transitions, key, learning_rate, alpha, settings.tau)
    now = (learned.policy, state.model)
    rounds = state.rounds + 1
    rate: Any = settings.average_rate
    if rate < 1:
        rate = jnp.maximum(jnp.minimum(rate, 1 / (AVERAGED * rounds)), 1 / rounds)
    average = sac.move_towards(state.average, now, rate)
    return replace(state, sac=learned, average=average, rounds=rounds), metrics


def epoch_key(seed: int, purpose: Purpose, epoch: int) -> Array:
    """The key of a purpose in an epoch of a run."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), purpose), epoch)
