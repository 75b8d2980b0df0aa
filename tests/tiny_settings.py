"""Settings so small that a whole epoch of learning takes milliseconds."""

from __future__ import annotations

import dataclasses
from typing import Any

from seads.agent.presets import preset
from seads.agent.settings import AgentSettings

TINY: dict[str, Any] = dict(
    hidden=(16, 16),
    sac_steps=2,
    sac_batch=8,
    model_hidden=(16,),
    model_steps=3,
    model_batch=8,
    episodes_per_epoch=8,
    recent_episodes=16,
    buffer_episodes=32,
    sampled_episodes=16,
)
"""Sizes only: what else a test depends on, it says."""


VIC: dict[str, Any] = dict(
    algorithm="vic",
    model="network",
    novelty_bonus=False,
    surprise=False,
    skip_explained=False,
    weaker_rivals=True,
    free_tries=False,
)
"""What VIC cannot have of the preset default, taken back."""


def tiny_settings(**changes: Any) -> AgentSettings:
    """The preset default, but tiny, with some of it changed."""
    return dataclasses.replace(preset("default"), **TINY | changes)
