"""What came out of runs, as tables of plain values: read from run directories, kept as CSV files.

`results.csv` has a line for each run, `curves.csv` the points along it, `boards.csv` every board
that was solved or not: with these all tables and figures are drawn again, without the runs.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import Meta

from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.reading import MOST_RESULT_BYTES, Count, Name, Share, Text, as_kind, read_bytes

RESULTS, CURVES, BOARDS = "results.csv", "curves.csv", "boards.csv"


ALIKE = 0.9
"""Budgets of which the smaller is this share of the larger are the same."""

TRIED = r"-(\w+)="
"""A setting in the name of a trial."""

Amount = Annotated[float, Meta(ge=0.0, le=1e12)]
"""Moves, steps or seconds."""
StepList = Annotated[str, Meta(max_length=20_000, pattern=r"^(?:[0-9]{1,12}(?: |$))*$")]
Measured = Literal["coverage", "success", "success_no_replan", "coverage_train"]


@dataclass(frozen=True)
class RunResult:
    """A line of results.csv; what was not measured is empty there and None here."""

    run: Name
    env: Name
    algorithm: Name
    preset: Name
    group: Name
    """The preset or the name that the study gave to such runs."""
    seed: Count
    configuration: Name
    """The first digits of the SHA-256 of all settings but the seed."""
    commit: Text
    status: Name
    budget: Count
    """Env steps that the agents used do not exceed."""
    env_steps: Count
    """How far the run got."""
    seconds: Amount | None
    """Wall-clock time of training."""
    moves: Count | None
    coverage: Amount | None
    coverage_env_steps: Count | None
    model_accuracy: Share | None
    success: Share | None
    """Share of the boards of depths 1 to 5 solved, with replanning; a baseline's own."""
    success_env_steps: Count | None
    success_no_replan: Share | None
    success_by_depth: Text
    """depth=share, separated by blanks."""
    no_replan_by_depth: Text
    solution_length: Amount | None
    """Median env steps of a solved board."""
    skill_length: Amount | None
    """Median env steps of a skill on solved boards."""
    plan_seconds: Amount | None
    """Median time of the first plan."""
    settings: Text
    """What differs from the preset's, name=value, separated by blanks: settings, and options of the
    environment, which are named env.NAME."""
    gave_up: Text = ""
    """Where planning was kept short by the clock (`seads.solving.patience`): success,
    success_no_replan and deep, separated by blanks. Files of earlier versions do not tell."""

    @property
    def kind(self) -> tuple[str, str]:
        """Runs of a kind differ by their seed alone."""
        return self.env, self.group

    @property
    def measured(self) -> bool:
        """Whether it has a value that is averaged over seeds."""
        return self.coverage is not None or self.success is not None

    @property
    def is_trial(self) -> bool:
        """Whether a search tried these settings, which its runs are named after: sac-alpha=0.1."""
        tried = set(re.findall(TRIED, self.group))
        return bool(tried) and tried <= {one.partition("=")[0] for one in self.settings.split()}

    @property
    def search(self) -> str:
        """The name of the search that a trial is of."""
        return re.split(TRIED, self.group)[0]


@dataclass(frozen=True)
class Point:
    """A line of curves.csv."""

    run: Name
    measure: Measured
    """coverage, success or success_no_replan, on test boards; coverage_train, the run's own."""
    env_steps: Count
    value: Amount


@dataclass(frozen=True)
class Board:
    """A line of boards.csv."""

    run: Name
    replan: bool
    deep: bool
    """Whether it belongs to the analysis of large depths, not to depths 1 to 5."""
    depth: Annotated[int, Meta(ge=0, le=10**6)]
    solved: bool
    planned: bool
    """Whether the first plan was found."""
    plan_seconds: Amount | None
    """Time of all plans for the board together, those made again too."""
    env_steps: Count
    skill_steps: StepList
    """Env steps of each skill, separated by blanks."""


@dataclass(frozen=True)
class Results:
    """All that tables and figures are made of."""

    runs: list[RunResult] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    boards: list[Board] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Directories of runs that could not be read, and why."""

    def write(self, home: Path) -> list[Path]:
        """Write the three files."""
        home.mkdir(parents=True, exist_ok=True)
        for name, rows, kind in self._files():
            _write_csv(home / name, rows, kind)
        return [home / name for name, _, _ in self._files()]

    def without(self, names: Collection[str]) -> Results:
        """All but what is about these runs."""
        runs, points, boards = (
            [row for row in rows if row.run not in names] for _, rows, _ in self._files()
        )
        return Results(runs, points, boards, self.failed)

    def curves(self, measure: Measured) -> dict[str, list[tuple[int, float]]]:
        """By run, its env steps and values along the way, in their order."""
        found: dict[str, list[tuple[int, float]]] = {}
        for point in self.points:
            if point.measure == measure:
                found.setdefault(point.run, []).append((point.env_steps, point.value))
        return {run: sorted(curve) for run, curve in found.items()}

    def check_alike(self) -> None:
        """Raise where runs of a kind, which would be averaged, differ in more than their seed."""
        first: dict[tuple[str, str], RunResult] = {}
        seeds: dict[tuple[str, str, int], RunResult] = {}
        for run in filter(lambda run: run.measured, self.runs):
            twin = seeds.setdefault((*run.kind, run.seed), run)
            if twin is not run:
                raise SeadsError(
                    f"{twin.run} and {run.run} are of one group and have the same seed, "
                    f"{run.seed}: that is one result, not two; leave one of them out"
                )
            other = first.setdefault(run.kind, run)
            alike = run.configuration == other.configuration and run.settings == other.settings
            if not (alike and same_budget((run.budget, other.budget))):
                raise SeadsError(
                    f"runs of one group must differ in their seed alone, and {_told(other)} and "
                    f"{_told(run)} do not; make tables of them apart"
                )

    def beyond_common(self) -> list[str]:
        """Runs whose boards were solved by a later agent than the last common one (paper S.8.1).

        They have no evaluation at, or below, what every seed of their kind has reached.
        """
        measured: dict[tuple[str, str], list[int]] = {}
        for point in self.points:
            measured.setdefault((point.run, point.measure), []).append(point.env_steps)
        common: dict[tuple[str, str], int] = {}
        for run in self.runs:
            ways = (measured.get((run.run, f"success{way}"), []) for way in ("", "_no_replan"))
            if found := [steps for way in ways for steps in way]:
                common[run.kind] = min(common.get(run.kind, max(found)), max(found))

        def earliest(run: RunResult) -> int:
            without = measured.get((run.run, "success_no_replan"), [0])
            return max(run.success_env_steps or 0, min(without))

        return [
            run.run for run in self.runs if run.kind in common and earliest(run) > common[run.kind]
        ]

    def _files(self) -> list[tuple[str, Sequence[Any], type]]:
        return [
            (RESULTS, self.runs, RunResult),
            (CURVES, self.points, Point),
            (BOARDS, self.boards, Board),
        ]


def _told(run: RunResult) -> str:
    """A run with all that those of its kind must have in common."""
    made = f"{run.budget:,} env steps, preset {run.preset}, configuration {run.configuration}"
    return f"{run.run} ({', '.join(filter(None, [made, run.settings]))})"


def same_budget(budgets: Iterable[int]) -> bool:
    """Whether runs were given as many env steps; a study's end up to an epoch before theirs."""
    found = list(budgets)
    return min(found) >= ALIKE * max(found)


def _write_csv(path: Path, rows: Sequence[Any], kind: type) -> None:
    text = io.StringIO()
    names = [one.name for one in dataclasses.fields(kind)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow("" if getattr(row, name) is None else getattr(row, name) for name in names)
    write_text_aside(path, text.getvalue())


def read_results(home: Path) -> Results:
    """The files that `Results.write` wrote; an earlier one's lack columns that have a default."""
    runs, points, boards = (
        _read_csv(home / name, kind)
        for name, kind in ((RESULTS, RunResult), (CURVES, Point), (BOARDS, Board))
    )
    return Results(runs, points, boards)


def _read_csv(path: Path, kind: type) -> list[Any]:
    hints = get_type_hints(kind)
    optional = {name for name, hint in hints.items() if NoneType in get_args(hint)}
    earlier = [one.name for one in dataclasses.fields(kind) if one.default is dataclasses.MISSING]
    found: list[Any] = []
    try:
        text = read_bytes(path, "a file of results", MOST_RESULT_BYTES).decode()
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        names = next(reader, None)
        if names not in (list(hints), earlier):
            raise SeadsError(f"{path} has other columns than {', '.join(hints)}")
        for line in reader:
            complaint = f"{path}, line {reader.line_num} cannot be read"
            if len(line) != len(names):
                raise SeadsError(f"{complaint}: {len(line)} values; allowed: {len(names)}")
            values = {
                name: None if value == "" and name in optional else value
                for name, value in zip(names, line, strict=True)
            }
            found.append(as_kind(values, kind, complaint, texts=True))
    except UnicodeDecodeError:
        raise SeadsError(f"{path} is not a file of results: it is not UTF-8") from None
    except csv.Error as error:
        raise SeadsError(f"{path}, line {len(found) + 2} cannot be read: {error}") from None
    return found
