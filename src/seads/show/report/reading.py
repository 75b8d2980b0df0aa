"""Runs from their files: JSON and metrics, read once and grouped by seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seads.agent.card import CARD, FirstAndLast, find, packaged, read_facts
from seads.agent.settings import as_typed
from seads.errors import SeadsError, unknown
from seads.evaluation.stored import counting_results
from seads.show.report.records import RunRecord
from seads.training.config import read_stored_config
from seads.training.metrics import MetricLine, TimingLine, read_counted
from seads.training.provenance import read_meta, refuse_newer
from seads.training.pushes import read_pushes

Groups = dict[tuple[str, str], list[RunRecord]]
"""Runs that differ by their seed alone, by environment and label."""


def read_run(source: str | Path, results: Path = Path("runs")) -> RunRecord:
    """A run directory, an agent directory, or the name of a packaged agent.

    Evaluations of a packaged agent lie in `results`/NAME/eval, unless that is a run of its own.
    """
    path = Path(source)
    if (path / "config.json").is_file():
        return _read_directory(path)
    if (path / "eval").is_dir() and path.name in packaged():  # results of a packaged agent
        source, results = path.name, path.parent
    try:
        home = find(source)
    except SeadsError:
        if path.is_dir():
            raise SeadsError(f"{path} is no run: there is no config.json in it") from None
        raise unknown("run or agent", str(source), packaged() or ["a run directory"]) from None
    place = home.parent if home.name == "agent" else home
    name = place.name
    in_package = packaged().get(name) == home
    homes = [home]
    if in_package and not (results / name / "config.json").is_file():
        homes.append(results / name)
    card = read_facts(home)
    refuse_newer(home, card.get("version", 0))
    return RunRecord(
        path=home,
        name=name,
        env=card["env"],
        preset=card.get("preset", "default"),
        seed=card.get("seed"),
        algorithm=card["algorithm"],
        card=card,
        evaluate_as=name if in_package else None,
        results=_results(*homes),
        pushes=_pushes(place, card),
    )


def _read_directory(path: Path) -> RunRecord:
    meta = read_meta(path / "meta.json")
    refuse_newer(path, meta.get("seads", 0))
    config, algorithm = read_stored_config(path / "config.json")
    metrics, damaged = read_counted(path / "metrics.jsonl", MetricLine)
    timing, damaged_too = read_counted(path / "timing.jsonl", TimingLine)
    results = _results(path)
    card = read_facts(path / "agent") if (path / "agent" / CARD).is_file() else {}
    if not metrics and not results:
        raise SeadsError(f"{path} has nothing to report yet: no metrics and no evaluation")
    return RunRecord(
        path=path,
        name=path.resolve().name,
        env=config["env"],
        preset=config["preset"],
        seed=config["seed"],
        algorithm=algorithm,
        settings=dict(config),
        meta=dict(meta),
        card=card,
        evaluate_as=str(path),
        metrics=metrics,
        timing=timing,
        damaged=damaged + damaged_too,
        results=results,
        pushes=_pushes(path, card),
    )


def _pushes(place: Path, card: dict[str, Any]) -> FirstAndLast | None:
    """From their file; older runs had them on the card."""
    on_card = card.get("pushes")
    return read_pushes(place) or (on_card and FirstAndLast(**on_card))


def group_runs(runs: Sequence[RunRecord]) -> Groups:
    """The label is the preset or the baseline, and in what else such runs differ but the seed."""
    alike: Groups = {}
    for run in runs:
        name = run.preset if run.algorithm == "seads" else run.algorithm
        alike.setdefault((run.env, name), []).append(run)
    groups: Groups = {}
    for (env, name), members in alike.items():
        settings = [_compared(run) for run in members]
        differing = _differing(settings)
        for run, found in zip(members, settings, strict=True):
            changes = [f"{key}={as_typed(found[key])}" for key in differing if key in found]
            groups.setdefault((env, ", ".join([name, *changes])), []).append(run)
    return groups


def _compared(run: RunRecord) -> dict[str, Any]:
    """What makes runs of one name differ: their settings and their budget."""
    budget = run.settings.get("env_steps")
    return {**run.settings.get("agent", {}), **({} if budget is None else {"budget": budget})}


def _differing(settings: Sequence[dict[str, Any]]) -> list[str]:
    """The names whose value is not the same wherever it is given."""
    values: dict[str, set[str]] = {}
    for one in settings:
        for name, value in one.items():
            values.setdefault(name, set()).add(json.dumps(value))
    return [name for name, found in values.items() if len(found) > 1]


def _results(*homes: Path) -> list[dict[str, Any]]:
    """The evaluations of an agent that count, oldest first."""
    found = [result for home in homes for _, result in counting_results(home)]
    return sorted(found, key=lambda result: str(result.get("made", "")))
