"""Files that are whole or not there: written aside, then renamed into place."""

from __future__ import annotations

from pathlib import Path


def write_aside(path: Path, content: bytes) -> None:
    """Write a file; who reads it meanwhile, or after a crash, sees the old one or the new.

    What a link leads to is written, and what is no file, such as a pipe, written to.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    aside = path.with_name(f".{path.name}.tmp")
    aside.write_bytes(content)
    aside.rename(path)


def write_text_aside(path: Path, text: str) -> None:
    """Write a text file, in UTF-8 wherever that is done."""
    write_aside(path, text.encode())
