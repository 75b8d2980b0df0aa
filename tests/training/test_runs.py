"""Runs of a few dozen epochs on the real cursor: reproducible, resumable, complete."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.tiny_settings import VIC

from seads.agent.arrays import from_arrays, to_arrays
from seads.agent.learner import learn
from seads.errors import SeadsError
from seads.solving import load
from seads.training import configure, loop, provenance, resume
from seads.training.config import TrainConfig, read_config
from seads.training.configure import named_value, named_values
from seads.training.loop import Trainer
from seads.training.metrics import read_metrics
from seads.training.provenance import card
from seads.training.runner import go_on, save, start

Make = Callable[..., TrainConfig]
Compare = Callable[[Path, Path], None]


@pytest.fixture(scope="session")
def finished(tiny_run: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run that nothing disturbed."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert start(tiny_run(), out) == "finished"
    return out


def test_the_run_directory_is_complete(finished: Path, tiny_run: Make) -> None:
    assert read_config(finished / "config.json") == tiny_run()
    meta = json.loads((finished / "meta.json").read_text())
    assert meta["status"] == "finished"
    lines = read_metrics(finished / "metrics.jsonl")
    assert [line["epoch"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["env_steps"] == meta["env_steps"] >= 2000 > lines[-2]["env_steps"]
    assert sum("coverage" in line for line in lines) == 1  # looks take a tenth of the steps
    assert {"critic_loss", "model_loss", "reward", "skill_success"} <= lines[-1].keys()
    assert len(read_metrics(finished / "timing.jsonl")) == len(lines)
    assert list((finished / "tensorboard").glob("events.out.tfevents.*"))
    steps = sorted(finished.glob("checkpoints/step_*"))
    assert all((step / "agent" / "card.json").is_file() for step in steps)
    # only the last two can be resumed from; of the others the agent is kept
    assert [(step / "learner.safetensors").exists() for step in steps[-3:]] == [False, True, True]
    assert not list(finished.glob("**/*.tmp"))
    agent = load(finished)
    assert agent.env == "lightsout-cursor"
    assert agent.card["env_steps"] == meta["env_steps"]


def test_one_seed_is_one_run_and_another_seed_another(
    finished: Path, tiny_run: Make, same_run: Compare, tmp_path: Path
) -> None:
    start(tiny_run(), tmp_path / "again")
    same_run(finished, tmp_path / "again")
    start(tiny_run(seed=1, env_steps=300), tmp_path / "other")
    ours = read_metrics(finished / "metrics.jsonl")
    theirs = read_metrics(tmp_path / "other" / "metrics.jsonl")
    assert ours[: len(theirs)] != theirs


def test_stopping_and_resuming_is_as_if_nothing_had_happened(
    finished: Path, tiny_run: Make, same_run: Compare, tmp_path: Path
) -> None:
    """Stopped by an error in the middle of an epoch, off the schedule of checkpoints."""
    out = tmp_path / "run"

    class Crash(Exception):
        pass

    def crash(event: str, facts: dict[str, Any]) -> None:
        if event == "epoch" and facts["epoch"] == 17:
            raise Crash

    with pytest.raises(Crash):
        start(tiny_run(), out, crash)
    meta = json.loads((out / "meta.json").read_text())
    assert meta["status"] == "failed"
    assert go_on(out) == "finished"
    same_run(finished, out)


def test_resuming_a_finished_run_changes_nothing(
    finished: Path, same_run: Compare, tmp_path: Path, tiny_run: Make
) -> None:
    out = tmp_path / "run"
    start(tiny_run(), out)
    (out / "agent" / "card.json").unlink()  # as if killed before it was written
    before = sorted(path.name for path in (out / "checkpoints").iterdir())
    assert go_on(out) == "finished"
    assert sorted(path.name for path in (out / "checkpoints").iterdir()) == before
    same_run(finished, out)
    assert load(out).card["env_steps"] == load(finished).card["env_steps"]


def test_a_checkpoint_holds_the_whole_progress(tiny_run: Make) -> None:
    trainer = Trainer(tiny_run())
    progress = trainer.begin()
    for _ in range(3):
        progress, _ = trainer.epoch(progress)
    arrays = {name: value.copy() for name, value in to_arrays(progress).items()}
    again = from_arrays(trainer.begin(), arrays)
    twins = [trainer.epoch(one) for one in (progress, again)]
    trainer.close()
    assert twins[0][1] == twins[1][1]
    ours, theirs = (to_arrays(one) for one, _ in twins)
    assert all((ours[name] == theirs[name]).all() for name in ours)
    assert ours.keys() == theirs.keys() == arrays.keys()
    assert any((ours[name] != arrays[name]).any() for name in ours if name.startswith(".learner"))


@pytest.mark.parametrize(
    "changes",
    [
        VIC | dict(second_best=False, relabel_model=0.0, relabel_sac=0.0),
        VIC,
        VIC | dict(model="network-without-xor"),
        dict(env="tileswap-cursor", act_with_average=True, shared_sample=False, n_step=3),
        dict(score_again=True, entropy_in_action_units=True),
        dict(num_skills=30, layer_norm=True, critics=3, clip_novelty=True, sampled_episodes=0),
    ],
)
def test_variants_run(changes: dict[str, Any], tiny_run: Make, tmp_path: Path) -> None:
    assert start(tiny_run(env_steps=400, **changes), tmp_path / "run") == "finished"
    last = read_metrics(tmp_path / "run" / "metrics.jsonl")[-1]
    assert all(np.isfinite(value) for value in last.values())
    assert load(tmp_path / "run").architecture.algorithm == changes.get("algorithm", "seads")


def test_nan_stops_the_run_and_leaves_the_last_good_checkpoint(
    tiny_run: Make, last_arrays: Callable[[Path], dict[str, np.ndarray]], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with pytest.raises(
        SeadsError, match=r"became (nan|inf|-inf) in epoch 2 .* Lower learning_rate"
    ):
        start(tiny_run(learning_rate=1e30, learning_rate_end=1e30, checkpoint_every=1), out)
    assert json.loads((out / "meta.json").read_text())["status"] == "failed"
    assert [path.name for path in out.glob("checkpoints/*")] != []
    assert all(np.isfinite(value).all() for value in last_arrays(out).values())
    with pytest.raises(SeadsError, match="in epoch 2"):  # resumable, and honest again
        go_on(out)


def test_a_nan_that_no_loss_shows_is_not_saved(tiny_run: Make, tmp_path: Path) -> None:
    trainer = Trainer(tiny_run())
    progress = trainer.begin()
    weight = progress.learner.sac.policy.mlp.layers[0].weight
    object.__setattr__(
        progress.learner.sac.policy.mlp.layers[0], "weight", weight.at[0, 0].set(np.nan)
    )
    with pytest.raises(SeadsError, match=r"learner\.sac\.policy\..* became nan"):
        save(tiny_run(), "of no matter", trainer, progress, tmp_path)
    assert not list(tmp_path.iterdir())
    trainer.close()


def test_the_learning_rate_falls_over_the_last_half(tiny_run: Make) -> None:
    config = tiny_run(learning_rate=4.0, learning_rate_end=1.0, env_steps=100)
    rates = [config.learning_rate(steps, 5) for steps in (0, 50, 75, 100, 130)]
    assert rates == [4.0, 4.0, 2.5, 1.0, 1.0]


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_more_environment_steps_bring_more_updates(
    share: float, tiny_run: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(*given: Any) -> Any:
        made.append(given[-1])
        return learn(*given)

    monkeypatch.setattr(loop, "learn", counted)
    with closing(Trainer(tiny_run(updates_per_step=share, sac_steps=2, coverage_every=0))) as one:
        progress, steps = one.begin(), []
        for _ in range(6):
            steps.append(int(progress.pending.lengths.sum()))
            progress, _ = one.epoch(progress)
    assert made == [max(1, round(share * n / 2)) for n in steps[-len(made) :]]
    assert (max(made) > 1) == (share > 0)


def test_each_budget_has_a_schedule_of_its_own(tiny_run: Make) -> None:
    config = tiny_run(
        learning_rate=4.0, learning_rate_end=1.0, env_steps=300, earlier_budgets=[100]
    )
    rates = [config.learning_rate(steps, 5) for steps in (50, 75, 104, 105, 200, 250, 304, 400)]
    # the epoch that ends at 104 began within the first budget, as when the run ended with it
    assert rates == [4.0, 2.5, 1.0, 4.0, 4.0, 2.5, 1.0, 1.0]
    with pytest.raises(SeadsError, match=r"earlier_budgets=.*ascending, and below env_steps"):
        tiny_run(env_steps=300, earlier_budgets=[300])


def test_more_of_the_same_run(tiny_run: Make, same_run: Compare, tmp_path: Path) -> None:
    """Beyond a budget that is used up, or not yet, is one and the same; also interrupted."""
    parts, early = tmp_path / "parts", tmp_path / "early"
    start(tiny_run(env_steps=400, log_every=5, checkpoint_every=4), parts)
    shutil.copytree(parts, early)
    for later in sorted(early.glob("checkpoints/step_*"))[-1:]:
        shutil.rmtree(later)  # as if killed before its end
    assert resume(parts, env_steps=900, report=stop_at(14)).status == "stopped"
    ended = [resume(one, env_steps=900, quiet=True) for one in (parts, early)]
    assert [run.status for run in ended] == ["finished", "finished"]
    assert ended[0].env_steps == ended[1].env_steps >= 900
    same_run(parts, early)
    config = read_config(parts / "config.json")
    assert (config.budgets, len(config.earlier_configs)) == ([400, 900], 1)
    card = json.loads((parts / "agent" / "card.json").read_text())
    assert card["budgets"] == [400, 900]
    assert "--env-steps 400 " in f"{card['command']} "
    assert card["command"].endswith(
        "&& seads train --resume runs/lightsout-cursor-seads-default-seed0 --env-steps 900"
    )
    with pytest.raises(SeadsError, match="env_steps=500; allowed: more than the budget of 900"):
        resume(parts, env_steps=500)


def stop_at(epoch: int) -> Callable[[str, dict[str, Any]], None]:
    """A report that asks the run to stop after an epoch."""

    def report(event: str, facts: dict[str, Any]) -> None:
        if event == "epoch" and facts["epoch"] == epoch:
            signal.raise_signal(signal.SIGTERM)

    return report


def test_a_card_names_the_command_that_makes_the_run() -> None:
    config = configure(
        "lightsout-cursor-2x2",
        seed=3,
        env_steps=5000,
        settings={"alpha": 0.2, "hidden": [64, 32]},
    )
    command = card(config)["command"]
    assert command == (
        "seads train lightsout-cursor-2x2 --preset default --seed 3 --env-steps 5000 "
        "--set alpha=0.2 hidden=64,32"
    )
    baseline = configure("lightsout-cursor-2x2", algo="sac", env_steps=5000)
    assert card(baseline)["command"] == (
        "seads train lightsout-cursor-2x2 --algo sac --preset paper --seed 0 --env-steps 5000 "
        "--env-set observation=raw"
    )


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["None", "true", "True", "null", "3", "1e5", "a,b", "[]", " x ", "", "a=b"]),
)


@given(st.one_of(PLAIN, st.lists(PLAIN, max_size=3)))
@example([])
@example([3])
def test_what_is_told_of_an_option_is_read_as_it_was(value: Any) -> None:
    told = named_value("option", value)
    # as JSON: 1, 1.0 and True are equal, yet not the same
    assert json.dumps(named_values([told])) == json.dumps({"option": value})


def test_a_card_tells_options_as_they_must_be_typed() -> None:
    options = {"sizes": [3], "label": "3", "none": None, "physics": "fast", "marks": [1, 2]}
    command = card(configure("lightsout-cursor", env_options=options))["command"]
    words = shlex.split(command)
    typed = words[words.index("--env-set") + 1 :]
    assert {"physics=fast", "marks=1,2"} < set(typed)  # plain where plain will do
    assert named_values(typed) == options


def test_an_epoch_of_more_episodes_than_the_buffer_is_kept_whole(tiny_run: Make) -> None:
    with closing(Trainer(tiny_run(num_skills=40, balanced_buffer=True))) as trainer:
        progress = trainer.begin()
        assert len(progress.pending) >= 40 > trainer.config.settings.buffer_episodes
        for _ in range(2):
            new = progress.pending
            progress, _ = trainer.epoch(progress)
            newest = progress.buffer.stored.pick(progress.buffer.newest())
            assert np.array_equal(newest.observations, new.observations)


def test_the_commit_is_of_the_package_not_of_what_lies_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed into the virtual environment of a project that is a repository itself."""
    installed = tmp_path / ".venv" / "provenance.py"
    installed.parent.mkdir()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    installed.write_text("")
    monkeypatch.setattr(provenance, "__file__", str(installed))
    asked = provenance.commit.__wrapped__
    assert asked() is None
    for words in (["add", "."], ["commit", "-q", "-m", "second"]):
        subprocess.run([*git, *words], check=True)
    tracked = asked()
    assert tracked is not None
    assert re.fullmatch(r"[0-9a-f]{12}", tracked)
    installed.write_text("# changed")
    assert asked() == f"{tracked}-dirty"


def test_of_large_episodes_fewer_are_kept(tiny_run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Trainer(tiny_run(buffer_episodes=1000, recent_episodes=64))) as trainer:
        assert trainer.blank().buffer.capacity == 1000
        each = trainer.blank().pending.bytes_each
        for room, kept in ((100 * each + 1, 100), (10 * each, 64)):
            monkeypatch.setattr(loop, "BUFFER_BYTES", room)
            assert trainer.blank().buffer.capacity == kept
