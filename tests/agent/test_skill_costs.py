"""What skills cost and how reliable they are, counted by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from tests.agent.test_effects import flipping

from seads.agent.buffer import Episodes
from seads.agent.skill_costs import TRIED, skill_statistics
from seads.agent.skill_model import Discriminator, NetworkForwardModel


def test_counts_by_hand() -> None:
    # zeros say that no bit flips: an episode succeeds where nothing changed
    model = jax.tree.map(jnp.zeros_like, NetworkForwardModel(1, 3, (2,), jax.random.key(0)))
    episodes = Episodes(
        observations=np.zeros((5, 11, 1), np.float32),
        actions=np.zeros((5, 10, 1), np.float32),
        lengths=np.array([2, 4, 9, 3, 10]),
        skills=np.array([0, 0, 0, 2, 2]),
        before=np.zeros((5, 1), bool),
        after=np.array([[False], [False], [True], [True], [True]]),
        moves=np.full(5, -1),
        disturbed=np.arange(5) == 4,  # which says nothing of skill 2
    )
    assert skill_statistics(model, episodes) == [
        {
            "skill": 0,
            "episodes": 3,
            "steps": 5.0,
            "success": 0.6,
            "own": False,
        },  # (2 + 1) / (3 + 2)
        {
            "skill": 1,
            "episodes": 0,
            "steps": 9.0,
            "success": 0.5,
            "own": False,
        },  # as slow as the slowest
        {"skill": 2, "episodes": 1, "steps": 3.0, "success": 0.3333, "own": False},
    ]
    discriminator = Discriminator(1, 3, (2,), jax.random.key(0))
    assert skill_statistics(discriminator, episodes) == []


def test_what_a_skill_needs_and_what_it_is_worth_where_it_has_it() -> None:
    """It flips bit 0 while bit 2 is set; of late, among the newest, it misses now and then."""
    before = np.random.default_rng(0).random((100, 3)) < 0.5
    could = np.flatnonzero(before[:, 2])
    works = before[:, 2].copy()
    works[could[:3]] = False  # of the newest ten that could
    works[could[TRIED : TRIED + 5]] = False  # older ones, which say nothing any more
    episodes = Episodes(
        observations=np.zeros((100, 2, 1), np.float32),
        actions=np.zeros((100, 1, 1), np.float32),
        lengths=np.ones(100, np.int64),
        skills=np.zeros(100, np.int64),
        before=before,
        after=before ^ (works[:, None] & [True, False, False]),
        moves=np.full(100, -1),
        disturbed=np.zeros(100, bool),
    )
    first, other = skill_statistics(flipping([[0], [1]]), episodes)
    assert (first["episodes"], first["success"], first["own"]) == (TRIED, 0.6667, True)  # 8 / 12
    assert first["needs"] == [(2, True)]
    assert "needs" not in other
