"""Results as text: tables without lines, as the terminal and a notebook show them."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence

WIDE = 120
"""Columns to write for where there is no terminal."""


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


def mean_text(numbers: dict[str, float] | None) -> str:
    """The mean of a summary, or nothing."""
    return "" if numbers is None else f"{numbers['mean']:.1f}"
