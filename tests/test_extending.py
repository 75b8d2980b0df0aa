"""A game is one file and one row, and so is a manipulator: each is added here, and used for all.

What stands in this file is all that a new one needs. It is trained for a few epochs, evaluated,
planned with, set to work, drawn, reported on and opened in the browser's page.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from tests.show.play.thin_viewer import ThinViewer
from tests.tiny_settings import TINY

import seads
from seads import cli
from seads.envs.interface import Rows
from seads.envs.manipulator import Manipulator
from seads.envs.registry import MANIPULATORS, ManipulatorRow
from seads.envs.render import Renderer
from seads.evaluation import TaskScores
from seads.games import GAMES, NO_MOVE, Game
from seads.games.text import grid_rows, read_fields
from seads.show.play.server import PlayServer


class LightRow(Game):
    """A row of lights; a switch between two of them toggles both. Goal: all of them off."""

    name = "lightrow"

    def __init__(self, size: int = 5) -> None:
        self.shape = (1, size)
        self.num_bits, self.num_moves = size, size - 1
        self.goal = np.zeros(size, np.uint8)

    def play(self, boards: np.ndarray, moves: np.ndarray) -> np.ndarray:
        after = boards.copy()
        for board, move in zip(after, moves, strict=True):
            if move != NO_MOVE:
                board[move : move + 2] ^= 1
        return after

    def move_at(self, points: np.ndarray, boards: np.ndarray) -> np.ndarray:
        nearest = np.nan_to_num(np.round(points[:, 0] * self.num_bits), nan=0.0).astype(int) - 1
        there = np.isfinite(points).all(1) & (nearest >= 0) & (nearest < self.num_moves)
        return np.where(there, nearest, NO_MOVE)

    def point_of(self, move: int) -> tuple[float, float]:
        return (move + 1) / self.num_bits, 0.5

    def to_bits(self, boards: np.ndarray) -> np.ndarray:
        return boards.astype(bool)

    def from_bits(self, bits: np.ndarray) -> np.ndarray:
        return bits.astype(np.uint8)

    def parse(self, text: str) -> np.ndarray:
        return read_fields(text, self.shape, lambda word, _: [int(digit) for digit in word])

    def format(self, board: np.ndarray) -> str:
        return grid_rows([str(value) for value in board], self.shape[1])

    def move_name(self, move: int) -> str:
        return f"flip switch {move + 1}"


class Finger(Manipulator):
    """A finger that is put down anywhere in one step: (x, y) in [-1, 1], and whether it touches."""

    name = "finger"
    num_uniforms = 2
    observation_size = 2
    action_low = (-1.0, -1.0, -1.0)
    action_high = (1.0, 1.0, 1.0)
    step_limit = 4

    def __init__(self, num_envs: int, game: Game) -> None:
        super().__init__(num_envs, game)
        self._places = np.zeros((num_envs, 2))

    def reset(self, rows: np.ndarray, uniforms: np.ndarray) -> None:
        self._places[rows] = uniforms

    def step(self, rows: Rows, actions: np.ndarray) -> np.ndarray:
        self._places[rows] = (actions[:, :2] + 1) / 2
        return np.where(actions[:, 2:] > 0, self._places[rows], np.nan)

    def observe(self, rows: Rows) -> np.ndarray:
        return self._places[rows].astype(np.float32)

    def pose(self, row: int) -> np.ndarray:
        return self._places[row].copy()


@pytest.fixture
def new_game(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(GAMES, "lightrow", LightRow)
    return "lightrow-cursor"


@pytest.fixture
def new_manipulator(new_game: str, monkeypatch: pytest.MonkeyPatch) -> str:
    row = ManipulatorRow(f"{__name__}:Finger", observation_size=2, action_size=3, step_limit=4)
    monkeypatch.setitem(MANIPULATORS, "finger", row)
    return "lightrow-finger"


@pytest.mark.parametrize("kind", ["new_game", "new_manipulator"])
def test_one_row_is_enough(
    kind: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    env = request.getfixturevalue(kind)
    monkeypatch.chdir(tmp_path)

    def ask(*arguments: str) -> Any:
        capsys.readouterr()
        assert cli.main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert env in [one["name"] for one in ask("envs")]
    with closing(seads.make_env(env)) as made, closing(Renderer(made)) as renderer:
        made.reset(np.array([1], np.uint64))
        assert len(np.unique(renderer.frame())) > 10

    run = seads.train(env, env_steps=300, settings=TINY)
    assert run.status == "finished"
    scores = seads.evaluate(run.agent, starts=2, episodes_per_depth=1, seconds=0.2)
    assert scores.coverage is not None
    assert scores.coverage.of == 4
    assert isinstance(scores.tasks, TaskScores)
    assert len(scores.tasks.executions) >= 1

    name = str(run.directory)
    assert ask("evaluate", name, "--starts", "2", "--episodes-per-depth", "1", "--seconds", "0.2")
    assert len(ask("evaluate", name, "--what", "skills", "--starts", "1")["skill_maps"]["skills"])
    assert len(ask("plan", name, "--operators")["operators"]) == 4
    assert "status" in ask("plan", name, "--board", "01100", "--seconds", "0.2")
    film = ("--video", "film.mp4") if kind == "new_game" else ()
    solved = ask("solve", name, "--board", "01100", "--seconds", "0.2", "--max-skills", "2", *film)
    assert solved["board"] == "01100"
    assert Path("film.mp4").exists() is bool(film)
    ask("report", name, "--out", "report.html")
    assert env in Path("report.html").read_text()

    server = PlayServer(name, port=18960)
    try:
        with ThinViewer(server.address) as viewer:
            from tests.show.play.browser import wait

            wait(lambda: server.pages and next(iter(server.pages.values())).session, "the page")
            page: Any = next(iter(server.pages.values()))
            page.speed = 0.0
            page._do(lambda session: session.touch_field(1))
            page._go(lambda session: session.run_skill(0))
            wait(lambda: page.session.skills_run == 1, "a skill run by hand")
            assert viewer.received > 1000
    finally:
        server.stop()


def test_a_new_manipulator_comes_with_every_game(new_manipulator: str) -> None:
    for game in GAMES:
        env = seads.make_env(f"{game}-finger", 3)
        observation = env.reset(np.array([1, 2, 3], np.uint64))
        assert observation.shape == (3, 2 + env.spec.num_bits + 1)
        env.step(np.zeros((3, 3)))
        env.close()


def test_a_new_game_has_exact_depths_and_comes_with_every_manipulator(new_game: str) -> None:
    game = LightRow()
    # presses are independent: a board is as deep as it has presses
    assert game.depth_counts() == {0: 1, 1: 4, 2: 6, 3: 4, 4: 1}
    assert game.solve(game.parse("10001")) == [0, 1, 2, 3]
    for manipulator in MANIPULATORS:
        env = seads.make_env(f"lightrow-{manipulator}", 2)
        env.reset(np.array([1, 2], np.uint64))
        env.step(np.zeros((2, env.spec.action_size)))
        env.close()
    from seads.envs.registry import gym_id, register

    register()
    made = gymnasium.make(gym_id(new_game))
    made.reset(seed=0)
    made.close()
    gymnasium.registry.pop(gym_id(new_game))
