"""How tables look in the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.table import Table


def plain_table(titles: Iterable[str], left: Collection[str] = (), no_wrap: bool = False) -> Table:
    """A table without lines; its columns are flush right but for those named in `left`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, justify="left" if title in left else "right", no_wrap=no_wrap)
    return table
