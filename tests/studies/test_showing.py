"""What a sweep shows of itself in a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from seads.studies.runs import runs_of
from seads.studies.showing import table_of
from seads.studies.study import read_study
from seads.studies.sweep import Sweep

STUDY = """
[[groups]]
name = "no-model-relabelling-clipped"
envs = ["lightsout-cursor-5x5-spaced"]
seeds = [0, 1, 10]
budget = 100_000
"""


@pytest.mark.parametrize("width", [40, 80, 200])
def test_seeds_can_be_told_apart_in_a_narrow_terminal(width: int, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    sweep = Sweep(runs_of(read_study(path)), tmp_path)
    sweep.look()
    sweep.failed[sweep.runs[1].name] = (
        "no space left on the disk, " + "which is told at length " * 9
    )
    shown = io.StringIO()
    console = Console(file=shown, width=width)
    console.print(table_of(sweep, console.width))
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    named = [line.split()[0] for line in lines[1:4]]
    assert [one.rpartition("-")[2] for one in named] == ["seed1", "seed0", "seed10"]
    assert all(one.startswith("lights") for one in named)
    if width == 200:
        assert named == [sweep.runs[at].name for at in (1, 0, 2)]
    assert lines[1].split(None, 1)[1].startswith("failed: ")
