"""`seads evaluate`: moves the skills cover, boards they solve, and how right the model is."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from seads.commands.progress import working
from seads.commands.real_arm import env_options
from seads.errors import Interrupted, Refused, SeadsError
from seads.terminal import tell, tell_next

if TYPE_CHECKING:
    from seads.evaluation.measure import AnyAgent, Measuring

LINE_EVERY = 10.0
"""Seconds between lines that say how far planning is."""


@dataclass(frozen=True)
class Options:
    """What of a run or packaged agent to evaluate."""

    run: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """Run directory, or the name of an agent that `seads agents` lists."""
    what: Literal["coverage", "tasks", "skills", "model", "all"] = "all"
    """Distinct moves; boards solved; maps of the skills; how right the model is; the first two."""
    starts: int = 100
    """Start states from which every skill is run (the paper's number)."""
    split: Literal["test", "train"] = "test"
    """Boards to start from."""
    at: int | None = None
    """Evaluate the last checkpoint of at most this many env steps, as the paper does (S.8.1)."""
    checkpoints: bool = False
    """Every checkpoint along the run too, for curves against env steps."""
    depths: str | None = None
    """Solution depths of the boards, such as 1-5 or 1,3,15; 1-5 by default, all for the model."""
    episodes_per_depth: int = 20
    """Boards of each depth to solve."""
    boards_per_depth: int = 300
    """Boards of each depth on which the model is asked."""
    planner: str = "auto"
    """auto, bfs, dijkstra, bidirectional, astar, or gf2, which adds flips up as equations."""
    replan: bool = True
    """Plan again when a skill did not do what the model said."""
    minimise: Literal["length", "steps", "risk"] = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float | None = None
    """Limit on planning a board; the paper's 60 as long as long searches find plans."""
    memory_mb: float = 1024.0
    """Limit on the memory of a search (the paper's machines had 16 GB)."""
    seed: int = 0
    """Seed of the start states and boards."""
    allow: Annotated[str | None, tyro.conf.arg(metavar="MODULE:FACTORY")] = None
    """Import this environment, which the run names; needed where it was not trained here."""
    port: str | None = None
    """Serial line of a real arm, or of its twin (see `seads robot`); by default it is simulated."""
    calibration: Path | None = None
    """Where the tablet lies under that arm: a file of `seads robot calibrate`."""
    env_set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Options of the environment, such as pace=50 for a twin."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Evaluate, print tables, and write eval/*.json into the run directory."""
    from seads.agent.card import find
    from seads.baselines.agent import BaselineAgent
    from seads.evaluation.measure import facts_of, obstacle, open_agent
    from seads.evaluation.results import agent_at, checkpoint_agents, result_name

    if options.checkpoints and not checkpoint_agents(Path(options.run)):
        find(options.run)  # which says what is wrong with a name that means nothing
        raise SeadsError(
            f"{options.run} has no checkpoints to draw a curve from; leave out --checkpoints"
        )
    how = _protocol(options)
    agent = open_agent(agent_at(options.run, options.at), options.allow)
    baseline = isinstance(agent, BaselineAgent)
    if baseline:
        _refuse_for_baseline(options, how)
    facts = facts_of(agent) | ({"env_options": how.env_options} if how.env_options else {})
    measured: dict[str, Any] = {}
    for part in _parts(agent, options.what):
        name = result_name(part, baseline, how, options.depths, options.at)
        with _cut_short_in_words(part, facts, measured):
            for results in _measure(agent, part, how, options):
                measured |= results | _joined(measured, results)
                _keep(options.run, name, {**facts, **results})
    if not measured:
        raise SeadsError(f"nothing of {options.run} can be evaluated")
    solvable = not baseline and obstacle(agent, "tasks") is None
    solve_it = solvable and options.what not in ("skills", "model")
    tell_next("solve" if solve_it else "report", options.run)
    return {**facts, **measured}


def _protocol(options: Options) -> Measuring:
    """How the agent is measured."""
    from seads.evaluation.depths import parse_depths
    from seads.evaluation.measure import Measuring, solving_of

    return Measuring(
        options.starts,
        options.split,
        None if options.depths is None else parse_depths(options.depths),
        options.episodes_per_depth,
        options.boards_per_depth,
        options.seed,
        solving_of(
            options.planner, options.replan, options.minimise, options.seconds, options.memory_mb
        ),
        env_options(options.env_set, options.port, options.calibration),
    )


def _parts(agent: AnyAgent, what: str) -> Iterator[str]:
    """What is measured of an agent; of all there is, what can be."""
    from seads.evaluation.measure import ALL, obstacle

    asked = "skill_maps" if what == "skills" else what
    for part in ALL if what == "all" else (asked,):
        missing = obstacle(agent, part)
        if missing is None:
            yield part
        elif what == "all":
            print(f"{part} left out: {missing}", file=sys.stderr)
        else:
            raise SeadsError(missing)


@contextmanager
def _cut_short_in_words(
    part: str, facts: dict[str, Any], measured: dict[str, Any]
) -> Iterator[None]:
    """Says what there is of a part that was interrupted or failed, and that it is not kept."""
    from seads.evaluation.partly import FailedMeasuring, PartlyMeasured

    try:
        yield
    except PartlyMeasured as stopped:
        print(stopped.result)
        tell(f"interrupted while measuring {part}: {stopped}; they are shown, not kept")
        raise Interrupted({**facts, **measured, part: stopped.to_json()}) from None
    except FailedMeasuring as failed:
        print(failed.result)
        result = {**facts, **measured, part: failed.to_json()}
        raise Refused(f"{failed}; they are shown, not kept", result) from failed
    except KeyboardInterrupt:
        if not measured:
            raise
        tell(f"interrupted while measuring {part}; what was measured before is kept")
        raise Interrupted({**facts, **measured}) from None


def _joined(measured: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """One curve of several parts: their values at each checkpoint side by side."""
    points: dict[int, dict[str, Any]] = {}
    for point in (*measured.get("curve", ()), *results.get("curve", ())):
        points.setdefault(point["env_steps"], {}).update(point)
    return {"curve": list(points.values())} if points else {}


def _keep(run: str, name: str, results: dict[str, Any]) -> None:
    """Write results beside the run; where that cannot be done they are shown all the same."""
    from seads.evaluation.results import write_result

    try:
        write_result(run, name, results, shlex.join(["seads", *sys.argv[1:]]))
    except OSError as error:
        tell(f"not kept: {error.filename}: {error.strerror}")


def _measure(
    agent: AnyAgent, part: str, how: Measuring, options: Options
) -> Iterator[dict[str, Any]]:
    """One part of the evaluation, measured and shown; again with every checkpoint of a curve."""
    from seads.evaluation.measure import measure, measure_along

    counter = PlanCounter()
    with working(f"{options.run}: measuring {part.replace('_', ' ')}"):
        found = measure(agent, part, how, counter)
    print(found)
    results: dict[str, Any] = {part: found.to_json()}
    yield results
    if options.checkpoints and found.point():
        results["curve"] = []
        for point in measure_along(Path(options.run), part, how, counter, options.allow):
            results["curve"].append(point)
            name, value = list(point.items())[1]
            print(f"{point['env_steps']:>10,} env steps: {name} {value:.4g}", flush=True)
            yield results


class PlanCounter:
    """Says now and then how far planning is: a poor model can take its full limit every time."""

    def __init__(self) -> None:
        self._plans, self._next = 0, time.monotonic() + LINE_EVERY
        self._hurried = False

    def __call__(self, plan: object, boards: int, why: str | None) -> None:
        self._plans += 1
        if why is not None and not self._hurried:
            self._hurried = True
            tell(why)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY
            tell(f"{self._plans} plans for {boards} boards so far")


PLANS = ("planner", "replan", "minimise", "seconds", "memory_mb", "starts", "boards_per_depth")
"""Options that a baseline, which acts without skills and plans nothing, has no use for."""


def _refuse_for_baseline(options: Options, how: Measuring) -> None:
    """What a baseline has not got is refused, not passed over."""
    if how.env_options:
        raise SeadsError(f"{options.run} is a baseline; leave out {', '.join(how.env_options)}")
    usual = Options(options.run)
    for name in PLANS:
        if getattr(options, name) != getattr(usual, name):
            option = "no-replan" if name == "replan" else name.replace("_", "-")
            raise SeadsError(
                f"{options.run} is a baseline, which acts without skills and plans nothing; "
                f"leave out --{option}"
            )
