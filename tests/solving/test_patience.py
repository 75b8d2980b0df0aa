"""Boards of a weak agent: long searches only where they were asked for, or where they help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.exact_agent import exact_agent

from seads import cli
from seads.planning.result import Plan, PlanStatus
from seads.solving.patience import IN_VAIN, SHORT, Patience, foreseen


def searched(seconds: float, status: PlanStatus = PlanStatus.TIME_BUDGET) -> Plan:
    return Plan(status, seconds=seconds)


def skills(success: float, episodes: int = 18) -> list[dict[str, float]]:
    one = {"skill": 0, "episodes": episodes, "steps": 3.0}
    return [one | {"success": (success * episodes + 1) / (episodes + 2)}] * 4


def test_what_a_card_knows_of_the_model() -> None:
    assert foreseen({"skills": skills(0.5)}) == pytest.approx(0.5)
    assert foreseen({"skills": skills(1.0)}) == pytest.approx(1.0)
    assert foreseen({}) is None
    assert foreseen({"skills": skills(0.0, 0)}) is None


def test_a_model_that_is_not_ready_is_not_searched_for_long() -> None:
    for seconds in (60.0, 1.0):  # of an evaluation, and along checkpoints
        patience = Patience(seconds, asked=False, agreement=0.12)
        assert patience.seconds == SHORT
        assert patience.why is not None
        assert "foresaw 12%" in patience.why
        assert patience.why.endswith(f"give --seconds {seconds:g} to plan for so long in any case")


def test_the_protocol_is_kept_where_plans_are_found() -> None:
    patience = Patience(60.0, asked=False, agreement=0.9)
    for _ in range(5):
        for _ in range(IN_VAIN - 1):
            patience.note(searched(60.0))
        patience.note(searched(40.0, PlanStatus.SOLVED))
    for _ in range(50):
        patience.note(searched(0.01, PlanStatus.UNSOLVABLE))
    assert (patience.seconds, patience.why) == (60.0, None)
    for _ in range(IN_VAIN):
        patience.note(searched(60.0))
    assert patience.seconds == SHORT


def test_who_asks_for_a_limit_gets_it() -> None:
    patience = Patience(60.0, asked=True, agreement=0.0)
    for _ in range(10):
        patience.note(searched(60.0))
    assert (patience.seconds, patience.why) == (60.0, None)


def test_evaluate_says_why_and_gives_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = exact_agent("lightsout-cursor-2x2", skills=skills(0.1))
    agent.save(tmp_path / "agent")
    words = ["evaluate", str(tmp_path), "--what", "tasks", "--episodes-per-depth", "2", "--json"]
    assert cli.main(words) == 0
    captured = capsys.readouterr()
    short = "planning gives up after 0.25 s a board"
    assert captured.err.count(short) == 2  # at once, and below all
    assert "foresaw 10%" in json.loads(captured.out)["tasks"]["gave_up"]
    assert cli.main([*words, "--seconds", "60"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"]["gave_up"] is None
