"""An epoch's material, drawn on the host: episodes scored, relabelled and cut into batches."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from seads.agent.buffer import EpisodeBuffer, Episodes
from seads.agent.ownership import (
    FREE,
    KNOWN,
    better_skills_do,
    explained_by_another,
    has_one_to_learn,
    on_unusual_boards,
    rivals_of,
)
from seads.agent.relabel import relabel
from seads.agent.reward import clipped_posterior, skill_reward
from seads.agent.scoring import likelihoods_from_evidence, score
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import Discriminator, ForwardModel


class ModelBatches(NamedTuple):
    """What the skill model learns from, with a leading axis of update steps."""

    before: Bool[np.ndarray, "steps batch bits"]
    skills: Int[np.ndarray, "steps batch"]
    after: Bool[np.ndarray, "steps batch bits"]


class SACBatches(NamedTuple):
    """What policy and critics learn from, with a leading axis of update steps."""

    observations: Float[np.ndarray, "steps batch obs"]
    next_observations: Float[np.ndarray, "steps batch obs"]
    actions: Float[np.ndarray, "steps batch act"]
    rewards: Float[np.ndarray, "steps batch"]
    discounts: Float[np.ndarray, "steps batch"]
    skills: Int[np.ndarray, "steps batch"]


@dataclass(frozen=True)
class Drawn:
    """Episodes of an epoch, the newest first, and what the skill model makes of them."""

    episodes: Episodes
    num_newest: int
    """How many of the episodes are the newest, and not drawn."""
    for_model: Int[np.ndarray, "m"]
    """Which of them the skill model learns from,"""
    for_sac: Int[np.ndarray, "s"]
    """and which policy and critics."""
    may_relabel_model: Bool[np.ndarray, "m"]
    """Which of each may be relabelled."""
    may_relabel_sac: Bool[np.ndarray, "s"]
    posterior: Float[np.ndarray, "episodes skills"]
    novelty: Float[np.ndarray, "episodes"]
    success: Float[np.ndarray, "skills"]
    """How often each skill did lately what the model takes for its own."""
    excused: Bool[np.ndarray, "episodes"]
    """Where nothing changed, by a skill that cannot make its effect yet (`free_tries`)."""

    @property
    def likelihoods(self) -> Float[np.ndarray, "episodes skills"]:
        """log q(z_T | z_0, k) of every skill."""
        return likelihoods_from_evidence(self.posterior, self.novelty)

    def scored_by(self, model: ForwardModel | Discriminator) -> Drawn:
        """The same with the episodes of policy and critics as another model sees them."""
        posterior, novelty = self.posterior.copy(), self.novelty.copy()
        index = self.for_sac
        scores = score(model, self.episodes.before[index], self.episodes.after[index])
        posterior[index], novelty[index] = scores
        return dataclasses.replace(self, posterior=posterior, novelty=novelty)


def draw_episodes(
    model: ForwardModel | Discriminator,
    buffer: EpisodeBuffer,
    settings: AgentSettings,
    rng: np.random.Generator,
) -> Drawn:
    """The newest episodes and a sample of all, scored; the buffer is told their effects."""
    newest, count = buffer.newest(), settings.sampled_episodes
    slots = np.concatenate(
        [newest, buffer.sample(count if settings.shared_sample else 2 * count, rng)]
    )
    episodes = buffer.stored.pick(slots)
    for_model = np.arange(len(newest) + count)
    for_sac = for_model.copy()
    if not settings.shared_sample:
        for_sac[len(newest) :] += count

    # where soft actor-critic's are scored again, there is no need to before the model's update
    now = for_model if settings.score_again else np.arange(len(slots))
    posterior = np.zeros((len(slots), model.num_skills), np.float32)
    novelty = np.zeros(len(slots), np.float32)
    posterior[now], novelty[now] = score(model, episodes.before[now], episodes.after[now])
    likely = np.where(episodes.changed, posterior.argmax(1), model.num_skills)
    buffer.classify(slots[now], likely[now])
    success = buffer.success(model.num_skills)
    copies, excused = tries(model, episodes, posterior, novelty, success, settings)

    reliable = np.minimum(success / FREE, 1.0)
    # only what a skill did lately, and undisturbed, tells what it does; and not what it copies
    tells = (for_model < len(newest)) & ~(episodes.disturbed | copies)[for_model]
    honest = settings.honest_labels * tells * reliable[episodes.skills[for_model]]
    may_relabel_model = rng.random(len(for_model)) < settings.relabel_model - honest
    may_relabel_sac = (rng.random(len(for_sac)) < settings.relabel_sac) & episodes.changed[for_sac]
    return Drawn(
        episodes,
        len(newest),
        for_model,
        for_sac,
        may_relabel_model,
        may_relabel_sac,
        posterior,
        novelty,
        success,
        excused,
    )


def tries(
    model: ForwardModel | Discriminator,
    episodes: Episodes,
    posterior: Float[np.ndarray, "episodes skills"],
    novelty: Float[np.ndarray, "episodes"],
    success: Float[np.ndarray, "skills"],
    settings: AgentSettings,
) -> tuple[Bool[np.ndarray, "episodes"], Bool[np.ndarray, "episodes"]]:
    """Where a skill that has an effect to learn did what a better one does; where it did nothing.

    Neither is what it is for: the first must not turn it into a copy, nor the second keep
    it from trying.
    """
    copies = excused = np.zeros(len(episodes), bool)
    if settings.free_tries:
        assert isinstance(model, ForwardModel)  # which the settings see to
        skills, changed = episodes.skills, episodes.changed
        likelihoods = likelihoods_from_evidence(posterior, novelty)
        copied = better_skills_do(likelihoods, skills, success) & changed
        learns = np.zeros(len(episodes), bool)
        asked = copied | ~changed
        learns[asked] = has_one_to_learn(model, episodes.before[asked], skills[asked], success)
        copies, excused = copied & learns, ~changed & learns
    return copies, excused


def model_batches(drawn: Drawn, settings: AgentSettings, rng: np.random.Generator) -> ModelBatches:
    """Batches for the skill model, of the episodes worth learning from."""
    episodes, index = drawn.episodes, drawn.for_model
    posterior, novelty = drawn.posterior[index], drawn.novelty[index]
    changed = episodes.changed[index]
    scores = clipped_posterior(posterior)
    likelihoods = drawn.likelihoods[index]
    effects = number_effects(episodes.before[index] ^ episodes.after[index])
    unsure = (novelty > -np.log(KNOWN)) & changed
    unusual = on_unusual_boards(effects, unsure)
    # `surprise` is about labels, too: what is drawn most must not reach a skill that works already
    works = (drawn.success > FREE) & settings.surprise
    if works.any() and not works.all():
        # a skill that works is what it does: what its model half expects, too, is for a free one
        half = (likelihoods < np.log(KNOWN)) & ~unusual[:, None]
        scores = np.where(half & works, scores.min() - 1.0, scores)
    if settings.skip_explained:
        # what is not learned from takes the labels that are left: a free skill's are few
        scores = np.where(changed[:, None], scores, 0.0)
    skills = relabel(scores, episodes.skills[index], drawn.may_relabel_model)
    explained = explained_by_another(posterior, novelty, skills, works[skills])
    teaches = np.arange(len(index))
    if settings.skip_explained:
        # a label that was left as it was tells what the skill really did, expected or not
        worth = np.flatnonzero((~explained | ~drawn.may_relabel_model) & changed)
        teaches = worth if len(worth) else teaches
    size = (settings.model_steps, settings.model_batch)
    if settings.surprise:
        own = np.take_along_axis(likelihoods, skills[:, None], 1)[:, 0]
        # what another skill explains is most often a slip of the policy: heard, but not first
        surprise = np.where(explained, np.minimum(-own, 0.25), -own)
        often = how_often(effects, unsure & ~unusual)
        pick = draw_surprising(teaches, surprise[teaches], often[teaches], size, rng)
    else:
        pick = teaches[rng.integers(len(teaches), size=size)]
    chosen = index[pick]
    return ModelBatches(episodes.before[chosen], skills[pick], episodes.after[chosen])


@dataclass(frozen=True)
class Rewarded:
    """The episodes of an epoch that policy and critics learn from, relabelled and rewarded."""

    episodes: Episodes
    index: Int[np.ndarray, "s"]
    """Which of them; what follows is of these."""
    skills: Int[np.ndarray, "s"]
    rewards: Float[np.ndarray, "s"]
    settings: AgentSettings
    gamma: float
    """The discount a step now."""

    def batches(self, rng: np.random.Generator) -> SACBatches:
        """A round of batches, of all transitions alike."""
        episodes, settings = self.episodes, self.settings
        lengths = episodes.lengths[self.index]
        pick, step = draw_transitions(lengths, (settings.sac_steps, settings.sac_batch), rng)
        left = lengths[pick] - step
        ahead = np.minimum(left, settings.n_step)
        ended = ahead == left
        # the reward comes with the last step: seen from here it is discounted by the steps between
        returns = np.where(ended, self.gamma ** (ahead - 1) * self.rewards[pick], 0.0)
        discounts = np.where(ended, 0.0, self.gamma**ahead)
        chosen = self.index[pick]
        return SACBatches(
            episodes.observations[chosen, step],
            episodes.observations[chosen, step + ahead],
            episodes.actions[chosen, step],
            returns.astype(np.float32),
            discounts.astype(np.float32),
            self.skills[pick],
        )


def reward_episodes(
    drawn: Drawn, settings: AgentSettings, gamma: float
) -> tuple[Rewarded, dict[str, float]]:
    """What policy and critics learn from, and metrics of the episodes."""
    episodes, index = drawn.episodes, drawn.for_sac
    posterior, novelty = drawn.posterior[index], drawn.novelty[index]
    changed = episodes.changed
    skills = relabel(clipped_posterior(posterior), episodes.skills[index], drawn.may_relabel_sac)
    rewards = skill_reward(
        posterior,
        novelty,
        skills,
        changed[index],
        second_best=settings.second_best,
        excused=drawn.excused[index],
        rivals=None
        if settings.weaker_rivals
        else rivals_of(drawn.likelihoods[index], skills, drawn.success),
        novelty_bonus=settings.novelty_bonus,
        clip_novelty=settings.clip_novelty,
    )
    recent = slice(0, drawn.num_newest)
    as_meant = drawn.posterior[recent].argmax(1) == episodes.skills[recent]
    return Rewarded(episodes, index, skills, rewards, settings, gamma), {
        "reward": float(rewards.mean()),
        "changed": float(changed[recent].mean()),
        "skill_success": float((as_meant & changed[recent]).mean()),
        "novelty": float(novelty[changed[index]].mean()) if changed[index].any() else 0.0,
        "relabelled": float((skills != episodes.skills[index]).mean()),
    }


def number_effects(flips: Bool[np.ndarray, "episodes bits"]) -> Int[np.ndarray, "episodes"]:
    """A number for each set of bits that flipped together."""
    _, which = np.unique(np.packbits(flips, axis=1), axis=0, return_inverse=True)
    return which.ravel()


def how_often(
    effects: Int[np.ndarray, "episodes"], unknown: Bool[np.ndarray, "episodes"]
) -> Float[np.ndarray, "episodes"]:
    """How often there was the same effect, of unknown ones beside the most frequent of these.

    What happened once may never happen again, and must not keep a free skill from what happens.
    """
    often = np.bincount(effects)[effects].astype(np.float64)
    return np.where(unknown, often / often.max(where=unknown, initial=1.0), 1.0)


def draw_surprising(
    episodes: Int[np.ndarray, "episodes"],
    surprise: Float[np.ndarray, "episodes"],
    often: Float[np.ndarray, "episodes"],
    size: tuple[int, ...],
    rng: np.random.Generator,
) -> Int[np.ndarray, "*size"]:
    """Episodes in proportion to how little the model expected them, within bounds.

    What it knows is drawn now and then; one effect that it cannot explain does not fill a batch.
    """
    weights = 0.01 + np.clip(surprise, 0.0, 5.0) * often
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
