"""How many cores this process may use: all it is allowed, or the share that a sweep gave it."""

from __future__ import annotations

import os

SHARE = "SEADS_CORES"


def cores() -> int:
    """The number of threads that do work side by side here."""
    given = os.environ.get(SHARE, "")
    return max(1, int(given)) if given.isdecimal() else len(os.sched_getaffinity(0))


def hold_to(share: int) -> None:
    """Hold XLA, BLAS and the physics to a share; call before JAX has compiled anything."""
    for name in (SHARE, "PJRT_NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(share)
