"""What pages say, read with suspicion: whatever is not exactly a message raises BadMessage."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta, Struct

from seads.errors import SeadsError
from seads.reading import as_kind
from seads.robot.board.touches import BadMessage, Kind, Number, PageReport

LONGEST_WORDS = 150
"""Of a line in the log."""
Coordinate = Annotated[float, Meta(ge=-(2.0**53), le=2.0**53)]


class Event(NamedTuple):
    """Something that happened at a page's screen."""

    number: int
    kind: Kind
    x: float
    y: float


class _Touch(Struct, forbid_unknown_fields=True):
    """An event as it is sent."""

    number: Number
    kind: Kind
    x: Coordinate
    y: Coordinate


_hints = get_type_hints(PageReport, include_extras=True)
_Report: Any = msgspec.defstruct(
    "_Report",
    [(one.name, _hints[one.name]) for one in fields(PageReport)],
    forbid_unknown_fields=True,
)
"""What a page says of itself as it is sent: all of it."""


def read_message(message: str | bytes) -> Event | PageReport:
    """An event, or what a page says of itself."""
    content = message.encode() if isinstance(message, str) else message
    try:
        about_itself = "page" in as_kind(content, dict[str, Any], "no message")
        if about_itself:
            return PageReport(**msgspec.structs.asdict(as_kind(content, _Report, "no report")))
        touch = as_kind(content, _Touch, "no touch")
    except (SeadsError, UnicodeEncodeError) as error:
        raise BadMessage(" ".join(str(error).split())[:LONGEST_WORDS]) from None
    # a finger may leave the screen while it is down, but comes down on it
    if touch.kind == "down" and not (0 <= touch.x <= 1 and 0 <= touch.y <= 1):
        raise BadMessage(f"a touch at {touch.x:g}, {touch.y:g}, outside of the screen")
    return Event(touch.number, touch.kind, touch.x, touch.y)
