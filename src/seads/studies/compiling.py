"""Runs of a kind that begin together: one of them compiles, the others wait for what it made."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from functools import cache
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

import jax

from seads.jax_setup import cache_home
from seads.training.lock import lock_file

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
    epoch; the lock of a process that is killed is gone. Once that was done nobody waits again, nor
    where the cache cannot be written or locked.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        flags = os.environ.get("XLA_FLAGS", "")
        kind = [{**config, "seed": 0}, jax.__version__, code_digest(), flags]
        name = hashlib.sha256(json.dumps(kind, sort_keys=True).encode()).hexdigest()[:24]
        self._path = cache_home() / "compiled-kinds" / name
        self._file: FileIO | None = None

    def __enter__(self) -> OneCompiles:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a+b", buffering=0)
            self._wait(self._file.fileno())
        return self

    def report(self, event: str, facts: dict[str, Any]) -> None:
        """Hear of an epoch; the first that learned lets the others begin."""
        if self._file and event == "epoch" and facts.keys() - _COUNTERS:
            with suppress(OSError), self._file:
                if os.fstat(self._file.fileno()).st_size == 0:
                    self._file.write(b"compiled\n")
            self._file = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    def _wait(self, file: int) -> None:
        until = time.monotonic() + PATIENCE
        while os.fstat(file).st_size == 0 and time.monotonic() < until:
            with suppress(BlockingIOError):
                lock_file(file)
                return
            time.sleep(ASK_EVERY)
