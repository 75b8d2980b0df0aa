"""What a program and the keeper of the arm's line say to each other: lines of JSON, typed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from seads.errors import SeadsError
from seads.reading import Count, Name, Text, as_kind
from seads.robot.guard import Envelope

MOST_LEGS = 16
Millimetres = Annotated[float, Meta(ge=-1e4, le=1e4)]
Place = tuple[Millimetres, Millimetres, Millimetres]
Seconds = Annotated[float, Meta(gt=0.0, le=1e6)]
MOST_PACE = 1e9
Verb = Literal[
    "connect", "follow", "position", "stop", "recover", "trust", "let go", "hold", "state", "leave"
]


class Settings(Struct, forbid_unknown_fields=True):
    """What the keeper must know before anything else: which line, and what it allows there."""

    port: Name
    envelope: Envelope
    pace: Annotated[float, Meta(gt=0.0, le=MOST_PACE)]
    """A twin's clock; 1 for an arm."""
    grace: Seconds
    deadman: Seconds


class Request(Struct, forbid_unknown_fields=True):
    """What the program wants."""

    do: Verb
    id: Count | None = None
    """Comes back with the answer."""
    to: Annotated[list[Place], Meta(min_length=1, max_length=MOST_LEGS)] | UnsetType = UNSET
    feed: Annotated[float, Meta(gt=0.0, le=1e4)] | None = None
    """Turns of the motors a minute."""
    probing: bool = False


class Nonsense(Struct):
    """A line that is no request; `id` is what could be read of it."""

    id: Count | None = None
    why: str = ""


class Answer(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What came of it: `ok`, or a fault by its name; and how the arm stands afterwards."""

    id: Count | None = None
    ok: Any = UNSET
    fault: Annotated[str, Meta(max_length=100)] = ""
    message: Text = ""
    made: Count = 0
    """Points that were reached before the fault."""
    position: Place | None = None
    unsure: bool = False


class Standing(Struct):
    """What somebody who asks for a stop is told."""

    position: Place | None = None
    fault: Text = ""
    """Why nobody knows whether the arm stands; empty where it was stopped."""


def read_request(line: bytes) -> Request | Nonsense:
    """A request, or what is wrong with it."""
    complaint = "nothing that the keeper of the line can do"
    try:
        return as_kind(line, Request, complaint)
    except SeadsError as error:
        try:
            number = as_kind(line, Nonsense, "").id
        except SeadsError:
            number = None
        return Nonsense(number, str(error)[:300])
