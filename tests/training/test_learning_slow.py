"""The default preset learns what it should, in the time it should; minutes each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seads import cli


@pytest.mark.slow
@pytest.mark.parametrize(("env", "least"), [("lightsout-cursor", 24.5), ("tileswap-cursor", 11.8)])
def test_learns_nearly_all_moves(
    env: str, least: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    assert cli.main(["train", env, "--env-steps", "100000", "--out", out]) == 0
    capsys.readouterr()
    assert cli.main(["evaluate", out, "--what", "coverage", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["coverage"]["mean"] >= least
