"""Files that are whole or not there: written aside, then renamed into place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Where to write a file that is put into place afterwards; if that fails, nothing remains.

    Who reads the file meanwhile, or after a crash, sees the old one or the new. What a link leads
    to is written, and what is no file, such as a pipe, written to.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    # a name of its own: somebody else may write the same file now, also on another machine
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        yield aside
        flush(aside)
        aside.rename(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


def write_aside(path: Path, content: bytes) -> None:
    """Write a file whose content is at hand."""
    with written_aside(path) as aside:
        aside.write_bytes(content)


def write_text_aside(path: Path, text: str) -> None:
    """Write a text file, in UTF-8 wherever that is done."""
    write_aside(path, text.encode())


def flush(path: Path) -> None:
    """Have what was written to a file, or the names in a directory, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
