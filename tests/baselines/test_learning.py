"""Both baselines solve nine of ten boards of 2×2 LightsOut: minutes on one core."""

from __future__ import annotations

from typing import Any

import pytest

from seads.baselines.agent import BaselineAgent
from seads.baselines.settings import HACSettings, SACSettings
from seads.evaluation.baselines import measure_baseline
from seads.training.algorithms import make_trainer
from seads.training.config import TrainConfig

# the paper's preset but for smaller networks and more updates, which a small board can do with
SMALL: dict[str, Any] = {
    "sac": SACSettings(hidden=(128, 128), updates=4.0),
    "hac": HACSettings(hidden=(64, 64), batch=128, updates=128.0, learning_rate=1e-3),
}
BUDGET = {"sac": 24_000, "hac": 60_000}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["sac", "hac"])
def test_a_baseline_solves_small_boards(algorithm: str) -> None:
    settings = SMALL[algorithm]
    config = TrainConfig(
        "lightsout-cursor-2x2", settings, env_steps=BUDGET[algorithm], coverage_every=0
    )
    trainer = make_trainer(config)
    progress = trainer.begin()
    while progress.env_steps < config.env_steps:
        progress, _ = trainer.epoch(progress)
    agent = trainer.agent(progress, {})
    assert isinstance(agent, BaselineAgent)
    found = measure_baseline(agent, None, 20, "test", 0).to_json()
    trainer.close()
    print(algorithm, progress.env_steps, found["success"], found["by_depth"])
    assert found["success"] >= 0.9
