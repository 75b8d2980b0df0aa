"""Runs from their files: JSON and metrics, read once and grouped by seed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seads import __version__
from seads.agent.settings import as_typed
from seads.errors import SeadsError, unknown
from seads.show.report.records import RunRecord, is_number
from seads.training.metrics import read_metrics

Groups = dict[tuple[str, str], list[RunRecord]]
"""Runs that differ by their seed alone, by environment and label."""


def read_run(source: str | Path, results: Path = Path("runs")) -> RunRecord:
    """A run directory, an agent directory, or the name of a packaged agent.

    Evaluations of a packaged agent lie in `results`/NAME/eval, unless that is a run of its own.
    """
    path = Path(source)
    if (path / "config.json").is_file():
        return _read_directory(path)
    from seads.agent.card import find, packaged

    if (path / "eval").is_dir() and path.name in packaged():  # results of a packaged agent
        source, results = path.name, path.parent
    try:
        home = find(source)
    except SeadsError:
        if path.is_dir():
            raise SeadsError(f"{path} is no run: there is no config.json in it") from None
        raise unknown("run or agent", str(source), packaged() or ["a run directory"]) from None
    name = home.parent.name if home.name == "agent" else home.name
    in_package = packaged().get(name) == home
    homes = [home]
    if in_package and not (results / name / "config.json").is_file():
        homes.append(results / name)
    card = _read_json(home / "card.json")
    _check_version(home, card.get("version", 0))
    return RunRecord(
        path=home,
        name=name,
        env=card["env"],
        preset=card.get("preset", "default"),
        seed=card.get("seed"),
        algorithm=card["architecture"]["algorithm"],
        card=card,
        evaluate_as=name if in_package else None,
        results=_results(*homes),
    )


def _read_directory(path: Path) -> RunRecord:
    config, meta, card = (
        _read_json(file) if file.is_file() else {}
        for file in (path / "config.json", path / "meta.json", path / "agent" / "card.json")
    )
    _check_version(path, meta.get("seads", 0))
    missing = [key for key in ("env", "preset", "seed", "agent") if key not in config]
    if missing:
        raise SeadsError(f"{path / 'config.json'} is no run's: {missing[0]!r} is missing in it")
    metrics, damaged = _lines(path / "metrics.jsonl", "env_steps")
    timing, damaged_too = _lines(path / "timing.jsonl", "seconds")
    results = _results(path)
    if not metrics and not results:
        raise SeadsError(f"{path} has nothing to report yet: no metrics and no evaluation")
    return RunRecord(
        path=path,
        name=path.resolve().name,
        env=config["env"],
        preset=config["preset"],
        seed=config["seed"],
        algorithm=config["agent"].get("algorithm", "seads"),
        settings=config,
        meta=meta,
        card=card,
        evaluate_as=str(path),
        metrics=metrics,
        timing=timing,
        damaged=damaged + damaged_too,
        results=results,
    )


def group_runs(runs: Sequence[RunRecord]) -> Groups:
    """The label is the preset or the baseline, and those settings in which such runs differ."""
    alike: Groups = {}
    for run in runs:
        name = run.preset if run.algorithm == "seads" else run.algorithm
        alike.setdefault((run.env, name), []).append(run)
    groups: Groups = {}
    for (env, name), members in alike.items():
        differing = _differing([run.settings.get("agent", {}) for run in members])
        for run in members:
            found = run.settings.get("agent", {})
            changes = [f"{key}={as_typed(found[key])}" for key in differing if key in found]
            groups.setdefault((env, ", ".join([name, *changes])), []).append(run)
    return groups


def _differing(settings: Sequence[dict[str, Any]]) -> list[str]:
    """The names whose value is not the same wherever it is given."""
    values: dict[str, set[str]] = {}
    for one in settings:
        for name, value in one.items():
            values.setdefault(name, set()).add(json.dumps(value))
    return [name for name, found in values.items() if len(found) > 1]


def _check_version(path: Path, made_by: object) -> None:
    ours, theirs = (
        [int(part) for part in re.findall(r"\d+", str(version))[:2]]
        for version in (__version__, made_by)
    )
    if theirs > ours:
        raise SeadsError(
            f"{path} was made by seads {made_by}, which is newer than this {__version__}; upgrade"
        )


def _lines(path: Path, value: str) -> tuple[list[dict[str, Any]], int]:
    """The lines that hold an epoch and this value, and how many others there are."""
    if not path.is_file():
        return [], 0
    found = [
        line
        for line in read_metrics(path)
        if isinstance(line, dict) and is_number(line.get("epoch")) and is_number(line.get(value))
    ]
    return found, len(path.read_bytes().splitlines()) - len(found)


def _results(*homes: Path) -> list[dict[str, Any]]:
    """The evaluations of an agent, oldest first, but for those on training boards."""
    paths = sorted(path for home in homes for path in home.glob("eval/*.json"))
    found = [_read_json(path) for path in paths if "-train-" not in path.name]
    return sorted(found, key=lambda result: str(result.get("made", "")))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise SeadsError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise SeadsError(f"{path} holds no JSON object")
    return content
