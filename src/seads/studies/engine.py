"""Ray, held small: local and on loopback unless an address is given, and one task for each run.

A run is learned in Ray's worker process itself, not in a process below it: then killing the worker
kills the run, Ray's retry is the run's continuation, and no orphan writes on. Runs of one kind
that follow each other in a worker share what JAX has traced.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seads.cores import hold_to
from seads.studies.cluster import connect, shares

RETRIES = 5
"""How often a run goes on after its worker or its node has died."""
LOCAL = "seads-ray-"
THIS_MACHINE = "this machine"

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ROTATION_MAX_BYTES": str(2**20),
    "RAY_ROTATION_BACKUP_COUNT": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""Nothing is reported, and a log is a megabyte at most."""


class Engine:
    """Runs orders, so many at once, each with its share of cores."""

    def __init__(self, ray: Any, workers: int, cores: int) -> None:
        self.workers, self.cores = workers, cores
        self._ray = ray
        remote = ray.remote(num_cpus=cores, max_retries=RETRIES, retry_exceptions=False)
        self._do = remote(_do)
        self._running: dict[Any, str] = {}

    def submit(self, name: str, order: dict[str, Any]) -> None:
        """Start a run when a worker is free."""
        here = {"cwd": os.getcwd(), "cache": os.environ.get("SEADS_CACHE"), "cores": self.cores}
        self._running[self._do.options(name=name).remote(order | here)] = name

    def ended(self, seconds: float) -> dict[str, dict[str, str]]:
        """How runs ended meanwhile; waits at most so long for one."""
        if not self._running:
            return {}
        refs = list(self._running)
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=seconds)
        return {self._running.pop(ref): self._outcome(ref) for ref in ready}

    def stop(self) -> None:
        """Ask every run to save and end."""
        for ref in self._running:
            self._ray.cancel(ref, recursive=False)

    @property
    def running(self) -> set[str]:
        """The names of the runs under way."""
        return set(self._running.values())

    def _outcome(self, ref: Any) -> dict[str, str]:
        errors = self._ray.exceptions
        died = (errors.WorkerCrashedError, errors.NodeDiedError)
        try:
            return self._ray.get(ref)
        except (errors.TaskCancelledError, KeyboardInterrupt):
            return {"status": "stopped", "why": ""}
        except errors.OutOfMemoryError:
            why = "its node had no memory left; use fewer --workers"
        except died as error:
            why = f"its worker died {RETRIES + 1} times: {error}"
        except errors.RayTaskError as error:  # which is not tried again
            why = f"{type(error.cause).__name__}: {error.cause}"
        except errors.RayError as error:
            why = f"{type(error).__name__}: {error}"
        return {"status": "failed", "why": " ".join(why.split())[:300]}


def _do(order: dict[str, Any]) -> dict[str, str]:
    """In a worker: hold the threads to the share first, then bring in JAX."""
    hold_to(order["cores"])
    if order["cache"]:
        os.environ["SEADS_CACHE"] = order["cache"]
    if Path(order["cwd"]).is_dir():  # where a user's own environments are looked for
        os.chdir(order["cwd"])
    from seads.studies.work import work

    return work(order)


def check_workers(workers: int | None) -> None:
    """Refuse more runs at once than this machine has cores; nothing has started."""
    shares([_own_cores()], workers, THIS_MACHINE)


@contextmanager
def started(workers: int | None, address: str | None) -> Iterator[Engine]:
    """Ray on this machine, or the cluster at an address; on leaving, its processes are gone."""
    os.environ.update(QUIET)
    if address is None:
        # makes every part of Ray listen on loopback alone
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    home = None if address else _own_directory()
    try:
        nodes = [_local(ray, home)] if home is not None else connect(ray, address or "")
        # else a paragraph on every worker that dies, in the middle of the table
        ray._private.worker._worker_logs_enabled = False
        where = THIS_MACHINE if address is None else f"the cluster at {address}"
        yield Engine(ray, *shares(nodes, workers, where))
    finally:
        ray.shutdown()
        if home is not None:
            shutil.rmtree(home, ignore_errors=True)


def _local(ray: Any, home: Path) -> int:
    total = _own_cores()
    ray.init(
        num_cpus=total,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=80 * 2**20,  # orders and answers are small
        _temp_dir=str(home),
    )
    return total


def _own_cores() -> int:
    return len(os.sched_getaffinity(0))


def _own_directory() -> Path:
    """A short path for Ray's sockets and logs; those of drivers that were killed are removed."""
    parent = Path(tempfile.gettempdir())
    for old in parent.glob(f"{LOCAL}*"):
        owner = old.name.removeprefix(LOCAL)
        if owner.isdecimal() and not Path("/proc", owner).exists():
            shutil.rmtree(old, ignore_errors=True)
    home = parent / f"{LOCAL}{os.getpid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    return home
