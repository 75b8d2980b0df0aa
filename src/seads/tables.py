"""Results as text: tables without lines, as the terminal and a notebook show them."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence

WIDE = 120
"""Columns to write for where there is no terminal."""

MOST_ROWS = 80
"""Skills that a table for people lists."""


def terminal_width() -> int:
    """How many columns there are to write in; in a pipe, many."""
    return shutil.get_terminal_size((WIDE, 24)).columns if sys.stdout.isatty() else WIDE


def table_text(
    titles: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[str] = ()
) -> str:
    """A table; its columns are flush right but for those named in `left`."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, justify="left" if title in left else "right")
    for row in rows:
        table.add_row(*row)
    written = io.StringIO()
    Console(file=written, width=terminal_width(), color_system=None, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def least(values: Sequence[float], most: int = MOST_ROWS) -> tuple[list[int], str]:
    """Which rows of a long table to show, those with the least values, and a note on the rest."""
    if len(values) <= most:
        return list(range(len(values))), ""
    ranked = sorted(range(len(values)), key=lambda row: values[row])
    left_out = f"\nand {len(values) - most} skills more, none of them worse; --json has all"
    return sorted(ranked[:most]), left_out


def mean_text(numbers: dict[str, float] | None) -> str:
    """The mean of a summary, or nothing."""
    return "" if numbers is None else f"{numbers['mean']:.1f}"
