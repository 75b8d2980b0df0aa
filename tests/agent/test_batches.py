"""What an epoch draws: batches for policy and critics, and what the skill model learns from."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from tests.agent.written_episodes import SHAPES, draw_batches, filled, hand_written

from seads.agent.batches import (
    Drawn,
    draw_episodes,
    draw_surprising,
    draw_transitions,
    how_often,
    model_batches,
    number_effects,
    reward_episodes,
)
from seads.agent.learner import initial_state
from seads.agent.ownership import explained_by_another, on_unusual_boards, rivals_of
from seads.agent.scoring import likelihoods_from_evidence, score
from seads.agent.settings import AgentSettings
from seads.agent.skill_model import ForwardModel

Tiny = Callable[..., AgentSettings]


@pytest.mark.parametrize("n_step", [1, 2, 3, 9])
def test_returns_and_discounts(tiny: Tiny, n_step: int) -> None:
    settings = tiny(
        n_step=n_step, gamma=0.5, sac_steps=5, sac_batch=60, sampled_episodes=0, relabel_sac=0.0
    )
    lengths = [1, 3, 2, 4]
    model = initial_state(SHAPES, settings, 0).model
    # unchanged symbols: every episode's reward is -2 log 2
    buffer = filled(hand_written(lengths, changed=False))
    _, batches, metrics = draw_batches(model, buffer, settings)
    reward = -2 * np.log(2)
    assert metrics["reward"] == pytest.approx(reward)
    assert metrics["changed"] == metrics["skill_success"] == 0
    seen = set()
    for index in np.ndindex(5, 60):
        episode, step = map(int, batches.observations[index][:2])
        seen.add((episode, step))
        end = min(step + n_step, lengths[episode])
        assert batches.next_observations[index][:2].tolist() == [episode, end]
        assert batches.actions[index][0] == pytest.approx(episode + step / 10)
        assert batches.skills[index] == episode % 2
        if end == lengths[episode]:
            assert batches.rewards[index] == pytest.approx(reward * 0.5 ** (end - step - 1))
            assert batches.discounts[index] == 0
        else:
            assert batches.rewards[index] == 0
            assert batches.discounts[index] == pytest.approx(0.5**n_step)
    # 300 draws of 10 transitions: all of them come
    assert seen == {(i, t) for i, length in enumerate(lengths) for t in range(length)}


def test_model_batches_pair_each_board_with_a_skill(tiny: Tiny) -> None:
    settings = tiny(
        relabel_model=0.0, skip_explained=False, sampled_episodes=4, shared_sample=False
    )
    episodes = hand_written([1, 2, 3, 4], changed=True)
    model = initial_state(SHAPES, settings, 0).model
    batches, _, metrics = draw_batches(model, filled(episodes), settings)
    known = {
        (*b.tolist(), *a.tolist(), int(k))
        for b, a, k in zip(episodes.before, episodes.after, episodes.skills, strict=True)
    }
    for index in np.ndindex(batches.skills.shape):
        row = (*batches.before[index].tolist(), *batches.after[index].tolist())
        assert (*row, int(batches.skills[index])) in known
    assert metrics["changed"] == 1


def test_transitions_are_drawn_uniformly() -> None:
    lengths = np.array([1, 3, 6])
    episode, step = draw_transitions(lengths, (200, 100), np.random.default_rng(0))
    share = Counter(zip(episode.ravel().tolist(), step.ravel().tolist(), strict=True))
    assert share.keys() == {(i, t) for i in range(3) for t in range(lengths[i])}
    assert all(abs(count - 2000) < 5 * 2000**0.5 for count in share.values())


def test_what_surprises_is_drawn_in_proportion_within_bounds() -> None:
    episodes, surprise = np.array([7, 8, 9, 10]), np.array([0.0, 0.99, 2.99, 50.0])
    drawn = draw_surprising(episodes, surprise, np.ones(4), (400, 250), np.random.default_rng(0))
    share = np.array([(drawn == episode).mean() for episode in episodes])
    weights = np.array([0.01, 1.0, 3.0, 5.01])
    np.testing.assert_allclose(share, weights / weights.sum(), atol=0.01)


def test_likelihood_of_a_label_from_posterior_and_novelty(tiny: Tiny) -> None:
    model = initial_state(SHAPES, tiny(), 0).model
    assert isinstance(model, ForwardModel)
    episodes = hand_written([1] * 6, changed=True)
    posterior, novelty = score(model, episodes.before, episodes.after)
    expected = model.log_likelihoods(episodes.before, episodes.after)
    np.testing.assert_allclose(likelihoods_from_evidence(posterior, novelty), expected, rtol=1e-4)


def test_surprise_chooses_the_models_episodes(tiny: Tiny) -> None:
    settings = tiny(surprise=True, model_steps=50, model="linear", honest_labels=0.0)
    model = initial_state(SHAPES, settings, 0).model
    episodes = hand_written([1] * 16, changed=True)
    episodes.before[:], episodes.after[:] = False, True
    episodes.after[:8, 0] = False  # of which the model is sure
    drawn = draw_episodes(model, filled(episodes), settings, np.random.default_rng(0))
    drawn = dataclasses.replace(drawn, novelty=np.where(drawn.episodes.after[:, 0], 4.0, 0.01))

    def surprising(chosen: AgentSettings) -> float:
        batches = model_batches(drawn, chosen, np.random.default_rng(1))
        return float(np.asarray(batches.after)[..., 0].mean())

    expected = drawn.episodes.after[drawn.for_model, 0].mean()
    assert surprising(dataclasses.replace(settings, surprise=False)) == pytest.approx(expected, 0.1)
    assert surprising(settings) > 0.9


def test_explained_by_another_skill() -> None:
    posterior = np.log(np.array([[0.98, 0.01, 0.01]] * 4 + [[0.5, 0.3, 0.2]] * 2))
    novelty = np.array([0.1, 0.1, 0.1, 5.0, 0.1, 0.1])  # the fourth effect is known of no skill
    skills = np.array([0, 1, 2, 1, 1, 2])  # the fifth is nearly as likely as the best: kept
    free, taken = np.zeros(6, bool), np.ones(6, bool)
    explained = explained_by_another(posterior, novelty, skills, free)
    assert explained.tolist() == [False, True, True, False, False, True]
    # 0.01 is further behind 0.98 than 1/9
    also = explained_by_another(posterior, novelty, skills, taken)
    assert also.tolist() == [False, True, True, True, False, True]


def test_a_free_skills_labels_are_for_episodes_that_the_model_learns_from(tiny: Tiny) -> None:
    settings = tiny(surprise=True, honest_labels=0.0, relabel_model=1.0, sampled_episodes=0)
    buffer = filled(hand_written([1] * 8, changed=True))
    buffer.stored.after[4:] = buffer.stored.before[4:]
    model = initial_state(SHAPES, settings, 0).model
    drawn = draw_episodes(model, buffer, settings, np.random.default_rng(0))
    # skill 1 is free: that nothing changes looks like it, and so does the unknown effect a little
    posterior = np.log(np.array([[0.8, 0.2]] * 4 + [[0.01, 0.99]] * 4))
    drawn = dataclasses.replace(
        drawn, posterior=posterior, novelty=np.full(8, 5.0), success=np.array([1.0, 0.0])
    )
    batches = model_batches(drawn, settings, np.random.default_rng(1))
    assert (batches.before != batches.after).any(-1).all()
    assert (batches.skills == 1).all()


def test_a_known_effect_on_an_unusual_board_stays_with_its_skill(tiny: Tiny) -> None:
    flips = np.array([[1, 0, 0]] * 5 + [[0, 1, 0]] * 3, bool)
    unsure = np.array([1, 0, 0, 0, 0, 1, 1, 0], bool)
    assert np.flatnonzero(on_unusual_boards(number_effects(flips), unsure)).tolist() == [0]

    settings = tiny(surprise=True, honest_labels=0.0, relabel_model=1.0, sampled_episodes=0)
    model = initial_state(SHAPES, settings, 0).model
    buffer = filled(hand_written([1] * 8, changed=True))
    buffer.stored.after[4:] = buffer.stored.before[4:]
    drawn = draw_episodes(model, buffer, settings, np.random.default_rng(0))
    # skill 0 works and did this in four episodes; on the first board no skill was expected to
    drawn = dataclasses.replace(
        drawn,
        posterior=np.log(np.array([[0.9, 0.1]] * 8)),
        novelty=np.array([3.0] + [0.01] * 3 + [9.0] * 4),
        success=np.array([1.0, 0.0]),
    )
    batches = model_batches(drawn, settings, np.random.default_rng(1))
    first = (batches.before == drawn.episodes.before[0]).all(-1)
    assert first.any()
    assert (batches.skills[first] == 0).all()


def test_the_model_learns_from_changes_only(tiny: Tiny) -> None:
    buffer = filled(hand_written([1, 3, 2, 4] * 4, changed=True))
    buffer.stored.after[::2] = buffer.stored.before[::2]
    for skip, unchanged in ((True, False), (False, True)):
        settings = tiny(skip_explained=skip)
        model = initial_state(SHAPES, settings, 0).model
        batches, *_ = draw_batches(model, buffer, settings)
        assert bool((batches.before == batches.after).all(-1).any()) is unchanged


def test_a_model_hears_what_a_reliable_skill_really_did(tiny: Tiny) -> None:
    """With some labels left as they were, even those teach that the model gives to another.

    Only those of skills that mostly do what the model expects: the others may still become
    anything. And only of late: what it did long ago, or disturbed by noise, says nothing of it.
    """
    episodes = hand_written([1] * 16, changed=True)
    episodes.before[:], episodes.after[:] = False, False
    model = initial_state(SHAPES, tiny(model="linear"), 0).model
    bias = jnp.array([[-9.0, 9.0, -9.0], [9.0, -9.0, -9.0]])  # skill 0 flips bit 1, 1 bit 0
    model = eqx.tree_at(lambda m: m.bias, model, bias)
    episodes.skills[:] = np.arange(16) % 2
    first, last, all_of_them = np.arange(4), np.arange(12, 16), np.arange(16)
    nowhere = np.arange(0)
    for slips, share, disturbed, newest, heard in (
        (last, 0.0, nowhere, 16, False),
        (last, 1.0, nowhere, 16, True),
        (all_of_them, 1.0, nowhere, 16, False),
        (last, 1.0, last, 16, False),
        (last, 1.0, nowhere, 8, True),
        (first, 1.0, nowhere, 8, False),
    ):
        flipped = 1 - episodes.skills
        flipped[slips] = episodes.skills[slips]
        episodes.after[:] = np.eye(3, dtype=bool)[flipped]
        episodes.disturbed[:] = np.isin(all_of_them, disturbed)
        settings = tiny(model="linear", surprise=True, honest_labels=share, model_steps=20)
        batches, *_ = draw_batches(model, filled(episodes, newest), settings)
        unexpected = np.asarray(batches.after)[..., 1] == (np.asarray(batches.skills) == 1)
        assert bool(unexpected.any()) is heard


def test_only_a_free_skill_takes_up_what_nobody_explains(tiny: Tiny) -> None:
    episodes = hand_written([1] * 16, changed=True)
    episodes.before[:], episodes.after[:], episodes.skills[:] = False, False, 0
    episodes.after[:4, 0] = True  # what skill 0 is known for, four times,
    episodes.after[4:, 1:] = True  # then something that looks a little like skill 1's
    settings = tiny(model="linear", surprise=True, honest_labels=0.0, model_steps=20)
    model = initial_state(SHAPES, settings, 0).model
    bias = jnp.array([[9.0, -9.0, -9.0], [9.0, 9.0, -9.0]])
    model = eqx.tree_at(lambda m: m.bias, model, bias)
    drawn = draw_episodes(model, filled(episodes), settings, np.random.default_rng(0))
    for success, taken_up in ((0.9, False), (0.1, True)):
        as_known = dataclasses.replace(drawn, success=np.array([success, 0.9]))
        batches = model_batches(as_known, settings, np.random.default_rng(1))
        assert bool(np.asarray(batches.after)[..., 2].any()) is taken_up


def test_score_computes_each_transition_once_and_right(tiny: Tiny) -> None:
    model = initial_state(SHAPES, tiny(), 0).model
    episodes = hand_written([1] * 50, changed=True)  # at most 8 different boards of 3 bits
    posterior, novelty = score(model, episodes.before, episodes.after)
    expected, surprise = model.evidence(episodes.before, episodes.after)
    np.testing.assert_allclose(posterior, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(novelty, surprise, rtol=1e-5, atol=1e-6)


# the averages are those of all rounds, until these are so many that the rate takes over


def test_what_a_working_skill_half_expects_is_for_a_free_one(tiny: Tiny) -> None:
    """A model that has grown to expect two effects of one skill would else keep both for ever."""
    episodes = hand_written([1] * 16, changed=True)
    half = np.arange(16) < 8
    episodes.before[:], episodes.after[:] = False, False
    episodes.after[half, 0], episodes.after[~half, 1] = True, True
    settings = tiny(model="linear", surprise=True, honest_labels=0.0, model_steps=20)
    model = initial_state(SHAPES, settings, 0).model
    drawn = draw_episodes(model, filled(episodes), settings, np.random.default_rng(0))
    unsure = drawn.episodes.after[:, 0]
    drawn = dataclasses.replace(
        drawn,
        may_relabel_model=np.ones_like(drawn.may_relabel_model),
        posterior=np.where(unsure[:, None], [-0.1, -1.0], [-0.2, -0.9]),
        novelty=np.where(unsure, 1.0, 0.1),
    )
    for others_success, given in ((0.1, True), (0.9, False)):
        as_known = dataclasses.replace(drawn, success=np.array([0.9, others_success]))
        batches = model_batches(as_known, settings, np.random.default_rng(1))
        to_other = np.asarray(batches.skills)[np.asarray(batches.after)[..., 0]] == 1
        assert bool(to_other.any()) is given


def test_of_unknown_effects_the_frequent_ones_come_first() -> None:
    flips = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)
    unknown = np.array([True, True, True, True, True, False])
    assert how_often(number_effects(flips), unknown).tolist() == [1.0, 1.0, 1.0, 1.0, 0.25, 1.0]
    assert how_often(number_effects(flips), np.zeros(6, bool)).tolist() == [1.0] * 6
    often = np.array([1.0, 0.25])
    drawn = draw_surprising(
        np.arange(2), np.array([4.0, 4.0]), often, (400, 250), np.random.default_rng(0)
    )
    assert abs((drawn == 1).mean() - 0.2) < 0.01


def test_weaker_skills_are_no_rivals_for_what_is_expected_of_one(tiny: Tiny) -> None:
    settings = tiny(model="linear")
    model = initial_state(SHAPES, settings, 0).model
    episodes = filled(hand_written([1] * 4, changed=True))
    drawn = draw_episodes(model, episodes, settings, np.random.default_rng(0))
    two = np.arange(2)
    shared = dataclasses.replace(
        drawn,
        for_sac=two,
        may_relabel_sac=np.zeros(2, bool),
        posterior=np.log(np.full_like(drawn.posterior, 0.5)),
        novelty=np.full_like(drawn.novelty, 0.1),  # both expect it with exp(-0.1)
        success=np.array([0.9, 0.4], np.float32),
    )

    def rivals(drawn: Drawn) -> np.ndarray:
        return rivals_of(drawn.likelihoods[:2], two, drawn.success)

    assert rivals(shared).tolist() == [[True, False], [True, True]]
    for count, better_is_paid in ((True, False), (False, True)):
        asked = dataclasses.replace(settings, weaker_rivals=count, novelty_bonus=False)
        better, weaker = reward_episodes(shared, asked, 0.99)[0].rewards
        assert bool(better > weaker) is better_is_paid
    unsure = dataclasses.replace(shared, novelty=np.full_like(drawn.novelty, 1.0))
    assert rivals(unsure).all(), "neither is expected to do it: it is nobody's yet"
    alike = dataclasses.replace(shared, success=np.array([0.9, 0.9], np.float32))
    assert rivals(alike).all()
