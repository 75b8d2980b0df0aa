"""What `seads evaluate` has measured is not lost: not by Ctrl-C, not on a read-only disk."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.exact_agent import exact_agent
from tests.show.sample_runs import write_run

from seads import cli
from seads.commands.plan import operators_text
from seads.envs import make_env
from seads.evaluation import measure
from seads.evaluation.stored import counting_results
from seads.show.video import Film
from seads.solving import solve
from seads.solving.operators import SkillOperator

SMALL = "lightsout-cursor-2x2"
FEW = ["--starts", "2", "--episodes-per-depth", "1", "--json"]


def test_ctrl_c_keeps_the_parts_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", SMALL, evaluated=False)

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setitem(measure.MEASURES, "tasks", interrupted)
    assert cli.main(["evaluate", str(run), *FEW]) == 130
    captured = capsys.readouterr()
    assert json.loads(captured.out)["coverage"]["starts"] == 2
    assert "interrupted while measuring tasks; what was measured before is kept" in captured.err
    assert [path.name for path in (run / "eval").iterdir()] == ["coverage-test-seed0.json"]
    monkeypatch.setitem(measure.MEASURES, "coverage", interrupted)
    assert cli.main(["evaluate", str(run), *FEW]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_one_curve_has_the_values_of_all_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", SMALL, evaluated=False)
    shutil.copytree(run / "agent", run / "checkpoints" / "step_000000012" / "agent")
    assert cli.main(["evaluate", str(run), *FEW, "--checkpoints"]) == 0
    printed = json.loads(capsys.readouterr().out)
    [point] = printed["curve"]
    assert point["coverage"] == printed["coverage"]["mean"]
    assert point["success"] == printed["tasks"]["success"]


def test_what_is_measured_under_other_options_is_kept_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", SMALL, evaluated=False)
    words = ["evaluate", str(run), "--what", "coverage", *FEW]
    assert cli.main(words) == 0
    usual = (run / "eval" / "coverage-test-seed0.json").read_bytes()
    assert cli.main([*words, "--env-set", "observation=raw"]) == 0
    assert cli.main([*words, "--env-set", "observation=scaled"]) == 0
    capsys.readouterr()
    assert (run / "eval" / "coverage-test-seed0.json").read_bytes() == usual
    files = list((run / "eval").glob("coverage-test-options*-seed0.json"))
    told = [json.loads(path.read_text())["env_options"]["observation"] for path in files]
    assert sorted(told) == ["raw", "scaled"]
    assert [path.name for path, _ in counting_results(run)] == ["coverage-test-seed0.json"]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A run that cannot be written to; root may write everything but what is mounted so."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = os.geteuid() == 0
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(place)]
    if mounted and subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a file system here")
    try:
        run = write_run(place / "run", SMALL, evaluated=False)
        exact_agent(SMALL).save(run / "agent")
        if mounted:
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        else:
            for path in [*run.rglob("*"), run]:
                path.chmod(0o555 if path.is_dir() else 0o444)
        yield run
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)
        else:
            for path in [run, *run.rglob("*")]:
                path.chmod(0o755)


def test_read_only_directories_end_in_a_sentence(
    read_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", str(read_only), *FEW]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["tasks"]["success"] == 1.0
    assert f"not kept: {read_only}/eval" in captured.err
    film = read_only / "film.mp4"
    for words in (
        ["train", "--resume", str(read_only)],
        ["solve", str(read_only), "--video", film],
    ):
        assert cli.main(list(map(str, words))) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert re.fullmatch(r"seads: .*: (Permission denied|Read-only file system)", said)


def test_what_is_missing_is_found_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    words = ["train", SMALL, "--env-steps", "100", "--wandb", "--out", str(tmp_path / "run")]
    assert cli.main(words) == 2
    assert "wandb is missing; pip install 'seads[wandb]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_film_without_ffmpeg_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("imageio_ffmpeg._utils._get_ffmpeg_exe", lambda: None)
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    exact_agent(SMALL).save(tmp_path / "agent")
    film = tmp_path / "films" / "film.mp4"
    assert cli.main(["solve", str(tmp_path / "agent"), "--video", str(film)]) == 2
    assert "seads: there is no ffmpeg to write the video with" in capsys.readouterr().err
    assert not film.parent.exists()


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_a_film_that_breaks_off_leaves_an_older_one(tmp_path: Path) -> None:
    with closing(make_env(SMALL)) as env:
        env.reset(np.zeros(1, np.uint64))
        for before in (None, b"an older film"):
            film = tmp_path / "film.mp4"
            if before:
                film.write_bytes(before)
            with suppress(KeyboardInterrupt), Film(env, film) as filming:
                filming.skills_begin()
                raise KeyboardInterrupt
            assert [one.read_bytes() for one in tmp_path.iterdir()] == [before] * bool(before)


SLOW_RECORDING = """
import sys, time
from seads import cli
from seads.show.play import scene
really = scene.PlayScene.update
def update(self):
    print("recording", file=sys.stderr, flush=True)
    time.sleep(0.5)
    really(self)
scene.PlayScene.update = update
sys.exit(cli.main(sys.argv[1:]))
"""


def test_an_export_obeys_ctrl_c(tmp_path: Path) -> None:
    exact_agent().save(tmp_path / "agent")
    replay = tmp_path / "replay.html"
    words = ["play", str(tmp_path / "agent"), "--export", str(replay), "--depth", "5"]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_RECORDING, *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stderr is not None
        assert any(line == "recording\n" for line in process.stderr)
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert process.returncode == 130
    assert told.splitlines()[-1] == "interrupted"
    assert "Traceback" not in told
    assert not replay.exists()


def test_a_long_solution_is_told_in_lines() -> None:
    agent = exact_agent("lightsout-cursor-13x13")
    told = str(solve(agent, depth=30))
    assert len(told.splitlines()) < 120
    assert "solved with " in told
    assert "as predicted" in told
    assert len(str(solve(exact_agent(), depth=3)).splitlines()) > 20  # a short one is drawn


def test_many_skills_are_told_in_lines() -> None:
    agent = exact_agent("lightsout-cursor-13x13", hesitant=[168])
    told = str(measure.evaluate(agent, "coverage", starts=1)).splitlines()
    assert len(told) < 100
    assert any(line.split()[0] == "168" for line in told)  # what is least right is shown
    assert "and 89 skills more" in told[-2]
    one = SkillOperator(0, "flips", "flips a light", 1.0, 0, "press it", 1.0)
    many = [replace(one, skill=skill) for skill in range(168)]
    many.append(replace(one, skill=168, agreement=0.5))
    told = operators_text(many).splitlines()
    assert len(told) < 100
    assert told[-2].split()[0] == "168"
    assert "and 89 skills more" in told[-1]
    assert "more" not in operators_text(many[:80])
