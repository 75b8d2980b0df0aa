"""What a user may get wrong: one line on stderr, exit status 2, and nothing written."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest
from tests.own_point import POINT

from seads import cli
from seads.errors import SeadsError
from seads.training.config import TrainConfig, read_config


@pytest.fixture(autouse=True)
def in_an_empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "place"
    place.mkdir()
    (tmp_path / "this_is_no_python.py").write_text("1 +")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "which environment? choose from lightsout-cursor"),
        (
            "lightsout-curser",
            "unknown environment 'lightsout-curser'; did you mean 'lightsout-cursor'?",
        ),
        ("lightsout-cursor --preset papre", "unknown preset 'papre'; did you mean 'paper'?"),
        ("lightsout-cursor --set alhpa=1", "unknown setting 'alhpa'; did you mean 'alpha'?"),
        ("lightsout-cursor --set alpha", "'alpha' is not of the form NAME=VALUE"),
        ("lightsout-cursor --set alpha=high", "alpha='high'; allowed: float"),
        ("lightsout-cursor --set alpha=NaN", "alpha='NaN'; allowed: float"),
        ("lightsout-cursor --set num_skills=1", "num_skills=1; allowed: 2 or more"),
        ("lightsout-cursor --set hidden=256,x", "allowed: integers"),
        (
            "lightsout-cursor --set recent_episodes=300 buffer_episodes=200",
            "buffer_episodes=200; allowed: recent_episodes (300) or more",
        ),
        ("lightsout-cursor --algo vic --preset paper", "--algo vic contradicts --preset paper"),
        (
            "lightsout-cursor --algo vic --set novelty_bonus=true",
            "novelty_bonus=True; allowed: False",
        ),
        ("lightsout-cursor --seed -1", "seed=-1; allowed: 0 or more"),
        ("lightsout-cursor --seed 99999999999999999999", "allowed: below 2**32"),
        ("lightsout-cursor --env-steps 0", "env_steps=0; allowed: 1 or more"),
        ("lightsout-cursor --env-set weather=fine", "has no option 'weather'"),
        ("nowhere:make", "no module 'nowhere' is installed"),
        ("os:getcwd", "getcwd(num_envs=N) and cannot be: got an unexpected keyword argument"),
        ("this_is_no_python:make", "cannot be imported: SyntaxError"),
        ("--resume nowhere", "nowhere is no run directory"),
        ("--resume nowhere --seed 1", "seed=1 belongs to a new run"),
        ("--resume nowhere --algo vic", "algo='vic' belongs to a new run"),
        ("lightsout-cursor --resume nowhere", "env='lightsout-cursor' belongs to a new run"),
    ],
)
def test_one_line_and_nothing_written(
    arguments: str, words: str, capsys: pytest.CaptureFixture[str], in_an_empty_place: Path
) -> None:
    assert cli.main(["train", *arguments.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("seads: ")
    assert captured.err.count("\n") == 1
    assert words in captured.err
    assert list(in_an_empty_place.iterdir()) == []


def test_an_output_directory_that_exists(
    capsys: pytest.CaptureFixture[str], in_an_empty_place: Path
) -> None:
    out = in_an_empty_place / "mine"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    assert cli.main(["train", "lightsout-cursor", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert f"{out} exists and is not empty" in said
    assert "compiling" not in said
    assert "--resume" not in said
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]
    assert cli.main(["train", "lightsout-cursor", "--out", str(out / "thesis.tex")]) == 2
    assert (out / "thesis.tex").read_text() == "years of work"


OWN = (
    POINT
    + """
def make(num_envs, phi=phi, **options):
    return wrap(Point, phi, num_envs, num_bits=2, step_limit=5, **options)

def one_move(num_envs):
    return make(num_envs, num_moves=1)

def wrong_length(num_envs):
    return make(num_envs, lambda x: [True] * 3)

def not_binary(num_envs):
    return make(num_envs, lambda x: [0, 0.5])

def wrong_later(num_envs):
    calls = []
    def phi(x):
        calls.append(x)
        return phi(x) if len(calls) < 40 else [0, 2]
    return make(num_envs, phi)

def number(num_envs):
    return 7

def other_name(count):
    return make(count)

def broken(num_envs):
    return make(num_envs // 0)

def twice_as_many(num_envs):
    return make(2 * num_envs)

def no_env():
    raise OSError("the camera is unplugged")

def fails_to_make(num_envs):
    return wrap(no_env, phi, num_envs, step_limit=5)

def phi_fails(num_envs):
    return make(num_envs, lambda x: x["lamp"])
"""
)


@pytest.fixture
def own(in_an_empty_place: Path) -> Path:
    (in_an_empty_place / "own_point.py").write_text(OWN)
    sys.modules.pop("own_point", None)
    return in_an_empty_place


TINY = (
    "--set num_skills=3 hidden=8 model_hidden=8 episodes_per_epoch=8 recent_episodes=16 "
    "buffer_episodes=32 sampled_episodes=8 sac_steps=1 sac_batch=4 model_steps=1 model_batch=4"
)


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("wrong_length", "phi returned 3 bits; expected 2"),
        ("not_binary", "phi must return bits (0 and 1), not 0.5"),
        ("wrong_later", "phi must return bits (0 and 1), not 2"),
        ("number", "the factory returned int, which lacks spec"),
        (
            "other_name",
            "other_name(num_envs=N) and cannot be: missing a required argument: 'count'",
        ),
        (
            "broken",
            "its factory failed: ZeroDivisionError: integer division or modulo by zero (own",
        ),
        ("twice_as_many", "the factory made 4 rows where num_envs is 2"),
        (
            "fails_to_make",
            "row 0 could not be made: OSError: the camera is unplugged (own_point.py",
        ),
        ("phi_fails", "phi failed: IndexError: only integers"),
        ("nothing", "own_point.py) has no function 'nothing'"),
    ],
)
def test_an_own_environment_that_is_wrong(
    factory: str, words: str, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", f"own_point:{factory}", *TINY.split(), "--out", "run"]) == 2
    captured = capsys.readouterr()
    assert words in captured.err.splitlines()[-1]
    assert f"own_point:{factory}" in captured.err.splitlines()[-1]
    assert "Traceback" not in captured.err
    assert not (own / "run").exists()


# two skills for each of two bits; two for an only move, or there would be nothing to tell apart
@pytest.mark.parametrize(("factory", "skills"), [("make", 4), ("one_move", 2)])
def test_the_number_of_skills_may_be_left_out(
    factory: str, skills: int, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = TINY.replace("num_skills=3 ", "").split()
    end = ["--out", "run", "--env-steps", "300", "--json"]
    assert cli.main(["train", f"own_point:{factory}", *rest, *end]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert f"{result['effects']} different effects, of {skills} skills" in captured.err


def test_an_own_environment_trains(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*TINY.split(), "--out", "run", "--env-steps", "300", "--json"]
    assert cli.main(["train", "own_point:make", *arguments]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result.keys() >= {"out", "status", "env", "env_steps"}
    assert (result["status"], result["env"]) == ("finished", "own_point:make")
    # nobody knows its moves, so there is no coverage to look at
    assert "next: seads plan run --operators\n" in captured.err
    assert "coverage" not in (own / "run" / "metrics.jsonl").read_text()


@pytest.mark.parametrize("content", ["{", "[]", "3", "{}", '{"env": "x"}', '{"moon": 1}'])
def test_a_broken_config_is_a_sentence(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(SeadsError, match=r"config\.json"):
        read_config(tmp_path / "config.json")


def test_a_config_from_before_a_setting_existed(tmp_path: Path, tiny_run: object) -> None:
    """What a setting turned on later was not there: it did then what the paper does."""
    assert callable(tiny_run)
    config: TrainConfig = tiny_run()
    values = config.as_json()
    del values["agent"]["scale_observations"]
    (tmp_path / "config.json").write_text(json.dumps(values))
    assert config.settings.scale_observations
    older = dataclasses.replace(config.settings, scale_observations=False)
    assert read_config(tmp_path / "config.json").settings == older


def test_config_round_trip(tmp_path: Path, tiny_run: object) -> None:
    assert callable(tiny_run)
    config: TrainConfig = tiny_run(seed=3, hidden=(4, 5), env_options={"observation": "raw"})
    config.write(tmp_path / "config.json")
    assert read_config(tmp_path / "config.json") == config
