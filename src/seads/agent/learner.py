"""The SEADS learner: one epoch from stored episodes to a better policy and skill model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from seads.agent import sac
from seads.agent.buffer import EpisodeBuffer, Episodes
from seads.agent.networks import SkillPolicy, make_critics, make_policy
from seads.agent.optimisers import ADAM
from seads.agent.relabel import relabel
from seads.agent.reward import clipped_posterior, skill_reward
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import Discriminator, ForwardModel, NetworkForwardModel, make_model
from seads.envs.interface import symbol_columns


class LearnerState(eqx.Module):
    """All that learning changes, as one pytree."""

    sac: sac.SACState
    model: ForwardModel | Discriminator
    model_optimiser: Any
    average: tuple[SkillPolicy, ForwardModel | Discriminator]
    """Policy and model averaged over epochs: steadier than they are, and what is shipped."""


class Batches(NamedTuple):
    """An epoch's material: a leading axis of update steps, drawn on the host."""

    before: Bool[Array, "model_steps model_batch bits"]
    model_skills: Int[Array, "model_steps model_batch"]
    after: Bool[Array, "model_steps model_batch bits"]
    observations: Float[Array, "sac_steps sac_batch obs"]
    next_observations: Float[Array, "sac_steps sac_batch obs"]
    actions: Float[Array, "sac_steps sac_batch act"]
    rewards: Float[Array, "sac_steps sac_batch"]
    discounts: Float[Array, "sac_steps sac_batch"]
    sac_skills: Int[Array, "sac_steps sac_batch"]


@dataclass(frozen=True)
class Shapes:
    """What of an environment the networks must fit."""

    observation_size: int
    action_size: int
    num_bits: int
    num_skills: int


def initial_state(shapes: Shapes, settings: AgentSettings, seed: int) -> LearnerState:
    """Fresh networks and optimisers."""
    k_policy, k_critics, k_model = jax.random.split(jax.random.key(seed), 3)
    inputs = shapes.observation_size + shapes.num_skills
    symbol = symbol_columns(shapes.observation_size, shapes.num_bits)
    unseen = (0, 0) if settings.policy_sees_symbol else symbol
    policy = make_policy(inputs, shapes.action_size, settings.hidden, k_policy, unseen)
    critics = make_critics(
        inputs,
        shapes.action_size,
        settings.hidden,
        k_critics,
        settings.layer_norm,
        settings.critics,
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
        sac.make_state(policy, critics, ADAM),
        model,
        model.optimiser.init(eqx.filter(model, eqx.is_array)),
        jax.tree.map(jnp.copy, (policy, model)),
    )


@eqx.filter_jit
def evidence(
    model: ForwardModel | Discriminator,
    before: Bool[Array, "n bits"],
    after: Bool[Array, "n bits"],
) -> tuple[Float[Array, "n skills"], Float[Array, "n"]]:
    """The model's view of some transitions, compiled for a few sizes of n."""
    return model.evidence(before, after)


@eqx.filter_jit
def learn(
    state: LearnerState,
    batches: Batches,
    key: Array,
    learning_rate: Float[Array, ""],
    settings: AgentSettings,
) -> tuple[LearnerState, dict[str, Float[Array, ""]]]:
    """All updates of an epoch: the skill model's, then soft actor-critic's, then the average.

    `learning_rate` is that of policy and critics now. Where it has fallen, the model's has
    fallen in proportion, and the entropy weight by the power `alpha_fall` of that.
    """
    share = learning_rate / settings.learning_rate
    model_rate = share * settings.rate_of_model
    alpha = share**settings.alpha_fall * settings.alpha

    def model_step(carry: Any, batch: Any) -> tuple[Any, Any]:
        model, optimiser = carry
        loss, gradient = eqx.filter_value_and_grad(lambda m: m.loss(*batch))(model)
        model, optimiser = sac.descend(model, gradient, optimiser, model.optimiser, model_rate)
        if settings.board_decay and isinstance(model, NetworkForwardModel):
            model = model.forget_board(share * settings.board_decay)
        return (model, optimiser), loss

    (model, model_optimiser), model_loss = scan(
        model_step,
        (state.model, state.model_optimiser),
        (batches.before, batches.model_skills, batches.after),
    )

    num_skills = state.model.num_skills

    def sac_step(carry: sac.SACState, inputs: Any) -> tuple[sac.SACState, Any]:
        observations, next_observations, actions, rewards, discounts, skills, noise = inputs
        onehot = jax.nn.one_hot(skills, num_skills)
        transitions = sac.Transitions(
            jnp.concatenate([observations, onehot], -1),
            actions,
            rewards,
            jnp.concatenate([next_observations, onehot], -1),
            discounts,
        )
        return sac.update(carry, transitions, noise, ADAM, learning_rate, alpha, settings.tau)

    steps, batch, action_size = batches.actions.shape
    noise = jax.random.normal(key, (steps, 2, batch, action_size))
    sac_state, sac_metrics = scan(sac_step, state.sac, (*batches[3:], noise))

    average = sac.move_towards(state.average, (sac_state.policy, model), settings.average_rate)
    metrics = {name: value.mean() for name, value in sac_metrics._asdict().items()}
    metrics["model_loss"] = model_loss.mean()
    return LearnerState(sac_state, model, model_optimiser, average), metrics


def scan(step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any) -> tuple[Any, Any]:
    """`jax.lax.scan` for a carry that holds modules with static fields."""
    arrays, static = eqx.partition(carry, eqx.is_array)

    def array_step(arrays: Any, x: Any) -> tuple[Any, Any]:
        carry, y = step(eqx.combine(arrays, static), x)
        return eqx.filter(carry, eqx.is_array), y

    arrays, ys = jax.lax.scan(array_step, arrays, xs)
    return eqx.combine(arrays, static), ys


def score(
    model: ForwardModel | Discriminator, episodes: Episodes, block: int = 128
) -> tuple[Float[np.ndarray, "episodes skills"], Float[np.ndarray, "episodes"]]:
    """`evidence` for every episode; a transition that occurs twice is computed once.

    Padded to a multiple of `block`, so that only a few sizes are ever compiled.
    """
    packed = np.packbits(np.concatenate([episodes.before, episodes.after], 1), axis=1)
    keys = packed.view([("", f"V{packed.shape[1]}")])[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    padded = np.resize(first, -(-len(first) // block) * block)
    posterior, novelty = evidence(model, episodes.before[padded], episodes.after[padded])
    return np.asarray(posterior)[inverse], np.asarray(novelty)[inverse]


def draw_batches(
    model: ForwardModel | Discriminator,
    buffer: EpisodeBuffer,
    settings: AgentSettings,
    rng: np.random.Generator,
) -> tuple[Batches, dict[str, float]]:
    """Draw, score, relabel and reward episodes, and cut them into an epoch's batches.

    One pass of the skill model serves both relabellings and the reward.
    """
    assert buffer.stored is not None
    newest = buffer.newest()
    drawn = buffer.sample(settings.sampled_episodes * (1 if settings.shared_sample else 2), rng)
    slots = np.concatenate([newest, drawn])
    episodes = buffer.stored.pick(slots)
    posterior, novelty = score(model, episodes)
    clipped = clipped_posterior(posterior)
    changed = episodes.changed
    num_skills = posterior.shape[1]
    buffer.classify(slots, np.where(changed, posterior.argmax(1), num_skills))

    for_model = np.arange(len(newest) + settings.sampled_episodes)
    for_sac = for_model.copy()
    if not settings.shared_sample:
        for_sac[len(newest) :] += settings.sampled_episodes

    model_skills = relabel(
        clipped[for_model],
        episodes.skills[for_model],
        rng.random(len(for_model)) < settings.relabel_model,
    )
    eligible = (rng.random(len(for_sac)) < settings.relabel_sac) & changed[for_sac]
    sac_skills = relabel(clipped[for_sac], episodes.skills[for_sac], eligible)
    rewards = skill_reward(
        posterior[for_sac],
        novelty[for_sac],
        sac_skills,
        changed[for_sac],
        second_best=settings.second_best,
        novelty_bonus=settings.novelty_bonus,
        clip_novelty=settings.clip_novelty,
    )

    teaches = np.arange(len(for_model))
    explained = explained_by_another(
        posterior[for_model], novelty[for_model], model_skills, also_new=settings.surprise
    )
    kept = model_skills == episodes.skills[for_model]
    if settings.skip_explained:
        honest = kept & (settings.relabel_model < 1)
        worth = np.flatnonzero((~explained | honest) & changed[for_model])
        teaches = worth if len(worth) else teaches
    size = (settings.model_steps, settings.model_batch)
    if settings.surprise:
        surprise = -log_likelihood(posterior[for_model], novelty[for_model], model_skills)
        # what another skill explains is most often a slip of the policy: heard, but not first
        surprise = np.where(explained, np.minimum(surprise, 0.25), surprise)
        pick = draw_surprising(teaches, surprise[teaches], size, rng)
    else:
        pick = teaches[rng.integers(len(teaches), size=size)]
    episode, step = draw_transitions(
        episodes.lengths[for_sac], (settings.sac_steps, settings.sac_batch), rng
    )
    left = episodes.lengths[for_sac][episode] - step
    ahead = np.minimum(left, settings.n_step)
    ended = ahead == left
    # the reward comes with the last step: seen from here it is discounted by the steps between
    returns = np.where(ended, settings.gamma ** (ahead - 1) * rewards[episode], 0.0)
    discounts = np.where(ended, 0.0, settings.gamma**ahead)
    batches = Batches(
        episodes.before[for_model][pick],
        model_skills[pick],
        episodes.after[for_model][pick],
        episodes.observations[for_sac[episode], step],
        episodes.observations[for_sac[episode], step + ahead],
        episodes.actions[for_sac[episode], step],
        returns.astype(np.float32),
        discounts.astype(np.float32),
        sac_skills[episode],
    )
    recent = slice(0, len(newest))
    as_meant = posterior[recent].argmax(1) == episodes.skills[recent]
    return batches, {
        "reward": float(rewards.mean()),
        "changed": float(changed[recent].mean()),
        "skill_success": float((as_meant & changed[recent]).mean()),
        "novelty": float(novelty[for_sac][changed[for_sac]].mean()) if changed.any() else 0.0,
        "relabelled": float((sac_skills != episodes.skills[for_sac]).mean()),
    }


def explained_by_another(
    posterior: Float[np.ndarray, "episodes skills"],
    novelty: Float[np.ndarray, "episodes"],
    skills: Int[np.ndarray, "episodes"],
    also_new: bool = False,
) -> Bool[np.ndarray, "episodes"]:
    """Where an effect is known (likelier than 1/K), and as another skill's twice as well.

    Relabelling has to hand such an episode a skill it does not belong to when its own is used
    up; learned from, it would teach the model noise. Effects that no skill explains yet are
    not among these: a free skill must be able to take them up. With `also_new` they are, if
    the skill is further behind than the reward's clipping at -2 log K: then it is a known effect
    on an unusual board, and not for a free skill.
    """
    behind = posterior.max(1) - np.take_along_axis(posterior, skills[:, None], 1)[:, 0]
    log_k = np.log(posterior.shape[1])
    explained = (novelty < log_k) & (behind > np.log(2))
    return explained | (behind > 2 * log_k) if also_new else explained


def log_likelihood(
    posterior: Float[np.ndarray, "episodes skills"],
    novelty: Float[np.ndarray, "episodes"],
    skills: Int[np.ndarray, "episodes"],
) -> Float[np.ndarray, "episodes"]:
    """log q(z_T | z_0, k) of each episode's skill, from the two that `score` gives."""
    own = np.take_along_axis(posterior, skills[:, None], 1)[:, 0]
    return own - posterior.max(1) - novelty


def draw_surprising(
    episodes: Int[np.ndarray, "episodes"],
    surprise: Float[np.ndarray, "episodes"],
    size: tuple[int, ...],
    rng: np.random.Generator,
) -> Int[np.ndarray, "*size"]:
    """Episodes in proportion to how little the model expected them, within bounds.

    What it knows is drawn now and then; one effect that it cannot explain does not fill a batch.
    """
    weights = 0.01 + np.clip(surprise, 0.0, 5.0)
    ends = np.cumsum(weights, dtype=np.float64)
    return episodes[np.searchsorted(ends, rng.random(size) * ends[-1], side="right")]


def draw_transitions(
    lengths: Int[np.ndarray, "episodes"], shape: tuple[int, ...], rng: np.random.Generator
) -> tuple[Int[np.ndarray, "*shape"], Int[np.ndarray, "*shape"]]:
    """Uniform over all transitions: the episode and the step of each."""
    ends = np.cumsum(lengths)
    flat = rng.integers(ends[-1], size=shape)
    episode = np.searchsorted(ends, flat, side="right")
    return episode, flat - (ends - lengths)[episode]
