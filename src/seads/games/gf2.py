"""Linear algebra over the integers modulo 2, where addition is XOR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, UInt, UInt8


@dataclass(frozen=True)
class Elimination:
    """What Gauss-Jordan elimination tells of a square matrix A.

    `inverse @ b` solves `A @ x = b` whenever `checks @ b` is zero. Row i of `null_basis` is
    one at `free[i]` and zero at the other free positions, so each set of solutions that
    differ by null vectors has exactly one member that is zero at all free positions.
    """

    inverse: UInt8[np.ndarray, "n n"]
    checks: UInt8[np.ndarray, "nullity n"]
    null_basis: UInt8[np.ndarray, "nullity n"]
    free: Int[np.ndarray, "nullity"]


def eliminate(matrix: UInt8[np.ndarray, "n n"]) -> Elimination:
    """Solve a square system over GF(2) for all right-hand sides at once."""
    n = len(matrix)
    work = np.concatenate([matrix, np.eye(n, dtype=np.uint8)], axis=1)
    pivots: list[int] = []
    for column in range(n):
        rank = len(pivots)
        below = np.flatnonzero(work[rank:, column])
        if not below.size:
            continue
        work[[rank, rank + below[0]]] = work[[rank + below[0], rank]]
        others = np.flatnonzero(work[:, column])
        work[others[others != rank]] ^= work[rank]
        pivots.append(column)
    rank = len(pivots)
    free = np.setdiff1d(np.arange(n), pivots)
    reduced, transform = work[:, :n], work[:, n:]

    inverse = np.zeros((n, n), np.uint8)
    inverse[pivots] = transform[:rank]
    null_basis = np.zeros((len(free), n), np.uint8)
    null_basis[np.arange(len(free)), free] = 1
    null_basis[:, pivots] = reduced[:rank, free].T
    return Elimination(inverse, transform[rank:], null_basis, free)


def multiply(
    matrix: UInt8[np.ndarray, "m n"], rows: UInt8[np.ndarray, "rows n"]
) -> UInt8[np.ndarray, "rows m"]:
    """`matrix @ row` for each row, modulo 2."""
    # float32 reaches BLAS and is exact far beyond any board's number of fields
    product = rows.astype(np.float32) @ matrix.T.astype(np.float32)
    return (product.astype(np.int32) & 1).astype(np.uint8)


def span(vectors: UInt[np.ndarray, "k"]) -> UInt[np.ndarray, "all"]:
    """All 2^k XOR combinations; entry i combines the vectors named by the bits of i."""
    sums = np.zeros(1 << len(vectors), vectors.dtype)
    for j, vector in enumerate(vectors):
        np.bitwise_xor(sums[: 1 << j], vector, out=sums[1 << j : 2 << j])
    return sums
