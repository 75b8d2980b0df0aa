"""What is measured of a run, as `seads evaluate` does it, each into its own file of results."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from seads.baselines.settings import KINDS
from seads.checkpoints import steps_of
from seads.envs.own import is_own
from seads.errors import SeadsError
from seads.evaluation.depths import parse_depths
from seads.evaluation.measure import (
    Measuring,
    facts_of,
    measure,
    measure_along,
    open_agent,
)
from seads.evaluation.results import (
    agent_at,
    checkpoint_agents,
    result_name,
    write_result,
)
from seads.evaluation.tasks import draw_boards
from seads.reading import MOST_RESULT_BYTES, Text, read_json
from seads.solving.solver import Solving
from seads.studies.runs import StudyRun
from seads.studies.study import Study


class _Made(Struct):
    """What of an evaluation's file says how it was made."""

    command: Text = ""
    study: bool = False


@dataclass(frozen=True)
class Evaluation:
    """One file of results: what of a run is measured, and at which checkpoint."""

    part: str
    at: int
    along: bool
    replan: bool
    depths: str
    starts: int
    episodes_per_depth: int
    split: str
    seed: int
    baseline: bool

    @property
    def name(self) -> str:
        """The file's name, without its suffix."""
        return result_name(self.part, self.baseline, self.how, self.depths or None, self.at)

    @property
    def how(self) -> Measuring:
        """As evaluation takes it."""
        return Measuring(
            starts=self.starts,
            split=self.split,
            depths=parse_depths(self.depths) if self.depths else None,
            episodes_per_depth=self.episodes_per_depth,
            seed=self.seed,
            solving=Solving(replan=self.replan, give_up=True),
        )

    def command(self, directory: Path) -> str:
        """The command line that measures the same, from where the study's runs are."""
        usual = Measuring()
        what = "skills" if self.part == "skill_maps" else self.part
        words = ["seads", "evaluate", directory.name, "--what", what, "--at", str(self.at)]
        words += ["--checkpoints"] * self.along + ["--no-replan"] * (not self.replan)
        words += ["--depths", self.depths] if self.depths else []
        how_many = "episodes_per_depth" if self.part == "tasks" else "starts"
        for option in (how_many, "split", "seed"):
            if getattr(self, option) != getattr(usual, option):
                words += [f"--{option.replace('_', '-')}", str(getattr(self, option))]
        return shlex.join(words)


def evaluations(run: StudyRun, at: int | None = None) -> list[Evaluation]:
    """All that the study asks to measure of a run, at its budget or at another step."""
    wanted, at = run.evaluate, run.budget if at is None else at
    algorithm = run.config.settings.algorithm
    baseline = algorithm in KINDS
    found = []
    for split in wanted.splits:
        shared: dict[str, Any] = dict(
            at=at,
            starts=wanted.starts,
            episodes_per_depth=wanted.episodes_per_depth,
            split=split,
            seed=wanted.seed,
            baseline=baseline,
        )
        if wanted.coverage and not baseline:
            along = "coverage" in wanted.along
            found.append(Evaluation("coverage", along=along, replan=True, depths="", **shared))
        if wanted.skills and not baseline:
            found.append(Evaluation("skill_maps", along=False, replan=True, depths="", **shared))
        if algorithm == "vic" or is_own(run.config.env):  # no forward model, or no known boards
            continue
        ways = [way == "replan" for way in wanted.tasks]
        for replan in ways[:1] if baseline else ways:  # a baseline does not plan, so never again
            usual = replan or baseline
            along = usual and "tasks" in wanted.along  # curves are of the usual way
            found.append(Evaluation("tasks", along=along, replan=usual, depths="", **shared))
        if wanted.deep and not baseline:
            deep = Evaluation("tasks", along=False, replan=True, depths=wanted.deep, **shared)
            found.append(deep)
    return found


def check_depths(runs: Sequence[StudyRun], study: Study) -> None:
    """Refuse depths that a game has no boards of, before anything is learned."""
    asked = {
        (run.config.env, one.depths, one.split): run
        for run in runs
        for one in evaluations(run)
        if one.depths
    }
    for (env, depths, split), run in asked.items():
        try:
            draw_boards(env, parse_depths(depths), 1, split, seed=0)
        except SeadsError as error:
            place = run.place if run.place.has("deep") else study.usual
            raise place.wrong(f"deep={depths!r} with {env}: {error}", "deep") from None


def common_step(siblings: Sequence[StudyRun], home: Path) -> int | None:
    """The env steps that every seed's last checkpoint below the budget has; None before all have.

    The paper plans with the last checkpoint at or below it: the last common one (S.8.1).
    """
    last = []
    for run in siblings:
        below = [at for at in _checkpoints(home / run.name) if at <= run.budget]
        if not below:
            return None
        last.append(below[-1])
    return min(last)


def common_evaluations(run: StudyRun, step: int, home: Path) -> list[Evaluation]:
    """The boards to be solved at the last common checkpoint, where that is not the run's last."""
    below = [at for at in _checkpoints(home / run.name) if at <= run.budget]
    if step >= below[-1] or step < below[0]:
        return []
    found = [one for one in evaluations(run, step) if one.part == "tasks" and not one.depths]
    return [dataclasses.replace(one, along=False) for one in found]


def _checkpoints(directory: Path) -> list[int]:
    return [steps_of(one.parent) for one in checkpoint_agents(directory)]


def is_measured(one: Evaluation, directory: Path) -> bool:
    """Whether its file is there, made by the study in the same way: not with fewer starts, say.

    A damaged file is there: whoever needs what it says tells of it.
    """
    path = directory / "eval" / f"{one.name}.json"
    try:
        made = read_json(path, _Made, "an evaluation", MOST_RESULT_BYTES)
    except FileNotFoundError:
        return False
    except (SeadsError, OSError):
        return True
    return made.study and made.command == one.command(directory)


def carry_out(one: Evaluation, directory: Path, allow: str | None = None) -> None:
    """Measure and write the file; nothing of it is there before it is whole.

    `allow` is as for `seads.load`.
    """
    agent = open_agent(agent_at(str(directory), one.at), allow)
    results: dict[str, Any] = {one.part: measure(agent, one.part, one.how).to_json()}
    if one.along:
        results["curve"] = list(measure_along(directory, one.part, one.how, allow=allow))
    content = {**facts_of(agent), **results, "study": True}
    write_result(str(directory), one.name, content, one.command(directory))
