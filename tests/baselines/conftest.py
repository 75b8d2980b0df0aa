"""Tiny baselines: an epoch takes milliseconds, yet everything of a real run happens in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from seads.agent.settings import changes as settings_of
from seads.baselines.settings import KINDS
from seads.jax_setup import prepare_jax
from seads.training.config import TrainConfig

prepare_jax()

TINY: dict[str, dict[str, Any]] = {
    "sac": dict(hidden=[16], batch=8, warmup_transitions=40, replay_transitions=300, num_envs=3),
    "hac": dict(
        hidden=[16],
        batch=8,
        updates=3.0,
        warmup_transitions=150,
        replay_transitions=300,
        episodes_per_epoch=3,
    ),
}


@pytest.fixture(scope="session")
def tiny_baseline() -> Callable[..., TrainConfig]:
    """`tiny_baseline("sac", alpha=0.2, seed=1)`: a short run with some settings changed."""

    def make(algorithm: str, **changes: Any) -> TrainConfig:
        kind = KINDS[algorithm]
        names = {field.name for field in dataclasses.fields(kind)}
        agent = {name: changes.pop(name) for name in names & changes.keys()}
        run: dict[str, Any] = dict(
            env="lightsout-cursor-2x2",
            env_steps=1000,
            log_every=1,
            checkpoint_every=5,
            coverage_every=0,
        )
        settings = kind(**settings_of(TINY[algorithm] | agent, kind))
        return TrainConfig(**run | changes, settings=settings)

    return make
