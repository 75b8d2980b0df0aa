"""Ctrl-C while a row of a user's environment hangs: the process ends, and so do its workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.own_point import POINT

from seads.training.config import TrainConfig

Make = Callable[..., TrainConfig]

HANGING = (
    POINT
    + """
import os
import time
from pathlib import Path

HERE = Path(__file__).parent

class Hangs(Point):
    steps = 0

    def step(self, action):
        self.steps += 1
        if self.steps > 30:
            (HERE / "hangs").write_text(str(os.getpid()))
            time.sleep(1000)
        return super().step(action)

    def close(self):
        if self.steps > 30:  # as if it waited for the step to end
            time.sleep(1000)

def factory(num_envs, vectorise="none"):
    return wrap(Hangs, phi, num_envs, step_limit=5, vectorise=vectorise)
"""
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "own_hangs.py").write_text(HANGING)
    return tmp_path


def interrupted(home: Path, *arguments: str, times: int) -> tuple[int, float, str]:
    """The exit status, how long that took, and what was said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "seads.cli", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=home,
    )
    try:
        while not (home / "hangs").exists():
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.02)
        began = time.monotonic()
        for _ in range(times):
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, time.monotonic() - began, said


@pytest.mark.parametrize("vectorise", ["none", "processes"])
def test_the_second_one_ends_a_training_at_once(vectorise: str, home: Path, tiny_run: Make) -> None:
    out = home / "run"
    out.mkdir()
    config = tiny_run(env="own_hangs:factory", env_options={"vectorise": vectorise})
    config.write(out / "config.json")
    status, seconds, said = interrupted(
        home, "train", "--resume", "run", "--allow", "own_hangs:factory", times=2
    )
    assert status == 130, said
    assert "Traceback" not in said
    assert "stopping after this epoch; Ctrl-C once more stops at once\n" in said
    assert "stopped at once; nothing is stored yet; begin anew with: seads train" in said
    assert json.loads((out / "meta.json").read_text())["status"] == "stopped"
    assert seconds < 5
    hung = int((home / "hangs").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(hung, 0)


def test_the_first_one_ends_a_check(home: Path) -> None:
    arguments = ["check", "own_hangs:factory", "--env-set", "vectorise=threads"]
    status, seconds, said = interrupted(home, *arguments, times=1)
    assert (status, said.splitlines()[-1]) == (130, "interrupted")
    assert seconds < 5
