"""The tables that `seads evaluate` prints."""

from __future__ import annotations

import sys
from typing import Any


def show_coverage(found: dict[str, Any]) -> None:
    """The mean, and a table of what each skill does."""
    from rich.console import Console

    from seads.commands.table import plain_table

    console = Console()
    table = plain_table(("skill", "move", "makes it", "no move", "steps"))
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
    print(line)
    if found["mean"] > found["of"]:
        print(
            f"more effects than the {found['of']} moves that the environment says it has: "
            "each set of bits that changes counts as one; give `wrap` another num_moves",
            file=sys.stderr,
        )


def show_tasks(found: dict[str, Any]) -> None:
    """A row per depth, and what went wrong where something did."""
    from rich.console import Console

    from seads.commands.table import plain_table

    console = Console()
    titles = (
        depth_title(found),
        "boards",
        "solved",
        "95 % interval",
        "plan",
        "optimal",
        "env steps",
        "planning",
    )
    table = plain_table(titles)
    for depth, one in found["depths"].items():
        low, high = one["interval"]
        seconds = one["planning_seconds"]
        optimal = one["planned_optimally"]
        table.add_row(
            depth,
            str(one["boards"]),
            f"{one['success']:.0%}",
            f"{low:.0%} to {high:.0%}",
            _mean(one["plan_length"]),
            "" if optimal is None else f"{optimal:.0%}",
            _mean(one["solution_length"]),
            "" if seconds is None else f"{seconds['median'] * 1000:.1f} ms",
        )
    console.print(table)
    low, high = found["interval"]
    how = "with" if found["replan"] else "without"
    print(
        f"solved {found['success']:.1%} ({low:.1%} to {high:.1%}) of {found['boards']} boards "
        f"{how} replanning"
    )
    failures = {name: count for name, count in found["failures"].items() if count}
    if failures:
        listed = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in failures.items())
        print(f"not solved: {listed}")
    if found["skill_length"]:
        length = found["skill_length"]
        print(
            f"steps per skill: median {length['median']:.0f}, "
            f"quartiles {length['q1']:.0f} and {length['q3']:.0f}"
        )


def depth_title(found: dict[str, Any]) -> str:
    """What the boards are counted by, as the title of a column."""
    from seads.evaluation.depths import EXACT

    return "depth" if found.get("depth_is", EXACT) == EXACT else "moves"


def _mean(numbers: dict[str, float] | None) -> str:
    return "" if numbers is None else f"{numbers['mean']:.1f}"
