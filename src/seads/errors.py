"""The one error a user can cause: the command line prints its sentence instead of a traceback."""

from __future__ import annotations

import difflib
import os
import traceback
from collections.abc import Iterable
from typing import Any


class SeadsError(ValueError):
    """Something the user gave cannot be used; the message names it and what is allowed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, obeyed in good order: what had been done by then is told, and this is its result."""

    def __init__(self, result: object = None) -> None:
        super().__init__()
        self.result = result


class Refused(SeadsError):
    """What was measured says no, or is not all; `result` is all there is of it, for `--json`."""

    def __init__(self, sentence: str, result: dict[str, Any]) -> None:
        super().__init__(sentence)
        self.result = result


class WorldFault(SeadsError):
    """Something outside failed, such as an arm's line; all that was done before it is good."""


def require(settings: object, condition: bool, name: str, allowed: str) -> None:
    """Raise, naming the setting's value and what is allowed, unless the condition holds."""
    if not condition:
        raise SeadsError(f"{name}={getattr(settings, name)!r}; allowed: {allowed}")


def unknown(kind: str, given: str, allowed: Iterable[str]) -> SeadsError:
    """The error for a name that is not in a table: the name, the nearest one, and all of them."""
    names = list(allowed)
    near = difflib.get_close_matches(str(given), names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return SeadsError(f"unknown {kind} {given!r}; {hint}choose from {', '.join(names)}")


def check_choice(kind: str, given: str, allowed: Iterable[str]) -> None:
    """A name is one of those allowed."""
    names = list(allowed)  # in which, unlike in a table, also a list can be looked for
    if given not in names:
        raise unknown(kind, given, names)


FAILURES = (Exception, SystemExit)
"""How somebody else's code fails; `sys.exit` there must not end us in silence."""


def told(error: BaseException) -> str:
    """What somebody else's code raised, in a line: kind, words, and the place it came from."""
    words = " ".join(str(error).split())
    where = traceback.extract_tb(error.__traceback__)[1:]  # the first is whoever caught it
    place = f" ({os.path.basename(where[-1].filename)}, line {where[-1].lineno})" if where else ""
    return f"{type(error).__name__}{': ' if words else ''}{words}{place}"
