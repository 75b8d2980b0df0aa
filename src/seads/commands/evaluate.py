"""`seads evaluate`: how many moves the skills cover, and how many boards they solve."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from seads.errors import SeadsError

ROWS = 512
"""Environments that run side by side in an evaluation."""


@dataclass(frozen=True)
class Options:
    """What of a run or packaged agent to evaluate."""

    run: tyro.conf.Positional[str]
    """Run directory, or the name of an agent that `seads agents` lists."""
    what: Literal["coverage", "tasks", "all"] = "all"
    """Distinct moves of the skills; boards solved by planning; or both."""
    starts: int = 100
    """Start states for the coverage (the paper's number)."""
    split: Literal["test", "train"] = "test"
    """Boards to start from."""
    checkpoints: bool = False
    """Coverage of every checkpoint along the run, for its curve against env steps."""
    depths: str = "1-5"
    """Solution depths of the boards to solve, such as 1-5 or 3."""
    episodes_per_depth: int = 20
    """Boards of each depth."""
    planner: str = "auto"
    """Planner by name."""
    replan: bool = True
    """Plan again when a skill did not do what the model said."""
    seed: int = 0
    """Seed of the start states and boards."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Evaluate, print tables, and write eval/*.json into the run directory."""
    from seads.jax_setup import prepare_jax

    prepare_jax()
    from seads.agent import load
    from seads.evaluation.results import write_result

    if options.starts < 1:
        raise SeadsError(f"starts={options.starts}; allowed: 1 or more")
    agent = load(options.run)
    result: dict[str, Any] = {
        "env": agent.env,
        "env_steps": agent.card.get("env_steps"),
        "algorithm": agent.architecture.algorithm,
    }
    command = shlex.join(["seads", *sys.argv[1:]])
    if options.what in ("coverage", "all"):
        result["coverage"] = measure_coverage(agent, options)
        show_coverage(result["coverage"])
        if options.checkpoints:
            result["curve"] = coverage_curve(Path(options.run), options)
        write_result(Path(options.run), f"coverage-{options.split}-seed{options.seed}", result, command)
    return result


def measure_coverage(agent: Any, options: Options) -> dict[str, Any]:
    """The paper's protocol for one agent."""
    from seads.envs import make_env
    from seads.evaluation.coverage import coverage

    rows = agent.num_skills * min(options.starts, max(1, ROWS // agent.num_skills))
    with closing(make_env(agent.env, rows, split=options.split, **agent.env_options)) as env:
        agent.check_fits(env.spec)
        if env.spec.num_moves is None:
            raise SeadsError(f"coverage needs to know the moves of {agent.env!r}, and nobody does")
        return coverage(
            env, agent.policy, agent.model, agent.num_skills, options.starts, options.seed
        )


def coverage_curve(run: Path, options: Options) -> list[dict[str, float]]:
    """Env steps and mean coverage of every agent kept along the run."""
    from seads.agent import load
    from seads.evaluation.results import checkpoint_agents

    points = []
    for directory in checkpoint_agents(run):
        agent = load(directory)
        mean = measure_coverage(agent, options)["mean"]
        points.append({"env_steps": agent.card["env_steps"], "coverage": mean})
        print(f"{agent.card['env_steps']:>10,} env steps: coverage {mean:.2f}", flush=True)
    if not points:
        raise SeadsError(f"{run} has no checkpoints to draw a curve from")
    return points


def show_coverage(found: dict[str, Any]) -> None:
    """The mean, and a table of what each skill does."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("skill", "move", "makes it", "no move", "steps"):
        table.add_column(title, justify="right")
    for skill in found["skills"]:
        table.add_row(
            str(skill["skill"]),
            "none" if skill["move"] is None else str(skill["move"]),
            f"{skill['share']:.0%}",
            f"{skill['no_move']:.0%}",
            f"{skill['steps']:.1f}",
        )
    console.print(table)
    line = f"coverage {found['mean']:.2f} of {found['of']} moves, mean of {found['starts']} starts"
    if "model_accuracy" in found:
        line += f"; the forward model is right in {found['model_accuracy']:.1%}"
    console.print(line)
