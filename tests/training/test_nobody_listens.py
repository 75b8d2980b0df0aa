"""Ctrl-C, and streams that are closed, full or without a reader: what a training run survives."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from seads.training.config import TrainConfig
from seads.training.progress import LOOKED_BACK, Pace, TrainingProgress, time_text

Make = Callable[..., TrainConfig]
TRAIN = f"exec {sys.executable} -m seads train --resume"


@pytest.fixture
def run(tiny_run: Make, tmp_path: Path) -> Path:
    out = tmp_path / "a run"
    out.mkdir()
    tiny_run(env_steps=400, coverage_every=0).write(out / "config.json")
    return out


@pytest.mark.parametrize("streams", [">&- 2>&- <&-", ">/dev/full 2>&1"])
def test_a_stream_that_takes_nothing_ends_no_training(streams: str, run: Path) -> None:
    assert subprocess.run(["sh", "-c", f"{TRAIN} '{run}' {streams}"]).returncode == 0
    assert json.loads((run / "meta.json").read_text())["status"] == "finished"
    # nothing that a library printed to a closed stream has become part of a file
    for line in (run / "metrics.jsonl").read_text().splitlines():
        assert json.loads(line)["epoch"] > 0


def test_a_reader_that_leaves_ends_no_training(run: Path) -> None:
    process = subprocess.Popen(
        ["sh", "-c", f"{TRAIN} '{run}' 2>&1"], stdout=subprocess.PIPE, bufsize=0
    )
    assert process.stdout is not None
    assert b"compiling" in process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 0
    assert json.loads((run / "meta.json").read_text())["status"] == "finished"


def started(out: Path, process: subprocess.Popen[str]) -> None:
    while not (out / "metrics.jsonl").exists() or not (out / "metrics.jsonl").stat().st_size:
        assert process.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_says_how_to_continue_and_stops_a_shells_loop(
    times: int, tiny_run: Make, tmp_path: Path
) -> None:
    out = tmp_path / "a run"
    out.mkdir()
    tiny_run(env_steps=10**7, checkpoint_every=10**6).write(out / "config.json")
    command = [sys.executable, "-m", "seads", "train", "--json", "--resume", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started(out, process)
    process.send_signal(signal.SIGINT)
    if times == 2:
        process.send_signal(signal.SIGINT)
    said, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f" with: seads train --resume '{out}'\n" in told
    assert "Traceback" not in told
    assert json.loads((out / "meta.json").read_text())["status"] == "stopped"
    if times == 1:
        assert json.loads(said)["status"] == "stopped"


def test_the_time_left_is_that_of_the_last_minutes() -> None:
    pace = Pace(100_000)
    assert pace.seconds_left is None
    pace.note(0.0, 0, 50_000)  # a resumed run; then a minute of compiling
    for second in range(60, 600):
        pace.note(second, second - 59, 50_000 + 50 * (second - 59))
    assert pace.epochs_per_second == pytest.approx(1.0)
    assert pace.seconds_left == pytest.approx((50_000 - 50 * 540) / 50)
    assert LOOKED_BACK < 500


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4, "4 s"), (89, "89 s"), (600, "10 min"), (40_000, "11 h 07 min"), (2e6, "23 days")],
)
def test_a_time_in_words(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_the_bar_fits_80_columns_and_starts_where_the_run_was(
    tiny_run: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        for name, value in (("COLUMNS", "80"), ("TERM", "xterm")):
            monkeypatch.setenv(name, value)
        config = tiny_run(env="lightsout-cursor-13x13-spaced", env_steps=1_500_000)
        with TrainingProgress(config) as progress:
            progress("begin", {})
            progress("start", {"epoch": 500, "env_steps": 750_000})
            facts = {"epoch": 501, "env_steps": 750_100, "coverage": 168.9, "seconds": 9.0}
            progress("epoch", facts)
    parts = []
    with suppress(OSError):  # which is the end of what was written
        while part := os.read(ours, 10**6):
            parts.append(part)
    os.close(ours)
    shown = b"".join(parts).decode()
    assert "50%" in shown
    assert "left" in shown
    assert "coverage 168.9" in shown
    assert "…, " not in shown
    assert shown.count("\n") <= 3  # the bar never needs a second line
