"""A free skill that has an effect to learn may try in vain, and does not become what it copies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from tests.agent.test_effects import flipping
from tests.agent.written_episodes import draw_batches, filled, hand_written
from tests.tiny_settings import VIC

from seads.agent.batches import draw_episodes, reward_episodes
from seads.agent.buffer import EpisodeBuffer
from seads.agent.ownership import FREE, better_skills_do, has_one_to_learn
from seads.agent.scoring import expected_after
from seads.agent.settings import AgentSettings
from seads.errors import SeadsError

Tiny = Callable[..., AgentSettings]

BOARDS = np.array([[False, False, False], [True, True, False]])


def test_what_is_expected_flips_the_likeliest_bits() -> None:
    model = flipping([[0], [1, 2]])
    after = expected_after(model, BOARDS, np.array([1, 0]))
    assert after.tolist() == [[False, True, True], [False, True, False]]


def to_learn(rows: list[list[int]], success: list[float]) -> list[bool]:
    """For each skill of a model, whether it has one to learn."""
    skills = np.arange(len(rows))
    before = np.repeat(BOARDS[:1], len(rows), 0)
    return has_one_to_learn(flipping(rows), before, skills, np.array(success)).tolist()


def test_a_free_skill_has_to_learn_what_no_better_one_does() -> None:
    assert to_learn([[0], [1]], [0.9, 0.1]) == [False, True], "a skill that works has learned"
    assert to_learn([[0], [0]], [0.4, 0.1]) == [True, False], "of two alike, the better one"
    assert to_learn([[0], []], [0.9, 0.1]) == [False, False], "nothing is no effect"
    assert to_learn([[0], [1]], [FREE, FREE]) == [False, False]


def test_better_skills_are_those_that_succeed_more_often() -> None:
    likelihoods = np.log([[0.6, 0.9], [0.6, 0.9], [0.4, 0.9]])
    skills, success = np.array([1, 0, 1]), np.array([0.8, 0.3])
    assert better_skills_do(likelihoods, skills, success).tolist() == [True, False, False]


def half_learned(changed: bool) -> EpisodeBuffer:
    """Skill 0 flips bit 0, always. Skill 1 is to flip bit 1, and flips nothing or bit 0, too."""
    episodes = hand_written([1] * 64, changed)
    buffer = filled(episodes)
    works = episodes.skills == 0
    episodes.after[works] = episodes.before[works] ^ [True, False, False]
    for name in ("before", "after"):
        getattr(buffer.stored, name)[:] = getattr(episodes, name)
    return buffer


@pytest.mark.parametrize("free_tries", [True, False])
def test_trying_in_vain_costs_nothing_while_there_is_something_to_learn(
    tiny: Tiny, free_tries: bool
) -> None:
    settings = tiny(free_tries=free_tries, sampled_episodes=0, relabel_sac=0.0)
    drawn = draw_episodes(
        flipping([[0], [1]]), half_learned(False), settings, np.random.default_rng(0)
    )
    assert drawn.success.tolist() == [1.0, 0.0]
    rewarded, _ = reward_episodes(drawn, settings, 0.99)
    vain = rewarded.rewards[drawn.episodes.skills == 1]
    assert vain == pytest.approx(0.0 if free_tries else -2 * np.log(2))
    nothing_to_learn = draw_episodes(
        flipping([[0], []]), half_learned(False), settings, np.random.default_rng(0)
    )
    assert not nothing_to_learn.excused.any()


@pytest.mark.parametrize("free_tries", [True, False])
def test_a_skill_does_not_become_what_it_copies(tiny: Tiny, free_tries: bool) -> None:
    """Its labels would be kept half of the time: it does as expected in a quarter of its tries."""
    buffer = half_learned(True)
    mine = np.flatnonzero(buffer.stored.skills == 1)
    sometimes = mine[: len(mine) // 4]
    buffer.stored.after[sometimes] = buffer.stored.before[sometimes] ^ [False, True, False]
    settings = tiny(free_tries=free_tries, honest_labels=1.0, sampled_episodes=0, relabel_model=1.0)
    drawn = draw_episodes(flipping([[0], [1]]), buffer, settings, np.random.default_rng(0))
    kept = ~drawn.may_relabel_model
    copies = (drawn.episodes.skills == 1) & ~np.isin(np.arange(len(kept)), sometimes)
    assert bool(kept[copies].any()) is not free_tries
    assert kept[sometimes].any()
    assert kept[drawn.episodes.skills == 0].all()


def test_nothing_else_changes(tiny: Tiny) -> None:
    """Where every skill works, or has nothing to learn, batches are as without the rule."""
    buffer = filled(hand_written([1] * 8, changed=True))
    model = flipping([[0], [0]])
    settings = tiny(free_tries=True)
    plain = dataclasses.replace(settings, free_tries=False)
    with_rule, without = (draw_batches(model, buffer, one) for one in (settings, plain))
    for one, other in zip(with_rule[:2], without[:2], strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_discriminator_expects_nothing(tiny: Tiny) -> None:
    with pytest.raises(SeadsError, match="free_tries=True; allowed: False with algorithm='vic'"):
        tiny(**VIC | dict(free_tries=True))
