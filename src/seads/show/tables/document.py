"""A table that becomes Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seads.files import write_text_aside

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "±": r"$\pm$", "×": r"$\times$", "−": r"$-$", "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$",
    "<": r"$<$", ">": r"$>$", "τ": r"$\tau$", "α": r"$\alpha$", "γ": r"$\gamma$",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Rows of text under titles; the first column is flush left."""

    number: str
    """The paper's, such as S.1, or a name of ours."""
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    """Sentences below the table."""

    def to_markdown(self) -> str:
        """As this project's pages have it."""
        table = markdown([self.columns, *self.rows])
        return "\n\n".join([f"## {self.heading}", table, *self.notes]) + "\n"

    def to_latex(self) -> str:
        """For a paper, with booktabs."""
        body = "\n".join(f"{' & '.join(map(_escaped, row))} \\\\" for row in self.rows)
        head = " & ".join(map(_escaped, self.columns))
        caption = _escaped(" ".join([f"{self.title}.", *self.notes]))
        return (
            f"\\begin{{table}}\n\\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}\n\\toprule\n"
            f"{head} \\\\\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
            f"\\caption{{{caption}}}\n\\end{{table}}\n"
        )

    def to_csv(self) -> str:
        """For a program."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"Table {self.number}: {self.title}" if self.number[0] == "S" else self.title

    def write(self, home: Path) -> list[Path]:
        """The three files."""
        home.mkdir(parents=True, exist_ok=True)
        texts = {"md": self.to_markdown(), "tex": self.to_latex(), "csv": self.to_csv()}
        paths = [home / f"table-{self.number}.{suffix}" for suffix in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            write_text_aside(path, text)
        return paths


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """A table without its heading; the first line has the titles of the columns."""
    titles, *rows = lines
    marks = ["---", *["---:"] * (len(titles) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [titles, marks, *rows])


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
