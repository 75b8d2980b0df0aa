"""Training in a user's own environment: how many are built, resuming, and rows that die."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.own_point import POINT

from seads.envs.interface import IN_A_ROW
from seads.errors import SeadsError
from seads.evaluation.coverage import OWN_ROWS, measure_coverage
from seads.solving import load
from seads.training import resume
from seads.training.config import TrainConfig
from seads.training.loop import Trainer
from seads.training.runner import start

Make = Callable[..., TrainConfig]
SameRun = Callable[[Path, Path], None]
InParts = Callable[[TrainConfig, Path], None]

COUNTED = (
    POINT
    + """
import os
from pathlib import Path

HERE = Path(__file__).parent

class Fragile(Point):
    def step(self, action):
        if (HERE / "bomb").exists() and abs(self.x[0]) > 0.5:
            os._exit(3)
        return super().step(action)

def make():
    with (HERE / "built").open("a") as file:
        file.write("one\\n")
    return Fragile()

def factory(num_envs, vectorise="none"):
    return wrap(make, phi, num_envs, step_limit=5, num_moves=3, vectorise=vectorise)
"""
)


@pytest.fixture
def own(own_module: Callable[[str, str], Path]) -> Path:
    return own_module("own_counted", COUNTED)


def built(home: Path) -> int:
    """How many environments have been made since this was last asked."""
    count = len((home / "built").read_text().splitlines())
    (home / "built").unlink()
    return count


@pytest.mark.parametrize("vectorise", ["none", "threads", "processes"])
def test_as_many_as_the_rows_are_built_whatever_happens(
    own: Path, tiny_run: Make, vectorise: str
) -> None:
    config = tiny_run(
        env="own_counted:factory",
        env_options={"vectorise": vectorise},
        env_steps=300,
        coverage_every=30,
    )
    start(config, own / "run")
    assert any("coverage" in line for line in (own / "run/metrics.jsonl").open())
    assert built(own) == config.settings.episodes_per_epoch / IN_A_ROW == 2


def test_evaluation_builds_few_and_runs_them_again(own: Path, tiny_run: Make) -> None:
    start(tiny_run(env="own_counted:factory", env_steps=50), own / "run")
    built(own)
    found = measure_coverage(load(own / "run"), starts=20)
    assert found.runs.moves.shape == (20, 8)
    assert (found.runs.before == found.runs.before[:, :1]).all(), "one start for all skills"
    assert built(own) == OWN_ROWS < 160


def test_a_look_at_the_coverage_leaves_no_trace(
    own: Path, tiny_run: Make, same_run: SameRun, in_parts: InParts
) -> None:
    """In the rows that collect, whether the run is interrupted or not."""
    config = tiny_run(env="own_counted:factory", env_steps=300, coverage_every=60)
    start(config, own / "whole")
    with closing(Trainer(config)) as trainer:
        trainer.measure_coverage(trainer.begin())
    in_parts(config, own / "parts")
    same_run(own / "whole", own / "parts")


def test_looks_take_a_tenth_of_the_steps(own: Path, tiny_run: Make) -> None:
    """However long skills are: the next look waits until the last one has been earned."""
    config = tiny_run(env="own_counted:factory", env_steps=300, coverage_every=1)
    with closing(Trainer(config)) as trainer:
        progress, metrics = trainer.epoch(trainer.begin())
        looked = int(trainer.measure_coverage(progress).lengths.sum())
        assert "coverage" in metrics
        assert progress.next_coverage == progress.env_steps + 10 * looked
        progress, metrics = trainer.epoch(progress)
        assert progress.env_steps < progress.next_coverage
        assert "coverage" not in metrics


def test_a_row_that_dies_is_named_and_the_run_goes_on_later(
    own: Path, tiny_run: Make, same_run: Callable[[Path, Path], None]
) -> None:
    options = {"vectorise": "processes"}
    config = tiny_run(env="own_counted:factory", env_options=options, env_steps=500)
    start(config, own / "whole")

    def report(event: str, facts: dict[str, Any]) -> None:
        if event == "epoch" and facts["epoch"] == 9:  # two after the checkpoint
            (own / "bomb").touch()

    with pytest.raises(
        SeadsError,
        match=r"'own_counted:factory': row \d died with its worker process \(exit code 3\); "
        r"checkpoints are intact: continue with --resume",
    ) as failure:
        start(config, own / "run", report)
    assert str(failure.value).count("environment") == 1
    assert json.loads((own / "run" / "meta.json").read_text())["status"] == "failed"
    (own / "bomb").unlink()
    assert resume(own / "run", quiet=True).status == "finished"
    same_run(own / "whole", own / "run")
