"""Threads that can be left behind: somebody else's code in one of them may never return."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
_Order = tuple[Future[Any], Callable[[], Any]]


class _Worker(threading.Thread):
    """Carries out orders until there is none; Python does not wait for it when it ends."""

    def __init__(self, name: str, orders: SimpleQueue[_Order | None]) -> None:
        super().__init__(name=name, daemon=True)
        self._orders = orders
        self.left_behind = False

    def run(self) -> None:
        while (order := self._orders.get()) is not None:
            future, call = order
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)
            del order, future, call  # or an idle thread would keep what it made alive


class Threads:
    """As many threads as asked for.

    Unlike those of a `ThreadPoolExecutor`, a program can end while one of them hangs.
    """

    def __init__(self, count: int, name: str) -> None:
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._workers = [_Worker(f"{name} {number}", self._orders) for number in range(count)]
        for worker in self._workers:
            worker.start()
        # also where nobody closes them
        self._dismiss = weakref.finalize(self, _dismiss, self._orders, count)
        self._dismiss.atexit = False

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """What a thread will have made of it."""
        future: Future[Result] = Future()
        self._orders.put((future, lambda: function(*arguments)))
        return future

    def close(self, patience: float | None = None) -> bool:
        """End the threads once what was submitted is done; whether that was within `patience`.

        Those that need longer are left behind, and what has not begun by then never does.
        """
        self._dismiss()
        until = None if patience is None else time.monotonic() + patience
        for worker in self._workers:
            worker.join(None if until is None else max(0.0, until - time.monotonic()))
        left = [worker for worker in self._workers if worker.is_alive()]
        if not left:
            return True
        for worker in left:
            worker.left_behind = True
        with suppress(Empty):
            while True:
                order = self._orders.get_nowait()
                if order is not None:
                    order[0].cancel()
        _dismiss(self._orders, len(left))
        return False


def _dismiss(orders: SimpleQueue[_Order | None], count: int) -> None:
    for _ in range(count):
        orders.put(None)


def any_left_behind() -> bool:
    """Whether a thread is still at work for which nobody waits any more."""
    threads = threading.enumerate()
    return any(isinstance(one, _Worker) and one.left_behind for one in threads)
