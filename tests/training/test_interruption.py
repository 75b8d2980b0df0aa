"""Real signals and real disks: a run that is killed, stopped or out of space loses nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seads import cli
from seads.agent.arrays import read_arrays, write_arrays
from seads.errors import SeadsError
from seads.solving import load
from seads.training import provenance, resume
from seads.training.config import TrainConfig
from seads.training.runner import go_on, start

Make = Callable[..., TrainConfig]
Compare = Callable[[Path, Path], None]

LONG = dict(env_steps=4000, checkpoint_every=5, coverage_every=1500)
"""Long enough that signals arrive in the middle."""


@pytest.fixture(scope="module")
def whole(tiny_run: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert start(tiny_run(**LONG), out) == "finished"
    return out


def launch(out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "seads.cli", "train", "--resume", str(out)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(out: Path, process: subprocess.Popen[str], more: int) -> bool:
    """Wait until the run has written more metric lines; False if it ended before."""
    path = out / "metrics.jsonl"
    first = None
    while process.poll() is None:
        # resuming drops lines after the checkpoint: count from the fewest ever seen
        lines = path.read_bytes().count(b"\n") if path.exists() else 0
        first = lines if first is None else min(first, lines)
        if lines >= first + more:
            return True
        time.sleep(0.002)
    return False


def test_killed_at_random_moments_and_resumed(
    whole: Path, tiny_run: Make, same_run: Compare, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    tiny_run(**LONG).write(out / "config.json")
    rng = random.Random(0)
    killed = 0
    for _ in range(3):
        process = launch(out)
        if not wait_for_lines(out, process, rng.randint(3, 25)):
            break
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
    assert killed >= 2
    assert go_on(out) == "finished"
    same_run(whole, out)
    assert load(out).card["env_steps"] == load(whole).card["env_steps"]


def test_sigterm_saves_and_the_run_goes_on_from_there(
    whole: Path, tiny_run: Make, same_run: Compare, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    tiny_run(**LONG | dict(checkpoint_every=10**6)).write(out / "config.json")
    process = launch(out)
    assert wait_for_lines(out, process, 8)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=900)
    assert process.returncode == 130
    assert f"continue with: seads train --resume {out}" in said
    assert json.loads((out / "meta.json").read_text())["status"] == "stopped"
    assert len(list(out.glob("checkpoints/step_*/manifest.json"))) == 1
    assert go_on(out) == "finished"
    same_run(whole, out)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def newest(out: Path) -> Path:
    return max(out.glob("checkpoints/step_*/learner.safetensors"))


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, Path.unlink])
def test_a_damaged_checkpoint_is_reported_and_the_one_before_is_used(
    damage: Callable[[Path], None],
    whole: Path,
    copy: Path,
    same_run: Compare,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged = newest(copy)
    damage(damaged)
    assert cli.main(["train", "--resume", str(copy)]) == 0
    said = capsys.readouterr().err
    assert f"warning: {damaged.parent.name} cannot be used (" in said
    assert "using the one before" in said
    same_run(whole, copy)


def test_a_checkpoint_of_another_run_is_reported(
    whole: Path, copy: Path, tiny_run: Make, same_run: Compare, tmp_path: Path
) -> None:
    """It fits in every shape and checks out, yet it is not ours: another seed's."""
    start(tiny_run(seed=5, env_steps=500), tmp_path / "foreign")
    shutil.copytree(newest(tmp_path / "foreign").parent, copy / "checkpoints" / "step_999999999")
    warnings = []
    go_on(copy, lambda event, facts: warnings.append(facts) if event == "warning" else None)
    assert len(warnings) == 1
    assert "made with another config.json" in warnings[0]["message"]
    shutil.rmtree(copy / "checkpoints" / "step_999999999")
    same_run(whole, copy)


def test_no_good_checkpoint_is_an_error(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in copy.glob("checkpoints/step_*/learner.safetensors"):
        truncate(path)
    before = (copy / "metrics.jsonl").read_bytes()
    assert cli.main(["train", "--resume", str(copy)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("seads: no good checkpoint in ")
    assert said.count("do not match its checksum") == 2
    assert (copy / "metrics.jsonl").read_bytes() == before


def test_a_checkpoint_of_an_older_layout_is_named(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in copy.glob("checkpoints/step_*/manifest.json"):
        facts = json.loads(path.read_text())
        del facts["layout"]  # versions before it was noted
        path.write_text(json.dumps(facts))
    assert cli.main(["train", "--resume", str(copy)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "another version of seads wrote it" in said
    assert load(copy).card["env_steps"] >= 4000


def test_a_checkpoint_of_a_learner_with_other_arrays_is_named(
    tiny_run: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    start(tiny_run(env_steps=1), out)
    [manifest] = out.glob("checkpoints/step_*/manifest.json")
    stored = manifest.with_name("learner.safetensors")
    arrays = read_arrays(stored)
    arrays[".learner.lead"] = arrays.pop(".learner.rounds")
    facts = json.loads(manifest.read_text()) | {"sha256": write_arrays(stored, arrays)}
    manifest.write_text(json.dumps(facts))
    assert cli.main(["train", "--resume", str(out)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "another version of seads or of the environment wrote it" in said
    assert "'.learner.lead' is on one side only" in said
    assert load(out).card["epoch"] == 1


def test_changed_settings_are_noticed(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = json.loads((copy / "config.json").read_text())
    config["agent"]["alpha"] = 0.7
    (copy / "config.json").write_text(json.dumps(config))
    assert cli.main(["train", "--resume", str(copy)]) == 2
    assert "made with another config.json" in capsys.readouterr().err


def test_settings_that_are_changed_while_the_run_trains_are_noticed(
    tiny_run: Make, tmp_path: Path
) -> None:
    out = tmp_path / "run"

    def change_and_stop(event: str, facts: dict[str, Any]) -> None:
        if event == "epoch" and facts["epoch"] == 2:
            changed = json.loads((out / "config.json").read_text())
            changed["agent"]["alpha"] = 0.7
            (out / "config.json").write_text(json.dumps(changed))
            signal.raise_signal(signal.SIGTERM)

    assert start(tiny_run(), out, change_and_stop) == "stopped"
    with pytest.raises(SeadsError, match=r"made with another config\.json"):
        go_on(out)


def test_a_run_whose_configuration_is_gone_is_trained_to_its_end(
    tiny_run: Make, tmp_path: Path
) -> None:
    out = tmp_path / "run"

    def lose_it(event: str, facts: dict[str, Any]) -> None:
        (out / "config.json").unlink(missing_ok=True)

    assert start(tiny_run(env_steps=500), out, lose_it) == "finished"


def cards(out: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in out.rglob("agent/card.json")}


def test_who_resumes_a_run_is_not_who_made_its_agents(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cards(copy)
    assert len(before) > 2
    monkeypatch.setattr(provenance, "commit", lambda: "another")
    assert go_on(copy) == "finished"
    assert cards(copy) == before
    resume(copy, env_steps=4200, quiet=True)
    after = cards(copy)
    assert after.keys() > before.keys()
    changed = [path for path in before if after[path] != before[path]]
    assert changed == [copy / "agent" / "card.json"]
    assert json.loads(after[changed[0]])["commit"] == "another"


@pytest.mark.parametrize("left", ["agent", "checkpoints/*/agent"])
def test_an_agent_that_a_kill_left_without_its_card_is_finished(left: str, copy: Path) -> None:
    card = max(copy.glob(f"{left}/card.json"))
    whole = card.read_bytes()
    card.unlink()
    go_on(copy)
    assert card.read_bytes() == whole


def test_an_agent_with_anothers_weights_is_made_whole(copy: Path) -> None:
    """As after a kill between its two files, where the newer checkpoint turned out damaged."""
    weights = copy / "agent" / "weights.safetensors"
    whole, older = weights.read_bytes(), min(copy.glob("checkpoints/*/agent/weights.safetensors"))
    shutil.copy(older, weights)
    assert weights.read_bytes() != whole
    go_on(copy)
    assert weights.read_bytes() == whole


def test_a_full_disk_ends_with_a_sentence_and_loses_nothing(
    whole: Path, tiny_run: Make, same_run: Compare, small_disk: Path
) -> None:
    out = small_disk / "run"
    out.mkdir()
    tiny_run(**LONG).write(out / "config.json")
    process = launch(out)
    assert wait_for_lines(out, process, 12)
    with (small_disk / "filler").open("wb") as filler:
        room = os.statvfs(small_disk)
        filler.write(bytes(room.f_bavail * room.f_frsize - 16384))
    _, said = process.communicate(timeout=900)
    assert process.returncode == 2
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("seads: no space left on the disk of ")
    good = newest(out)
    assert all(np.isfinite(a).all() for a in read_arrays(good).values())
    assert not list(out.glob("checkpoints/.*"))
    (small_disk / "filler").unlink()
    assert go_on(out) == "finished"
    same_run(whole, out)
