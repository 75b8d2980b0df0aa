"""Runs of a kind that begin together compile once."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from seads.studies import compiling
from seads.studies.compiling import OneCompiles

COUNTED = {"epoch": 1, "env_steps": 300, "seconds": 1.0, "env_steps_per_second": 300.0}
LEARNED = {**COUNTED, "critic_loss": 0.5}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEADS_CACHE", str(tmp_path))


def begins(config: dict[str, Any]) -> threading.Thread:
    """A run of the configuration that lives until it may begin."""

    def run() -> None:
        with OneCompiles(config):
            pass

    beginning = threading.Thread(target=run)
    beginning.start()
    return beginning


def test_others_of_its_kind_wait_for_the_first_update() -> None:
    with OneCompiles({"env": "a", "seed": 0}) as first:
        other_kind = begins({"env": "b", "seed": 0})
        other_kind.join(10)
        assert not other_kind.is_alive()
        waiting = begins({"env": "a", "seed": 1})
        first.report("epoch", COUNTED)
        waiting.join(0.6)
        assert waiting.is_alive(), "collecting is not learning"
        first.report("epoch", LEARNED)
        waiting.join(10)
        assert not waiting.is_alive()
        later = begins({"env": "a", "seed": 2})  # while the first goes on
        later.join(10)
        assert not later.is_alive()
    with OneCompiles({"env": "a", "seed": 3}) as another:
        another.report("epoch", LEARNED)
    [marker] = [one for one in first._path.parent.iterdir() if one.name == first._path.name]
    assert marker.read_bytes() == b"compiled\n"  # once for all runs of a kind


def test_changed_code_is_compiled_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with OneCompiles({"env": "a", "seed": 0}) as first:
        first.report("epoch", LEARNED)
    monkeypatch.setattr(compiling, "code_digest", lambda: "of another version")
    with OneCompiles({"env": "a", "seed": 0}) as first:
        waiting = begins({"env": "a", "seed": 1})
        waiting.join(0.5)
        assert waiting.is_alive()
        first.report("epoch", LEARNED)
        waiting.join(10)
        assert not waiting.is_alive()


def test_nobody_waits_for_one_that_was_killed(tmp_path: Path) -> None:
    words = (
        "import sys, time; from seads.studies.compiling import OneCompiles\n"
        "with OneCompiles({'env': 'a', 'seed': 0}): print(flush=True), time.sleep(60)"
    )
    first = subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE)
    assert first.stdout is not None
    first.stdout.readline()
    waiting = begins({"env": "a", "seed": 1})
    time.sleep(0.5)
    assert waiting.is_alive()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    waiting.join(10)
    assert not waiting.is_alive()


def test_nobody_waits_where_there_are_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", none)
    with OneCompiles({"env": "a", "seed": 0}) as first:
        other = begins({"env": "a", "seed": 1})
        other.join(10)
        assert not other.is_alive()
        first.report("epoch", LEARNED)


def test_nobody_waits_where_the_cache_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SEADS_CACHE", str(tmp_path / "file"))
    with OneCompiles({"env": "a", "seed": 0}) as first:
        first.report("epoch", LEARNED)
