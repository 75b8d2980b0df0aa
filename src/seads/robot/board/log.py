"""One line for whatever goes wrong with a connection, and not the same line a thousand times."""

from __future__ import annotations

import logging
import threading
import time

_QUIET = 10.0
"""Seconds after a line in which others of its kind are only counted."""
_LOOKS_AHEAD = 20
LOG = logging.getLogger("seads.robot.board")


class OneLineLog(logging.Handler):
    """Says what happened in a line each; takes what `websockets` logs, without its tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: dict[str, tuple[float, int, int]] = {}
        self._counting = threading.Lock()
        self.for_websockets = logging.Logger("seads.robot.board.websockets", logging.WARNING)
        self.for_websockets.addHandler(self)

    def say(self, kind: str, what: str, after: int = 0) -> None:
        """Log a warning, once in a while for each kind, of which there are few.

        `after`: how many of the kind within a while are nothing to speak of.
        """
        with self._counting:
            start, count, _ = self._said.get(kind, (-_QUIET, 0, 0))
            more = max(0, count - after - 1)
            now = time.monotonic()
            if now - start >= _QUIET:
                start, count = now, 0
            self._said[kind] = start, count + 1, after
        if count == after:
            LOG.warning("%s: %s%s", kind, what, f" (and {more} more before)" if more else "")

    def emit(self, record: logging.LogRecord) -> None:
        """A line of `websockets`: its message and, of an exception, what it says."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error and error.__cause__, EOFError):  # as browsers do, looking ahead
            self.say("connections", "many were opened and dropped without a request", _LOOKS_AHEAD)
            return
        what = f"{type(error).__name__}: {error}" if error else record.getMessage()
        self.say(record.getMessage()[:60], " ".join(what.split())[:200])

    def finish(self) -> None:
        """Say how many were only counted."""
        with self._counting:
            said, self._said = self._said, {}
        for kind, (_, count, after) in said.items():
            if count > after + 1:
                LOG.warning("%s: %d more", kind, count - after - 1)
