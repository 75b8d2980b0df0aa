"""`seads plan`, `seads solve` and the tasks of `seads evaluate`, as a user meets them."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.exact_agent import exact_agent

from seads import cli
from seads.games import LightsOut
from seads.solving import load

GAME = LightsOut(5)
CROSS = ".#... ###.. .#... ..... ....."
"""Pressing row 2, column 2 (move 6) solves it."""
CORNER = "##... #.... ..... ..... ....."
"""Pressing row 1, column 1 (move 0) solves it; so do longer plans without that move."""

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> str:
    statistics = [
        {"skill": k, "episodes": 9, "steps": 100.0 if k == 0 else 1.0, "success": 0.9}
        for k in range(25)
    ]
    path = tmp_path_factory.mktemp("agent")
    exact_agent(skills=statistics).save(path)
    return str(path)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a command with --json and returns what it printed."""

    def run(*arguments: str) -> Any:
        assert cli.main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must be refused in one sentence, and returns the sentence."""

    def run(*arguments: str) -> str:
        assert cli.main(list(arguments)) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err

    return run


def test_a_plan_names_its_moves(agent: str, ask: Ask) -> None:
    found = ask("plan", agent, "--board", CROSS)
    assert found["status"] == "solved"
    assert found["skills"] == [6]
    assert found["moves"] == ["press row 2, column 2"]
    assert found["planner"] == "auto"
    assert found["minimal"] is True
    assert 0 < found["seconds"] < 60
    assert found["board"] == ".#.../###../.#.../...../....."
    same = load(agent).plan(CROSS).to_json()
    assert found.keys() == same.keys() | {"env"}
    assert (found["board"], found["goal"]) == (same["board"], same["goal"])


def test_a_plan_for_another_goal_and_another_cost(agent: str, ask: Ask) -> None:
    found = ask("plan", agent, "--board", "0" * 25, "--goal", CROSS, "--planner", "bfs")
    assert found["skills"] == [6]
    assert found["used"] == "bfs"
    assert ask("plan", agent, "--board", CORNER)["skills"] == [0]
    found = ask("plan", agent, "--board", CORNER, "--minimise", "steps")
    assert found["cost"] == len(found["skills"]) > 1
    board = GAME.parse(CORNER)[None]
    for skill in found["skills"]:
        board = GAME.play(board, np.array([skill]))
    assert not board.any()


def test_evaluate_and_plan_name_moves_alike(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", agent, "--what", "coverage", "--starts", "2"]) == 0
    evaluated = re.search(r"^ +6  (\D+\d+\D+\d+)  ", capsys.readouterr().out, re.MULTILINE)
    assert cli.main(["plan", agent, "--operators"]) == 0
    planned = re.search(r"^ +6  (\D+\d+\D+\d+)  ", capsys.readouterr().out, re.MULTILINE)
    assert evaluated is not None
    assert planned is not None
    assert evaluated[1] == planned[1] == "press row 2, column 2"


def test_the_goal_itself_needs_no_plan(agent: str, ask: Ask) -> None:
    found = ask("plan", agent, "--board", "." * 25)
    assert (found["status"], found["skills"], found["moves"]) == ("solved", [], [])
    found = ask("solve", agent, "--board", "." * 25)
    assert (found["solved"], found["skills"], found["env_steps"]) == (True, [], 0)


def test_what_to_run_next_keeps_the_goal(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", agent, "--board", "0" * 25, "--goal", CROSS]) == 0
    board, goal = "...../...../...../...../.....", ".#.../###../.#.../...../....."
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"next: seads solve {agent} --board {board} --goal '{goal}'"
    assert cli.main(["plan", agent, "--board", CROSS]) == 0
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"--board '{goal}'")
    # where there is no plan there is nothing to execute
    assert cli.main(["plan", agent, "--board", CROSS, "--seconds", "0"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == f"next: seads plan {agent} --operators"
    assert cli.main(["plan", agent, "--board", "0" * 25]) == 0
    assert "plan: nothing to do, the start is the goal\n" in capsys.readouterr().out


@pytest.mark.parametrize("planner", ["auto", "bfs"])
def test_a_budget_of_zero_is_a_status(agent: str, ask: Ask, planner: str) -> None:
    given = ("--seconds", "0", "--planner", planner)
    found = ask("plan", agent, "--board", CROSS, *given)
    assert found["status"] == "time_budget"
    assert found["skills"] == []
    assert found["cost"] is None
    solved = ask("solve", agent, "--board", CROSS, *given)
    assert (solved["solved"], solved["reason"]) == (False, "budget")


def test_a_solution_can_be_followed(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["solve", agent, "--board", CROSS, "--seed", "3"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"next: seads evaluate {agent} --what tasks\n"
    lines = captured.out.splitlines()
    assert lines[0] == "lightsout-cursor, board of solution depth 1"
    assert lines[2:7] == ["  . # . . .", "  # # # . .", "  . # . . .", *["  . . . . ."] * 2]
    assert "  1. skill 6: press row 2, column 2" in lines
    at = next(i for i, line in enumerate(lines) if line.startswith("1. skill 6: press row 2"))
    assert lines[at].endswith("as predicted)")
    assert lines[at + 1 : at + 4] == [
        "  . # . . .   . . . . .",
        "  # # # . .   . . . . .",
        "  . # . . . → . . . . .",
    ]
    assert lines[-1].startswith("solved with 1 skill, ")


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # reading the film starts ffmpeg
def test_solving_a_drawn_board_and_filming_it(agent: str, ask: Ask, tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v2")
    video = tmp_path / "films" / "solution.mp4"
    found = ask("solve", agent, "--depth", "2", "--seed", "4", "--video", str(video))
    assert found["solved"] is True
    assert found["depth"] == len(found["skills"]) == 2
    assert found["env_steps"] == sum(step["steps"] for step in found["steps"])
    assert found["steps"][-1]["after"] == found["goal"]
    assert found["plans"][0]["skills"] == found["skills"]
    with imageio.get_reader(video) as film:
        frames = [np.asarray(frame, int) for frame in film]
    assert len(frames) > found["env_steps"]
    assert abs(frames[0] - frames[-1]).max() > 50  # the lights are out
    again = ask("solve", agent, "--depth", "2", "--seed", "4", "--no-replan")
    assert (again["board"], again["skills"]) == (found["board"], found["skills"])
    other = ask("solve", agent, "--depth", "2", "--seed", "5")
    assert other["board"] != found["board"]


def test_failures_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exact_agent(presses={6: 18}).save(tmp_path)
    assert cli.main(["solve", str(tmp_path), "--board", CROSS, "--max-skills", "2"]) == 0
    printed = capsys.readouterr().out
    assert "not as predicted)" in printed
    assert "expected:" in printed
    assert "planning again" in printed
    assert "not solved: the limit on the number of skills was reached (2 skills, " in printed
    assert cli.main(["solve", str(tmp_path), "--board", CROSS, "--no-replan"]) == 0
    assert "not solved: a skill had another effect than predicted" in capsys.readouterr().out


def test_the_operators_are_the_moves(agent: str, ask: Ask) -> None:
    found = ask("plan", agent, "--operators")["operators"]
    assert [one["move"] for one in found] == list(range(25))
    assert {one["kind"] for one in found} == {"flips"}
    assert found[0]["move_name"] == "press row 1, column 1"
    assert found[0]["effect"] == "flips r1c1, r1c2, r2c1"
    assert found[0]["share"] == found[0]["agreement"] == 1.0


def test_pddl_is_written(agent: str, ask: Ask, tmp_path: Path) -> None:
    pytest.importorskip("unified_planning")
    found = ask("plan", agent, "--board", CROSS, "--pddl", str(tmp_path / "out"))
    domain, problem = (Path(path).read_text() for path in found["pddl"])
    assert "skill_6" in domain
    assert "bit_24" in problem


def test_tasks_are_evaluated_and_written(
    tmp_path: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    exact_agent(presses={6: 18, 12: 18}).save(tmp_path / "agent")
    (tmp_path / "config.json").write_text("{}")
    given = ("evaluate", str(tmp_path), "--what", "tasks", "--depths", "1,4")
    found = ask(*given, "--episodes-per-depth", "12", "--no-replan")
    tasks = found["tasks"]
    assert found["env"] == "lightsout-cursor"
    assert tasks["replan"] is False
    assert set(tasks["by_depth"]) == {"1", "4"}
    assert tasks["boards"] == 24
    fails = [not {6, 12}.isdisjoint(task["skills"]) for task in tasks["tasks"]]
    assert [not task["solved"] for task in tasks["tasks"]] == fails
    assert tasks["success"] == pytest.approx(1 - np.mean(fails))
    assert any(fails)
    assert tasks["failures"]["wrong_effect"] == sum(fails)
    (path,) = (tmp_path / "eval").iterdir()
    assert path.name == "tasks-no-replan-auto-length-test-depths1,4-seed0.json"
    assert json.loads(path.read_text())["tasks"] == tasks

    assert cli.main([*given, "--episodes-per-depth", "3"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].split()[:3] == ["depth", "boards", "solved"]
    assert [line.split()[0] for line in lines[1:3]] == ["1", "4"]
    assert captured.err.splitlines()[-1] == f"next: seads solve {tmp_path}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan"], "which board?"),
        (["plan", "--pddl", "x", "--operators"], "give --board"),
        (["plan", "--board", ".#"], "found 2 fields; a 5x5 board has 25"),
        (["plan", "--board", "x" * 25], "unexpected 'x' at position 1"),
        (["plan", "--board", "#" + "." * 24], "no presses solve the board #..../...../"),
        (["plan", "--board", "." * 25, "--goal", "#" + "." * 24], "no presses lead from board"),
        (["plan", "--board", CROSS, "--planner", "dfs"], "unknown planner 'dfs'; did you mean"),
        (["plan", "--board", CROSS, "--seconds", "-1"], "seconds=-1.0; allowed: zero or more"),
        (["plan", "--board", CROSS, "--planner", "bfs", "--minimise", "steps"], None),
        (["solve", "--board", CROSS, "--depth", "2"], "contradict each other"),
        (["solve", "--depth", "0"], "depth 0 is not possible"),
        (["solve", "--depth", "16"], "no board in split 'test' has solution depth 16"),
        (["solve", "--max-skills", "-1"], "max_skills is -1"),
        (["solve", "--video", "film.gif"], "its name must end in .mp4"),
        (["evaluate", "--what", "tasks", "--depths", "5-1"], "they go up, from 1 on"),
        (["evaluate", "--what", "tasks", "--depths", "deep"], "depths 'deep' cannot be read"),
        (["evaluate", "--what", "tasks", "--depths", "99"], "solution depth 99"),
        (["evaluate", "--what", "tasks", "--episodes-per-depth", "0"], "allowed: 1 or more"),
        (["evaluate", "--what", "tasks", "--planner", "dfs"], "unknown planner 'dfs'"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    arguments: list[str], sentence: str | None, agent: str, refusal: Callable[..., str]
) -> None:
    command, *rest = arguments
    said = refusal(command, agent, *rest)
    assert (sentence or "'bfs' minimises length only") in said


def test_an_agent_without_forward_model_cannot_plan(
    tmp_path: Path, refusal: Callable[..., str], ask: Ask
) -> None:
    exact_agent(algorithm="vic").save(tmp_path)
    for command in (["plan", "--board", CROSS], ["solve"], ["evaluate", "--what", "tasks"]):
        assert "the agent has no forward model" in refusal(command[0], str(tmp_path), *command[1:])
    found = ask("evaluate", str(tmp_path), "--starts", "2")
    assert found["coverage"]["mean"] == 25.0
    assert "tasks" not in found


def test_a_planner_that_does_not_fit_the_model_is_refused(refusal: Callable[..., str]) -> None:
    given = ("plan", "tileswap-cursor", "--board", "102 345 678", "--planner", "gf2")
    said = refusal(*given)
    assert "planner 'gf2' cannot be used" in said
    assert "choose from auto, bfs, dijkstra, bidirectional, astar" in said


def test_old_agents_know_no_costs(tmp_path: Path, refusal: Callable[..., str]) -> None:
    exact_agent().save(tmp_path)
    said = refusal("plan", str(tmp_path), "--board", CROSS, "--minimise", "risk")
    assert "no statistics of its skills" in said


def test_where_there_is_no_plan_spare_skills_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"episodes": 10, "steps": 3.0, "success": 0.9}
    skills = [known | {"skill": skill, "own": skill != 0} for skill in range(4)]
    exact_agent("lightsout-cursor-2x2", skills=skills).save(tmp_path)
    assert cli.main(["plan", str(tmp_path), "--board", "## #."]) == 0
    assert "left out of planning, since they are spare: 1 of 4 skills" in capsys.readouterr().out
    assert cli.main(["plan", str(tmp_path), "--board", "## .#"]) == 0
    assert "spare" not in capsys.readouterr().out


def test_an_environment_without_a_game_takes_bits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ask: Ask,
    refusal: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = """
        from seads.envs import make_env

        def make(num_envs):
            return make_env("lightsout-cursor-2x2", num_envs)
    """
    (tmp_path / "own_board_of_a_test.py").write_text(textwrap.dedent(source))
    monkeypatch.chdir(tmp_path)
    exact_agent("lightsout-cursor-2x2", name="own_board_of_a_test:make").save(tmp_path / "agent")
    found = ask("plan", "agent", "--board", "1110", "--goal", "0000")
    assert found["skills"] == [0]
    assert found["moves"] == ["flips bit 0, bit 1, bit 2"]
    assert found["goal"] == "0000"
    trusted = ("agent", "--allow", "own_board_of_a_test:make")
    solved = ask("solve", *trusted, "--board", "1110", "--goal", "0000")
    assert solved["solved"] is True
    assert solved["depth"] is None
    anywhere = ask("solve", *trusted, "--goal", "0000", "--seed", "1")
    assert anywhere["solved"] is True
    assert "1" in anywhere["board"]
    assert "give --goal" in refusal("solve", *trusted, "--board", "1110")
    assert "found 3 bits; a state has 4" in refusal("plan", "agent", "--board", "111")
    assert "solution depths are not known" in refusal("solve", "agent", "--depth", "2")
    assert "boards and solution depths of" in refusal("evaluate", "agent", "--what", "tasks")
    assert cli.main(["plan", "agent", "--operators"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["skill", "does", "agreement"]
    # what to run next is something that works there
    for arguments, following in (
        (["solve", *trusted, "--goal", "0000"], "seads plan agent --operators"),
        (["plan", "agent", "--operators"], "seads plan agent --board 0000 --goal 1111"),
    ):
        assert cli.main(arguments) == 0
        assert capsys.readouterr().err.splitlines()[-1] == f"next: {following}"
