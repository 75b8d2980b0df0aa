"""What is said to people: on stderr, which may be closed, full or without a reader, and no matter.

Work is never ended because nobody listens. What is asked for on stdout is another matter: there a
reader who leaves ends the command, as pipes are meant to.
"""

from __future__ import annotations

import codecs
import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import TextIO

PLAINLY = "seads-plainly"
"""How to encode what an encoding does not have: as plain characters that look alike."""


class Unfailing(io.TextIOBase):
    """A stream to people: from the first write on that fails it goes nowhere."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write if that is possible; what its encoding does not have, plainly."""
        try:
            if self._stream is not None:
                self._stream.write(_encodable(text, self._stream.encoding))
        except (OSError, ValueError):
            self._stream = None
        return len(text)

    def flush(self) -> None:
        """Flush if that is possible."""
        try:
            if self._stream is not None:
                self._stream.flush()
        except (OSError, ValueError):
            self._stream = None

    def isatty(self) -> bool:
        """Whether somebody sits there."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """The stream's, as long as it works."""
        if self._stream is None:
            raise io.UnsupportedOperation("nobody listens")
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The stream's."""
        return getattr(self._stream, "encoding", None) or "utf-8"


@contextmanager
def unfailing_streams() -> Iterator[None]:
    """Within it stderr is unfailing, and both streams write what their encoding does not have.

    A closed descriptor is opened to nowhere first: otherwise the next file that is opened, a
    checkpoint perhaps, gets its number and all that libraries print.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.dup(number), mode))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=PLAINLY)
    with redirect_stderr(Unfailing(sys.stderr)):
        yield


def tell(text: str) -> None:
    """A line for people, on stderr."""
    stream = Unfailing(sys.stderr)
    stream.write(f"{text}\n")
    stream.flush()


def next_command(*words: object) -> str:
    """A `seads` command line as one can paste it: paths with spaces are quoted."""
    return shlex.join(["seads", *map(str, words)])


def tell_next(*words: object) -> None:
    """What one does now, after all that was printed: who does not read that is told nothing."""
    sys.stdout.flush()
    tell(f"next: {next_command(*words)}")


def _encodable(text: str, encoding: str | None) -> str:
    encoding = encoding or "utf-8"
    return text.encode(encoding, PLAINLY).decode(encoding)


_PLAIN = str.maketrans(
    {"×": "x", "…": "...", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'", "→": "->", "·": "*"}
)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that a terminal's encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end].translate(_PLAIN)
    return missing.encode("ascii", "replace").decode(), error.end


codecs.register_error(PLAINLY, _plainly)
