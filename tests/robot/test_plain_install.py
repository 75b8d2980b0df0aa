"""The simulated arm needs none of what a real one does, and a check of a real one is of one row."""

from __future__ import annotations

import subprocess
import sys

import pytest

from seads import cli

WITHOUT_A_SERIAL_LINE = """
import os, sys
sys.modules["serial"] = None
os.environ["MUJOCO_GL"] = "disable"
from seads.envs import make_env
env = make_env("lightsout-robot", 2)
print(env.spec.num_bits)
env.close()
"""


def test_the_simulated_arm_needs_no_serial_line() -> None:
    words = [sys.executable, "-c", WITHOUT_A_SERIAL_LINE]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["25"], done.stderr


def test_a_real_arm_is_checked_in_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "lightsout-robot", "--env-set", "port=nowhere"]) == 2
    assert "port 'nowhere' without a calibration" in capsys.readouterr().err  # not: 4 rows at it
