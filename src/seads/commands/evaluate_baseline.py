"""`seads evaluate` for SAC and HAC: the boards they solve, under the protocol of SEADS."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seads.errors import SeadsError


def evaluate_baseline(
    run: str,
    what: str,
    depths: Sequence[int] | None,
    per_depth: int,
    split: Any,
    seed: int,
    checkpoints: bool,
) -> dict[str, Any]:
    """Measure, print a table, and write eval/*.json into the run directory."""
    from seads.baselines.agent import load_baseline
    from seads.baselines.tasks import measure
    from seads.evaluation.results import checkpoint_agents, write_result

    agent = load_baseline(run)
    algorithm = agent.architecture.algorithm
    if what == "coverage":
        raise SeadsError(f"a {algorithm} agent has no skills whose moves could be counted")
    tasks = measure(agent, depths, per_depth, split, seed)
    show(tasks)
    result: dict[str, Any] = {
        "env": agent.env,
        "env_steps": agent.card.get("env_steps"),
        "algorithm": algorithm,
        "tasks": tasks,
    }
    if checkpoints:
        result["curve"] = []
        for directory in checkpoint_agents(Path(run)):
            earlier = load_baseline(directory)
            found = measure(earlier, depths, per_depth, split, seed)
            steps = earlier.card["env_steps"]
            point = {"env_steps": steps, **{k: found[k] for k in ("success", "by_depth")}}
            result["curve"].append(point)
            print(f"{steps:>10,} env steps: solved {found['success']:.1%}", flush=True)
    command = shlex.join(["seads", *sys.argv[1:]])
    write_result(Path(run), f"tasks-{split}-seed{seed}", result, command)
    print(f"next: seads report {run}")
    return result


def show(found: dict[str, Any]) -> None:
    """A row per depth, and all of them together."""
    from rich.console import Console

    from seads.commands.table import plain_table

    console = Console()
    table = plain_table(("depth", "boards", "solved", "95 % interval", "env steps"))
    for depth, one in found["depths"].items():
        low, high = one["interval"]
        length = one["solution_length"]
        table.add_row(
            depth,
            str(one["boards"]),
            f"{one['success']:.0%}",
            f"{low:.0%} to {high:.0%}",
            "" if length is None else f"{length['mean']:.1f}",
        )
    console.print(table)
    low, high = found["interval"]
    print(f"solved {found['success']:.1%} ({low:.1%} to {high:.1%}) of {found['boards']} boards")
