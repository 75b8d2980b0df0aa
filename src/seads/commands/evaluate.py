"""`seads evaluate`: moves the skills cover, boards they solve, and how right the model is."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from seads.commands.evaluate_model import measure_model, show_model
from seads.commands.evaluate_skills import ROWS, map_skills, measure_coverage
from seads.commands.evaluate_tables import show_coverage, show_tasks
from seads.commands.progress import working
from seads.errors import SeadsError

SILENCE = 10.0
"""Seconds between signs of life."""


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
    seed: int = 0
    """Seed of the start states and boards."""
    json: bool = False
    """Print one JSON object."""


Found = dict[str, Any]
Measure = Callable[[Any, Options], Found]


@dataclass(frozen=True)
class Part:
    """One kind of evaluation."""

    key: str
    """Its name in the results."""
    doing: str
    """What a person waits for."""
    measure: Measure
    show: Callable[[Found], None]
    point: Callable[[Found], Found] | None
    """What of it is kept for a curve along the run, the value first; None: no curve is drawn."""
    file: Callable[[Options], str]
    """Where the results go, without the suffix."""


def run(options: Options) -> dict[str, Any]:
    """Evaluate, print tables, and write eval/*.json into the run directory."""
    from seads.jax_setup import prepare_jax

    prepare_jax()
    from seads.agent import load
    from seads.agent.agent import find
    from seads.baselines.agent import is_baseline
    from seads.commands.evaluate_baseline import evaluate_baseline
    from seads.evaluation.results import checkpoint_agents, write_result

    for name in ("starts", "episodes_per_depth", "boards_per_depth"):
        if getattr(options, name) < 1:
            raise SeadsError(f"{name}={getattr(options, name)}; allowed: 1 or more")
    if options.checkpoints and not checkpoint_agents(Path(options.run)):
        find(options.run)  # which says what is wrong with a name that means nothing
        raise SeadsError(
            f"{options.run} has no checkpoints to draw a curve from; leave out --checkpoints"
        )
    if is_baseline(options.run):
        _refuse_for_baseline(options)
        return evaluate_baseline(
            options.run,
            options.what,
            None if options.depths is None else parse_depths(options.depths),
            options.episodes_per_depth,
            options.split,
            options.seed,
            options.checkpoints,
        )
    agent = load(options.run)
    facts: dict[str, Any] = {
        "env": agent.env,
        "env_steps": agent.card.get("env_steps"),
        "algorithm": agent.architecture.algorithm,
    }
    measured: dict[str, Any] = {}
    command = shlex.join(["seads", *sys.argv[1:]])
    for part in ("coverage", "tasks") if options.what == "all" else (options.what,):
        missing = _obstacle(agent, part)
        if missing and options.what == "all":
            print(f"{part} left out: {missing}", file=sys.stderr)
            continue
        if missing:
            raise SeadsError(missing)
        results = _measure(agent, PARTS[part], options)
        name = PARTS[part].file(options)
        write_result(Path(options.run), name, {**facts, **results}, command)
        measured |= results
    if not measured:
        raise SeadsError(f"nothing of {options.run} can be evaluated")
    solvable = options.what not in ("skills", "model") and _obstacle(agent, "tasks") is None
    print(f"next: seads {'solve' if solvable else 'report'} {options.run}")
    return {**facts, **measured}


def _refuse_for_baseline(options: Options) -> None:
    """What a baseline has not got is refused, not passed over."""
    if options.what in ("skills", "model"):
        has_not = "skills to draw maps of" if options.what == "skills" else "forward model"
        raise SeadsError(f"{options.run} has no {has_not}: it is a baseline")
    usual = Options(options.run)
    for name in ("planner", "replan", "minimise", "seconds", "starts", "boards_per_depth"):
        if getattr(options, name) != getattr(usual, name):
            option = "no-replan" if name == "replan" else name.replace("_", "-")
            raise SeadsError(
                f"{options.run} is a baseline, which acts without skills and plans nothing; "
                f"leave out --{option}"
            )


def _obstacle(agent: Any, part: str) -> str | None:
    """Why this part cannot be measured for the agent, or None."""
    if part in ("tasks", "model") and agent.architecture.algorithm == "vic":
        purpose = "plan with" if part == "tasks" else "ask"
        return f"the agent has no forward model to {purpose}: VIC learns none"
    if part in ("tasks", "model") and ":" in agent.env:
        return f"nobody knows boards and solution depths of {agent.env!r}"
    return None


def _measure(agent: Any, part: Part, options: Options) -> dict[str, Any]:
    """One part of the evaluation, measured and shown."""
    with working(f"{options.run}: {part.doing}"):
        results: dict[str, Any] = {part.key: part.measure(agent, options)}
    part.show(results[part.key])
    if options.checkpoints and part.point is not None:
        results["curve"] = checkpoint_curve(Path(options.run), part.measure, part.point, options)
    return results


def _depths_in_name(options: Options) -> str:
    """Other depths are stored beside the usual ones, not in place of them."""
    return "" if options.depths is None else f"-depths{options.depths.replace(' ', '')}"


def measure_tasks(agent: Any, options: Options) -> dict[str, Any]:
    """The paper's protocol: boards of every depth, planned and executed side by side."""
    import numpy as np

    from seads.envs import make_env
    from seads.envs.registry import lookup
    from seads.evaluation.boards import GameReader, game_of
    from seads.evaluation.depths import meaning_of_depth
    from seads.evaluation.tasks import Solver, Solving, draw_tasks, report

    game = game_of(agent.env)
    if game is None:
        raise SeadsError(f"nobody knows boards and solution depths of {agent.env!r}")
    low, high = lookup(agent.env).depths
    asked = range(low, high + 1) if options.depths is None else parse_depths(options.depths)
    depths, starts, seeds = draw_tasks(
        game, list(asked), options.episodes_per_depth, options.split, options.seed
    )
    goal = GameReader(game).goal
    solving = Solving(options.planner, options.replan, options.minimise, options.seconds)
    solver = Solver(agent, starts, solving, PlanCounter(len(starts)))
    executions = []
    for first in range(0, len(starts), ROWS):
        part = slice(first, first + ROWS)
        rows = len(starts[part])
        with closing(make_env(agent.env, rows, **agent.env_options)) as env:
            agent.check_fits(env.spec)
            goals = np.repeat(np.asarray(goal)[None], rows, axis=0)
            executions += solver.solve(env, agent.policy, seeds[part], goals, starts[part])
    return {
        **report(game, depths, executions, solver),
        "split": options.split,
        "seed": options.seed,
        "episodes_per_depth": options.episodes_per_depth,
        "depth_is": meaning_of_depth(game),
        "drawn": "with replacement; a board drawn again starts from another pose",
    }


class PlanCounter:
    """Says now and then how far planning is: a poor model can take its full limit every time."""

    def __init__(self, boards: int) -> None:
        self._boards, self._plans, self._next = boards, 0, time.monotonic() + SILENCE

    def __call__(self, _: object) -> None:
        self._plans += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SILENCE
            print(f"{self._plans} plans for {self._boards} boards so far", file=sys.stderr)


def parse_depths(text: str) -> list[int]:
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
    return sorted(depths)


def coverage_of(agent: Any, options: Options) -> dict[str, Any]:
    """How many distinct moves the agent's skills make."""
    return measure_coverage(agent, options.starts, options.split, options.seed)


def maps_of(agent: Any, options: Options) -> dict[str, Any]:
    """Where the agent's skills go."""
    return map_skills(agent, options.starts, options.split, options.seed)


def model_of(agent: Any, options: Options) -> dict[str, Any]:
    """How often the agent's forward model is right."""
    return measure_model(
        agent,
        None if options.depths is None else parse_depths(options.depths),
        options.boards_per_depth,
        options.starts,
        options.split,
        options.seed,
    )


def checkpoint_curve(
    run: Path, measure: Measure, point_of: Callable[[Found], Found], options: Options
) -> list[Found]:
    """Env steps and what is measured of every agent kept along the run."""
    from seads.agent import load
    from seads.evaluation.results import checkpoint_agents

    points = []
    for directory in checkpoint_agents(run):
        agent = load(directory)
        with working(directory.parent.name):
            point = {"env_steps": agent.card["env_steps"], **point_of(measure(agent, options))}
        points.append(point)
        name, value = list(point.items())[1]
        print(f"{point['env_steps']:>10,} env steps: {name} {value:.4g}", flush=True)
    return points


def _show_maps(found: Found) -> None:
    print(f"{len(found['skills'])} skills from {found['starts']} starts")


def _tasks_file(options: Options) -> str:
    kind = "replan" if options.replan else "no-replan"
    name = f"tasks-{kind}-{options.planner}-{options.minimise}-{options.split}"
    return f"{name}{_depths_in_name(options)}-seed{options.seed}"


PARTS = {
    "coverage": Part(
        "coverage",
        "running all skills",
        coverage_of,
        show_coverage,
        lambda found: {"coverage": found["mean"]},
        lambda options: f"coverage-{options.split}-seed{options.seed}",
    ),
    "tasks": Part(
        "tasks",
        "solving boards",
        measure_tasks,
        show_tasks,
        lambda found: {"success": found["success"], "by_depth": found["by_depth"]},
        _tasks_file,
    ),
    "model": Part(
        "model",
        "running all skills",
        model_of,
        show_model,
        lambda found: {"model_right": found["right"], "by_depth": found["by_depth"]},
        lambda options: f"model-{options.split}{_depths_in_name(options)}-seed{options.seed}",
    ),
    "skills": Part(
        "skill_maps",
        "following the skills",
        maps_of,
        _show_maps,
        None,
        lambda options: f"skills-{options.split}-seed{options.seed}",
    ),
}
