"""What a caller asks of a batched environment, checked before anything changes.

Arguments are arrays of any shape and type here: finding the wrong ones is the purpose.
Every step passes through: `np.count_nonzero` takes a quarter of the time of `any` and `all`.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from seads.errors import SeadsError

# Networks act in float32: an action may pass its bound by a rounding error.
_ROUNDING = 1e-5


def check_rows(
    rows: np.ndarray | None, everything: Int[np.ndarray, "rows"]
) -> Int[np.ndarray, "picked"]:
    """The picked row numbers, all of them by default; raises on unknown or repeated rows."""
    if rows is None:
        return everything
    given = np.asarray(rows)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(
            f"rows must be a list of row numbers, not {given.dtype} of shape {given.shape}"
        )
    if given.size == 0:
        return everything[:0]
    given = given.astype(np.int64, copy=False)
    ascending = np.count_nonzero(given[1:] > given[:-1]) == len(given) - 1
    if ascending and given[0] >= 0 and given[-1] < len(everything):
        return given  # the usual case, told by one comparison
    outside = given.view(np.uint64) >= len(everything)  # a negative number is a huge one there
    if np.count_nonzero(outside):
        raise ValueError(f"row {given[outside][0]} is not in 0..{len(everything) - 1}")
    named = np.zeros(len(everything), bool)
    named[given] = True
    if np.count_nonzero(named) < len(given):
        raise ValueError(f"rows {given.tolist()} name a row twice")
    return given


def check_seeds(seeds: np.ndarray, rows: Int[np.ndarray, "picked"]) -> UInt64[np.ndarray, "picked"]:
    """A seed per picked row."""
    given = np.asarray(seeds)
    if given.shape != (len(rows),):
        raise ValueError(f"seeds have shape {given.shape}; {len(rows)} rows need ({len(rows)},)")
    if given.size and (
        given.dtype.kind not in "iu" or (given.dtype.kind == "i" and given.min() < 0)
    ):
        raise ValueError(f"seeds must be integers in 0..2**64-1, not {given.tolist()[:5]}")
    return given.astype(np.uint64, copy=False)


def check_symbols(
    symbols: np.ndarray, rows: Int[np.ndarray, "picked"], num_bits: int
) -> Bool[np.ndarray, "picked bits"]:
    """A symbol per picked row; 0 and 1 count as bits."""
    given = np.asarray(symbols)
    if given.shape != (len(rows), num_bits):
        raise ValueError(f"symbols have shape {given.shape}; expected ({len(rows)}, {num_bits})")
    if given.dtype != np.bool_ and not np.isin(given, (0, 1)).all():
        raise ValueError(f"symbols must be bits, not {np.unique(given)[:5].tolist()}")
    return given.astype(bool)


def check_actions(
    actions: np.ndarray,
    active: np.ndarray | None,
    running: Bool[np.ndarray, "rows"],
    everything: Int[np.ndarray, "rows"],
    low: Float[np.ndarray, "rows act"],
    high: Float[np.ndarray, "rows act"],
) -> tuple[Int[np.ndarray, "picked"], Float[np.ndarray, "picked act"]]:
    """The rows to step and their actions, within bounds; inactive rows may hold anything.

    The bounds are the same in every row: repeating them takes a third of broadcasting's time.
    """
    given = np.asarray(actions)
    if given.shape != low.shape:
        raise ValueError(f"actions have shape {given.shape}; expected {low.shape}")
    if given.dtype.kind not in "fiu":
        raise ValueError(f"actions must be real numbers, not {given.dtype}")
    if active is None:
        if np.count_nonzero(running) < len(running):
            raise ValueError(_not_running(int(np.argmin(running))))
        rows = everything
        picked = given.astype(np.float64, copy=False)
    else:
        active = np.asarray(active)
        if active.shape != running.shape or active.dtype != np.bool_:
            raise ValueError(
                f"active is {active.dtype} {active.shape}; expected bool {running.shape}"
            )
        idle = active & ~running
        if np.count_nonzero(idle):
            raise ValueError(_not_running(int(np.argmax(idle))))
        rows = np.flatnonzero(active)
        picked = given[rows].astype(np.float64, copy=False)
        low, high = low[: len(rows)], high[: len(rows)]
    clipped = np.minimum(np.maximum(picked, low), high)
    # A NaN stays NaN in the clipped array, so it differs from itself here.
    if np.count_nonzero(clipped == picked) < picked.size:
        _check_bounds(rows, picked, clipped, low[0], high[0])
    return rows, clipped


def _check_bounds(
    rows: Int[np.ndarray, "picked"],
    picked: Float[np.ndarray, "picked act"],
    clipped: Float[np.ndarray, "picked act"],
    low: Float[np.ndarray, "act"],
    high: Float[np.ndarray, "act"],
) -> None:
    """Raises if an action was clipped by more than rounding explains."""
    good = np.abs(picked - clipped) <= _ROUNDING
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise SeadsError(
            f"row {rows[row]}: action[{column}] is {picked[row, column]}; "
            f"allowed is [{low[column]}, {high[column]}]"
        )


def _not_running(row: int) -> str:
    return f"row {row} has no running episode; reset it, resume it, or leave it inactive"
