"""Two levels of threads fight for the same cores: here BLAS gets one, and we split the rows.

Threads inside a matrix product wait for each other after every block, which is slow as soon
as anything else runs on the machine; workers with rows of their own never wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(num_workers(), thread_name_prefix="planning")


@cache
def num_workers() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def single_threaded_blas() -> AbstractContextManager[object]:
    """While inside, matrix products run in the thread that asks for them."""
    return _libraries().limit(limits=1, user_api="blas")


def split(rows: int, work: Callable[[int, int], None], smallest: int) -> None:
    """Call `work(begin, end)` for parts of `range(rows)`, one for each processor.

    A part has at least `smallest` rows; with no more than that, no thread is involved.
    """
    parts = min(num_workers(), max(1, rows // smallest))
    if parts == 1:
        work(0, rows)
        return
    edges = [rows * part // parts for part in range(parts + 1)]
    list(_workers().map(work, edges[:-1], edges[1:]))
