"""A card runs no code: a stranger's directory, every command, and whose runs may import what."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_point import POINT
from tests.show.sample_runs import write_run

import seads
from seads import cli
from seads.errors import SeadsError
from seads.trust import refusal, seal

HOSTILE = """
from pathlib import Path
Path("was-here").touch()

def make(num_envs=1, **options):
    Path("was-called").touch()
    raise SystemExit("the stranger's code ran")
"""
OWN = (
    POINT
    + """
def make(num_envs):
    return wrap(Point, phi, num_envs, num_bits=2, step_limit=5)
"""
)
TINY = (
    "--set num_skills=3 hidden=8 model_hidden=8 episodes_per_epoch=8 recent_episodes=16 "
    "buffer_episodes=32 sampled_episodes=8 sac_steps=1 sac_batch=4 model_steps=1 model_batch=4"
)


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user of their own, in a directory that a stranger has put modules into."""
    monkeypatch.setenv("SEADS_STATE", str(tmp_path / "state"))
    place = tmp_path / "place"
    place.mkdir()
    (place / "hostile_code.py").write_text(HOSTILE)
    (place / "own_code.py").write_text(OWN)
    monkeypatch.chdir(place)
    path = list(sys.path)
    yield place
    sys.path[:] = path
    for name in ("hostile_code", "own_code"):
        sys.modules.pop(name, None)


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture
def stranger(at_home: Path) -> Path:
    """A run whose every file names code that came along, with a seal of the stranger's own."""
    run = write_run(at_home / "theirs")
    for file in ("config.json", "agent/card.json"):
        rewrite(run / file, env="hostile_code:make")
    for file in ("meta.json", "agent/card.json"):
        rewrite(run / file, seal="0" * 64)
    facts = "seeds = [0]\nbudget = 2000\n"
    (at_home / "theirs.toml").write_text(f'[[groups]]\nenvs = ["hostile_code:make"]\n{facts}')
    search = 'name = "x"\nenv = "hostile_code:make"\nspace = { alpha = [0.1, 0.2] }\n'
    (at_home / "their-search.toml").write_text(f"[[search]]\n{search}{facts}")
    step = run / "checkpoints" / "step_000000010"
    shutil.copytree(run / "agent", step / "agent")
    return run


NEEDS_THE_CODE = [
    "evaluate theirs",
    "evaluate theirs/agent",
    "evaluate theirs --what coverage",
    "evaluate theirs --checkpoints --what coverage",
    "evaluate theirs --at 100 --what coverage",
    "evaluate theirs --allow other:make --what coverage",
    "solve theirs --board 0110",
    "solve theirs --goal 0110",
    "train --resume theirs",
    "train --resume theirs --allow other:make",
    "sweep theirs.toml",
    "sweep theirs.toml --dry-run",
    "sweep theirs.toml --dry-run --allow other:make",
    "sweep their-search.toml --dry-run",
]
NEEDS_NO_CODE = [
    "plan theirs --board 0110 --goal 0110",
    "plan theirs --operators",
    "report theirs --out page.html",
    "tables theirs",
    "agents",
]
OF_NO_USE = [
    "evaluate theirs --what tasks",
    "play theirs",
    "play theirs --export page.html",
    "robot hours theirs",
]


@pytest.mark.parametrize("line", [*NEEDS_THE_CODE, *NEEDS_NO_CODE, *OF_NO_USE])
def test_no_command_runs_a_strangers_code(
    line: str, stranger: Path, at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = cli.main(line.split())
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert status == (0 if line in NEEDS_NO_CODE else 2)
    if line in NEEDS_THE_CODE:
        assert said.splitlines()[-1].startswith("seads: their")
        assert "'hostile_code:make'" in said
        assert "--allow hostile_code:make" in said
    assert not list(at_home.glob("was-*"))
    assert "hostile_code" not in sys.modules


def test_the_table_of_commands_is_covered() -> None:
    tried = {line.split()[0] for line in [*NEEDS_THE_CODE, *NEEDS_NO_CODE, *OF_NO_USE]}
    # check takes no file: the factory is named on its command line
    without_runs = {"envs", "check"}
    assert tried | without_runs == set(cli.COMMANDS)


@pytest.mark.parametrize(
    "line",
    [
        "evaluate theirs --what coverage",
        "train --resume theirs",
        "sweep theirs.toml --dry-run --allow other:make",
    ],
)
def test_what_the_user_names_is_imported(
    line: str, stranger: Path, at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*line.split(), "--allow", "hostile_code:make"]) == 2
    assert "the stranger's code ran" in capsys.readouterr().err
    assert (at_home / "was-called").exists()


def test_from_python_too(stranger: Path, at_home: Path) -> None:
    agent = seads.load(stranger)
    assert len(agent.plan("0110", goal="0110")) == 0
    with pytest.raises(SeadsError, match="allow='hostile_code:make'"):
        agent.make_env(1)
    with pytest.raises(SeadsError, match="not trained here"):
        seads.resume(stranger)
    assert not list(at_home.glob("was-*"))
    with pytest.raises(SeadsError, match="the stranger's code ran"):
        seads.load(stranger, allow="hostile_code:make").make_env(1)


def test_what_was_trained_here_is_ours_wherever_it_lies(
    at_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*TINY.split(), "--out", "run", "--env-steps", "60"]
    assert cli.main(["train", "own_code:make", *words]) == 0
    assert cli.main(["train", "--resume", "run"]) == 0
    (at_home / "run").rename(at_home / "moved")
    assert cli.main(["solve", "moved", "--goal", "11"]) == 0
    assert cli.main(["solve", "moved/agent", "--goal", "11"]) == 0
    capsys.readouterr()

    # with other options it is another environment, and another user has not trained it
    card = at_home / "moved" / "agent" / "card.json"
    rewrite(card, env_options={"num_moves": 7})
    assert cli.main(["solve", "moved", "--goal", "11"]) == 2
    assert "add --allow own_code:make" in capsys.readouterr().err
    rewrite(card, env_options={})
    monkeypatch.setenv("SEADS_STATE", str(at_home.parent / "another"))
    assert cli.main(["solve", "moved", "--goal", "11"]) == 2
    assert cli.main(["solve", "moved", "--goal", "11", "--allow", "own_code:make"]) == 0


def test_a_seal_is_of_one_module_in_one_place(
    at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger who was given one of our agents has its seal, and may name a module alike."""
    made = seal("own_code:make", {})
    assert made is not None
    assert refusal("run", "own_code:make", {}, made, None) is None
    assert refusal("run", "own_code:other", {}, made, None) is not None
    elsewhere = at_home.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "own_code.py").write_text(HOSTILE)
    monkeypatch.chdir(elsewhere)
    assert refusal("run", "own_code:make", {}, made, None) is not None


def test_a_seal_of_any_letters_is_no_seal(at_home: Path) -> None:
    seal("own_code:make", {})
    assert refusal("run", "own_code:make", {}, "é" * 64, None) is not None


def test_the_key_is_the_users_alone(at_home: Path) -> None:
    seal("own_code:make", {})
    key = at_home.parent / "state" / "key"
    assert key.stat().st_mode & 0o077 == 0
    assert len(key.read_bytes()) == 32


def test_a_home_that_cannot_be_written_costs_the_seal_only(
    at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (at_home / "file").touch()
    monkeypatch.setenv("SEADS_STATE", str(at_home / "file" / "state"))
    assert seal("own_code:make", {}) is None
    assert refusal("run", "own_code:make", {}, "0" * 64, None) is not None
