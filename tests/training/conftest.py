"""Tiny runs: an epoch takes milliseconds, yet everything of a real run happens in it."""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiny_settings import tiny_settings

from seads.agent.arrays import read_arrays
from seads.agent.settings import AgentSettings
from seads.envs.own import is_own
from seads.jax_setup import prepare_jax
from seads.training import resume
from seads.training.config import TrainConfig

prepare_jax()


@pytest.fixture(scope="session")
def tiny_run() -> Callable[..., TrainConfig]:
    """`tiny_run(alpha=0.2, seed=1)`: a run of some epochs with some settings changed."""

    def make(**changes: Any) -> TrainConfig:
        names = {field.name for field in dataclasses.fields(AgentSettings)}
        agent = {name: changes.pop(name) for name in names & changes.keys()}
        run = dict(
            env="lightsout-cursor",
            seed=0,
            env_steps=2000,
            log_every=1,
            checkpoint_every=7,
            keep_checkpoints=2,
            coverage_every=700,
            coverage_starts=2,
        )
        # fewer skills than rows: an epoch goes round the rows once
        return TrainConfig(**run | changes, settings=tiny_settings(**{"num_skills": 8} | agent))

    return make


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """`own_module(name, text)`: a user's own module in a directory of its own, where one works."""

    def write(name: str, text: str) -> Path:
        (tmp_path / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path

    return write


@pytest.fixture(scope="session")
def in_parts() -> Callable[[TrainConfig, Path], None]:
    """`in_parts(config, out)`: a whole run, asked to stop after every few epochs."""

    def stopped_soon(out: Path, env: str) -> str:
        epochs: list[str] = []

        def report(event: str, _: object) -> None:
            epochs.append(event)
            if epochs.count("epoch") == 4:
                signal.raise_signal(signal.SIGTERM)

        return resume(out, allow=env if is_own(env) else None, report=report).status

    def train(config: TrainConfig, out: Path) -> None:
        out.mkdir()
        config.write(out / "config.json")
        while (ended := stopped_soon(out, config.env)) != "finished":
            assert ended == "stopped"

    return train


@pytest.fixture(scope="session")
def last_arrays() -> Callable[[Path], dict[str, np.ndarray]]:
    """Every array of a run's last checkpoint."""

    def read(out: Path) -> dict[str, np.ndarray]:
        return read_arrays(max(out.glob("checkpoints/step_*")) / "learner.safetensors")

    return read


@pytest.fixture(scope="session")
def same_run(last_arrays: Callable[[Path], dict[str, np.ndarray]]) -> Callable[[Path, Path], None]:
    """Demands that two runs ended alike, bit for bit, in every array and every metric line."""

    def compare(one: Path, other: Path) -> None:
        assert (one / "metrics.jsonl").read_text() == (other / "metrics.jsonl").read_text()
        ours, theirs = last_arrays(one), last_arrays(other)
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert ours[name].dtype == theirs[name].dtype
            assert ours[name].tobytes() == theirs[name].tobytes(), name

    return compare
