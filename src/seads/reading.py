"""Everything that is read back from files: typed, bounded, and a sentence where it is not so.

Whoever owns a file declares its type (a `msgspec.Struct`, a dataclass, a `TypedDict`) beside what
writes it, made of the bounded types below. Reading never runs code, never reads without end, and
says of a damaged file which place of it is wrong.
"""

from __future__ import annotations

import dataclasses
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from seads.errors import SeadsError, unknown

Kind = TypeVar("Kind")

MOST_BYTES = 4 * 2**20
"""Of a file that people could read, such as a card."""
MOST_RESULT_BYTES = 128 * 2**20
"""Of a file of measurements, or of lines."""
LONGEST_LINE = 64 * 2**10

Name = Annotated[str, Meta(min_length=1, max_length=300)]
Text = Annotated[str, Meta(max_length=20_000)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A number of steps, boards and the like."""
Size = Annotated[int, Meta(ge=1, le=65_536)]
"""How large something is that is built from the file: a layer, a board."""
Layers = Annotated[tuple[Size, ...], Meta(min_length=1, max_length=64)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Plain = bool | int | float | Annotated[str, Meta(max_length=1000)] | None
Options = Annotated[
    dict[Name, Plain | Annotated[list[Plain], Meta(max_length=1000)]], Meta(max_length=100)
]
"""Named values for an environment."""


def read_json(path: Path, kind: type[Kind], what: str, most: int = MOST_BYTES) -> Kind:
    """The content of a JSON file as its type; `what` it should be is named if it is not.

    Raises SeadsError, and OSError where the file cannot be read at all.
    """
    return as_kind(read_bytes(path, what, most), kind, f"{path} is not {what}")


def read_lines(path: Path, *kinds: Any) -> tuple[list[Any], int]:
    """The lines that are JSON of every kind, as the first; and how many others there are."""
    found, damaged = [], 0
    for line in raw_lines(path):
        try:
            first, *_ = [as_kind(line, kind, "") for kind in kinds]
            found.append(first)
        except SeadsError:
            damaged += 1
    return found, damaged


def raw_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file without their ends; one that is too long is cut, so that it is damaged.

    Nothing where there is no file.
    """
    if not path.is_file():
        return
    read = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(LONGEST_LINE)
                read += len(rest)
            read += len(line)
            if read > MOST_RESULT_BYTES:
                raise SeadsError(f"{path} has more than {MOST_RESULT_BYTES // 2**20} MB of lines")
            yield line.rstrip(b"\r\n")


def as_kind(content: Any, kind: Any, complaint: str, texts: bool = False) -> Any:
    """JSON, or what was read from it, as its type; raises "complaint: place: what is wrong".

    Where all values are `texts`, as in a CSV file, numbers are read from them.
    """
    try:
        if isinstance(content, bytes):
            content.decode()  # also where nobody looks
            return msgspec.json.decode(content, type=kind)
        _refuse_extra(content, kind)
        return msgspec.convert(content, kind, strict=not texts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, SeadsError) as error:
        raise SeadsError(f"{complaint}: {_in_words(error)}") from None


def read_bytes(path: Path, what: str, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file of bounded size; a pipe or a device is refused, not waited for."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise SeadsError(f"{path} is not {what}: it is no file")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise SeadsError(f"{path} is not {what}: it has more than {most // 2**20} MB")
    return content


def _refuse_extra(content: Any, kind: Any) -> None:
    """A dataclass knows no other names than its own; msgspec would pass over them."""
    plain = getattr(kind, "__origin__", kind)
    if dataclasses.is_dataclass(plain) and isinstance(content, dict):
        known = [field.name for field in dataclasses.fields(plain)]
        for name in content:
            if name not in known:
                raise unknown("setting", str(name), known)


def _in_words(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    says, _, place = str(error).replace("`", "").partition(" - at $")
    says = f"{says[:1].lower()}{says[1:]}"[:500]
    return f"{place.lstrip('.')}: {says}" if place else says
