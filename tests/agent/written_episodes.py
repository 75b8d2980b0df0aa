"""Episodes written by hand, and the batches that are drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from seads.agent.batches import (
    ModelBatches,
    SACBatches,
    draw_episodes,
    model_batches,
    reward_episodes,
)
from seads.agent.buffer import EpisodeBuffer, Episodes
from seads.agent.learner import Shapes
from seads.agent.settings import AgentSettings

SHAPES = Shapes(observation_size=6, action_size=1, num_bits=3, num_skills=2)
STEPS = 4


def hand_written(lengths: list[int], changed: bool, seed: int = 0) -> Episodes:
    """Observation t of episode i is [i, t, symbol, time left]; its action [i + t / 10]."""
    count = len(lengths)
    number = np.arange(count, dtype=np.float32)
    time = np.arange(STEPS + 1, dtype=np.float32)
    before = np.random.default_rng(seed).random((count, 3)) < 0.5
    symbol = np.broadcast_to(before[:, None], (count, STEPS + 1, 3)).astype(np.float32)
    body = np.stack(np.broadcast_arrays(number[:, None], time), -1)
    left = np.broadcast_to((1 - time / STEPS)[:, None], (count, STEPS + 1, 1))
    return Episodes(
        observations=np.concatenate([body, symbol, left], -1),
        actions=(number[:, None] + time[:-1] / 10)[..., None].astype(np.float32),
        lengths=np.array(lengths),
        skills=np.arange(count) % 2,
        before=before,
        after=before ^ np.array([changed, False, False]),
        moves=np.full(count, -1),
        disturbed=np.zeros(count, bool),
    )


def filled(episodes: Episodes, newest: int | None = None) -> EpisodeBuffer:
    buffer = EpisodeBuffer(episodes, len(episodes), newest or len(episodes), 3, balanced=False)
    buffer.add(episodes)
    return buffer


def draw_batches(
    model: Any, buffer: EpisodeBuffer, settings: AgentSettings
) -> tuple[ModelBatches, SACBatches, dict[str, float]]:
    """All that an epoch learns from, scored once."""
    rng = np.random.default_rng(0)
    drawn = draw_episodes(model, buffer, settings, rng)
    for_model = model_batches(drawn, settings, rng)
    rewarded, metrics = reward_episodes(drawn, settings, settings.gamma)
    return for_model, rewarded.batches(rng), metrics
