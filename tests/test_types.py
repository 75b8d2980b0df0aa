"""Types for users: a type checker reads the public surface, and finds what is misspelt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

SCRIPT = """
import seads

agent = seads.load("lightsout-cursor")
reveal_type(agent)
plan = agent.plan(".#... ###.. .#... ..... .....")
reveal_type(plan.skills)
result = seads.solve(agent, ".#... ###.. .#... ..... .....")
reveal_type(result.solved)
scores = seads.evaluate(agent)
reveal_type(scores)
run = seads.train("lightsout-cursor", seed=0)
reveal_type(run.env_steps)
reveal_type(seads.make_env("lightsout-cursor"))

agent.paln("")
seads.laod("lightsout-cursor")
seads.train("lightsout-cursor", sede=0)
result.sovled
"""


def test_a_users_script_is_checked(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    # other libraries' types take a minute to read, and are not what is asked about
    options = ["--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent"]
    options += ["--disable-error-code=name-defined", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "script.py"],
        capture_output=True, text=True, cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
    )  # fmt: skip
    notes = [line.partition("note: ")[2] for line in done.stdout.splitlines() if "note:" in line]
    errors = [line.partition("error: ")[2] for line in done.stdout.splitlines() if "error:" in line]
    revealed = [note.replace("builtins.", "") for note in notes if note.startswith("Revealed")]
    assert revealed == [
        f'Revealed type is "{kind}"'
        for kind in (
            "seads.solving.agent.Agent",
            "tuple[int, ...]",
            "bool",
            "seads.evaluation.measure.Scores",
            "int",
            "seads.envs.interface.BatchedEnv",
        )
    ], done.stdout
    assert len(errors) == 4, done.stdout
    for error, word in zip(errors, ("paln", "laod", "sede", "sovled"), strict=True):
        assert word in error
