"""A ring of records in named columns: the newest are kept, symbols as bits, floats once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32, Int, UInt8

from seads.agent.arrays import stateful
from seads.errors import SeadsError

Columns = dict[str, tuple[tuple[int, ...], type]]
"""Shape and type of each column's entries."""


@stateful("added", "kept")
class Ring:
    """The newest `capacity` records; each is found by its age, 0 being the oldest kept.

    A record holds what was seen before a step; what was seen after is in a later record,
    so that no observation is stored twice.
    """

    def __init__(self, capacity: int, columns: Columns) -> None:
        self.capacity = capacity
        self.added = 0
        self._columns: dict[str, np.ndarray] = {
            # zeros are not backed by memory until they are written
            name: np.zeros((capacity, *shape), dtype)
            for name, (shape, dtype) in columns.items()
        }

    @property
    def size(self) -> int:
        """How many records are kept now."""
        return min(self.added, self.capacity)

    def append(self, **values: np.ndarray) -> None:
        """Add records, oldest first."""
        count = len(next(iter(values.values())))
        fits = min(count, self.capacity)
        slots = (self.added + np.arange(count - fits, count)) % self.capacity
        for name, column in self._columns.items():
            column[slots] = values[name][count - fits :]
        self.added += count

    def get(self, name: str, ages: Int[np.ndarray, "*shape"]) -> np.ndarray:
        """A column at some ages."""
        return self._columns[name][(self.added - self.size + ages) % self.capacity]

    @property
    def kept(self) -> dict[str, np.ndarray]:
        """The columns as far as they are filled: a new replay of a million records is small."""
        return {name: column[: self.size] for name, column in self._columns.items()}

    @kept.setter
    def kept(self, kept: dict[str, np.ndarray]) -> None:
        room = {n: np.zeros((self.capacity, *v.shape[1:]), v.dtype) for n, v in kept.items()}
        for name, values in kept.items():
            if len(values) != self.size:
                raise SeadsError(
                    f"replay column {name!r} has {len(values)} records; expected {self.size}"
                )
            room[name][: self.size] = values
        self._columns = room


def pack(bits: Bool[np.ndarray, "*shape bits"]) -> UInt8[np.ndarray, "*shape bytes"]:
    """Eight bits a byte."""
    return np.packbits(bits, axis=-1)


def unpack(
    packed: UInt8[np.ndarray, "*shape bytes"], num_bits: int
) -> Float32[np.ndarray, "*shape bits"]:
    """Bits as networks read them: 0.0 and 1.0."""
    return np.unpackbits(packed, axis=-1, count=num_bits).astype(np.float32)


def packed_size(num_bits: int) -> int:
    """Bytes that `pack` needs."""
    return -(-num_bits // 8)
