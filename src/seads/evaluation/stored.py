"""An evaluation as its file in eval/ has it: the types of what reports and tables read back.

What else a file says, more than they show, is passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, cast

from msgspec import Meta

from seads.reading import MOST_RESULT_BYTES, Count, Name, Share, Text, read_json

Depth = Annotated[str, Meta(pattern=r"^[0-9]{1,6}$")]
Boards = Annotated[int, Meta(ge=1, le=10**9)]
Skill = Annotated[int, Meta(ge=0, le=65_535)]
Place = tuple[float, float]
Steps = Annotated[float, Meta(ge=0.0, le=1e12)]


class Summary(TypedDict):
    """Mean, quartiles and extremes."""

    mean: float
    min: float
    q1: float
    median: float
    q3: float
    max: float


class OneDepth(TypedDict):
    """The boards of one solution depth."""

    boards: Boards
    success: Share
    solution_length: NotRequired[Summary | None]
    planning_seconds: NotRequired[Summary | None]
    first_plan_seconds: NotRequired[Summary | None]
    plans_found: NotRequired[Share | None]


class OneTask(TypedDict):
    """One board."""

    depth: Count
    solved: bool
    env_steps: NotRequired[Steps]
    skill_steps: NotRequired[list[Steps]]
    planned_length: NotRequired[Count | None]
    planning_seconds: NotRequired[Steps | None]


class StoredTasks(TypedDict):
    """Boards solved."""

    success: Share
    boards: Boards
    depths: dict[Depth, OneDepth]
    replan: NotRequired[bool]
    planner: NotRequired[Name]
    by_depth: NotRequired[dict[Depth, Share]]
    failures: NotRequired[dict[Name, Count]]
    solution_length: NotRequired[Summary | None]
    skill_length: NotRequired[Summary | None]
    first_plan_seconds: NotRequired[Summary | None]
    gave_up: NotRequired[Text | None]
    tasks: NotRequired[list[OneTask]]


class StoredCoverage(TypedDict):
    """Distinct moves."""

    mean: Annotated[float, Meta(ge=0.0, le=1e9)]
    of: NotRequired[Count | None]
    starts: NotRequired[Boards]
    model_accuracy: NotRequired[Share | None]


class OnePath(TypedDict):
    """A skill's way from one start."""

    path: Annotated[list[Place], Meta(min_length=1)]
    touch: Place | None
    move: Skill | None
    pushes: NotRequired[list[Place]]


class MappedSkill(TypedDict):
    """A skill's ways from all starts."""

    skill: Skill
    move: Skill | None
    share: Share
    runs: list[OnePath]


class StoredMaps(TypedDict):
    """Where skills go."""

    starts: Boards
    skills: Annotated[list[MappedSkill], Meta(min_length=1, max_length=65_536)]


class CurvePoint(TypedDict):
    """What was measured of one checkpoint."""

    env_steps: Count
    coverage: NotRequired[Annotated[float, Meta(ge=0.0, le=1e9)]]
    success: NotRequired[Share]


class StoredResult(TypedDict, total=False):
    """One file."""

    command: Text
    made: Name
    env: Name
    env_steps: Count | None
    env_options: dict[Name, Any]
    coverage: StoredCoverage
    tasks: StoredTasks
    skill_maps: StoredMaps
    curve: list[CurvePoint]
    study: bool
    """Whether a study asked for it, not somebody beside it."""


def counting_results(home: Path) -> list[tuple[Path, dict[str, Any]]]:
    """A run's evaluations by their files: on test boards, in the environment that it was made for.

    Those under other options, such as a real arm's, are for whoever asked for them.
    """
    paths = sorted(path for path in home.glob("eval/*.json") if "-train-" not in path.name)
    found = ((path, read_result(path)) for path in paths)
    return [(path, result) for path, result in found if not result.get("env_options")]


def read_result(path: Path) -> dict[str, Any]:
    """What is needed of an evaluation; a damaged file raises a sentence."""
    found = read_json(path, StoredResult, "an evaluation", MOST_RESULT_BYTES)
    return cast(dict[str, Any], found)
