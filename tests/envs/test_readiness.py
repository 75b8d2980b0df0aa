"""`seads check`: environments with known faults, found and named; good ones, measured."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seads import cli

KINDS = """
import time

import gymnasium
import numpy as np
from seads.envs import wrap

class Point(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    steps = 0

    def see(self):
        return np.array([self.x, 0.5, 1000 * self.x], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1, 1)
        return self.see(), {}

    def step(self, action):
        self.x = float(np.clip(self.x + 0.8 * action[0], -1, 1))
        return self.see(), 0.0, False, False, {}

class Ends(Point):
    def step(self, action):
        seen = super().step(action)
        return *seen[:3], abs(self.x) > 0.9, {}

class NotANumber(Point):
    def see(self):
        return np.array([self.x, 0.5, np.nan if self.x > 0.5 else 0.0], np.float32)

class StartsWithout(Point):
    def reset(self, *, seed=None, options=None):
        seen, info = super().reset(seed=seed)
        return np.array([*seen[:2], np.nan], np.float32), info

class FarAway(Point):
    def see(self):
        return np.array([self.x, 0.5, 1e25 * self.x], np.float32)

class Slow(Point):
    def step(self, action):
        time.sleep(0.004)
        return super().step(action)

class Remembers(Point):
    def reset(self, *, seed=None, options=None):
        self.resets = getattr(self, "resets", 0) + 1
        super().reset(seed=seed)
        self.x = float(np.clip(self.x + 0.01 * self.resets, -1, 1))
        return self.see(), {}

class Goal(Point):
    goal = 0

    def reset(self, *, seed=None, options=None):
        seen, info = super().reset(seed=seed)
        Goal.goal = self.np_random.uniform(-1, 1)
        return seen, info

def halves(seen):
    return seen[:1] > np.array([-0.3, 0.3])

class Counter:
    def __init__(self):
        self.calls = 0
    def __call__(self, seen):
        self.calls += 1
        return [seen[0] > 0, self.calls % 7 == 0]

def factory(num_envs, kind=Point, phi=halves, **more):
    return wrap(kind, phi, num_envs, step_limit=10, **more)

def still(num_envs):
    return factory(num_envs, phi=lambda seen: [0, 1])

def hidden(num_envs):
    return factory(num_envs, phi=Counter())

def drawn_at_reset(num_envs):
    return factory(num_envs, kind=Goal, phi=lambda seen: [seen[0] > 0, seen[0] > Goal.goal])

def ends(num_envs):
    return factory(num_envs, kind=Ends)

def not_a_number(num_envs):
    return factory(num_envs, kind=NotANumber)

def starts_without(num_envs):
    return factory(num_envs, kind=StartsWithout)

def far_away(num_envs):
    return factory(num_envs, kind=FarAway)

def slow(num_envs):
    return factory(num_envs, kind=Slow)

def slow_still(num_envs):
    return factory(num_envs, kind=Slow, phi=lambda seen: [0, 1])

def remembers(num_envs):
    return factory(num_envs, kind=Remembers)
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_kinds.py").write_text(KINDS)
    sys.modules.pop("own_kinds", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("seads.envs.pace.SPEED_SECONDS", 0.05)
    # how busy the machine is must not decide over a verdict
    monkeypatch.setattr("seads.envs.probing.LEAST_SECONDS", 60.0)


def checked(
    capsys: pytest.CaptureFixture[str], env: str, *more: str, status: int = 0
) -> tuple[dict[str, Any], str]:
    assert cli.main(["check", env, "--seconds", "0.1", "--json", *more]) == status
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_a_good_one_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    found, said = checked(capsys, "own_kinds:factory", "--env-set", "num_moves=3")
    assert (found["verdict"], found["bits"], found["effects_seen"]) == ("ready", 2, 3)
    assert {tuple(one["bits"]) for one in found["effects"]} == {(0,), (1,), (0, 1)}
    assert 50 < found["changes_per_1000_steps"] < 500
    assert found["steps"] >= 2000
    assert found["step_limit"] == 10
    speeds = found["env_steps_per_second"]
    assert speeds.keys() == {"none", "threads", "processes"}
    assert all(speed > 0 for speed in speeds.values())
    assert found["megabytes_per_row"]["processes"] > found["megabytes_per_row"]["none"]
    assert found["observations"] == {"size": 6, "constant": [1], "not_finite": [], "wild": [2]}
    assert found["repeats"]
    assert found["ended_by_itself"] == 0
    assert "note: observations are constant in place 1\n" in said
    assert "verdict: ready\nnext: seads train own_kinds:factory --env-set num_moves=3\n" in said
    assert found["next"] == "seads train own_kinds:factory --env-set num_moves=3"


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("still", "no bit ever changes: not once in 10,"),
        ("hidden", "phi depends on more than the observation: asked again about the same one, it "),
        ("drawn_at_reset", "asked again about the same one, it gives bit 1 otherwise"),
        ("not_a_number", "observations are not finite in place 2"),
        ("starts_without", "observations are not finite in place 2"),
        ("far_away", "observations go beyond 1e+15 in place 2"),
    ],
)
def test_what_can_never_be_learned_is_refused(
    factory: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("seads.envs.probing.BEYOND", 10**9)  # no reset but those that are meant
    found, said = checked(capsys, f"own_kinds:{factory}", status=2)
    assert words in found["verdict"]
    assert found["next"] is None
    assert said.splitlines()[-1] == f"seads: environment 'own_kinds:{factory}': {found['verdict']}"
    hidden = factory in ("hidden", "drawn_at_reset")
    assert found["phi_differs"] == ([1] if hidden else [])
    assert not any("equal seeds" in note for note in found["notes"])  # which is no fault of theirs


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("ends", "of the skills by itself"),
        ("remembers", "equal seeds and actions gave different observations"),
    ],
)
def test_what_should_be_known_is_noted(
    factory: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, _ = checked(capsys, f"own_kinds:{factory}")
    assert found["verdict"] == "ready"
    assert any(words in note for note in found["notes"])
    assert (found["ended_by_itself"] > 0) == (factory == "ends")
    assert found["repeats"] == (factory == "ends")


def test_a_slow_one_takes_no_longer_than_it_may(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a verdict that says how little it rests on."""
    monkeypatch.setattr("seads.envs.probing.LEAST_SECONDS", 0.2)
    began = time.monotonic()
    found, _ = checked(capsys, "own_kinds:slow_still", status=2)
    assert time.monotonic() - began < 10
    assert 0 < found["steps"] < 2000
    assert re.match(rf"no bit changed in {found['steps']} random steps, which", found["verdict"])
    found, said = checked(capsys, "own_kinds:slow")
    assert found["verdict"] == "ready"
    assert f"only {found['steps']} random steps in " in found["notes"][0]
    assert said.startswith("own_kinds:slow: acting at random for about 0.1 s\n")


def test_a_built_in_one_too(capsys: pytest.CaptureFixture[str]) -> None:
    found, said = checked(capsys, "lightsout-cursor")
    assert (found["verdict"], found["effects_seen"], found["moves"]) == ("ready", 25, 25)
    assert found["env_steps_per_second"]["threads"] is None
    assert "next: seads train lightsout-cursor\n" in said
