"""Checkpoints and metric lines on disk."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from seads.agent.arrays import DTYPES, write_arrays
from seads.checkpoints import checkpoints, steps_of
from seads.errors import SeadsError
from seads.training import checkpoint
from seads.training.checkpoint import disk_full, newest_checkpoint, write_checkpoint
from seads.training.metrics import MetricLog, keep_until, read_metrics

ARRAYS = {"a/scalar": np.array(3), "a/matrix": np.arange(6.0).reshape(2, 3), "b": np.array([True])}


def take(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> tuple[dict, dict]:
    return arrays, facts


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    home = tmp_path / "checkpoints"
    assert newest_checkpoint(home, take) is None
    transposed = {"t": np.arange(6).reshape(2, 3).T}
    write_checkpoint(home, 40, ARRAYS | transposed, {"epoch": 4}, keep=2)
    found = newest_checkpoint(home, take)
    assert found is not None
    (arrays, facts), where, complaints = found
    assert where.name == "step_000000040"
    assert complaints == []
    assert (facts["epoch"], facts["env_steps"]) == (4, 40)
    for name, value in (ARRAYS | transposed).items():
        assert arrays[name].shape == value.shape
        assert arrays[name].dtype == value.dtype
        assert (arrays[name] == value).all()


def test_only_the_last_few_are_kept(tmp_path: Path) -> None:
    for step in range(1, 6):
        write_checkpoint(tmp_path, step, ARRAYS, {}, keep=2)
    kept = sorted(path.parent.name for path in tmp_path.glob("*/learner.safetensors"))
    assert kept == ["step_000000004", "step_000000005"]


def test_the_last_ones_are_the_last_at_any_number_of_steps(tmp_path: Path) -> None:
    for step in (10**9 - 1, 10**9, 10**10):
        write_checkpoint(tmp_path, step, ARRAYS, {}, keep=2)
    found = newest_checkpoint(tmp_path, take)
    assert found is not None
    assert found[0][1]["env_steps"] == 10**10
    assert [steps_of(path) for path in checkpoints(tmp_path)] == [10**9 - 1, 10**9, 10**10]
    assert len(list(tmp_path.glob("*/learner.safetensors"))) == 2


def test_newer_ones_that_cannot_be_used_do_not_count_among_those_kept(tmp_path: Path) -> None:
    for step in (10, 20, 30):
        write_checkpoint(tmp_path, step, ARRAYS, {}, keep=2)
    damaged = tmp_path / "step_000000030" / "learner.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    write_checkpoint(tmp_path, 25, ARRAYS, {}, keep=2)
    kept = sorted(steps_of(path.parent) for path in tmp_path.glob("*/learner.safetensors"))
    assert kept == [20, 25, 30]
    found = newest_checkpoint(tmp_path, take)
    assert found is not None
    assert found[0][1]["env_steps"] == 25


def test_what_a_kill_left_half_written_is_cleared_by_the_next(tmp_path: Path) -> None:
    half = tmp_path / ".step_000000007.tmp"
    half.mkdir()
    (half / "learner.safetensors").write_bytes(bytes(100))
    write_checkpoint(tmp_path, 8, ARRAYS, {}, keep=2)
    assert [path.name for path in tmp_path.iterdir()] == ["step_000000008"]


def test_a_failed_write_leaves_nothing_and_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path, 1, ARRAYS, {}, keep=1)
    before = sorted(tmp_path.rglob("*"))

    def written_badly(path: Path, arrays: dict[str, np.ndarray]) -> str:
        meant = write_arrays(path, arrays)
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        return meant

    monkeypatch.setattr(checkpoint, "write_arrays", written_badly)
    with pytest.raises(SeadsError, match="reads back differently"):
        write_checkpoint(tmp_path, 2, ARRAYS, {}, keep=1)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", sorted(DTYPES))
def test_arrays_are_a_file_of_safetensors(tmp_path: Path, kind: str) -> None:
    arrays = {
        "many": np.arange(24).reshape(2, 3, 4).astype(kind).T,
        "none": np.zeros((0, 3), kind),
        "one": np.asarray(1, kind),
    }
    path = tmp_path / "arrays.safetensors"
    digest = write_arrays(path, arrays)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    found = load_file(path)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


def test_a_full_disk_is_known_by_its_number_however_it_is_told() -> None:
    full = OSError(errno.ENOSPC, "?")
    assert disk_full(full)
    told = SeadsError("not written")
    told.__cause__ = full
    assert disk_full(told)
    assert not disk_full(OSError(errno.EACCES, "Permission denied"))
    assert not disk_full(SeadsError("row 3 failed in step: API quota exceeded"))


def test_resuming_drops_later_and_half_written_lines(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"epoch": 1}\n{"epoch": 2}\n{"epoch": 3}\n{"epo')
    assert [line["epoch"] for line in read_metrics(path)] == [1, 2, 3]
    keep_until(path, 2)
    assert path.read_text() == '{"epoch": 1}\n{"epoch": 2}\n'
    keep_until(tmp_path / "none.jsonl", 2)
    assert not (tmp_path / "none.jsonl").exists()


def test_a_line_for_every_write(tmp_path: Path) -> None:
    log = MetricLog(tmp_path, 0, 0)
    log.write({"epoch": 1, "env_steps": 10, "reward": 0.5}, {"seconds": 2.0})
    assert read_metrics(tmp_path / "metrics.jsonl") == [
        {"epoch": 1, "env_steps": 10, "reward": 0.5}
    ]
    assert read_metrics(tmp_path / "timing.jsonl") == [{"epoch": 1, "seconds": 2.0}]
    log.close()
    log = MetricLog(tmp_path, 1, 10)
    log.write({"epoch": 2, "env_steps": 20}, {"seconds": 3.0})
    log.close()
    assert [line["epoch"] for line in read_metrics(tmp_path / "metrics.jsonl")] == [1, 2]
    assert [line["seconds"] for line in read_metrics(tmp_path / "timing.jsonl")] == [2.0, 5.0]
