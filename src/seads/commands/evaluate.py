"""`seads evaluate`: moves the skills cover, boards they solve, and how right the model is."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from seads.commands.progress import working
from seads.commands.real_arm import env_options
from seads.errors import SeadsError

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
    """auto, bfs, dijkstra, bidirectional, astar or gf2."""
    replan: bool = True
    """Plan again when a skill did not do what the model said."""
    minimise: Literal["length", "steps", "risk"] = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float = 60.0
    """Limit on the planning time for a board (the paper's)."""
    memory_mb: float = 1024.0
    """Limit on the memory of a search (the paper's machines had 16 GB)."""
    seed: int = 0
    """Seed of the start states and boards."""
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
    from seads.evaluation.measure import ALL, Measuring, facts_of, obstacle, open_agent
    from seads.evaluation.results import agent_at, checkpoint_agents, write_result
    from seads.solving.solver import Solving

    if options.checkpoints and not checkpoint_agents(Path(options.run)):
        find(options.run)  # which says what is wrong with a name that means nothing
        raise SeadsError(
            f"{options.run} has no checkpoints to draw a curve from; leave out --checkpoints"
        )
    solving = Solving(
        options.planner, options.replan, options.minimise, options.seconds, options.memory_mb
    )
    how = Measuring(
        options.starts,
        options.split,
        None if options.depths is None else parse_depths(options.depths),
        options.episodes_per_depth,
        options.boards_per_depth,
        options.seed,
        solving,
    )
    where = env_options(options.env_set, options.port, options.calibration)
    agent = open_agent(agent_at(options.run, options.at))
    baseline = isinstance(agent, BaselineAgent)
    if not isinstance(agent, BaselineAgent):
        agent = agent.with_options(where)
    elif where:
        raise SeadsError(f"{options.run} is a baseline; leave out {', '.join(where)}")
    if baseline:
        _refuse_for_baseline(options)
    facts = facts_of(agent)
    measured: dict[str, Any] = {}
    asked = "skill_maps" if options.what == "skills" else options.what
    for part in ALL if asked == "all" else (asked,):
        missing = obstacle(agent, part)
        if missing and options.what == "all":
            print(f"{part} left out: {missing}", file=sys.stderr)
            continue
        if missing:
            raise SeadsError(missing)
        results = _measure(agent, part, how, options)
        command = shlex.join(["seads", *sys.argv[1:]])
        write_result(options.run, file_name(part, baseline, options), {**facts, **results}, command)
        measured |= results
    if not measured:
        raise SeadsError(f"nothing of {options.run} can be evaluated")
    solvable = not baseline and obstacle(agent, "tasks") is None
    solve_it = solvable and options.what not in ("skills", "model")
    print(f"next: seads {'solve' if solve_it else 'report'} {options.run}")
    return {**facts, **measured}


def _measure(agent: AnyAgent, part: str, how: Measuring, options: Options) -> dict[str, Any]:
    """One part of the evaluation, measured and shown."""
    from seads.evaluation.measure import measure, open_agent
    from seads.evaluation.results import checkpoint_agents

    counter = PlanCounter()
    with working(f"{options.run}: measuring {part.replace('_', ' ')}"):
        found = measure(agent, part, how, counter)
    print(found)
    results: dict[str, Any] = {part: found.to_json()}
    if options.checkpoints and found.point():
        results["curve"] = []
        for directory in checkpoint_agents(Path(options.run)):
            with working(directory.parent.name):
                earlier = open_agent(directory)
                point = measure(earlier, part, how, counter).point()
                point = {"env_steps": earlier.card["env_steps"], **point}
            results["curve"].append(point)
            name, value = list(point.items())[1]
            print(f"{point['env_steps']:>10,} env steps: {name} {value:.4g}", flush=True)
    return results


class PlanCounter:
    """Says now and then how far planning is: a poor model can take its full limit every time."""

    def __init__(self) -> None:
        self._plans, self._next = 0, time.monotonic() + LINE_EVERY

    def __call__(self, plan: object, boards: int) -> None:
        self._plans += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY
            print(f"{self._plans} plans for {boards} boards so far", file=sys.stderr)


PLANS = ("planner", "replan", "minimise", "seconds", "memory_mb", "starts", "boards_per_depth")
"""Options that a baseline, which acts without skills and plans nothing, has no use for."""


def _refuse_for_baseline(options: Options) -> None:
    """What a baseline has not got is refused, not passed over."""
    usual = Options(options.run)
    for name in PLANS:
        if getattr(options, name) != getattr(usual, name):
            option = "no-replan" if name == "replan" else name.replace("_", "-")
            raise SeadsError(
                f"{options.run} is a baseline, which acts without skills and plans nothing; "
                f"leave out --{option}"
            )


def file_name(part: str, baseline: bool, options: Options) -> str:
    """Where a part's results go, without the suffix; other depths beside the usual ones."""
    words = ["skills" if part == "skill_maps" else part]
    if part == "tasks" and not baseline:
        words += ["replan" if options.replan else "no-replan", options.planner, options.minimise]
    words.append(options.split)
    if options.depths is not None and part in ("tasks", "model"):
        words.append(f"depths{options.depths.replace(' ', '')}")
    if options.at is not None:
        words.append(f"at{options.at}")
    return "-".join([*words, f"seed{options.seed}"])


def parse_depths(text: str) -> tuple[int, ...]:
    """'1-5', '3' or '1,3,15' as depths in ascending order."""
    depths: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise SeadsError(f"depths {text!r} cannot be read; write 1-5, 3 or 1,3,15")
        first, last = int(low), int(high) if dash else int(low)
        if not 1 <= first <= last:
            raise SeadsError(f"depths {part.strip()!r} are not possible; they go up, from 1 on")
        depths |= set(range(first, last + 1))
    return tuple(sorted(depths))
