"""Random numbers as a pure function of a seed: no generator, no state, a whole batch at once.

Every row of a batch has its own 64-bit seed, and a draw is a hash of (seed, label, position).
So a row's randomness never depends on its neighbours, and resuming needs no saved generator.
The hash is the SplitMix64 finaliser over a Weyl sequence.
"""

from __future__ import annotations

from enum import IntEnum, unique
from functools import lru_cache

import numpy as np
from jaxtyping import Float, UInt64


@unique
class Purpose(IntEnum):
    """What a run or a command draws random numbers for; each purpose has a stream of its own.

    A number stands for its purpose for good: another one would change every run and every board.
    """

    SKILLS = 1
    NOISE = 2
    STARTS = 3
    COVERAGE_STARTS = 11
    TASK_BOARDS = 12
    TASK_POSES = 13
    RETRY = 14
    """Actions of a skill that is tried again."""
    BATCHES = 21
    UPDATES = 22
    COVERAGE_OF_RUN = 23
    """Starts from which a run measures its own coverage."""
    PLAY = 24
    """Boards and poses of `seads play`."""
    DEALT = 25
    """Boards that a tablet deals to whoever plays."""
    SAC_NOISE = 31
    SAC_STARTS = 32
    SAC_BATCHES = 33
    SAC_UPDATES = 34
    HAC_EXPLORATION = 41
    HAC_STARTS = 42
    HAC_BATCHES = 43
    HAC_UPDATES = 44


@unique
class RowPurpose(IntEnum):
    """What an environment draws from the seed of one of its rows."""

    BODY = 1
    """Depth of the board and start of the body."""
    MOVE = 2**32
    """What a move does to the body; the number of the move is added."""
    BOARD = int.from_bytes(b"board")


# Arrays rather than scalars: numpy converts a scalar anew in every operation.
_GOLDEN = np.array(0x9E3779B97F4A7C15, np.uint64)
_MIX_1 = np.array(0xBF58476D1CE4E5B9, np.uint64)
_MIX_2 = np.array(0x94D049BB133111EB, np.uint64)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = (np.array(bits, np.uint64) for bits in (30, 27, 31))
_TO_53_BITS, _STEP_OF_53_BITS = np.array(11, np.uint64), np.array(2.0**-53)


def mix(values: UInt64[np.ndarray, "*shape"]) -> UInt64[np.ndarray, "*shape"]:
    """Scramble 64-bit integers so that neighbours become unrelated (a bijection)."""
    mixed = values + _GOLDEN  # a new array, so that the rest may work in place
    shifted = mixed >> _SHIFT_1
    mixed ^= shifted
    mixed *= _MIX_1
    mixed ^= np.right_shift(mixed, _SHIFT_2, shifted)
    mixed *= _MIX_2
    mixed ^= np.right_shift(mixed, _SHIFT_3, shifted)
    return mixed


def fork(
    seeds: UInt64[np.ndarray, "rows"], label: int | UInt64[np.ndarray, "*labels"]
) -> UInt64[np.ndarray, "*shape"]:
    """New seeds, unrelated to the given ones, one for each (seed, label).

    An array of labels is broadcast against the seeds: one label a row, or of shape
    (labels, 1) for several streams of every row at the price of one.
    """
    # only the seed is mixed first: were both, (3, 7) and (7, 3) would give the same stream
    return mix(mix(seeds) ^ np.asarray(label, np.uint64))


def row_seeds(seed: int, rows: int, *labels: int) -> UInt64[np.ndarray, "rows"]:
    """A seed per row from one user seed and the labels of its purpose, such as the epoch."""
    root = np.array([seed % 2**64], np.uint64)
    for label in labels:
        root = fork(root, label)
    return fork(np.repeat(root, rows), np.arange(rows, dtype=np.uint64))


def uniforms(seeds: UInt64[np.ndarray, "*rows"], count: int) -> Float[np.ndarray, "*rows count"]:
    """`count` uniform numbers in [0, 1) for each seed; fork the seeds for independent draws."""
    drawn = mix(mix(seeds)[..., None] + _weyl(count))
    drawn >>= _TO_53_BITS
    return drawn * _STEP_OF_53_BITS


@lru_cache
def _weyl(count: int) -> UInt64[np.ndarray, "count"]:
    return _GOLDEN * np.arange(1, count + 1, dtype=np.uint64)
