"""What is said of runs that Ray could not carry out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray import exceptions

from seads import cli
from seads.studies.engine import Engine

STUDY = """
[[groups]]
envs = ["lightsout-cursor-2x2"]
seeds = [0]
budget = 3000
"""


class FailingRay:
    """Whose tasks all end with an error."""

    exceptions = exceptions

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def remote(self, **_: Any) -> Any:
        task = SimpleNamespace(remote=lambda order: object())
        return lambda _: SimpleNamespace(options=lambda name: task)

    def wait(self, refs: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        return refs, []

    def get(self, ref: object) -> None:
        raise self._error


def in_the_task(cause: Exception) -> BaseException:
    return exceptions.RayTaskError("_do", "", cause).as_instanceof_cause()


@pytest.mark.parametrize(
    ("error", "status", "why"),
    [
        (in_the_task(ImportError("no jax\nhere")), "failed", "ImportError: no jax here"),
        (
            exceptions.RuntimeEnvSetupError("no disk"),
            "failed",
            "RuntimeEnvSetupError: Failed to set up runtime environment. no disk",
        ),
        (exceptions.NodeDiedError("it is gone"), "failed", "its worker died 6 times: it is gone"),
        (exceptions.OutOfMemoryError("all"), "failed", "its node had no memory left"),
        (exceptions.TaskCancelledError(), "stopped", ""),
        (KeyboardInterrupt(), "stopped", ""),
    ],
)
def test_how_a_run_ended(error: BaseException, status: str, why: str) -> None:
    engine = Engine(FailingRay(error), workers=1, cores=1)
    engine.submit("run", {})
    [outcome] = engine.ended(1.0).values()
    assert outcome["status"] == status
    assert outcome["why"].startswith(why)


def test_more_workers_than_cores_are_refused_before_anything_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(ray, "init", lambda **options: begun.append(options))
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY)
    assert cli.main(["sweep", str(study), "--out", str(out), "--workers", "4096"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("seads: --workers 4096 is more than the ")
    assert said.endswith(" of this machine\n")
    assert not begun
    assert not out.exists()
