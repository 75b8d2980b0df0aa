"""The paper's figures of its robot (S.12), from commands alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.exact_agent import exact_agent

from seads import cli
from seads.games import LightsOut
from seads.show.report.reading import read_run
from seads.show.report.report import make_sections
from seads.training import configure


def test_trajectories_with_their_pushes_and_the_first_and_last_pushes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thirteen of each skill: the paper shows 320 in all, a panel for each skill."""
    pushes = {when: [[k, 0.1, 0.1] for k in range(25)] for when in ("first", "last")}
    run = tmp_path / "run"
    exact_agent("lightsout-robot", pushes=pushes).save(run / "agent")
    configure("lightsout-robot").write(run / "config.json")
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
