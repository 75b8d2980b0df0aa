"""Rows of a user's environment in worker processes, and what is said when one of them dies."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import gymnasium
import numpy as np

from seads.cores import cores
from seads.envs.gymnasium_rows import (
    PATIENCE,
    Act,
    Look,
    MakeEnv,
    Outcome,
    Reset,
    RowFailed,
    apply_to,
    close_all,
    looked_at,
    made,
)
from seads.errors import SeadsError

NO_ROW = -1
CLOSING = 5.0
"""Seconds that a worker has to close its environments."""


class ProcessRows:
    """In worker processes, each with an equal share of the rows.

    Workers are started afresh rather than forked, because a process that runs JAX has
    threads, and a fork would copy their locks. So a script needs `if __name__ == "__main__":`,
    and workers must be able to import `make`.
    """

    def __init__(self, make: MakeEnv, num_envs: int) -> None:
        count = min(num_envs, cores())
        self._worker_of = np.arange(num_envs) % count
        self._pipes: list[Connection] = []
        self._workers: list[multiprocessing.process.BaseProcess] = []
        # Only one thread of two that wait for a process is told that it has ended.
        self._waiting = threading.Lock()
        context = multiprocessing.get_context("spawn")
        _check_importable(make)
        # Which row each worker is busy with: it cannot tell once it has died.
        self._busy = context.RawArray("q", [NO_ROW] * count)
        for worker in range(count):
            mine = np.flatnonzero(self._worker_of == worker).tolist()
            here, there = context.Pipe()
            process = context.Process(
                target=_work, args=(there, make, mine, self._busy, worker), daemon=True
            )
            process.start()
            there.close()
            self._pipes.append(here)
            self._workers.append(process)
        try:
            self.look: Look = self._receive(0)
        except BaseException:
            self.close()
            raise

    @property
    def environments(self) -> tuple[gymnasium.Env, ...]:
        raise SeadsError(
            "with vectorise='processes' the environments are in worker processes, out of reach; "
            "choose 'threads' or 'none'"
        )

    def build(self) -> None:
        for worker in range(len(self._workers)):
            self._receive(worker)

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        shares: dict[int, list[int]] = {}
        for position, row in enumerate(rows):
            shares.setdefault(int(self._worker_of[row]), []).append(position)
        outcomes: dict[int, Outcome] = {}
        failures: list[RowFailed] = []
        asked = []
        for worker, share in shares.items():
            try:
                self._send(worker, [(int(rows[i]), orders[i]) for i in share])
                asked.append(worker)
            except RowFailed as error:
                failures.append(error)
        for worker in asked:
            # Every answer is fetched even after a failure, or the next call would get it.
            try:
                outcomes.update(zip(shares[worker], self._receive(worker), strict=True))
            except RowFailed as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return [outcomes[position] for position in range(len(rows))]

    def _send(self, worker: int, orders: list[tuple[int, Reset | Act]]) -> None:
        try:
            self._pipes[worker].send(orders)
        except OSError as error:
            raise self._death(worker) from error

    def _receive(self, worker: int) -> Any:
        try:
            good, answer = self._pipes[worker].recv()
        except (EOFError, OSError) as error:
            raise self._death(worker) from error
        if not good:
            raise RowFailed(answer)
        return answer

    def _death(self, worker: int) -> RowFailed:
        """The sentence for a worker that answers no more."""
        with self._waiting:
            if not self._workers:  # in a thread that was left behind
                return RowFailed(f"worker {worker} has been closed")
            self._workers[worker].join(CLOSING)
            code, row = self._workers[worker].exitcode, self._busy[worker]
        how = f"exit code {code}"
        if code is not None and code < 0:
            with suppress(ValueError):
                how = signal.Signals(-code).name
        if code == -signal.SIGKILL:
            how += ", as when memory runs out"
        if row != NO_ROW:
            return RowFailed(f"row {row} died with its worker process ({how})")
        rows = np.flatnonzero(self._worker_of == worker).tolist()
        which = f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(map(str, rows))}"
        return RowFailed(f"{which} died between two steps with the worker process ({how})")

    def close(self) -> None:
        for pipe in self._pipes:
            with suppress(OSError):  # this worker is gone already
                pipe.send(None)
        until = time.monotonic() + PATIENCE
        with self._waiting:
            for worker, process in enumerate(self._workers):
                idle = self._busy[worker] == NO_ROW
                process.join(CLOSING if idle else max(0.0, until - time.monotonic()))
                if process.is_alive():
                    process.terminate()
                    process.join(PATIENCE)
                if process.is_alive():
                    process.kill()
                    process.join()
                process.close()
            self._workers = []
        for pipe in self._pipes:
            pipe.close()
        self._pipes = []


def _check_importable(make: MakeEnv) -> None:
    try:
        ForkingPickler.dumps(make)
    except Exception as error:
        raise SeadsError(
            f"vectorise='processes' needs a `make` that workers can import, not {make!r}: "
            "a function at the top of a module, no lambda and no function within another"
        ) from error


def _work(pipe: Connection, make: MakeEnv, rows: list[int], busy: Any, worker: int) -> None:
    """What a worker runs: its environments, stepped as told, until told None or left alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which closes workers
    envs: dict[int, gymnasium.Env] = {}
    try:
        for row in rows:
            busy[worker] = row
            envs[row] = made(make, row)
            if row == 0:
                pipe.send((True, looked_at(envs[row])))
        busy[worker] = NO_ROW
        pipe.send((True, []))
        while (orders := pipe.recv()) is not None:
            outcomes: list[Outcome] = []
            answer: tuple[bool, Any] = True, outcomes
            try:
                for row, order in orders:
                    busy[worker] = row
                    outcomes.append(apply_to(row, envs[row], order))
            except RowFailed as error:
                answer = False, str(error)
            busy[worker] = NO_ROW  # before the answer: who has it may rely on that
            pipe.send(answer)
    except EOFError:
        pass  # the parent is gone
    except RowFailed as error:
        pipe.send((False, str(error)))
    finally:
        close_all(envs)
