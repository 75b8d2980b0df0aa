"""Runs of the baselines on the real cursor: reproducible, resumable, evaluated like SEADS."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from seads.agent.arrays import from_arrays, read_arrays, to_arrays
from seads.baselines import hierarchical_episodes
from seads.baselines.agent import is_baseline, load_baseline
from seads.baselines.settings import KINDS
from seads.cli import main
from seads.errors import SeadsError
from seads.evaluation import baselines
from seads.evaluation.baselines import measure_baseline
from seads.evaluation.partly import PartlyMeasured
from seads.solving.agent import WITHOUT_SKILLS
from seads.solving.boards import game_of
from seads.solving.tasks import draw_tasks
from seads.training.algorithms import make_trainer
from seads.training.config import TrainConfig, read_config
from seads.training.metrics import read_metrics
from seads.training.runner import go_on, start

Make = Callable[..., TrainConfig]
BOTH = pytest.mark.parametrize("algorithm", ["sac", "hac"])


@pytest.fixture(scope="module")
def finished(tiny_baseline: Make, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A whole run of each baseline that nothing disturbed."""
    home = tmp_path_factory.mktemp("runs")
    for algorithm in ("sac", "hac"):
        assert start(tiny_baseline(algorithm), home / algorithm) == "finished"
    return {algorithm: home / algorithm for algorithm in ("sac", "hac")}


def last_arrays(out: Path) -> dict[str, np.ndarray]:
    return read_arrays(max(out.glob("checkpoints/step_*")) / "learner.safetensors")


@BOTH
def test_a_run_is_complete(algorithm: str, finished: dict[str, Path], tiny_baseline: Make) -> None:
    out = finished[algorithm]
    assert read_config(out / "config.json") == tiny_baseline(algorithm)
    meta = json.loads((out / "meta.json").read_text())
    assert (meta["status"], meta["env_steps"] >= 1000) == ("finished", True)
    lines = read_metrics(out / "metrics.jsonl")
    assert [line["epoch"] for line in lines] == list(range(1, len(lines) + 1))
    prefix = "" if algorithm == "sac" else "high_"
    # the learner waits for its warm-up, then updates in every epoch
    learned = [f"{prefix}critic_loss" in line for line in lines]
    assert not learned[0]
    assert learned == sorted(learned)
    assert 0 <= lines[-1]["success"] <= 1
    arrays = last_arrays(out)
    # replays have wrapped round: 300 records of one level, with one more for each environment
    assert {a.shape[0] for n, a in arrays.items() if n.endswith("kept['actions']")} == {
        303 if algorithm == "sac" else 300
    }


@BOTH
def test_resume_is_bit_for_bit(
    algorithm: str, finished: dict[str, Path], tiny_baseline: Make, tmp_path: Path
) -> None:
    """Stopped in the middle of episodes, at checkpoints and beside them."""
    config, out = tiny_baseline(algorithm), tmp_path / "parts"
    stops = iter([7, 12])
    stop_at = next(stops)

    class Stop(Exception):
        pass

    def interrupt(event: str, facts: dict) -> None:
        if event == "epoch" and facts["epoch"] == stop_at:
            raise Stop

    with pytest.raises(Stop):
        start(config, out, interrupt)
    stop_at = next(stops)
    with pytest.raises(Stop):
        go_on(out, interrupt)
    stop_at = -1
    assert go_on(out, interrupt) == "finished"
    whole = finished[algorithm]
    assert (out / "metrics.jsonl").read_text() == (whole / "metrics.jsonl").read_text()
    ours, theirs = last_arrays(out), last_arrays(whole)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert ours[name].dtype == theirs[name].dtype
        assert ours[name].tobytes() == theirs[name].tobytes(), name


def test_an_episode_under_way_continues_where_it_was(tiny_baseline: Make) -> None:
    """Unlike the other rows, whose episodes are of other lengths."""
    trainer = make_trainer(tiny_baseline("sac", steps_per_env=7))
    progress = trainer.begin()
    for _ in range(3):
        progress, _ = trainer.epoch(progress)
    assert len(set(progress.running.lengths.tolist())) > 1
    other = make_trainer(tiny_baseline("sac", steps_per_env=7))
    copy = from_arrays(other.begin(), to_arrays(progress))
    # the environments themselves must be there again: what they show next says so
    progress, copy = (one.epoch(at)[0] for one, at in ((trainer, progress), (other, copy)))
    ours, theirs = to_arrays(progress), to_arrays(copy)
    assert ours.keys() == theirs.keys()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)
    for one in (trainer, other):
        one.close()


@BOTH
def test_another_seed_is_another_run(
    algorithm: str, finished: dict[str, Path], tiny_baseline: Make, tmp_path: Path
) -> None:
    start(tiny_baseline(algorithm, seed=1, env_steps=200), tmp_path / "other")
    ours = read_metrics(finished[algorithm] / "metrics.jsonl")
    theirs = read_metrics(tmp_path / "other" / "metrics.jsonl")
    assert ours[len(theirs) - 1] != theirs[-1]


@BOTH
def test_a_checkpoint_of_the_other_baseline_is_refused(
    algorithm: str, finished: dict[str, Path], tiny_baseline: Make
) -> None:
    trainer = make_trainer(tiny_baseline("hac" if algorithm == "sac" else "sac"))
    with pytest.raises(SeadsError):
        from_arrays(trainer.begin(), last_arrays(finished[algorithm]))
    trainer.close()


@BOTH
def test_a_baseline_is_loaded_as_it_was_saved(algorithm: str, finished: dict[str, Path]) -> None:
    out = finished[algorithm]
    jax.config.update("jax_compilation_cache_dir", None)
    agent = load_baseline(out)
    assert jax.config.values["jax_compilation_cache_dir"], "compiled programs are kept"
    assert agent.architecture.algorithm == algorithm
    assert agent.card["command"].startswith(f"seads train lightsout-cursor-2x2 --algo {algorithm} ")
    arrays = last_arrays(out)
    name = ".learner.policy" if algorithm == "sac" else ".learner.low.policy"
    saved = arrays[f"{name}.mlp.layers[0].weight"]
    np.testing.assert_array_equal(agent.low.mlp.layers[0].weight, saved)
    assert is_baseline(out)
    assert not is_baseline(out.parent)


@BOTH
def test_commands_that_need_skills_say_what_to_run_instead(
    algorithm: str, finished: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    out = finished[algorithm]
    for arguments in (["solve"], ["play"], ["plan", "--operators"], ["plan", "--board", "#..."]):
        assert main([arguments[0], str(out), *arguments[1:]]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == (
            f"seads: {out} was trained with --algo {algorithm}, which learns no skills to plan "
            f"with: `seads evaluate {out}` measures it, `seads train lightsout-cursor-2x2` learns "
            "skills\n"
        )


def test_the_algorithms_without_skills_are_the_baselines() -> None:
    assert set(WITHOUT_SKILLS) == set(KINDS)


@BOTH
def test_the_same_boards_as_seads(algorithm: str, finished: dict[str, Path]) -> None:
    found = measure_baseline(load_baseline(finished[algorithm]), None, 4, "test", 3).to_json()
    game = game_of("lightsout-cursor-2x2")
    assert game is not None
    drawn = draw_tasks(game, [1, 2, 3], 4, "test", 3)
    boards = [game.canonical(board) for board in game.from_bits(drawn.starts)]
    assert [task["board"] for task in found["tasks"]] == boards
    assert [task["depth"] for task in found["tasks"]] == drawn.depths.tolist()
    for task in found["tasks"]:
        limit = 10 * task["depth"]
        assert task["env_steps"] <= limit
        assert task["solved"] or algorithm == "hac" or task["env_steps"] == limit
    solved = [task["solved"] for task in found["tasks"]]
    assert found["success"] == pytest.approx(np.mean(solved))
    assert found["by_depth"]["2"] == pytest.approx(np.mean(solved[4:8]))
    again = measure_baseline(load_baseline(finished[algorithm]), None, 4, "test", 3).to_json()
    assert again == found  # nothing is drawn: the policies are deterministic


@pytest.mark.parametrize(
    ("algorithm", "acting"), [("sac", baselines), ("hac", hierarchical_episodes)]
)
def test_ctrl_c_keeps_the_boards_that_had_ended(
    algorithm: str, acting: Any, finished: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = load_baseline(finished[algorithm])
    really, steps = acting.act, itertools.count()

    def act(*words: Any) -> Any:
        if next(steps) == limit:  # by now the boards of depth 1 have had their time
            signal.raise_signal(signal.SIGINT)
        return really(*words)

    with closing(agent.make_env(1)) as env:
        limit = env.spec.step_limit
    monkeypatch.setattr(acting, "act", act)
    with pytest.raises(PartlyMeasured) as stopped:
        measure_baseline(agent, depths=[1, 4], per_depth=2, split="train")
    assert 2 <= stopped.value.done < stopped.value.of == 4
    assert stopped.value.result.share()["boards"] == stopped.value.done
    assert stopped.value.result.by_depth.keys() >= {"1"}


@BOTH
def test_the_command_line(
    algorithm: str, finished: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = finished[algorithm]
    assert main(["evaluate", str(out), "--episodes-per-depth", "2", "--checkpoints", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["algorithm"] == algorithm
    assert list(result["tasks"]["by_depth"]) == ["1", "2", "3"]
    steps = [point["env_steps"] for point in result["curve"]]
    assert steps == sorted(steps)
    assert steps[-1] == result["env_steps"]
    assert (out / "eval" / "tasks-test-seed0.json").is_file()
    assert main(["evaluate", str(out), "--what", "coverage"]) == 2
    assert f"a {algorithm} agent has no skills" in capsys.readouterr().err
    for option in (
        ["--planner", "bfs"],
        ["--no-replan"],
        ["--minimise", "risk"],
        ["--starts", "3"],
    ):
        assert main(["evaluate", str(out), *option]) == 2
        said = capsys.readouterr().err
        assert f"{out} is a baseline" in said
        assert f"leave out {option[0]}" in said
    assert main(["evaluate", str(out), "--what", "model"]) == 2
    assert f"a {algorithm} agent has no forward model: it is a baseline" in capsys.readouterr().err
    new = ["train", "lightsout-cursor-2x2", "--algo", algorithm, "--out", str(tmp_path / "new")]
    assert main([*new, "--env-steps", "1", "--set", "hidden=8", "horizon_low=0"]) == 2
    assert "horizon_low" in capsys.readouterr().err
    assert main([*new, "--env-steps", "60", "--set", "hidden=8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "finished"
    config = read_config(tmp_path / "new" / "config.json")
    assert (config.settings.algorithm, config.preset, config.settings.hidden) == (
        algorithm,
        "paper",
        (8,),
    )
