"""Boards as text that a person can type and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import UInt8

from seads.errors import SeadsError

_WORD = re.compile(r"[^\s,/]+")
_ROW_BREAK = re.compile(r"[\n/]")


def read_fields(
    text: str, shape: tuple[int, int], read_word: Callable[[str, int], list[int]]
) -> UInt8[np.ndarray, "fields"]:
    """The field values of a board of this shape: rows, columns.

    Spaces and commas separate words; new lines and slashes separate rows. A text without
    rows is the whole board. `read_word(word, position)` gives a word's values, with the
    position counted from 1 for its error messages.
    """
    rows: list[list[int]] = []
    start = 0
    for line in _ROW_BREAK.split(text):
        row: list[int] = []
        for word in _WORD.finditer(line):
            try:
                row += read_word(word.group(), start + word.start() + 1)
            except ValueError as error:
                raise SeadsError(str(error)) from None
        if row:
            rows.append(row)
        start += len(line) + 1
    found = sum(map(len, rows))
    height, width = shape
    if found != height * width:
        raise SeadsError(
            f"found {found} fields; a {height}x{width} board has {height * width}: {text!r}"
        )
    if len(rows) > 1:
        for number, row in enumerate(rows, 1):
            if len(row) != width:
                raise SeadsError(f"row {number} has {len(row)} fields; each row has {width}")
    return np.array([value for row in rows for value in row], np.uint8)


def grid_rows(words: Sequence[str], columns: int) -> str:
    """The words as a grid, a line per row, aligned to the right."""
    width = max(map(len, words))
    cells = [word.rjust(width) for word in words]
    return "\n".join(" ".join(cells[i : i + columns]) for i in range(0, len(cells), columns))
