"""A sign of life while a command measures: a spinner in a terminal, nothing where it is piped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show on stderr what is being done until it is done; print nothing to stdout meanwhile."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # stdout stays as it is: it may lead into a pipe
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as shown:
        shown.add_task(text, total=None)
        yield
