"""Many copies of a user's Gymnasium environment, stepped in a loop, by threads or by processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal, NamedTuple

import gymnasium
import numpy as np

from seads.errors import SeadsError, check_choice

Vectorise = Literal["none", "threads", "processes"]
MakeEnv = Callable[[], gymnasium.Env]


class Outcome(NamedTuple):
    """What one environment answered; after a reset nothing has ended and the reward is zero."""

    observation: Any
    reward: float = 0.0
    ended: bool = False


class Reset(NamedTuple):
    """Start a row's environment anew."""

    seed: int
    symbol: np.ndarray | None = None

    def apply(self, env: gymnasium.Env) -> Outcome:
        options = None if self.symbol is None else {"symbol": self.symbol}
        return Outcome(env.reset(seed=self.seed, options=options)[0])


class Act(NamedTuple):
    """Step a row's environment."""

    action: np.ndarray

    def apply(self, env: gymnasium.Env) -> Outcome:
        observation, reward, terminated, truncated, _ = env.step(self.action)
        return Outcome(observation, float(reward), bool(terminated or truncated))


def make_rows(make: MakeEnv, num_envs: int, vectorise: Vectorise) -> LoopRows:
    """A set of environments, one per row."""
    kinds = {"none": LoopRows, "threads": ThreadRows, "processes": ProcessRows}
    check_choice("vectorise", vectorise, kinds)
    return kinds[vectorise](make, num_envs)


class LoopRows:
    """One after the other, in this thread."""

    def __init__(self, make: MakeEnv, num_envs: int) -> None:
        self._envs = [make() for _ in range(num_envs)]

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        """Give each row its order; the answers in the same sequence."""
        return [order.apply(self._envs[row]) for row, order in zip(rows, orders, strict=True)]

    def close(self) -> None:
        """Close the environments, and end whatever runs them."""
        for env in self._envs:
            env.close()


class ThreadRows(LoopRows):
    """In threads; pays where the environment leaves Python's lock, as MuJoCo does."""

    def __init__(self, make: MakeEnv, num_envs: int) -> None:
        super().__init__(make, num_envs)
        self._pool = ThreadPoolExecutor(max_workers=min(num_envs, os.cpu_count() or 1))

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        pairs = zip(rows, orders, strict=True)
        futures = [self._pool.submit(order.apply, self._envs[row]) for row, order in pairs]
        wait(futures)  # all of them, even if one fails: a row must not run on behind our back
        return [future.result() for future in futures]

    def close(self) -> None:
        self._pool.shutdown()
        super().close()


class ProcessRows(LoopRows):
    """In worker processes, each with an equal share of the rows.

    Workers are started afresh rather than forked, because a process that runs JAX has
    threads, and a fork would copy their locks. So a script needs `if __name__ == "__main__":`,
    and workers must be able to import `make`.
    """

    def __init__(self, make: MakeEnv, num_envs: int) -> None:
        count = min(num_envs, os.cpu_count() or 1)
        self._worker_of = np.arange(num_envs) % count
        self._pipes: list[Connection] = []
        self._workers: list[multiprocessing.process.BaseProcess] = []
        context = multiprocessing.get_context("spawn")
        _check_importable(make)
        for worker in range(count):
            mine = np.flatnonzero(self._worker_of == worker).tolist()
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, make, mine), daemon=True)
            process.start()
            there.close()
            self._pipes.append(here)
            self._workers.append(process)
        try:
            for worker in range(count):
                self._receive(worker)
        except Exception:
            self.close()
            raise

    def apply(self, rows: Sequence[int], orders: Sequence[Reset | Act]) -> list[Outcome]:
        shares: dict[int, list[int]] = {}
        for position, row in enumerate(rows):
            shares.setdefault(int(self._worker_of[row]), []).append(position)
        for worker, share in shares.items():
            try:
                self._pipes[worker].send([(int(rows[i]), orders[i]) for i in share])
            except OSError as error:
                raise RuntimeError(self._how_it_died(worker)) from error
        outcomes: dict[int, Outcome] = {}
        failure: Exception | None = None
        for worker, share in shares.items():
            # Every answer is fetched even after a failure, or the next call would get it.
            try:
                outcomes.update(zip(share, self._receive(worker), strict=True))
            except RuntimeError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return [outcomes[position] for position in range(len(rows))]

    def _receive(self, worker: int) -> list[Outcome]:
        try:
            good, answer = self._pipes[worker].recv()
        except (EOFError, OSError) as error:
            raise RuntimeError(self._how_it_died(worker)) from error
        if not good:
            raise RuntimeError(f"environment worker {worker} failed:\n{answer}")
        return answer

    def _how_it_died(self, worker: int) -> str:
        """The sentence for a worker that answers no more."""
        self._workers[worker].join(timeout=5)
        return f"environment worker {worker} died (exit code {self._workers[worker].exitcode})"

    def close(self) -> None:
        for pipe in self._pipes:
            try:
                pipe.send(None)
            except OSError:
                continue  # this worker is gone already
        for process in self._workers:
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()
                process.join()
            process.close()
        for pipe in self._pipes:
            pipe.close()
        self._pipes, self._workers = [], []


def _check_importable(make: MakeEnv) -> None:
    try:
        ForkingPickler.dumps(make)
    except Exception as error:
        raise SeadsError(
            f"vectorise='processes' needs a `make` that workers can import, not {make!r}: "
            "a function at the top of a module, no lambda and no function within another"
        ) from error


def _work(pipe: Connection, make: MakeEnv, rows: list[int]) -> None:
    """What a worker runs: its environments, stepped as told, until told None or left alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which closes workers
    envs: dict[int, gymnasium.Env] = {}
    try:
        envs = {row: make() for row in rows}
        pipe.send((True, []))
        while (orders := pipe.recv()) is not None:
            try:
                pipe.send((True, [order.apply(envs[row]) for row, order in orders]))
            except Exception:
                pipe.send((False, traceback.format_exc()))
    except EOFError:
        pass  # the parent is gone
    except Exception:
        pipe.send((False, traceback.format_exc()))
    finally:
        for env in envs.values():
            env.close()
