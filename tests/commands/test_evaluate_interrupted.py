"""Ctrl-C in the middle of a part of `seads evaluate`: what had ended is shown, with how much."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.exact_agent import exact_agent
from tests.show.sample_runs import write_run

from seads import cli
from seads.evaluation import coverage, model, skill_maps
from seads.evaluation.tasks import measure_tasks
from seads.solving import executor
from seads.solving.execution import Execution
from seads.solving.solver import Solving

SMALL = "lightsout-cursor-2x2"
TALKATIVE = """
import sys
from seads import cli
from seads.commands import evaluate
from seads.solving import executor
evaluate.LINE_EVERY = executor.PLANNING = 0.0  # a line for each plan, and a round
sys.exit(cli.main(sys.argv[1:]))
"""


def test_a_signal_leaves_the_boards_that_had_ended(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "lightsout-cursor", evaluated=False)
    exact_agent().save(run / "agent")
    words = ["evaluate", str(run), "--what", "tasks", "--planner", "bfs", "--depths", "1,12"]
    words += ["--episodes-per-depth", "2", "--seconds", "1000", "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", TALKATIVE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("2 plans for 4 boards"):  # of which the first has been executed
                process.send_signal(signal.SIGINT)
                break
        out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == 130, "".join(said) + err
    tasks = json.loads(out)["tasks"]
    assert tasks["interrupted"]["of"] == 4
    done = tasks["interrupted"]["done"]
    assert done in (1, 2)
    assert (tasks["boards"], tasks["by_depth"]) == (done, {"1": 1.0})
    assert f"interrupted while measuring tasks: {done} of 4 boards were done" in err
    assert "solved 100.0%" in err  # the table, which --json leaves stdout free of
    assert not list(run.glob("eval/*"))  # where it would count as whole


PARTS = {
    "coverage": (coverage, "run_skills", 3, "starts"),
    "skills": (skill_maps, "run_skills", 3, "starts"),
    "model": (model, "predictions_right", 2, "boards"),
}


@pytest.mark.parametrize("what", PARTS)
def test_every_part_keeps_what_it_had(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", SMALL, evaluated=False)
    module, name, last, units = PARTS[what]
    interrupt_at(monkeypatch, module, name, last)
    monkeypatch.setattr(coverage, "ROWS", 4)  # a start at a time
    words = ["--what", what, "--starts", "4", "--depths", "1-4", "--boards-per-depth", "2"]
    words += ["--split", "train"]
    assert cli.main(["evaluate", str(run), *words, "--json"]) == 130
    captured = capsys.readouterr()
    [part] = json.loads(captured.out).keys() - {"env", "env_steps", "algorithm"}
    found = json.loads(captured.out)[part]
    done, of = found["interrupted"]["done"], found["interrupted"]["of"]
    assert 0 < done < of
    assert f"{done} of {of} {units} were done; they are shown, not kept" in captured.err
    if what != "model":
        assert found["starts"] == done == last - 1
    else:
        assert [one["boards"] for one in found["depths"].values()] == [2]


def interrupt_at(patch: pytest.MonkeyPatch, module: Any, name: str, last: int) -> None:
    """Ctrl-C in the middle of a function's so-manieth call."""
    really, calls = getattr(module, name), []

    def called(*words: Any, **named: Any) -> Any:
        calls.append(name)
        if len(calls) == last:
            signal.raise_signal(signal.SIGINT)
        return really(*words, **named)

    patch.setattr(module, name, called)


def test_boards_go_on_while_others_wait_for_their_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    agent, solving = exact_agent(), Solving(give_up=True)

    def measured(planning: float) -> list[dict[str, Any]]:
        events.clear()
        monkeypatch.setattr(executor, "PLANNING", planning)
        found = measure_tasks(agent, [1, 2], 2, solving=solving, on_plan=planned)
        return list(found.to_json()["tasks"])

    def planned(*_: Any) -> None:
        events.append("plan")

    def recorded(*words: Any) -> None:
        events.append("skill")
        record(*words)

    record = Execution.record
    monkeypatch.setattr(Execution, "record", recorded)
    at_once = [{**one, "planning_seconds": 0} for one in measured(1000.0)]
    assert events == ["plan"] * 4 + ["skill"] * 6
    one_by_one = [{**one, "planning_seconds": 0} for one in measured(0.0)]
    assert events[:4] == ["plan", "skill", "plan", "skill"]
    assert one_by_one == at_once
