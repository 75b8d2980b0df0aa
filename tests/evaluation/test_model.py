"""How often the forward model is right, by the boards' depth, and the command that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxtyping import Bool, Int
from tests.exact_agent import exact_agent

from seads import cli
from seads.evaluation.model import ModelScores, predictions_right
from seads.games import LightsOut
from seads.games.game import NO_MOVE
from seads.planning import RulesModel
from seads.solving.tasks import draw_tasks

GAME = LightsOut(4)
MOVES = np.arange(16)


class RightUpTo(RulesModel):
    """The rules, but skill 3 does nothing on boards deeper than this."""

    deepest = 2

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        after = super().successors(states)
        deep = self.game.depth(self.game.from_bits(states)) > self.deepest
        after[deep, 3] = states[deep]
        return after

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        return self.successors(states)[np.arange(len(states)), skills]


def accuracy_by_depth(
    model: RulesModel, moves: np.ndarray, depths: list[int], per_depth: int, seed: int = 0
) -> dict[str, Any]:
    drawn = draw_tasks(GAME, depths, per_depth, "test", seed)
    right = predictions_right(model, GAME, drawn.starts, moves)
    return ModelScores(GAME, drawn, right, []).to_json()


def test_mistakes_are_counted_at_their_depth() -> None:
    found = accuracy_by_depth(RightUpTo(GAME), MOVES, [1, 2, 3, 5], 40)
    assert found["by_depth"] == {"1": 1.0, "2": 1.0, "3": 15 / 16, "5": 15 / 16}
    assert found["right"] == pytest.approx((1 + 1 + 15 / 16 + 15 / 16) / 4)
    deep = found["depths"]["5"]
    assert deep["worst_skill"] == {"skill": 3, "right": 0.0}
    assert (deep["boards"], deep["all_skills_right"]) == (40, 0.0)
    assert found["depths"]["1"]["distinct_boards"] <= 16
    assert found["depth_is"] == "solution depth"


def test_what_a_skill_does_decides_not_what_the_model_says() -> None:
    swapped = MOVES.copy()
    swapped[[0, 1]] = 1, 0  # the skills press each other's fields
    found = accuracy_by_depth(RulesModel(GAME), swapped, [3], 20)
    assert found["right"] == 14 / 16
    idle = MOVES.copy()
    idle[7] = NO_MOVE  # the model says a press, and nothing happens
    assert accuracy_by_depth(RulesModel(GAME), idle, [3], 20)["right"] == 15 / 16


def test_the_same_boards_whatever_else_is_asked() -> None:
    alone = accuracy_by_depth(RightUpTo(GAME), MOVES, [4], 30, 5)
    among = accuracy_by_depth(RightUpTo(GAME), MOVES, [2, 4], 30, 5)
    assert alone["depths"]["4"] == among["depths"]["4"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exact_agent(presses={6: 18}).save(tmp_path / "agent")
    (tmp_path / "config.json").write_text("{}")
    given = ["evaluate", str(tmp_path), "--what", "model", "--depths", "2,14", "--starts", "3"]
    assert cli.main([*given, "--boards-per-depth", "10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["model"]
    assert found["by_depth"] == {"2": 24 / 25, "14": 24 / 25}
    assert found["depths"]["14"]["worst_skill"] == {"skill": 6, "right": 0.0}
    assert found["skills"][6] == {"skill": 6, "move": 18, "share": 1.0}
    assert (found["starts"], found["boards_per_depth"], found["seed"]) == (3, 10, 0)
    (path,) = (tmp_path / "eval").iterdir()
    assert path.name == "model-test-depths2,14-seed0.json"
    assert json.loads(path.read_text())["model"] == found

    assert cli.main([*given, "--boards-per-depth", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["depth", "boards", "right"]
    assert lines[2].split()[0::2][:2] == ["14", "96.00%"]
    assert lines[3].startswith("the forward model is right in 96.00%, mean of 2 depths;")


@pytest.mark.parametrize(
    ("agent", "options", "sentence"),
    [
        ({"algorithm": "vic"}, [], "no forward model to ask"),
        ({}, ["--depths", "16"], "no board in split 'test' has solution depth 16"),
        ({}, ["--boards-per-depth", "0"], "boards_per_depth=0; allowed: 1 or more"),
        ({"name": "mine:make"}, [], "boards and solution depths of 'mine:make' are not known"),
    ],
)
def test_what_cannot_be_measured(
    agent: dict[str, str],
    options: list[str],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    exact_agent(**agent).save(tmp_path)
    assert cli.main(["evaluate", str(tmp_path), "--what", "model", "--starts", "1", *options]) == 2
    assert sentence in capsys.readouterr().err
