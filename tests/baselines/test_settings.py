"""The paper's best settings, fractions of updates, and bad values named in a sentence."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from seads.agent.settings import changes
from seads.baselines.settings import HACSettings, SACSettings, preset, updates_due
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.training.algorithms import ALGORITHMS, make_trainer, settings_kind
from seads.training.config import TrainConfig


@pytest.mark.parametrize(
    ("env", "updates", "alpha"),
    [
        ("lightsout-cursor", 1, 0.1),
        ("tileswap-cursor", 1, 0.1),
        ("lightsout-reacher", 0.5, 0.001),
        ("tileswap-reacher", 0.25, 0.001),
        ("lightsout-jaco", 0.5, 0.0001),
        ("lightsout3d-jaco", 0.5, 0.0001),
        ("tileswap-jaco", 0.5, 0.0001),
    ],
)
def test_sac_preset(env: str, updates: float, alpha: float) -> None:
    settings = preset("sac", "paper", lookup(env))
    assert isinstance(settings, SACSettings)
    assert (settings.updates, settings.alpha) == (updates, alpha)
    assert settings.hidden == (512, 512, 512)
    assert (settings.batch, settings.replay_transitions, settings.steps_per_env) == (256, 10**6, 8)


@pytest.mark.parametrize(
    ("env", "temperature", "low", "high", "horizon"),
    [
        ("lightsout-cursor", 0.1, 0.1, 0.001, 10),
        ("tileswap-cursor", 0.5, 0.5, 0.001, 10),
        ("lightsout-reacher", 0.1, 0.0001, 0.0001, 50),
        ("tileswap-reacher", 0.1, 0.0001, 0.0001, 50),
        ("lightsout-jaco", 0.1, 0.001, 0.001, 50),
        ("tileswap-jaco", 0.1, 0.0001, 0.001, 50),
    ],
)
def test_hac_preset(env: str, temperature: float, low: float, high: float, horizon: int) -> None:
    settings = preset("hac", "paper", lookup(env))
    assert isinstance(settings, HACSettings)
    assert (settings.temperature, settings.alpha_low, settings.alpha_high) == (
        temperature,
        low,
        high,
    )
    assert (settings.horizon_low, settings.hidden) == (horizon, (512, 512))


@pytest.mark.parametrize("settings", [SACSettings(alpha=0.3), HACSettings(horizon_low=4)])
def test_settings_survive_json(settings: Any) -> None:
    read = json.loads(json.dumps(dataclasses.asdict(settings)))
    kind = settings_kind(read["algorithm"])
    assert kind(**changes(read, kind)) == settings


def test_every_algorithm_has_settings_that_name_it() -> None:
    for name in ALGORITHMS:
        kind = settings_kind(name)
        assert kind().algorithm in ALGORITHMS
    with pytest.raises(SeadsError, match="unknown algorithm 'sca'; did you mean 'sac'"):
        settings_kind("sca")


def test_fractions_of_updates_skip_epochs() -> None:
    assert [updates_due(0.25, epoch) for epoch in range(1, 9)] == [0, 0, 0, 1, 0, 0, 0, 1]
    assert [updates_due(1.5, epoch) for epoch in range(1, 5)] == [1, 2, 1, 2]
    assert [updates_due(1.0, epoch) for epoch in range(1, 4)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("kind", "name", "value", "allowed"),
    [
        (HACSettings, "horizon_low", 0, "1 or more"),
        (HACSettings, "horizon_high", -3, "1 or more"),
        (HACSettings, "temperature", 0.0, "above 0"),
        (HACSettings, "subgoal_tests", 1.5, "0 to 1"),
        (HACSettings, "hindsight_goals", -1, "0 or more"),
        (HACSettings, "replay_transitions", 50, "101"),
        (HACSettings, "updates", 0.0, "above 0"),
        (SACSettings, "updates", -0.5, "above 0"),
        (SACSettings, "tau", 0.0, "above 0"),
        (SACSettings, "hidden", (), "positive sizes"),
        (SACSettings, "num_envs", 0, "1 or more"),
        (SACSettings, "warmup_transitions", 1, "above num_envs"),
        (SACSettings, "batch", 0, "1 or more"),
    ],
)
def test_bad_values_are_named(kind: type, name: str, value: Any, allowed: str) -> None:
    with pytest.raises(SeadsError, match=allowed) as raised:
        kind(**{name: value})
    assert str(raised.value).startswith(f"{name}={value!r}; allowed: ")


@pytest.mark.parametrize("algorithm", ["sac", "hac"])
def test_a_run_that_would_never_update_is_refused(
    algorithm: str, tiny_baseline: Callable[..., TrainConfig]
) -> None:
    with pytest.raises(SeadsError, match=r"updates=0\.0001; allowed: .* may never update"):
        make_trainer(tiny_baseline(algorithm, updates=0.0001))


def test_hac_needs_an_end_goal(tiny_baseline: Callable[..., TrainConfig]) -> None:
    with pytest.raises(SeadsError, match="the solved board of 'my:env' is not known"):
        make_trainer(tiny_baseline("hac", env="my:env"))


def test_unknown_presets_are_named() -> None:
    with pytest.raises(SeadsError, match="unknown preset of sac 'default'"):
        preset("sac", "default")
