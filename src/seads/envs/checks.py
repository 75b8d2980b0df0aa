"""Checks of what a caller asks of a batched environment, before anything changes.

Arguments are arrays of any shape and type here: finding the wrong ones is the purpose.
Every step passes through: `np.count_nonzero` takes a quarter of the time of `any` and `all`.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from seads.envs.interface import Rows
from seads.errors import SeadsError

# Networks act in float32: an action may pass its bound by a rounding error.
_ROUNDING = 1e-5
FARTHEST = 1e15
"""Numbers beyond this have no statistics in float32: their squares, added up, are infinite."""


def check_count(name: str, count: int, most: int = 10**6) -> None:
    """A whole number, of one at least."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool):
        raise SeadsError(f"{name} is {count!r}; it must be a whole number")
    if not 1 <= count <= most:
        raise SeadsError(f"{name} is {count}; it must be at least 1, and at most {most}")


def check_rows(rows: np.ndarray | None, num_envs: int) -> Int[np.ndarray, "picked"]:
    """The picked row numbers, all of them by default; raises on unknown or repeated rows."""
    if rows is None:
        return np.arange(num_envs)
    given = np.asarray(rows)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(
            f"rows must be a list of row numbers, not {given.dtype} of shape {given.shape}"
        )
    given = given.astype(np.int64, copy=False)
    outside = (given < 0) | (given >= num_envs)
    if np.count_nonzero(outside):
        raise ValueError(f"row {given[outside][0]} is not in 0..{num_envs - 1}")
    if len(set(given.tolist())) < len(given):
        raise ValueError(f"rows {given.tolist()} name a row twice")
    return given


def check_seeds(seeds: np.ndarray, rows: Int[np.ndarray, "picked"]) -> UInt64[np.ndarray, "picked"]:
    """A seed per picked row."""
    given = np.asarray(seeds)
    if given.shape != (len(rows),):
        raise ValueError(f"seeds have shape {given.shape}; {len(rows)} rows need ({len(rows)},)")
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0):
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
    low: Float[np.ndarray, "rows act"],
    high: Float[np.ndarray, "rows act"],
) -> tuple[Rows, Float[np.ndarray, "picked act"]]:
    """The rows to step, `slice(None)` for all, and their actions, within bounds.

    Rows that are not active may hold anything.

    The bounds are the same in every row: repeating them takes a third of broadcasting's time.
    """
    given = np.asarray(actions)
    if given.shape != low.shape:
        raise ValueError(f"actions have shape {given.shape}; expected {low.shape}")
    if given.dtype.kind not in "fiu":
        raise ValueError(f"actions must be real numbers, not {given.dtype}")
    rows: Rows = slice(None)
    if active is not None:
        wanted = np.asarray(active)
        if wanted.shape != running.shape or wanted.dtype != np.bool_:
            raise ValueError(
                f"active is {wanted.dtype} {wanted.shape}; expected bool {running.shape}"
            )
        if not wanted.all():
            rows = np.flatnonzero(wanted)
            given, low, high = given[rows], low[: len(rows)], high[: len(rows)]
    able = running[rows]
    if np.count_nonzero(able) < len(able):
        raise ValueError(
            f"row {_number(rows, int(able.argmin()))} has no running episode; "
            "reset it, resume it, or leave it inactive"
        )
    picked = given.astype(np.float64, copy=False)
    clipped = np.minimum(np.maximum(picked, low), high)
    if np.count_nonzero(clipped == picked) < picked.size:  # a NaN is not even itself
        for row, column in np.argwhere(~(np.abs(picked - clipped) <= _ROUNDING)).tolist():
            raise SeadsError(
                f"row {_number(rows, row)}: action[{column}] is {picked[row, column]}; "
                f"allowed is [{low[0, column]}, {high[0, column]}]"
            )
    return rows, clipped


def _number(rows: Rows, at: int) -> int:
    """The number of the picked row at this place."""
    return at if isinstance(rows, slice) else int(rows[at])
