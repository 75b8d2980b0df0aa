"""Where in a study's file something is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from seads.errors import SeadsError

HEADER = re.compile(r"\s*\[")
STRING_OR_COMMENT = re.compile(r""" "(?:\\.|[^"\\])*" | '[^']*' | \#.* """, re.VERBOSE)


@dataclass(frozen=True)
class Place:
    """A part of a study's file, to say where something is wrong."""

    path: Path
    lines: tuple[str, ...]
    first: int

    def wrong(self, error: object, word: str = "") -> SeadsError:
        """An error at the first line of the part that holds a word, else at its beginning.

        A key or a table of that name counts before a text that has it, and a comment never.
        """
        found = self._line(word, texts=False) or self._line(word, texts=True) or self.first
        return SeadsError(f"{self.path}, line {found}: {error}")

    def has(self, key: str) -> bool:
        """Whether the part has a key or a table of that name."""
        return self._line(key, texts=False) is not None

    def part(self, name: str, number: int = 0) -> Place:
        """The lines of the n-th [[name]], or of [name], up to the next part."""
        begins = re.compile(rf"\s*\[\[?\s*{name}\s*]")
        starts = [n for n, line in enumerate(self.lines) if begins.match(line)]
        if number >= len(starts):  # written as an inline list: the whole file is the place
            return self
        own = re.compile(rf"\s*\[{name}\.")
        later = (
            n
            for n, line in enumerate(self.lines)
            if n > starts[number] and HEADER.match(line) and not own.match(line)
        )
        end = next(later, len(self.lines))
        return Place(self.path, self.lines[starts[number] : end], self.first + starts[number])

    def _line(self, word: str, texts: bool) -> int | None:
        """The number of the first line that holds a word, in texts too or outside of them only."""
        for number, line in enumerate(self.lines, self.first):
            told = STRING_OR_COMMENT.sub(
                lambda one: one[0] if texts and not one[0].startswith("#") else "", line
            )
            if word and holds(told, word):
                return number
        return None


def holds(text: str, word: str) -> bool:
    """Whether a text has a whole word in it."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
