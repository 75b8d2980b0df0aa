"""What a worker does of a run, short of training it: whom it waits for, and what it refuses."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from seads.evaluation.measure import solving_of
from seads.studies import work
from seads.studies.measuring import evaluations
from seads.studies.runs import runs_of
from seads.studies.study import read_study
from seads.training.lock import RunLock

STUDY = """
[[groups]]
envs = ["lightsout-cursor-2x2"]
presets = ["default"]
seeds = [0]
budget = 3000
"""


@pytest.fixture
def order(tmp_path: Path) -> dict[str, Any]:
    """A run that has begun, with nothing to be measured."""
    (tmp_path / "study.toml").write_text(STUDY)
    [run] = runs_of(read_study(tmp_path / "study.toml"))
    (tmp_path / run.name).mkdir()
    run.config.write(tmp_path / run.name / "config.json")
    return work.as_order(run, tmp_path, ())


def test_a_lock_that_is_let_go_of_is_waited_for(order: dict[str, Any]) -> None:
    """The worker of a driver that was killed lives on for a moment; here it ends the run."""
    directory = Path(order["directory"])
    orphan = RunLock(directory)

    def end() -> None:
        time.sleep(1.2)
        (directory / "meta.json").write_text('{"status": "finished"}')
        orphan.release()

    ending = threading.Thread(target=end)
    ending.start()
    assert work.work(order) == {"status": work.FINISHED, "why": ""}
    ending.join()


def test_a_run_that_somebody_else_trains_fails_in_the_end(
    order: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "PATIENCE", 0.1)
    with RunLock(Path(order["directory"])):
        ended = work.work(order)
    assert ended["status"] == work.FAILED
    assert "is being trained into by process" in ended["why"]


def test_a_directory_that_names_other_code_is_not_gone_on_in(order: dict[str, Any]) -> None:
    """Also where it is found only once a search comes to it."""
    path = Path(order["directory"]) / "config.json"
    path.write_text(path.read_text().replace("lightsout-cursor-2x2", "hostile_code:make"))
    ended = work.work(order)
    assert ended["status"] == work.FAILED
    assert "env is 'hostile_code:make' there" in ended["why"]


def test_a_weak_agent_is_measured_as_by_the_command_line(order: dict[str, Any]) -> None:
    """Which gives up early on a model that is plainly not ready: a study has hundreds of those."""
    [run] = runs_of(read_study(Path(order["directory"]).parent / "study.toml"))
    tasks = [one for one in evaluations(run) if one.part == "tasks"]
    assert tasks
    for one in tasks:
        assert one.how.solving == solving_of("auto", one.replan, "length", None, 1024.0)
