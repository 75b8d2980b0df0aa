"""What skills cost and how reliable they are, counted by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from seads.agent.buffer import Episodes
from seads.agent.skill_costs import skill_statistics
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
