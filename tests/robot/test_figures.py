"""The paper's figures of its robot (S.5), from commands alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.exact_agent import exact_agent

from seads import cli
from seads.agent.card import packaged
from seads.errors import SeadsError
from seads.games import LightsOut
from seads.show.report.reading import read_run
from seads.show.report.report import make_sections
from seads.solving import load
from seads.training import configure
from seads.training.pushes import Pushes


def test_trajectories_with_their_pushes_and_the_first_and_last_pushes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thirteen of each skill: the paper shows 320 in all, a panel for each skill."""
    run = tmp_path / "run"
    exact_agent("lightsout-robot").save(run / "agent")
    configure("lightsout-robot").write(run / "config.json")
    Pushes().add(np.array([[k, 0.1, 0.1] for k in range(25)], np.float32)).write(run)
    assert cli.main(["evaluate", str(run), "--what", "skills", "--starts", "13", "--json"]) == 0
    maps = json.loads(capsys.readouterr().out)["skill_maps"]
    game = LightsOut()
    assert sum(len(skill["runs"]) for skill in maps["skills"]) == 325
    for skill in maps["skills"]:
        for one in skill["runs"]:
            np.testing.assert_allclose(one["path"][-1], game.point_of(skill["skill"]), atol=0.05)
            np.testing.assert_allclose(one["touch"], one["path"][-1], atol=0.02)
    sections = {one.name: one.figure for one in make_sections([read_run(str(run))])}
    paths, first_and_last = (
        sections["skills-paths-lightsout-robot"],
        sections["pushes-lightsout-robot"],
    )
    assert paths is not None
    assert first_and_last is not None
    for panel in paths.axes:  # a path, its start and its push for each
        assert len(panel.lines) == 3 * 13
    assert [len(panel.lines) for panel in first_and_last.axes] == [25, 25]


def test_pushes_of_a_run_are_found_from_its_agent_too(tmp_path: Path) -> None:
    exact_agent("lightsout-robot").save(tmp_path / "agent")
    Pushes().add(np.array([[3, 0.1, 0.1]], np.float32)).write(tmp_path)
    for place in (tmp_path, tmp_path / "agent"):
        found = read_run(place).pushes
        assert found is not None
        assert found.first == found.last == [(3, 0.1, 0.1)]


def test_pushes_on_the_card_of_an_older_run_are_drawn(tmp_path: Path) -> None:
    pushes = {"first": [[0, 0.1, 0.1]] * 3, "last": [[1, 0.9, 0.9]] * 2}
    exact_agent("lightsout-robot", pushes=pushes).save(tmp_path)
    assert load(tmp_path).card["env_steps"] == 0
    sections = {one.name: one.figure for one in make_sections([read_run(tmp_path)])}
    drawn = sections["pushes-lightsout-robot"]
    assert drawn is not None
    assert [len(panel.lines) for panel in drawn.axes] == [3, 2]


def test_packaged_robots_have_their_pushes_beside_a_card_that_can_be_read() -> None:
    for name in ("lightsout-robot", "lightsout-robot-absolute"):
        run = read_run(name)
        assert run.pushes is not None
        assert len(run.pushes.first) == len(run.pushes.last) == 200
        assert len((packaged()[name] / "card.json").read_text().splitlines()) < 300


@pytest.mark.parametrize("written", ["", "[]", '{"first": [[0, 0.1]], "last": []}'])
def test_damaged_pushes_are_a_sentence(tmp_path: Path, written: str) -> None:
    exact_agent("lightsout-robot").save(tmp_path)
    (tmp_path / "pushes.json").write_text(written)
    with pytest.raises(SeadsError, match=r"pushes\.json is not a run's pushes"):
        read_run(tmp_path)
