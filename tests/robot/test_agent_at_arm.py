"""An agent at an arm's twin, by the commands: boards are put on the screen, and solved there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.exact_agent import exact_agent
from tests.robot.arms import free_port

from seads import cli
from seads.robot.board.page_client import PageScreen
from seads.robot.pushing import push_ways
from seads.robot.simulated import erring_calibration
from seads.robot.tablet import Tablet
from seads.robot.twin.firmware import Twin
from seads.robot.twin.schedule import Schedule
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES, TwinThread


@contextmanager
def words_for_a_twin(folder: Path, faults: str = "") -> Iterator[tuple[list[str], Twin]]:
    """What follows a command so that it works at a twin."""
    file, page = folder / "calibration.json", free_port()
    erring_calibration(Tablet.lying(), 0.3).save(file)
    screen = PageScreen(f"http://127.0.0.1:{page}/")
    twin = Twin(screen, schedule=Schedule.read(faults))
    with TwinThread(twin, AS_FAST_AS_IT_GOES) as line:
        options = ["--port", line.port, "--calibration", str(file)]
        yield [*options, "--env-set", f"board_port={page}", "pace=1e9"], twin
    screen.close()


def test_boards_are_solved_at_the_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    exact_agent("lightsout-robot").save(run / "agent")
    # the ninth move or so is a way down: should the touch be missed, it is tried again
    with words_for_a_twin(tmp_path, "missed@9") as (words, twin):
        board = ".#... ###.. .#... ..... ....."
        assert cli.main(["solve", str(run), "--board", board, "--json", *words]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["solved"]
        assert told["skills"] == [6]
        assert twin.pen.touches >= 1
        asked = ["--what", "tasks", "--depths", "2-3", "--episodes-per-depth", "1"]
        assert cli.main(["evaluate", str(run), *asked, "--json", *words]) == 0
        assert json.loads(capsys.readouterr().out)["tasks"]["success"] == 1.0
        assert twin.pen.touches >= 6


def test_a_fault_leaves_the_boards_that_were_solved_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On an arm they may have taken hours."""
    run = tmp_path / "run"
    exact_agent("lightsout-robot").save(run / "agent")
    asked = ["--what", "tasks", "--depths", "1", "--episodes-per-depth", "4", "--json"]
    with words_for_a_twin(tmp_path, "power@24") as (words, _):
        assert cli.main(["evaluate", str(run), *asked, *words]) == 2
    told = capsys.readouterr()
    tasks = json.loads(told.out)["tasks"]
    done = tasks["interrupted"]["done"]
    assert 1 <= done < tasks["interrupted"]["of"] == 4
    assert tasks["success"] == 1.0
    assert "the arm's power went off: it was stopped; switch it on, start again; " in told.err
    assert f"{done} of 4 boards were done before that; they are shown, not kept" in told.err


def test_an_agent_of_another_body_has_no_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exact_agent().save(tmp_path / "agent")
    assert cli.main(["solve", str(tmp_path), "--port", "/dev/nothing"]) == 2
    assert "has no option 'port'" in capsys.readouterr().err


def test_no_push_of_any_screen_leaves_the_guards_envelope() -> None:
    """Wherever a tablet lies that the arm can reach, every action is one that the guard allows."""
    rng = np.random.default_rng(0)
    corners = [[x, y] for x in (0.0, 1.0) for y in (0.0, 1.0)]
    places = np.concatenate([rng.random((60, 2)), corners])
    for _ in range(60):
        near, side, height = rng.uniform([110, -20, 0], [190, 20, 30])
        turn, ahead, aside = rng.uniform(-4, 4, 3)
        tablet = Tablet.lying(near, side, height, turn, (ahead, aside))
        found = erring_calibration(tablet, rng.uniform(0.0, 1.0), seed=int(rng.integers(1000)))
        for z in (0.2, 0.3):
            points = push_ways(found, places, z).reshape(-1, 3)
            assert found.envelope().excess(points).max() <= 0.0
