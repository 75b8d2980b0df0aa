"""Damaged files of runs and of results: `seads tables` and `seads sweep` say which, and where."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.show.sample_runs import write_result, write_run
from tests.test_reading import RAW, damaged, refused

from seads import cli
from seads.errors import SeadsError
from seads.evaluation.results import checkpoint_agents
from seads.show.tables.skills import skill_figures
from seads.studies.collecting import collect
from seads.studies.measuring import evaluations
from seads.studies.results import read_results
from seads.studies.runs import runs_of
from seads.studies.search import Searches
from seads.studies.study import read_study
from seads.studies.sweep import Sweep
from seads.training.runner import full_disk_in_words

ENV = "lightsout-cursor-2x2"
SMALL = [name for name in RAW if name != "too large"]
GROUP = f"""
[[groups]]
envs = ["{ENV}"]
presets = ["default"]
seeds = "0-1"
budget = 9000
"""
GRID = f"""
[[search]]
name = "grid"
env = "{ENV}"
seeds = [0]
budget = 2000
space = {{ n_step = [1, 2] }}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("runs")
    run = write_run(home / "run", ENV)
    maps = json.loads((run / "eval" / "skill_maps.json").read_text())
    write_result(run, "skills-test-seed0", maps | {"env": ENV})
    return home


@pytest.fixture
def runs(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "runs"))


@pytest.mark.parametrize("file", ["config.json", "meta.json", "eval/tasks-True.json"])
@pytest.mark.parametrize("raw", SMALL)
def test_tables_of_a_file_that_is_no_json(file: str, raw: str, runs: Path) -> None:
    (runs / "run" / file).write_bytes(RAW[raw])
    with pytest.raises(SeadsError, match=file) as error:
        collect([runs])
    assert len(str(error.value)) < 1000


PLACES: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("meta.json", ("env_steps",), "many"),
    ("meta.json", ("status",), 3),
    ("config.json", ("env_steps",), 10**400),
    ("eval/coverage.json", ("coverage", "of"), "all"),
    ("eval/coverage.json", ("coverage", "mean"), 1e300),
    ("eval/coverage.json", ("coverage", "mean"), float("nan")),
    ("eval/coverage.json", ("curve",), [{"env_steps": -1, "coverage": 1.0}]),
    ("eval/tasks-True.json", ("tasks",), []),
    ("eval/tasks-True.json", ("tasks", "success"), ...),
    ("eval/tasks-True.json", ("tasks", "replan"), "yes"),
    ("eval/tasks-True.json", ("tasks", "by_depth"), {"1": "all"}),
    ("eval/tasks-True.json", ("tasks", "by_depth"), [1]),
    ("eval/tasks-True.json", ("tasks", "solution_length"), {"mean": 1.0}),
    ("eval/tasks-True.json", ("tasks", "tasks", 0, "depth"), 0.5),
    ("eval/tasks-True.json", ("tasks", "tasks", 0, "env_steps"), float("nan")),
    ("eval/tasks-True.json", ("tasks", "tasks", 0, "skill_steps"), "4 4"),
    ("eval/tasks-True.json", ("tasks", "tasks", 0, "planning_seconds"), "long"),
]


@pytest.mark.parametrize(("file", "place", "value"), PLACES, ids=str)
def test_tables_of_a_broken_file(file: str, place: tuple, value: Any, runs: Path) -> None:
    path = runs / "run" / file
    path.write_bytes(damaged(json.loads(path.read_bytes()), place, value))
    with pytest.raises(SeadsError, match=file):
        collect([runs])


def test_what_was_not_measured_costs_nothing(runs: Path) -> None:
    for file, place, value in (
        ("coverage", ("coverage", "of"), ...),
        ("tasks-True", ("tasks", "tasks", 0, "env_steps"), ...),
        ("tasks-False", ("env_steps",), None),
    ):
        path = runs / "run" / "eval" / f"{file}.json"
        path.write_bytes(damaged(json.loads(path.read_bytes()), place, value))
    [run] = collect([runs]).runs
    assert (run.moves, run.success_no_replan) == (None, None)
    assert run.success is not None


def test_a_damaged_line_costs_itself_alone(runs: Path) -> None:
    before = collect([runs])
    for file in ("metrics.jsonl", "timing.jsonl"):
        with (runs / "run" / file).open("ab") as lines:
            lines.write(b'\xff\n{"epoch": 1, "env_steps": 2, "coverage": -1, "seconds": -7}\n')
            lines.write(b'{"epoch": 1, "env_steps": 2, "coverage": 1e300, "seconds": 1e300}\n')
            lines.write(b'{"a":' * 9999 + b'\n{"epoch": 1, "env_st')
    assert collect([runs]) == before


@pytest.mark.parametrize("raw", SMALL)
def test_skills_that_cannot_be_drawn(raw: str, runs: Path, tmp_path: Path) -> None:
    results = collect([runs])
    (runs / "run" / "eval" / "skills-test-seed0.json").write_bytes(RAW[raw])
    remarks: list[str] = []
    assert not list(skill_figures(results, [runs], tmp_path, remarks))
    [remark] = remarks
    assert "skills-test-seed0.json is not an evaluation" in remark


LINES = {
    "curves.csv": [b"run,success,5", b"run,moon,5,1.0", b"run,success,-1,1", b"run,success,5,nan",
                   b"run,success,5,inf", b"run,success,1e99,1", b"\xff", b"run,success,5,1,1",
                   b'"run', b"x" * 200_000 + b",success,5,1",
                   b"run,success," + b"9" * 5000 + b",1"],
    "boards.csv": [b"run,True,False,1,True,True,0.1,4,4 x", b"run,yes,False,1,True,True,0.1,4,4",
                   b"run,True,False,1,True,True,0.1,4," + b"1" * 20_001,
                   b"run,True,False,9999999999,True,True,0.1,4,4"],
    "results.csv": [b"run", b"", b"a,b"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "line"), [(file, line) for file in LINES for line in LINES[file]], ids=lambda v: v[:30]
)
def test_a_broken_line_of_results(file: str, line: bytes, runs: Path, tmp_path: Path) -> None:
    collect([runs]).write(tmp_path)
    assert read_results(tmp_path) == collect([runs])
    with (tmp_path / file).open("ab") as lines:
        lines.write(line + b"\n")
    with pytest.raises(SeadsError, match=file) as error:
        read_results(tmp_path)
    assert len(str(error.value)) < 1000


def test_the_commands_say_it_in_a_sentence(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "run" / "meta.json").write_bytes(b'{"status": "fin')
    out = tmp_path / "tables"
    assert "meta.json" in refused(capsys, "tables", str(runs), "--out", str(out))
    assert not out.exists()


@pytest.mark.parametrize("file", ["config.json", "meta.json", "eval/tasks-True.json"])
def test_a_damaged_run_costs_itself_alone(
    file: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = collect([runs])
    other = Path(shutil.copytree(runs / "run", runs / "other"))
    (other / file).write_bytes(b'{"status": "fin')
    out = tmp_path / "tables"
    assert cli.main(["tables", str(runs), "--no-figures", "--out", str(out), "--json"]) == 1
    captured = capsys.readouterr()
    [failed] = json.loads(captured.out)["failed"]
    assert failed["run"] == str(other)
    assert str(other / file) in failed["why"]
    assert f"{other} failed: {other / file} is not " in captured.err
    assert read_results(out) == before


@pytest.mark.parametrize(
    ("file", "raw"),
    [
        *((file, raw) for file in ("config.json", "meta.json", "eval") for raw in SMALL),
        *((f"search-grid-{ENV}.journal", raw) for raw in SMALL),
    ],
)
def test_a_sweep_into_damaged_directories(
    file: str, raw: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, home = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(GRID)
    runs = Searches(read_study(study)).runs
    for run in runs:
        directory = home / run.name
        (directory / "eval").mkdir(parents=True)
        run.config.write(directory / "config.json")
        (directory / "meta.json").write_text('{"status": "finished"}')
        for one in evaluations(run):
            path = directory / "eval" / f"{one.name}.json"
            made = {"command": one.command(directory), "study": True}
            path.write_text(json.dumps({**made, "env_steps": 1990, "tasks": {"success": 0.5}}))
            if file == "eval" and one.split == "train" and run is runs[1]:
                path.write_bytes(RAW[raw])
    words = ["sweep", str(study), "--out", str(home)]
    if file.endswith("journal"):
        (home / file).write_bytes(RAW[raw] + b"\n")
        assert file in refused(capsys, *words)
        return
    if file != "eval":
        (directory / file).write_bytes(RAW[raw])
    assert cli.main([*words, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    [failed] = told["failed"]
    assert failed["run"] == runs[1].name
    assert ("-train-" if file == "eval" else file) in failed["why"]
    assert (told["finished"], told["unfinished"]) == (1, [])
    [search] = told["searches"]
    assert (search["trials"], search["finished"]) == (2, 1)


def test_the_same_command_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, home = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(GROUP)
    directory = home / runs_of(read_study(study))[0].name
    directory.mkdir(parents=True)
    (directory / "config.json").write_text("{")
    words = ["sweep", str(study), "--out", str(home), "--workers", "1", "--address", "127.0.0.1:9"]
    words += ["--allow", "mine:make", "--only", "*-seed0"]
    assert cli.main(words) == 1
    said = capsys.readouterr().out.splitlines()
    assert f"go on with: {shlex.join(['seads', *words])}" in said
    assert "1 run: 1 failed" in said


def test_damage_that_comes_while_others_work(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(GROUP)
    runs = runs_of(read_study(study))
    for run in runs:
        (tmp_path / run.name).mkdir()
        run.config.write(tmp_path / run.name / "config.json")
        (tmp_path / run.name / "meta.json").write_text('{"status": "finished"}')
    sweep = Sweep(runs, tmp_path)
    sweep.look()
    assert [sweep.goes_on(run) for run in runs] == [True, True]
    (tmp_path / runs[1].name / "meta.json").write_text("{")
    assert sweep.look_at(runs[0]).trained
    assert list(sweep.failed) == [runs[1].name]
    assert not sweep.look_at(runs[1]).trained
    assert [sweep.goes_on(run) for run in runs] == [True, False]


def test_a_damaged_card_among_checkpoints(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs)
    agents = [runs / "run" / "checkpoints" / f"step_{n:09}" / "agent" for n in (10, 20)]
    for agent in agents:
        shutil.copytree(runs / "run" / "agent", agent)
        card = json.loads((agent / "card.json").read_bytes())
        (agent / "card.json").write_bytes(damaged(card, ("env_steps",), ...))
    words = ["evaluate", "run", "--checkpoints", "--what", "coverage", "--starts", "2"]
    assert cli.main([*words, "--json"]) == 0
    assert [one["env_steps"] for one in json.loads(capsys.readouterr().out)["curve"]] == [10, 20]
    (agents[0] / "card.json").write_bytes(b'{"epoch": "one"}')
    with pytest.raises(SeadsError, match=r"step_000000010/agent/card\.json is not an agent's card"):
        checkpoint_agents(runs / "run")
    assert "step_000000010/agent/card.json" in refused(capsys, *words)


def test_a_sweep_onto_a_full_disk(
    small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, home = tmp_path / "study.toml", small_disk / "out"
    study.write_text(GRID)
    home.mkdir()
    room = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize))
    said = refused(capsys, "sweep", str(study), "--out", str(home))
    assert f"no space left on the disk of {home}; " in said
    assert "give the same command again" in said


def test_tables_onto_a_full_disk(
    small_disk: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = small_disk / "tables"
    room = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize))
    said = refused(capsys, "tables", str(runs), "--out", str(home), "--no-figures")
    assert f"no space left on the disk of {home}: make room and give the same command again" in said


def test_a_full_disk_elsewhere_is_named(tmp_path: Path) -> None:
    """Such as that of Ray's sockets, or of what was compiled."""
    for file, named in ((f"{tmp_path}/out/run/x", tmp_path / "out"), ("/tmp/ray/x", "/tmp/ray/x")):
        with (
            pytest.raises(SeadsError, match=f"no space left on the disk of {named}; "),
            full_disk_in_words(tmp_path / "out"),
        ):
            raise OSError(errno.ENOSPC, "No space left on device", file)
