"""The train/test split: CRC32 of a board's canonical string, modulo 3 (paper S.12.1)."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, UInt8, UInt32

from seads.games.board_types import Boards


def canonical(board: UInt8[np.ndarray, "fields"] | Sequence[int]) -> str:
    """The comma-separated string of a board, row by row, such as '1,0,2,3'."""
    return ",".join(str(int(value)) for value in board)


def is_train(crcs: UInt32[np.ndarray, "rows"]) -> Bool[np.ndarray, "rows"]:
    """Which checksums belong to the training split; all others are test boards."""
    return crcs % np.uint32(3) == 0


class SplitHash:
    """CRC32 of many boards at once.

    Strings of one length differ by XOR, and CRC32 is affine in XOR: a board's checksum is
    `base`, that of the all-zero board, XOR one entry of `table` per field. This needs
    one digit a field; boards with values of 10 and more are hashed one by one.
    """

    def __init__(self, num_fields: int, num_values: int) -> None:
        self.base = np.uint32(zlib.crc32(canonical([0] * num_fields).encode()))
        self.table: UInt32[np.ndarray, "fields values"] | None = None
        self._fields = np.arange(num_fields)
        if num_values <= 10:
            self.table = np.array(
                [
                    [
                        zlib.crc32(canonical([0] * f + [v] + [0] * (num_fields - f - 1)).encode())
                        for v in range(num_values)
                    ]
                    for f in range(num_fields)
                ],
                np.uint32,
            )
            self.table ^= self.base

    def crc(self, boards: Boards) -> UInt32[np.ndarray, "rows"]:
        """CRC32 of each board's canonical string."""
        if self.table is None:
            sums = [zlib.crc32(canonical(board).encode()) for board in boards]
            return np.array(sums, np.uint32)
        return np.bitwise_xor.reduce(self.table[self._fields, boards], axis=1) ^ self.base
