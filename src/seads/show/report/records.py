"""A run as a report sees it: what was measured, of which agent, and on which boards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard

from seads.agent.card import FirstAndLast
from seads.show.report.paper import PaperResult, paper_result

Points = Sequence[tuple[int, float]]
"""(env steps, value), in ascending order."""

Part = Literal["coverage", "tasks"]
VALUES: dict[str, tuple[str, str]] = {"coverage": ("coverage", "mean"), "tasks": ("success",) * 2}
"""A part's name in metrics, curves and cards, and that of its value in an evaluation."""


class Measured(NamedTuple):
    """A final value, and how many env steps the agent that it is of had learned from."""

    value: float
    env_steps: int | None
    on_training_boards: bool = False


@dataclass(frozen=True)
class RunRecord:
    """One run as its files tell it; an agent without its run has a card and perhaps results."""

    path: Path
    name: str
    env: str
    preset: str
    seed: int | None
    algorithm: str
    card: dict[str, Any]
    evaluate_as: str | None
    """What `seads evaluate` is given to add results; None where they would have no place."""
    settings: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    timing: list[dict[str, Any]] = field(default_factory=list)
    damaged: int = 0
    """Lines of metrics and timing that could not be read."""
    results: list[dict[str, Any]] = field(default_factory=list)
    """The evaluations on test boards, oldest first."""
    pushes: FirstAndLast | None = None
    """Where the first and the last skills of the training touched the board."""

    @property
    def env_steps(self) -> int:
        """How far the run got."""
        return int(self.meta.get("env_steps") or self.card.get("env_steps") or 0)

    @property
    def finished(self) -> bool:
        """Whether the run used its whole budget."""
        return self.meta.get("status", "finished") == "finished"

    @property
    def paper(self) -> PaperResult | None:
        """The paper's numbers, which are of its own algorithm: beside others they would mislead."""
        return paper_result(self.env, self.preset) if self.algorithm == "seads" else None

    @property
    def has_weights(self) -> bool:
        """Whether the agent's forward model is there to be read."""
        homes = (self.path / "agent", self.path)
        found = any((home / "weights.safetensors").is_file() for home in homes)
        return found and self.algorithm == "seads"

    @property
    def remarks(self) -> list[str]:
        """What a reader must know before trusting the numbers."""
        found = []
        if not self.finished:
            steps = f"{self.env_steps:,} of {self.meta.get('budget', 0):,} env steps"
            found.append(f"{self.name} is unfinished ({self.meta['status']}): {steps}")
        if self.damaged:
            found.append(f"{self.name}: damaged lines left out of its metrics: {self.damaged}")
        return found

    @property
    def wall_clock(self) -> Points:
        """(env steps, seconds) along the run."""
        steps_at = {line["epoch"]: line["env_steps"] for line in self.metrics}
        return [
            (steps_at[line["epoch"]], line["seconds"])
            for line in self.timing
            if line["epoch"] in steps_at
        ]

    def final(self, part: Part, replan: bool = True) -> Measured | None:
        """Coverage, or the share of boards solved.

        The newest evaluation's; else the card's; else what the run itself measured last.
        """
        key, value = VALUES[part]
        for result in reversed(self._evaluations(part, replan)):
            return Measured(float(result[part][value]), result.get("env_steps"))
        on_card = self.card.get(key if replan else f"{key}_without_replanning")
        if is_number(on_card):
            return Measured(float(on_card), self.card.get("env_steps"))
        for env_steps, own in reversed(self._own(key) if replan else ()):
            return Measured(own, env_steps, on_training_boards=True)
        return None

    def curves(self, part: Part, replan: bool = True) -> dict[str, Points]:
        """Coverage or success along the run, by the boards they were measured on.

        The two are never joined: what a run measures itself is on other boards, and stands in
        until its checkpoints have been evaluated. An agent that does not plan (a baseline) counts
        as one that replans: it always reacts.
        """
        key, value = VALUES[part]
        results, final = self._evaluations(part, replan), self.final(part, replan)
        tested: dict[int | None, float] = {}
        if final is not None and not final.on_training_boards:
            tested[final.env_steps] = final.value
        for result in results:
            if _protocol(result[part]) == _protocol(results[-1][part]):
                tested |= {point["env_steps"]: point[key] for point in result.get("curve", ())}
                tested[result.get("env_steps")] = result[part][value]
        test, training = "test boards", "training boards"
        if part == "coverage":
            # a card of the package says what `seads evaluate` found, from as many starts as usual
            test += f", {results[-1][part].get('starts') if results else 100} starts"
            training += f", {self.settings.get('coverage_starts', 10)} starts"
        evaluated = any("curve" in result for result in results)
        curves = {
            test: sorted((int(s), float(v)) for s, v in tested.items() if s is not None),
            training: self._own(key) if replan and not evaluated else [],
        }
        return {name: points for name, points in curves.items() if points}

    def _own(self, key: str) -> Points:
        """What the run measured itself, on training boards."""
        found = {one["env_steps"]: one[key] for one in self.metrics if is_number(one.get(key))}
        return sorted((int(env_steps), float(value)) for env_steps, value in found.items())

    def newest(self, part: str) -> dict[str, Any] | None:
        """The newest evaluation's part ('coverage', 'skill_maps'), if there is one."""
        found = self._evaluations(part)
        return found[-1][part] if found else None

    def tasks(
        self, replan: bool | None = None, planner: str | None = None
    ) -> dict[str, Any] | None:
        """The newest evaluation of tasks, with or without replanning, by one planner or any.

        Depths at which the same agent was evaluated before are added; each depth has its boards
        as 'tasks' where the file lists them.
        """
        found = self._evaluations("tasks", replan, planner)
        depths: dict[str, Any] = {}
        for result in found:
            if result.get("env_steps") != found[-1].get("env_steps"):
                continue
            for depth, facts in result["tasks"]["depths"].items():
                listed = result["tasks"].get("tasks", ())
                depths[depth] = facts | {"tasks": [t for t in listed if str(t["depth"]) == depth]}
        return {**found[-1]["tasks"], "depths": depths} if found else None

    @property
    def planners(self) -> list[str]:
        """Those that boards were solved with."""
        results = self._evaluations("tasks")
        return sorted(
            {str(one["tasks"]["planner"]) for one in results if "planner" in one["tasks"]}
        )

    def _evaluations(
        self, part: str, replan: bool | None = None, planner: str | None = None
    ) -> list[dict[str, Any]]:
        """The evaluations of a part, oldest first, those of the paper's depths after all others."""
        found = [
            result
            for result in self.results
            if part in result
            and (replan is None or result[part].get("replan", True) is replan)
            and (planner is None or result[part].get("planner") == planner)
        ]
        return sorted(found, key=lambda result: "1" in result[part].get("depths", ()))


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value from a file can be drawn."""
    return isinstance(value, int | float) and math.isfinite(value)


def _protocol(found: dict[str, Any]) -> tuple[Any, list[str]]:
    """Values of one protocol may be joined by a line."""
    return found.get("starts"), sorted(found.get("depths", ()))
