"""Runs in one row that is never reset: reckoned, and at an arm's twin that fails in the middle."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.robot.arms import free_port

from seads import cli
from seads.agent.buffer import Episodes
from seads.robot.board.page_client import PageScreen
from seads.robot.faults import LineLost
from seads.robot.simulated import erring_calibration
from seads.robot.tablet import Tablet
from seads.robot.twin.firmware import Twin
from seads.robot.twin.schedule import Schedule
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES, TwinThread
from seads.show.report.report import write_report
from seads.solving import load
from seads.training.checkpoint import newest_checkpoint
from seads.training.config import TrainConfig
from seads.training.loop import Trainer
from seads.training.metrics import read_metrics
from seads.training.pushes import KEPT, Pushes, read_pushes
from seads.training.runner import go_on, start

Make = Callable[..., TrainConfig]
SMALL: dict[str, Any] = dict(env="lightsout-robot-absolute", env_steps=80, coverage_every=0)
PEN = "lightsout-robot"


def symbols_meet(episodes: Episodes) -> bool:
    return bool((episodes.after[:-1] == episodes.before[1:]).all())


@pytest.mark.parametrize("env", ["lightsout-robot-absolute", "lightsout-robot"])
def test_each_skill_starts_where_the_last_one_ended(env: str, tiny_run: Make) -> None:
    trainer = Trainer(tiny_run(**SMALL | {"env": env}))
    assert trainer.env.num_envs == 1
    progress = trainer.begin()
    for _ in range(4):
        last = progress.pending
        assert len(last) == 4
        assert symbols_meet(last)
        progress, _ = trainer.epoch(progress)
        assert np.array_equal(progress.pending.before[0], last.after[-1])
        ended = last.observations[-1, last.lengths[-1], :2]
        assert progress.pushes is not None
        assert set(progress.pushes.last[:, 0]) <= set(range(25))
        assert np.array_equal(progress.pending.observations[0, 0, :2], ended)
    trainer.close()


def test_stopping_and_resuming_is_as_if_nothing_had_happened(
    tiny_run: Make, same_run: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    config = tiny_run(**SMALL | {"env_options": {"missed": 0.1}, "coverage_every": 30})

    class Crash(Exception):
        pass

    def crash(event: str, facts: dict[str, Any]) -> None:
        if event == "epoch" and facts["epoch"] == 9:
            raise Crash

    assert start(config, tmp_path / "whole") == "finished"
    with pytest.raises(Crash):
        start(config, tmp_path / "run", crash)
    assert go_on(tmp_path / "run") == "finished"
    same_run(tmp_path / "whole", tmp_path / "run")
    pushes = read_pushes(tmp_path / "run")
    assert pushes is not None
    assert pushes == read_pushes(tmp_path / "whole")
    assert 50 < len(pushes.first) <= 84 + 10  # those that were felt, of all and some ahead
    assert all(0 <= k < 25 and 0 <= x <= 1 and 0 <= y <= 1 for k, x, y in pushes.first)
    assert "pushes" not in load(tmp_path / "run").card
    files = write_report([str(tmp_path / "run")], tmp_path / "report.html", tmp_path / "figures")[1]
    assert any(file.name.startswith("pushes-") for file in files)


@pytest.mark.parametrize(("env", "least", "most"), [(SMALL["env"], 1.8, 2.2), (PEN, 0.3, 2.0)])
def test_a_runs_hours_on_the_arm(
    env: str, least: float, most: float, tiny_run: Make, tmp_path: Path, capsys: Any
) -> None:
    start(tiny_run(**SMALL | {"env": env}), tmp_path / "run")
    assert cli.main(["robot", "hours", str(tmp_path / "run"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["env_steps"] >= 80
    assert least < 3600 * told["hours"]["1.3"] / told["env_steps"] < most
    assert told["hours"]["10.0"] < 0.5 * told["hours"]["1.3"]
    assert cli.main(["robot", "hours", str(tmp_path / "run"), "--at", "9999"]) == 2
    assert "--at 9999; allowed: 1 to" in capsys.readouterr().err


def test_another_bodys_run_has_no_hours(tiny_run: Make, tmp_path: Path, capsys: Any) -> None:
    tiny_run().write(tmp_path / "config.json")
    assert cli.main(["robot", "hours", str(tmp_path)]) == 2
    assert "allowed: an arm with a pen" in capsys.readouterr().err


def test_the_first_and_the_last_pushes_are_kept() -> None:
    pushes = Pushes()
    for number in range(30):
        pushes = pushes.add(np.full((10, 3), number, np.float32))
    assert len(pushes.first) == len(pushes.last) == KEPT
    assert (pushes.first[0, 0], pushes.first[-1, 0]) == (0, 19)
    assert (pushes.last[0, 0], pushes.last[-1, 0]) == (10, 29)


@contextmanager
def twin_at(link: Path, page: int, faults: str) -> Iterator[Twin]:
    """A twin behind a name that stays, as a real arm's line has."""
    screen = PageScreen(f"http://127.0.0.1:{page}/")
    schedule = Schedule.read(faults, missed=0.02, doubled=0.01)
    with TwinThread(Twin(screen, schedule=schedule), AS_FAST_AS_IT_GOES) as line:
        link.unlink(missing_ok=True)
        link.symlink_to(line.port)
        yield line.twin
    screen.close()


def stored_steps(run: Path) -> int:
    """Environment steps of the episodes in the buffer of a run's newest checkpoint."""
    found = newest_checkpoint(run / "checkpoints", lambda arrays, _: arrays)
    assert found is not None
    return int(found[0][".buffer.stored.lengths"].sum())


def stored_file(run: Path) -> Path:
    return max(run.glob("checkpoints/step_*/learner.safetensors"))


def test_a_run_at_an_arm_goes_on_tomorrow(
    tiny_run: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A reboot is got over; a lost cable ends the run, whose checkpoint is kept, and it goes on."""
    out, link, page, file = tmp_path / "run", tmp_path / "arm", free_port(), tmp_path / "c.json"
    erring_calibration(Tablet.lying(), 0.3).save(file)
    where = dict(port=str(link), calibration=str(file), board_port=page, pace=1e9)
    config = tiny_run(**SMALL | {"env_options": where, "env_steps": 40, "checkpoint_every": 100})
    with twin_at(link, page, "reboot@20,cable@120"), caplog.at_level(logging.WARNING):
        with pytest.raises(LineLost, match=f"continue with: seads train --resume {out}"):
            start(config, out)
        assert "started anew" in caplog.text
    stopped = load(out).card["env_steps"]
    assert 12 <= stopped < 40
    assert stored_steps(out) == stopped  # none lost, none twice
    good = stored_file(out).stat().st_ino
    with twin_at(link, page, "cable@8"), pytest.raises(LineLost, match="continue with"):
        go_on(out)  # and is lost again before the first epoch: the one good copy is left alone
    assert load(out).card["env_steps"] == stopped
    assert stored_file(out).stat().st_ino == good
    with twin_at(link, page, ""):
        assert go_on(out) == "finished"
    assert load(out).card["env_steps"] >= 40
    assert load(out).env_options == {}  # an agent does not ask for the arm that taught it
    epochs = [line["epoch"] for line in read_metrics(out / "metrics.jsonl")]
    assert epochs == list(range(1, len(epochs) + 1))
