"""Where in a study's file something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from seads.errors import SeadsError

HEADER = re.compile(r"\s*\[")
STRING_OR_COMMENT = re.compile(r""" "(?:\\.|[^"\\])*" | '[^']*' | \#.* """, re.VERBOSE)
TEXT = re.compile(
    rf"""
    "{{3}} (?:\\[\s\S]|[^\\])*? "{{3}}
    | '{{3}} [\s\S]*? '{{3}}
    | {STRING_OR_COMMENT.pattern}
    """,
    re.VERBOSE,
)
"""The same, and strings of many lines."""
BRACKET = re.compile(r"[\[\]{}]")


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
        """The lines of the n-th [[name]], or of [name], up to the next part.

        Of an inline list, name = [{ … }, { … }], the text of its n-th table; where there is none,
        all that there is.
        """
        begins = re.compile(rf"\s*\[\[?\s*{name}\s*]")
        starts = [n for n, line in enumerate(self.lines) if begins.match(line)]
        if number >= len(starts):
            return self._inline(name, number)
        own = re.compile(rf"\s*\[{name}\.")
        later = (
            n
            for n, line in enumerate(self.lines)
            if n > starts[number] and HEADER.match(line) and not own.match(line)
        )
        end = next(later, len(self.lines))
        return Place(self.path, self.lines[starts[number] : end], self.first + starts[number])

    def _inline(self, name: str, number: int) -> Place:
        text = "\n".join(self.lines)
        tables = inline_tables(text, name)
        if number >= len(tables):
            return self
        start, end = tables[number]
        lines = tuple(text[start:end].split("\n"))
        return Place(self.path, lines, self.first + text.count("\n", 0, start))

    def _line(self, word: str, texts: bool) -> int | None:
        """The number of the first line that holds a word, in texts too or outside of them only."""
        for number, line in enumerate(self.lines, self.first):
            told = STRING_OR_COMMENT.sub(
                lambda one: one[0] if texts and not one[0].startswith("#") else "", line
            )
            if word and holds(told, word):
                return number
        return None


@lru_cache(maxsize=4)
def inline_tables(text: str, name: str) -> tuple[tuple[int, int], ...]:
    """Where the tables of name = [{ … }, { … }] begin and end in a text of TOML."""
    bare = TEXT.sub(lambda one: re.sub(r"[^\n]", " ", one[0]), text)  # whose brackets are none
    begun = re.search(rf"^\s*{name}\s*=\s*(?=\[)", bare, re.MULTILINE)
    return () if begun is None else tuple(_tables(bare, begun.end()))


def _tables(bare: str, start: int) -> Iterator[tuple[int, int]]:
    """The tables of the list that begins there, and not those within them."""
    depth = opened = 0
    for found in BRACKET.finditer(bare, start):
        if found[0] in "]}":
            depth -= 1
            if depth == 0:
                return
            if depth == 1 and found[0] == "}":
                yield opened, found.end()
            continue
        depth += 1
        if depth == 2:
            opened = found.start()


def holds(text: str, word: str) -> bool:
    """Whether a text has a whole word in it."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
