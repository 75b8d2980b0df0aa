"""Threads that work, and threads that are left behind."""

from __future__ import annotations

import gc
import threading
import time
from concurrent.futures import wait

import pytest

from seads import cli
from seads.threads import Threads, any_left_behind


def test_what_is_submitted_is_done_and_errors_come_back() -> None:
    threads = Threads(2, "test")
    assert [threads.submit(divmod, 7, n).result() for n in (2, 3)] == [(3, 1), (2, 1)]
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 7, 0).result()
    last = [threads.submit(divmod, n, 2) for n in range(20)]
    assert threads.close()
    assert all(future.done() for future in last)


def test_threads_that_nobody_closes_end_with_their_owner() -> None:
    threads = Threads(2, "forgotten")
    assert not any_left_behind(), "at hand, not left behind"
    del threads
    gc.collect()
    until = time.monotonic() + 10
    while any("forgotten" in one.name for one in threading.enumerate()):
        assert time.monotonic() < until


def test_one_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what has not begun; a command that is interrupted meanwhile ends without a farewell."""
    left: list[int] = []
    monkeypatch.setattr("os._exit", left.append)
    release = threading.Event()
    threads = Threads(1, "test")
    hangs, never = threads.submit(release.wait), threads.submit(divmod, 1, 1)

    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupted)
    try:
        assert not threads.close(patience=0.05)
        assert never.cancelled()
        assert any_left_behind()
        assert cli.main(["check", "x"]) == 130
        assert left == [130]
    finally:
        release.set()
    wait([hangs])
    while any_left_behind():
        pass
    assert cli.main(["check", "x"]) == 130
    assert left == [130]
