"""What came out of runs, as tables of plain values: read from run directories, kept as CSV files.

`results.csv` has a line for each run, `curves.csv` the points along it, `boards.csv` every board
that was solved or not: with these all tables and figures are drawn again, without the runs.
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seads.errors import SeadsError
from seads.files import write_text_aside

RESULTS, CURVES, BOARDS = "results.csv", "curves.csv", "boards.csv"


@dataclass(frozen=True)
class RunResult:
    """A line of results.csv; what was not measured is empty there and None here."""

    run: str
    env: str
    algorithm: str
    preset: str
    group: str
    """The preset or the name that the study gave to such runs."""
    seed: int
    configuration: str
    """The first digits of the SHA-256 of all settings but the seed."""
    commit: str
    status: str
    budget: int
    """Env steps that the agents used do not exceed."""
    env_steps: int
    """How far the run got."""
    seconds: float | None
    """Wall-clock time of training."""
    moves: int | None
    coverage: float | None
    coverage_env_steps: int | None
    model_accuracy: float | None
    success: float | None
    """Share of the boards of depths 1 to 5 solved, with replanning; a baseline's own."""
    success_env_steps: int | None
    success_no_replan: float | None
    success_by_depth: str
    """depth=share, separated by blanks."""
    no_replan_by_depth: str
    solution_length: float | None
    """Median env steps of a solved board."""
    skill_length: float | None
    """Median env steps of a skill on solved boards."""
    plan_seconds: float | None
    """Median time of the first plan."""
    settings: str
    """Settings that differ from the preset's, name=value, separated by blanks."""

    @property
    def kind(self) -> tuple[str, str]:
        """Runs of a kind differ by their seed alone."""
        return self.env, self.group


@dataclass(frozen=True)
class Point:
    """A line of curves.csv."""

    run: str
    measure: str
    """coverage, success or success_no_replan, on test boards; coverage_train, the run's own."""
    env_steps: int
    value: float


@dataclass(frozen=True)
class Board:
    """A line of boards.csv."""

    run: str
    replan: bool
    deep: bool
    """Whether it belongs to the analysis of large depths, not to depths 1 to 5."""
    depth: int
    solved: bool
    planned: bool
    plan_seconds: float | None
    env_steps: int
    skill_steps: str
    """Env steps of each skill, separated by blanks."""


@dataclass(frozen=True)
class Results:
    """All that tables and figures are made of."""

    runs: list[RunResult] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    boards: list[Board] = field(default_factory=list)

    def write(self, home: Path) -> list[Path]:
        """Write the three files."""
        home.mkdir(parents=True, exist_ok=True)
        for name, rows, kind in self._files():
            _write_csv(home / name, rows, kind)
        return [home / name for name, _, _ in self._files()]

    def _files(self) -> list[tuple[str, Sequence[Any], type]]:
        return [
            (RESULTS, self.runs, RunResult),
            (CURVES, self.points, Point),
            (BOARDS, self.boards, Board),
        ]


def _write_csv(path: Path, rows: Sequence[Any], kind: type) -> None:
    text = io.StringIO()
    names = [one.name for one in dataclasses.fields(kind)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow("" if getattr(row, name) is None else getattr(row, name) for name in names)
    write_text_aside(path, text.getvalue())


def read_results(home: Path) -> Results:
    """The files that `Results.write` wrote."""
    runs, points, boards = (
        _read_csv(home / name, kind)
        for name, kind in ((RESULTS, RunResult), (CURVES, Point), (BOARDS, Board))
    )
    return Results(runs, points, boards)


_READ: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: {"True": True, "False": False}[text],
}


def _read_csv(path: Path, kind: type) -> list[Any]:
    fields = {one.name: str(one.type) for one in dataclasses.fields(kind)}
    found = []
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or list(reader.fieldnames) != list(fields):
            raise SeadsError(f"{path} has other columns than {', '.join(fields)}")
        for number, line in enumerate(reader, 2):
            try:
                values = {
                    name: None
                    if line[name] == "" and "None" in how
                    else _READ[how.partition(" ")[0]](line[name])
                    for name, how in fields.items()
                }
            except (ValueError, KeyError, TypeError) as error:
                raise SeadsError(f"{path}, line {number} cannot be read: {error}") from None
            found.append(kind(**values))
    return found
