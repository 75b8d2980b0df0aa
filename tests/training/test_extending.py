"""A budget that was mistyped: taken back while nothing was learned by it, refused after that."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seads.errors import SeadsError
from seads.training import resume
from seads.training.config import TrainConfig, read_config
from seads.training.extending import extend
from seads.training.runner import start

Make = Callable[..., TrainConfig]
Compare = Callable[[Path, Path], None]


@pytest.fixture(scope="module")
def at_once(tiny_run: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 400 steps and, extended at once, of 700."""
    out = tmp_path_factory.mktemp("at once") / "run"
    often = dict(checkpoint_every=2, keep_checkpoints=3)
    start(tiny_run(env_steps=400, coverage_every=0, **often), out)
    shutil.copytree(out, out.with_name("short"))
    resume(out, env_steps=700, quiet=True)
    return out


@pytest.fixture
def run(at_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(at_once.with_name("short"), tmp_path / "run"))


def stop_after(epochs: int) -> Callable[[str, dict[str, Any]], None]:
    left = [epochs]

    def report(event: str, _: dict[str, Any]) -> None:
        left[0] -= event == "epoch"
        if left[0] == 0:
            signal.raise_signal(signal.SIGTERM)

    return report


def test_a_larger_one_can_be_taken_back(run: Path, at_once: Path, same_run: Compare) -> None:
    extend(run / "config.json", 9000)
    assert resume(run, env_steps=700, quiet=True).status == "finished"
    same_run(run, at_once)
    assert (run / "config.json").read_bytes() == (at_once / "config.json").read_bytes()


def test_also_after_epochs_of_the_budget_before(
    run: Path, at_once: Path, same_run: Compare
) -> None:
    """Which are the same whatever came after it; what was stored meanwhile is still good."""
    for later in sorted(run.glob("checkpoints/step_*"))[-2:]:
        shutil.rmtree(later)  # as if killed before its end
    assert resume(run, env_steps=9000, report=stop_after(1)).status == "stopped"
    events: list[str] = []
    ended = resume(run, env_steps=700, report=lambda event, _: events.append(event))
    assert ended.status == "finished"
    assert "warning" not in events
    same_run(run, at_once)
    assert read_config(run / "config.json").budgets == [400, 700]


def test_not_once_something_was_learned_by_it(run: Path) -> None:
    resume(run, env_steps=9000, report=stop_after(2))
    before = (run / "config.json").read_bytes()
    with pytest.raises(
        SeadsError, match=r"env_steps=700; allowed: more than the budget of 9000 .*beyond 400 have"
    ):
        resume(run, env_steps=700)
    assert (run / "config.json").read_bytes() == before


def test_nor_to_less_than_there_was_before(run: Path) -> None:
    made = int(max(run.glob("checkpoints/step_*")).name.removeprefix("step_"))
    assert made > 400
    with pytest.raises(SeadsError, match=r"budget of 400 that .*followed from the start"):
        extend(run / "config.json", 300)
    extend(run / "config.json", 9000)
    for less in (300, 400, made):
        with pytest.raises(SeadsError, match=f"env_steps={less}; allowed: more than {made}, "):
            extend(run / "config.json", less)
    assert extend(run / "config.json", made + 1).budgets == [400, made + 1]
