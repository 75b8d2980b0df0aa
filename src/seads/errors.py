"""The one error a user can cause: the command line prints its sentence instead of a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SeadsError(ValueError):
    """Something the user gave cannot be used; the message names it and what is allowed."""


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
    if given not in allowed:
        raise unknown(kind, given, allowed)
