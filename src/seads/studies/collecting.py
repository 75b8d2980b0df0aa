"""The results of run directories: which evaluation of which checkpoint counts, and what it says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from seads.errors import SeadsError
from seads.evaluation.stored import counting_results
from seads.reading import Count
from seads.studies.directory import check_version
from seads.studies.results import RESULTS, Board, Point, Results, RunResult, read_results
from seads.training.config import TrainConfig, read_config
from seads.training.configure import preset_options
from seads.training.metrics import MetricLine, TimingLine, read_counted
from seads.training.provenance import RunMeta, read_meta


class _Look(Struct):
    """A run's own look at its coverage, in some of its metric lines."""

    env_steps: Count
    coverage: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None


def collect(sources: Sequence[Path], *, replace: bool = False) -> Results:
    """The results of all run directories in some places, or of CSV files written before.

    A place's own results.csv counts alone; without one its run directories do, and without these
    every results.csv below it. Agents without a run, such as those that come with the package, are
    never counted. A damaged file costs its own run, which is among `failed` then, unless no run is
    left. A run of the same name in two places is refused, or with `replace` the first one counts.
    """
    parts: list[Results] = []
    places: dict[str, str] = {}
    for source in sources:
        if not source.is_dir():
            raise SeadsError(f"{source} is no directory")
        runs = [path.parent for path in sorted(source.glob("**/config.json"))]
        if replace:
            runs = list({one.name: one for one in runs[::-1]}.values())[::-1]
        written = [path.parent for path in sorted(source.glob(f"**/{RESULTS}"))]
        if source in written:
            found = [(source, read_results(source))]
        elif runs:
            found = [(source, _of_directories(runs))]
        elif written:
            found = [(one, read_results(one)) for one in written]
        else:
            raise SeadsError(f"{source} holds neither runs nor a {RESULTS}")
        for place, part in found:
            if not (part.runs or part.failed):
                raise SeadsError(f"{place / RESULTS} holds no run")
            new = part.without(places.keys()) if replace else part
            for run in new.runs:
                told = f"{place} ({run.budget:,} env steps)"
                if run.run in places:
                    raise SeadsError(
                        f"{run.run} is there twice, in {places[run.run]} and in {told}; which of "
                        "the two counts? (--replace: the first; or make tables of them apart)"
                    )
                places[run.run] = told
            parts.append(new)
    whole = Results(
        [one for part in parts for one in part.runs],
        [one for part in parts for one in part.points],
        [one for part in parts for one in part.boards],
        {name: why for part in parts for name, why in part.failed.items()},
    )
    if not whole.runs and whole.failed:
        raise SeadsError(next(iter(whole.failed.values())))
    whole.check_alike()
    return whole


def _of_directories(directories: Sequence[Path]) -> Results:
    results = Results()
    read: list[_Files] = []
    for directory in directories:
        try:
            read.append(_Files.read(directory))
        except (SeadsError, OSError) as error:
            results.failed[str(directory)] = str(error)
    common: dict[tuple[str, str], int] = {}
    for one in read:
        solved = [*one.tasks(True), *one.tasks(False)]
        last = max((int(found["env_steps"]) for found in solved), default=None)
        if last is not None:
            common[one.kind] = min(common.get(one.kind, last), last)
    for one in read:
        at = common.get(one.kind)
        try:
            found = one.result(at), list(one.points()), list(one.boards(at))
        except (SeadsError, OSError) as error:
            results.failed[str(one.directory)] = str(error)
            continue
        results.runs.append(found[0])
        results.points.extend(found[1])
        results.boards.extend(found[2])
    return results


@dataclass(frozen=True)
class _Files:
    """A run directory's files."""

    directory: Path
    config: Any
    meta: RunMeta
    results: list[dict[str, Any]]
    """The evaluations on test boards; where a study made one, none that was made again by hand, and
    none of an agent beyond its budget."""
    budget: int
    """The study's, or what was asked for."""

    @staticmethod
    def read(directory: Path) -> _Files:
        check_version(directory)
        config = read_config(directory / "config.json")
        results = []
        for path, found in counting_results(directory):
            at = re.search(r"-at(\d{1,15})-", path.name)
            if found.get("env_steps") is not None:
                of = {"at": int(at[1]) if at else 0, "deep": "-depths" in path.name}
                results.append(found | of)
        studys = [one for one in results if one.get("study")]
        budget = max((one["at"] for one in studys or results), default=0)
        done = {_measured(one) for one in studys}
        counting = [
            one
            for one in results
            if (one.get("study") or _measured(one) not in done)
            and (not studys or one["env_steps"] <= budget)
        ]
        meta = read_meta(directory / "meta.json")
        return _Files(directory, config, meta, counting, budget or config.env_steps)

    @property
    def kind(self) -> tuple[str, str]:
        return self.config.env, self.group

    @property
    def group(self) -> str:
        """As the sweep named it; else the preset or algorithm."""
        config = self.config
        head, tail = f"{config.env.replace(':', '-')}-", f"-seed{config.seed}"
        name = self.directory.name
        if name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail):
            return name[len(head) : -len(tail)]
        algorithm = config.settings.algorithm
        return config.preset if algorithm == "seads" else algorithm

    def tasks(self, replan: bool, deep: bool = False) -> list[dict[str, Any]]:
        """The evaluations on boards of the usual depths or others, the latest checkpoint last."""
        found = [one for one in self.results if _measured(one)[:3] == ("tasks", replan, deep)]
        return sorted(found, key=lambda one: one["env_steps"])

    def at_common(self, replan: bool, common: int | None) -> dict[str, Any] | None:
        """The evaluation of the last checkpoint at or below what every seed has reached.

        Where there is none, the last there is: `Results.beyond_common` names such runs.
        """
        found = self.tasks(replan)
        below = [one for one in found if common is None or one["env_steps"] <= common]
        return below[-1] if below else found[-1] if found else None

    def deep(self) -> dict[str, Any] | None:
        """The evaluation of large depths, of the latest checkpoint."""
        return next(reversed(self.tasks(True, deep=True)), None)

    def result(self, common: int | None) -> RunResult:
        """The run's line."""
        config = self.config
        covered = sorted((r for r in self.results if "coverage" in r), key=lambda r: r["env_steps"])
        coverage = covered[-1] if covered else None
        with_plans, without = (self.at_common(way, common) for way in (True, False))
        tasks = with_plans["tasks"] if with_plans else {}
        settings = config.as_json() | {"seed": 0}
        return RunResult(
            run=self.directory.name,
            env=config.env,
            algorithm=config.settings.algorithm,
            preset=config.preset,
            group=self.group,
            seed=config.seed,
            configuration=hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12],
            commit=str(self.meta.get("commit") or ""),
            status=str(self.meta.get("status", "waiting")),
            budget=self.budget,
            env_steps=self.meta.get("env_steps", 0),
            seconds=_training_seconds(self.directory),
            moves=coverage["coverage"].get("of") if coverage else None,
            coverage=coverage["coverage"]["mean"] if coverage else None,
            coverage_env_steps=coverage["env_steps"] if coverage else None,
            model_accuracy=coverage["coverage"].get("model_accuracy") if coverage else None,
            success=tasks.get("success"),
            success_env_steps=with_plans["env_steps"] if with_plans else None,
            success_no_replan=without["tasks"]["success"] if without else None,
            success_by_depth=_shares(tasks),
            no_replan_by_depth=_shares(without["tasks"] if without else {}),
            solution_length=_median(tasks.get("solution_length")),
            skill_length=_median(tasks.get("skill_length")),
            plan_seconds=_median(tasks.get("first_plan_seconds")),
            settings=" ".join(
                f"{name}={json.dumps(value, separators=(',', ':'))}"
                for name, value in _given(config).items()
            ),
            gave_up=" ".join(
                name
                for name, one in (
                    ("success", with_plans),
                    ("success_no_replan", without),
                    ("deep", self.deep()),
                )
                if one is not None and one["tasks"].get("gave_up") is not None
            ),
        )

    def points(self) -> Iterator[Point]:
        """The run's curves, on test boards, and its own looks at training boards."""
        seen: set[tuple[str, int]] = set()
        for one in sorted(self.results, key=lambda one: one["env_steps"]):
            part, replan, deep, _ = _measured(one)
            if part is None or deep:
                continue
            name = (
                "coverage" if part == "coverage" else "success" if replan else "success_no_replan"
            )
            key, value = ("coverage", "mean") if part == "coverage" else ("success", "success")
            curve = one.get("curve", ())
            found = {point["env_steps"]: point[key] for point in curve if key in point}
            found |= {one["env_steps"]: one[part][value]}  # planned with more patience than a curve
            for steps, number in sorted(found.items()):
                if (name, steps) not in seen:
                    seen.add((name, steps))
                    yield Point(self.directory.name, name, int(steps), float(number))
        lines, _ = read_counted(self.directory / "metrics.jsonl", MetricLine, _Look)
        for line in lines:
            if "coverage" in line:
                own = float(line["coverage"])
                yield Point(self.directory.name, "coverage_train", int(line["env_steps"]), own)

    def boards(self, common: int | None) -> Iterator[Board]:
        """Every board of the evaluations that count."""
        used = [
            self.at_common(True, common),
            self.at_common(False, common),
            self.deep(),
        ]
        for one in filter(None, used):
            tasks = one["tasks"]
            for task in tasks.get("tasks", ()):
                yield Board(
                    self.directory.name,
                    bool(tasks.get("replan", True)),
                    bool(one["deep"]),
                    task["depth"],
                    bool(task["solved"]),
                    task.get("planned_length") is not None,
                    task.get("planning_seconds"),
                    int(task.get("env_steps", 0)),
                    " ".join(str(int(steps)) for steps in task.get("skill_steps", ())),
                )


def _measured(result: dict[str, Any]) -> tuple[str | None, bool | None, bool, int]:
    """What an evaluation is of: its part, with replanning or not, deep or not, and which agent."""
    part = "coverage" if "coverage" in result else "tasks" if "tasks" in result else None
    replan = result[part].get("replan", True) if part else None
    return part, replan, result["deep"], result["env_steps"]


def _given(config: TrainConfig) -> dict[str, Any]:
    """What was asked for besides the preset."""
    settings = {name: getattr(config.settings, name) for name in config.changed}
    own = preset_options(config.env, config.preset)
    options = config.env_options.items()
    return settings | {f"env.{name}": value for name, value in options if own.get(name) != value}


def _shares(tasks: dict[str, Any]) -> str:
    return " ".join(f"{depth}={share:g}" for depth, share in tasks.get("by_depth", {}).items())


def _median(found: dict[str, float] | None) -> float | None:
    return None if not found else found["median"]


def _training_seconds(directory: Path) -> float | None:
    lines = read_counted(directory / "timing.jsonl", TimingLine)[0]
    return round(float(lines[-1]["seconds"]), 1) if lines else None
