"""Training from Python, and the configuration that plain arguments make."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tiny_settings import TINY

from seads import cli
from seads.agent.presets import PRESETS
from seads.agent.settings import AgentSettings
from seads.errors import SeadsError
from seads.training import Run, configure, resume, train


@pytest.mark.parametrize(
    ("env", "preset", "given", "options"),
    [
        ("lightsout-cursor", None, {}, {}),
        ("lightsout-cursor", "paper", {}, {"observation": "raw"}),
        ("lightsout-cursor", "no-novelty", {}, {"observation": "raw"}),
        ("lightsout-cursor", "paper", {"observation": "scaled"}, {"observation": "scaled"}),
        (
            "lightsout-jaco",
            "paper",
            {"physics": "fast"},
            {"observation": "raw", "physics": "fast"},
        ),
    ],
)
def test_a_papers_preset_is_on_the_papers_environment(
    env: str, preset: str | None, given: dict[str, Any], options: dict[str, Any]
) -> None:
    config = configure(env, preset=preset, env_options=given)
    assert config.env_options == options
    assert config.preset == preset or preset is None
    assert config.env_steps == (998_000 if env == "lightsout-jaco" else 99_500)


@pytest.mark.parametrize("algo", ["sac", "hac"])
def test_baselines_too(algo: str) -> None:
    config = configure("lightsout-jaco", algo=algo, settings={"batch": 32})
    assert config.env_options == {"observation": "raw", "physics": "reference"}
    assert (config.preset, config.settings.batch, config.changed) == ("paper", 32, ["batch"])
    assert (config.env_steps, config.coverage_every) == (1_000_000, 0)


def test_vic_has_presets_of_its_own() -> None:
    assert configure("lightsout-cursor", algo="vic").preset == "vic"
    with pytest.raises(SeadsError, match="contradicts --preset paper"):
        configure("lightsout-cursor", algo="vic", preset="paper")
    with pytest.raises(SeadsError, match="unknown algorithm 'vci'; did you mean 'vic'"):
        configure("lightsout-cursor", algo="vci")


def test_a_run_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = train("lightsout-cursor-2x2", seed=2, env_steps=200, settings=TINY | {"hidden": 16})
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("training on lightsout-cursor-2x2: compiling\n")
    assert run.directory == Path("runs/lightsout-cursor-2x2-seads-default-seed2")
    assert (run.status, run.env, run.seed) == ("finished", "lightsout-cursor-2x2", 2)
    assert run.env_steps == run.metrics[-1]["env_steps"] >= 200
    assert run.config.settings.hidden == (16,)
    assert f"finished after {run.env_steps:,} env steps" in str(run)
    assert f"next: seads evaluate {run.directory}" in str(run)
    with pytest.raises(SeadsError, match="exists and is not empty"):
        train("lightsout-cursor-2x2", seed=2, settings=TINY)

    events: list[str] = []
    again = resume(run.directory, report=lambda event, facts: events.append(event))
    assert again == run
    assert events == ["begin", "start", "end"]
    other = train("lightsout-cursor-2x2", env_steps=50, out="here", settings=TINY, quiet=True)
    assert other.directory == Path("here")
    assert capfd.readouterr() == ("", "")


def test_how_a_run_tells_itself(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"epoch": 1, "coverage": 3.25}\n{"epoch": 2}\n')
    run = Run(tmp_path, "stopped", "lightsout-cursor", 0, 12_345)
    assert str(run) == (
        f"lightsout-cursor, seed 0: stopped after 12,345 env steps, coverage 3.2, in {tmp_path}\n"
        f"stopped; continue with: seads train --resume {tmp_path}"
    )


TRIES = "which did as the model says in 20% to 100% of their newest tries"


@pytest.mark.parametrize(
    ("env", "own", "settings", "metrics", "words"),
    [
        ("mine:make", 4, {}, "", "ls with --set num_skills=8"),
        ("mine:make", 3, {}, "", f"3 different effects, of 4 skills, {TRIES}"),
        ("mine:make", 4, {"num_skills": 4}, "", TRIES),
        ("mine:make", 4, {}, '{"epoch": 1, "coverage": 3.0}\n', TRIES),
        ("lightsout-cursor-2x2", 4, {}, "", TRIES),
        (
            "mine:make",
            0,
            {},
            "",
            "0 different effects, of 4 skills: does any bit ever change? look with: "
            "seads check mine:make --env-set size=3",
        ),
        (
            "mine:make",
            0,
            {},
            '{"epoch": 1, "changed": 0.4}\n',
            "0 different effects, of 4 skills: bits change, but no skill is reliable yet; it takes "
            "more env steps",
        ),
    ],
)
def test_what_a_run_has_found_and_how_to_find_more(
    env: str, own: int, settings: dict[str, int], metrics: str, words: str, tmp_path: Path
) -> None:
    options = {"size": 3} if env == "mine:make" else {}
    config = configure("lightsout-cursor-2x2", settings=settings)
    config = dataclasses.replace(config, env=env, env_options=options)
    config.write(tmp_path / "config.json")
    (tmp_path / "metrics.jsonl").write_text(metrics)
    (tmp_path / "agent").mkdir()
    run = Run(tmp_path, "finished", env, 0, 12_345)
    skills = [
        {"own": skill < own, "episodes": 10, "success": (worked + 1) / 12}
        for skill, worked in enumerate((10, 2, 5, 3))
    ]
    shape = SimpleNamespace(num_bits=2)
    vars(run)["agent"] = SimpleNamespace(num_skills=4, card={"skills": skills}, architecture=shape)
    assert run.learned.endswith(words)
    assert run.learned.startswith(f"{own} different effects, of 4 skills")


def test_the_settings_of_a_run_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "--settings"]) == 0
    printed = capsys.readouterr().out
    for name in (*AgentSettings.__dataclass_fields__, *PRESETS):
        assert name in printed
    assert cli.main(["train", "tileswap-cursor", "--preset", "paper", "--settings", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["hidden"]["value"] == [512, 512]
    assert found["alpha"]["help"] == "Entropy weight of soft actor-critic."
    arguments = ["lightsout-jaco", "--algo", "hac", "--settings", "--set", "batch=7"]
    assert cli.main(["train", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "horizon_low" in printed
    assert "50" in printed
    assert not Path("runs").exists()
