"""What a study has measured of a run already, and what is to be measured again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seads.studies.directory import standing
from seads.studies.measuring import evaluations
from seads.studies.runs import StudyRun, runs_of
from seads.studies.study import read_study

STUDY = """
[evaluate]
starts = 2
episodes_per_depth = 1
skills = true

[[groups]]
envs = ["lightsout-cursor-2x2"]
presets = ["default"]
seeds = [0]
budget = 2000
"""


def run_of(text: str, tmp_path: Path) -> StudyRun:
    path = tmp_path / "study.toml"
    path.write_text(text)
    [run] = runs_of(read_study(path))
    return run


def measured(run: StudyRun, home: Path) -> Path:
    """The directory of a run that is trained, with all that the study wants of it."""
    there = home / run.name / "eval"
    there.mkdir(parents=True)
    (home / run.name / "meta.json").write_text('{"status": "finished"}')
    for one in evaluations(run):
        made = {"command": one.command(home / run.name), "study": True}
        (there / f"{one.name}.json").write_text(json.dumps(made))
    return there


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("", "", set()),
        ("starts = 2", "starts = 3", {"coverage", "skill_maps"}),
        ("episodes_per_depth = 1", "episodes_per_depth = 2", {"tasks"}),
        ("starts = 2", "starts = 2\nalong = []", {"coverage"}),
        ("starts = 2", "starts = 2\nseed = 1", {"coverage", "skill_maps", "tasks"}),
    ],
)
def test_what_the_study_measures_otherwise_now_is_measured_again(
    old: str, new: str, parts: set[str], tmp_path: Path
) -> None:
    measured(run_of(STUDY, tmp_path), tmp_path)
    run = run_of(STUDY.replace(old, new), tmp_path)
    assert {one.part for one in standing(run, tmp_path).missing} == parts


def test_what_somebody_measured_beside_the_study_is_not_its_own(tmp_path: Path) -> None:
    run = run_of(STUDY, tmp_path)
    [path] = measured(run, tmp_path).glob("coverage-*")
    by_hand = json.loads(path.read_text()) | {"study": False}
    path.write_text(json.dumps(by_hand))
    assert [one.part for one in standing(run, tmp_path).missing] == ["coverage"]
    path.write_text("{")  # told by whoever reads it
    assert not standing(run, tmp_path).missing
