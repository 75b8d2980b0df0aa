"""What a run's directory says of it: begun, trained, done. There is no other record."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from seads.errors import SeadsError
from seads.evaluation.results import checkpoint_agents
from seads.reading import Count, Name, as_kind, read_json
from seads.studies.measuring import (
    Evaluation,
    common_evaluations,
    common_step,
    evaluations,
    is_measured,
)
from seads.studies.runs import StudyRun, differences
from seads.training.config import read_config
from seads.training.provenance import read_meta, refuse_newer

TAIL = 4096
"""Bytes from the end of a file in which its last line is looked for."""


class _Line(Struct):
    """What is looked for in the last line of metrics.jsonl and of timing.jsonl."""

    env_steps: Count = 0
    env_steps_per_second: Annotated[float, Meta(ge=0.0, le=1e12)] | None = None


class _MadeBy(Struct):
    """What is looked for in a meta.json of any version."""

    seads: Name = "0"


@dataclass(frozen=True)
class Standing:
    """How far a run has got."""

    begun: bool
    trained: bool
    missing: tuple[Evaluation, ...]
    """What is still to be measured."""
    env_steps: int
    steps_per_second: float | None

    @property
    def done(self) -> bool:
        """Trained and measured."""
        return self.trained and not self.missing


UNKNOWN = Standing(True, False, (), 0, None)
"""Of a run whose files cannot be read."""


def standing(run: StudyRun, home: Path, siblings: Sequence[StudyRun] = ()) -> Standing:
    """Read how far a run has got; `siblings`, of the same kind, decide on the common checkpoint."""
    directory = home / run.name
    trained = is_trained(directory)
    wanted = evaluations(run)
    if trained and siblings and all(is_trained(home / one.name) for one in siblings):
        step = common_step(siblings, home)
        wanted += [] if step is None else common_evaluations(run, step, home)
    missing = [one for one in wanted if not is_measured(one, directory)]
    metrics, timing = (last_line(directory / f"{name}.jsonl") for name in ("metrics", "timing"))
    return Standing(
        (directory / "config.json").is_file(),
        trained,
        tuple(missing),
        metrics.env_steps,
        timing.env_steps_per_second,
    )


def is_trained(directory: Path) -> bool:
    """Whether a run has used up its budget."""
    return read_meta(directory / "meta.json").get("status") == "finished"


def last_line(path: Path) -> _Line:
    """The last whole line of a file of JSON lines; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read().split(b"\n")
        return as_kind(lines[-2], _Line, "")
    except (OSError, IndexError, SeadsError):
        return _Line()


def damage(directory: Path) -> str | None:
    """What of a run's files cannot be read, in a sentence; None where all can, or none is there."""
    try:
        read_meta(directory / "meta.json")
        if (directory / "config.json").is_file():
            read_config(directory / "config.json")
        checkpoint_agents(directory)
    except (SeadsError, OSError) as error:
        return str(error)
    return None


def check_directories(runs: list[StudyRun], home: Path) -> dict[str, str]:
    """Refuse to go on in directories of other runs, or of a newer version; nothing is changed.

    A damaged file costs its own run alone: the runs that have one, and why they cannot go on.
    """
    damaged: dict[str, str] = {}
    if home.exists() and not home.is_dir():
        raise SeadsError(f"{home} is a file; choose another --out")
    for run in runs:
        directory = home / run.name
        check_version(directory)
        if not (directory / "config.json").is_file():
            if directory.is_dir() and any(directory.iterdir()):
                raise SeadsError(f"{directory} exists and is no run; choose another --out")
            continue
        why = damage(directory)
        if why is not None:
            damaged[run.name] = why
        else:
            check_same(run.config.as_json(), directory)
    return damaged


def check_same(config: dict[str, Any], directory: Path) -> None:
    """Refuse a directory with another configuration than the study's."""
    found = differences(config, read_config(directory / "config.json").as_json())
    if found:
        raise SeadsError(
            f"{directory} is another run than the study's: {'; '.join(found[:3])}; choose "
            "another --out, or another name for the group"
        )


def check_version(directory: Path) -> None:
    """Refuse what a newer version has made; of it nothing else needs to be readable."""
    try:
        made_by = read_json(directory / "meta.json", _MadeBy, "").seads
    except (SeadsError, OSError):
        return  # none has begun there, or it is damaged, which is told otherwise
    refuse_newer(directory, made_by)
