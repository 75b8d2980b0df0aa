"""What a report is drawn from: the JSON and metrics of runs, read once and grouped by seed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seads import __version__
from seads.agent.settings import as_typed
from seads.errors import SeadsError, unknown
from seads.training.metrics import read_metrics


@dataclass(frozen=True)
class PaperResult:
    """What the paper reports of an environment at the end of training."""

    env_steps: int
    coverage: float | None
    """Mean number of distinct moves (Table S.2; board sizes: S.4.2)."""
    coverage_std: float | None = None
    success: float | None = None
    """Share of boards of depths 1 to 5 solved, with replanning (section 4)."""


PAPER: dict[str, PaperResult] = {
    "lightsout-cursor": PaperResult(500_000, 24.94, 0.06, 1.0),
    "tileswap-cursor": PaperResult(500_000, 11.99, 0.02, 1.0),
    "lightsout-reacher": PaperResult(10_000_000, 24.3, 0.28, 0.958),
    "tileswap-reacher": PaperResult(10_000_000, 11.81, 0.13, 0.955),
    "lightsout-jaco": PaperResult(10_000_000, 23.64, 1.04, 0.949),
    "tileswap-jaco": PaperResult(10_000_000, 11.54, 0.27, 0.988),
    "lightsout3d-jaco": PaperResult(10_000_000, None, None, 0.963),
    "lightsout-cursor-5x5-spaced": PaperResult(1_500_000, 24.9),
    "lightsout-cursor-7x7-spaced": PaperResult(1_500_000, 48.6),
    "lightsout-cursor-9x9-spaced": PaperResult(1_500_000, 76.8),
    "lightsout-cursor-13x13-spaced": PaperResult(1_500_000, 119.3),
}


@dataclass(frozen=True)
class RunRecord:
    """One run as its files tell it; an agent without its run has a card and nothing more."""

    path: Path
    name: str
    env: str
    preset: str
    seed: int | None
    algorithm: str
    settings: dict[str, Any]
    meta: dict[str, Any]
    card: dict[str, Any]
    metrics: list[dict[str, Any]] = field(default_factory=list)
    timing: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    """The evaluations, oldest first."""

    @property
    def env_steps(self) -> int:
        """How far the run got."""
        return int(self.meta.get("env_steps") or self.card.get("env_steps") or 0)

    @property
    def has_weights(self) -> bool:
        """Whether the agent's forward model is there to be read."""
        if self.algorithm != "seads":
            return False
        homes = (self.path / "agent", self.path)
        return any((home / "weights.safetensors").is_file() for home in homes)

    @property
    def remark(self) -> str | None:
        """What a reader must know before trusting the numbers; None if all is well."""
        status = self.meta.get("status", "finished")
        if status == "finished":
            return None
        budget = self.meta.get("budget", 0)
        return f"{self.name} is unfinished ({status}): {self.env_steps:,} of {budget:,} env steps"

    @property
    def wall_clock(self) -> list[tuple[int, float]]:
        """(env steps, seconds) along the run; a resumed run's clock goes on where it stopped."""
        steps_at = {line["epoch"]: line["env_steps"] for line in self.metrics}
        before = last = 0.0
        points = []
        for line in self.timing:
            if line["seconds"] < last:
                before += last
            last = line["seconds"]
            if line["epoch"] in steps_at:
                points.append((steps_at[line["epoch"]], before + last))
        return points

    def curve(self, key: str) -> list[tuple[int, float]]:
        """(env steps, value) of a metric, or of an evaluation's mean, in ascending order."""
        points = {line["env_steps"]: line[key] for line in self.metrics if key in line}
        for result in self.results:
            for point in result.get("curve", []):
                if key in point:
                    points[point["env_steps"]] = point[key]
            if key in result and result.get("env_steps") is not None:
                points[result["env_steps"]] = result[key]["mean"]
        return sorted((int(steps), float(value)) for steps, value in points.items())

    def success_curve(self, replan: bool) -> list[tuple[int, float]]:
        """(env steps, share of boards solved) of every evaluation of tasks.

        An agent that does not plan (a baseline) counts as one that replans: it always reacts.
        How its training's own boards ended is shown only until checkpoints are evaluated: those
        are other boards, met while exploring.
        """
        evaluated = self._tasks(replan)
        points = {}
        if replan and not any("curve" in result for result in evaluated):
            points = {one["env_steps"]: one["success"] for one in self.metrics if "success" in one}
        for result in evaluated:
            points |= {p["env_steps"]: p["success"] for p in result.get("curve", ())}
            points[result["env_steps"]] = result["tasks"]["success"]
        return sorted((int(s), float(v)) for s, v in points.items() if s is not None)

    def newest(self, part: str) -> dict[str, Any] | None:
        """The newest evaluation's part ('coverage', 'tasks', 'skill_maps'), if there is one."""
        found = [result[part] for result in self.results if part in result]
        return found[-1] if found else None

    def tasks(self, replan: bool) -> dict[str, Any] | None:
        """The newest evaluation of tasks, with the depths of all others added to its own."""
        found = [result["tasks"] for result in self._tasks(replan)]
        if not found:
            return None
        depths: dict[str, Any] = {}
        for one in found:
            depths |= one["depths"]
        return {**found[-1], "depths": depths}

    def _tasks(self, replan: bool) -> list[dict[str, Any]]:
        """The evaluations of tasks, oldest first, those of the paper's depths after all others."""
        found = [
            result
            for result in self.results
            if "tasks" in result and result["tasks"].get("replan", True) is replan
        ]
        return sorted(found, key=lambda result: "1" in result["tasks"]["depths"])


def read_run(source: str | Path) -> RunRecord:
    """A run directory, an agent directory, or the name of a packaged agent."""
    path = Path(source)
    if (path / "config.json").is_file():
        return _read_directory(path)
    from seads.agent.agent import find, packaged

    try:
        home = find(source)
    except SeadsError:
        if path.is_dir():
            raise SeadsError(f"{path} is no run: there is no config.json in it") from None
        raise unknown("run or agent", str(source), packaged() or ["a run directory"]) from None
    card = _read_json(home / "card.json")
    _check_version(home, str(card.get("version", "0")))
    return RunRecord(
        path=home,
        name=home.parent.name if home.name == "agent" else home.name,
        env=card["env"],
        preset=card.get("preset", "default"),
        seed=card.get("seed"),
        algorithm=card["architecture"]["algorithm"],
        settings={},
        meta={},
        card=card,
        results=_results(home / "eval"),
    )


def _read_directory(path: Path) -> RunRecord:
    config, meta = _read_json(path / "config.json"), {}
    if (path / "meta.json").is_file():
        meta = _read_json(path / "meta.json")
    _check_version(path, str(meta.get("seads", "0")))
    card_file = path / "agent" / "card.json"
    missing = [key for key in ("env", "preset", "seed", "agent") if key not in config]
    if missing:
        raise SeadsError(f"{path / 'config.json'} is no run's: {missing[0]!r} is missing in it")
    record = RunRecord(
        path=path,
        name=path.resolve().name,
        env=config["env"],
        preset=config["preset"],
        seed=config["seed"],
        algorithm=config["agent"].get("algorithm", "seads"),
        settings=config,
        meta=meta,
        card=_read_json(card_file) if card_file.is_file() else {},
        metrics=_lines(path / "metrics.jsonl"),
        timing=_lines(path / "timing.jsonl"),
        results=_results(path / "eval"),
    )
    if not record.metrics and not record.results:
        raise SeadsError(f"{path} has nothing to report yet: no metrics and no evaluation")
    return record


def paper_beside(env: str, runs: Iterable[RunRecord]) -> PaperResult | None:
    """What the paper reports, which is of its own algorithm: beside baselines it would mislead."""
    return PAPER.get(env) if any(run.algorithm == "seads" for run in runs) else None


def group_runs(runs: Sequence[RunRecord]) -> dict[tuple[str, str], list[RunRecord]]:
    """Runs that differ by their seed alone, by environment and label.

    The label is the preset or the baseline, and those settings in which such runs differ.
    """
    alike: dict[tuple[str, str], list[RunRecord]] = {}
    for run in runs:
        name = run.preset if run.algorithm == "seads" else run.algorithm
        alike.setdefault((run.env, name), []).append(run)
    groups: dict[tuple[str, str], list[RunRecord]] = {}
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


def _check_version(path: Path, made_by: str) -> None:
    if _version(made_by) > _version(__version__):
        raise SeadsError(
            f"{path} was made by seads {made_by}, which is newer than this {__version__}; upgrade"
        )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _lines(path: Path) -> list[dict[str, Any]]:
    return read_metrics(path) if path.is_file() else []


def _results(directory: Path) -> list[dict[str, Any]]:
    found = [_read_json(path) for path in sorted(directory.glob("*.json"))]
    return sorted(found, key=lambda result: str(result.get("made", "")))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise SeadsError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise SeadsError(f"{path} holds no JSON object")
    return content
