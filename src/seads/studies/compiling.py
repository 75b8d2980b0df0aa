"""Runs of a kind that begin together: one of them compiles, the others wait for what it made."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import jax

from seads.jax_setup import cache_home

PATIENCE = 300.0
"""Seconds to wait for another run's first update; whoever waited longer compiles, too."""
ASK_EVERY = 0.2
_COUNTERS = {"epoch", "env_steps", "seconds", "env_steps_per_second", "coverage"}


@cache
def code_digest() -> str:
    """Of the package's source: what was compiled of other code is none of this one's programs."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class OneCompiles:
    """Around a run's training, which tells it by `report` how it goes.

    The first of a kind holds a lock in the cache of compiled programs until it has learned for an
    epoch; the lock of a process that is killed is gone. Once that was done nobody waits again.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        flags = os.environ.get("XLA_FLAGS", "")
        kind = [{**config, "seed": 0}, jax.__version__, code_digest(), flags]
        name = hashlib.sha256(json.dumps(kind, sort_keys=True).encode()).hexdigest()[:24]
        directory = cache_home() / "compiled-kinds"
        directory.mkdir(parents=True, exist_ok=True)
        self._file = (directory / name).open("a+b")

    def __enter__(self) -> OneCompiles:
        until = time.monotonic() + PATIENCE
        while not self._is_done and time.monotonic() < until:
            with suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(ASK_EVERY)
        return self

    def report(self, event: str, facts: dict[str, Any]) -> None:
        """Hear of an epoch; the first that learned lets the others begin."""
        if event == "epoch" and not self._is_done and facts.keys() - _COUNTERS:
            self._file.write(b"compiled\n")
            self._file.flush()
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def _is_done(self) -> bool:
        return os.fstat(self._file.fileno()).st_size > 0
