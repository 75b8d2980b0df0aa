"""Settings and presets: what is allowed, and what is said where it is not."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.tiny_settings import VIC

from seads.agent.presets import PRESETS, preset
from seads.agent.settings import AgentSettings, changes, described
from seads.baselines.settings import HACSettings, SACSettings
from seads.envs.interface import EnvSpec
from seads.envs.registry import ENVIRONMENTS, lookup
from seads.errors import SeadsError


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("env", ["lightsout-cursor", "tileswap-reacher", "lightsout-jaco", None])
def test_every_preset_constructs_and_survives_json(name: str, env: str | None) -> None:
    settings = preset(name, env and lookup(env), 25)
    read = json.loads(json.dumps(dataclasses.asdict(settings)))
    assert AgentSettings(**changes(read)) == settings


# what the preset default has come to; it changes only on purpose
DEFAULT = dict(
    algorithm="seads",
    num_skills=0,
    hidden=(256, 256),
    layer_norm=False,
    policy_sees_symbol=False,
    scale_observations=True,
    critics=2,
    alpha=0.1,
    entropy_in_action_units=False,
    entropy_share=0.32,
    alpha_fall=2.0,
    gamma_fall=2.0,
    gamma=0.99,
    n_step=4,
    tau=0.005,
    learning_rate=3e-4,
    learning_rate_end=1e-4,
    sac_steps=32,
    updates_per_step=0.16,
    sac_batch=128,
    model="either",
    model_hidden=(256, 256),
    model_learning_rate=1e-3,
    board_decay=0.0,
    linear_learning_rate=0.12,
    model_steps=16,
    model_batch=128,
    second_best=True,
    weaker_rivals=False,
    free_tries=True,
    novelty_bonus=True,
    clip_novelty=True,
    relabel_model=1.0,
    honest_labels=1.0,
    skip_explained=True,
    surprise=True,
    relabel_sac=0.5,
    score_again=False,
    episodes_per_epoch=32,
    episodes_going_on=4,
    recent_episodes=256,
    buffer_episodes=16384,
    sampled_episodes=1024,
    balanced_buffer=True,
    shared_sample=True,
    noisy_episodes=0.25,
    noise_scale=0.5,
    noise_correlation=0.85,
    average_rate=0.02,
    act_with_average=False,
)


@pytest.mark.parametrize("env", [*ENVIRONMENTS, None])
def test_the_default_preset_is_the_same_everywhere(env: str | None) -> None:
    assert dataclasses.asdict(preset("default", env and lookup(env))) == DEFAULT


# paper S.8; whatever the default preset becomes, these stay
PAPER = dict(
    algorithm="seads",
    num_skills=0,
    hidden=(512, 512),
    layer_norm=False,
    policy_sees_symbol=True,
    critics=2,
    alpha=0.1,
    entropy_in_action_units=True,
    entropy_share=0.0,
    alpha_fall=0.0,
    gamma_fall=0.0,
    scale_observations=False,
    gamma=0.99,
    n_step=1,
    sac_steps=16,
    updates_per_step=0.0,
    sac_batch=128,
    model_steps=4,
    model_batch=32,
    second_best=True,
    weaker_rivals=True,
    free_tries=False,
    novelty_bonus=True,
    relabel_model=1.0,
    honest_labels=0.0,
    relabel_sac=0.5,
    score_again=True,
    episodes_per_epoch=32,
    episodes_going_on=4,
    recent_episodes=256,
    buffer_episodes=2048,
    sampled_episodes=256,
    balanced_buffer=False,
    shared_sample=False,
    skip_explained=False,
    clip_novelty=False,
    tau=0.005,
    learning_rate=3e-4,
    learning_rate_end=3e-4,
    model="network",
    board_decay=0.0,
    model_learning_rate=1e-3,
    model_hidden=(256, 256),
    surprise=False,
    act_with_average=False,
    noisy_episodes=0.0,
    average_rate=1.0,
)


def test_the_papers_presets_are_as_the_paper_says() -> None:
    cursor, other = lookup("lightsout-cursor"), lookup("tileswap-cursor")
    paper = preset("paper", other)
    assert PAPER.items() <= dataclasses.asdict(paper).items()
    assert paper == preset("paper", cursor) == AgentSettings()
    for arm in ("lightsout-reacher", "tileswap-jaco"):
        assert preset("paper", lookup(arm)) == dataclasses.replace(paper, alpha=0.01)
    assert preset("no-second-best", cursor) == dataclasses.replace(paper, second_best=False)
    assert preset("no-novelty", cursor) == dataclasses.replace(paper, novelty_bonus=False)
    assert preset("no-model-relabelling", cursor) == dataclasses.replace(paper, relabel_model=0.0)
    assert preset("no-sac-relabelling", cursor) == dataclasses.replace(paper, relabel_sac=0.0)
    assert preset("more-skills", cursor, 25).num_skills == 30
    assert preset("more-skills", other, 12).num_skills == 15
    assert preset("vic").algorithm == "vic"
    assert preset("vic-sbn").second_best
    assert preset("vic-rl").relabel_model == 1.0
    assert preset("vic").model == "network"
    without = dataclasses.replace(preset("vic"), model="network-without-xor")
    assert preset("vic-without-xor") == without


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: preset("papre"), "unknown preset 'papre'; did you mean 'paper'?"),
        (lambda: preset("more-skills"), "needs an environment whose moves are known"),
        (lambda: changes({"alhpa": 1}), "unknown setting 'alhpa'; did you mean 'alpha'?"),
        (lambda: changes({"alpha": "high"}), "alpha='high'; allowed: float"),
        (lambda: changes({"alpha": True}), "alpha=True; allowed: float"),
        (lambda: changes({"sac_steps": 1.5}), "sac_steps=1.5; allowed: int"),
        (lambda: changes({"sac_steps": True}), "sac_steps=True; allowed: int"),
        (lambda: changes({"second_best": 1}), "second_best=1; allowed: bool"),
        (lambda: changes({"hidden": [256, "x"]}), "allowed: integers"),
    ],
)
def test_unknown_names_and_wrong_types(wrong: Callable[[], Any], words: str) -> None:
    with pytest.raises(SeadsError) as error:
        wrong()
    assert words in str(error.value)


@pytest.mark.parametrize(
    "contradiction",
    [
        {"num_skills": 1},
        {"num_skills": -3},
        {"algorithm": "diayn"},
        {"model": "quadratic"},
        VIC | {"novelty_bonus": True},
        VIC | {"surprise": True},
        VIC | {"skip_explained": True},
        VIC | {"weaker_rivals": False},
        VIC | {"model": "linear"},
        {"model": "network-without-xor"},
        {"linear_learning_rate": 0.0},
        {"board_decay": 1.0},
        {"board_decay": -0.1},
        {"board_decay": 0.03, "model": "linear"},
        {"board_decay": 0.03, "model": "table"},
        VIC | {"board_decay": 0.03},
        {"buffer_episodes": 100, "recent_episodes": 256},
        {"recent_episodes": 16, "episodes_per_epoch": 32},
        {"hidden": ()},
        {"hidden": (256, 0)},
        {"gamma": 1.1},
        {"gamma": float("nan")},
        {"alpha": -0.1},
        {"tau": 0.0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"relabel_sac": 1.5},
        {"critics": 0},
        {"sampled_episodes": -1},
        {"noise_scale": -1.0},
    ],
)
def test_contradictory_or_impossible_settings(tiny: Any, contradiction: dict[str, Any]) -> None:
    with pytest.raises(SeadsError, match="allowed"):
        tiny(**contradiction)


def test_one_size_is_a_layer() -> None:
    assert changes({"hidden": 512, "alpha": 1}) == {"hidden": (512,), "alpha": 1.0}


@pytest.mark.parametrize("kind", [AgentSettings, SACSettings, HACSettings])
def test_every_setting_has_a_line_of_help(kind: type) -> None:
    says = described(kind)
    assert set(says) == {field.name for field in dataclasses.fields(kind)}
    assert all(line.endswith(".") and "\n" not in line for line in says.values())


@pytest.mark.parametrize(
    ("actions", "limit", "skills", "alpha"),
    # the cursor (the paper has 0.1), the reacher, the Jaco arm, one push
    [(3, 10, 25, 0.0991), (3, 50, 25, 0.0198), (9, 50, 25, 0.0066), (2, 1, 25, 0.1)],
)
def test_the_entropy_weight_follows_from_the_task(
    actions: int, limit: int, skills: int, alpha: float
) -> None:
    spec = EnvSpec("any", 9, (-1.0,) * actions, (1.0,) * actions, 3, limit, skills)
    assert preset("default").for_environment(spec, skills).alpha == pytest.approx(alpha, abs=1e-4)
    assert preset("paper").for_environment(spec, skills) == preset("paper")


def test_haste_falls_with_the_learning_rate() -> None:
    settings = AgentSettings(gamma=0.99, gamma_fall=2.0, learning_rate=3e-4)
    assert settings.discount(3e-4) == pytest.approx(0.99)
    assert settings.discount(1e-4) == pytest.approx(1 - 0.01 / 9)
    assert settings.discount(1.0) == pytest.approx(0.99), "a rate that grows"
    assert dataclasses.replace(settings, gamma_fall=0.0).discount(1e-4) == pytest.approx(0.99)
