"""What pages say, read with suspicion: whatever is not exactly a message raises BadMessage."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any, NamedTuple

from seads.robot.board.touches import KINDS, BadMessage, Kind, PageReport

_NAME = re.compile(r"[0-9a-f]{32}")
_LARGEST = 2**53
_REPORT = {field.name: field.type for field in fields(PageReport)}


class Event(NamedTuple):
    """Something that happened at a page's screen."""

    number: int
    kind: Kind
    x: float
    y: float


def read_message(message: str | bytes) -> Event | PageReport:
    """An event, or what a page says of itself."""
    given = _read(message)
    if given.keys() == set(Event._fields):
        return _event(**given)
    if given.keys() != _REPORT.keys():
        raise BadMessage(f"neither a touch nor a report: {str(given)[:60]!r}")
    for name, kind in _REPORT.items():
        if kind == "bool" and not isinstance(given[name], bool):
            raise BadMessage(f"{name} is {given[name]!r:.60}, neither true nor false")
        if kind == "int":
            _whole(given[name], name, int(name == "next"))
    if not isinstance(given["page"], str) or not _NAME.fullmatch(given["page"]):
        raise BadMessage(f"a page's name is 32 hexadecimal digits, not {given['page']!r:.60}")
    return PageReport(**given)


def _event(number: Any, kind: Any, x: Any, y: Any) -> Event:
    if kind not in KINDS:
        raise BadMessage(f"unknown kind {kind!r:.60}; there are {', '.join(KINDS)}")
    within = kind == "down"
    return Event(_whole(number, "number", 1), kind, _place(x, within), _place(y, within))


def _read(message: str | bytes) -> dict[str, Any]:
    try:
        given = json.loads(message)
    except (ValueError, RecursionError):
        raise BadMessage(f"no JSON: {message[:60]!r}") from None
    if not isinstance(given, dict):
        raise BadMessage(f"no JSON object: {message[:60]!r}")
    return given


def _whole(value: Any, name: str, least: int) -> int:
    if type(value) is not int or not least <= value <= _LARGEST:
        raise BadMessage(f"{name} is {value!r:.60}, no whole number from {least} on")
    return value


def _place(value: Any, within: bool) -> float:
    """A coordinate: a finger may leave the screen while it is down, but comes down on it."""
    # an infinite number and none at all (NaN) fail the comparison
    if type(value) not in (int, float) or not -_LARGEST <= value <= _LARGEST:
        raise BadMessage(f"a coordinate is {value!r:.60}, no number")
    if within and not 0 <= value <= 1:
        raise BadMessage(f"a touch at {value!r:.60}, outside of the screen")
    return float(value)
