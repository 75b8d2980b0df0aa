"""Plans and solutions as text that a person can follow: boards side by side, moves by name."""

from __future__ import annotations

import numpy as np

from seads.errors import SeadsError
from seads.evaluation.boards import Reader
from seads.planning.executor import Effect, Execution, SkillRun
from seads.planning.result import Plan

GAP = "   "
ARROW = " → "


def side_by_side(*blocks: str, between: str = GAP) -> str:
    """Blocks of lines next to each other, with a sign between them at half height."""
    columns = [block.split("\n") for block in blocks]
    height = max(map(len, columns))
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for i in range(height):
        cells = [
            (column[i] if i < len(column) else "").ljust(width)
            for column, width in zip(columns, widths, strict=True)
        ]
        sign = between if i == (height - 1) // 2 else " " * len(between)
        lines.append(sign.join(cells).rstrip())
    return "\n".join(lines)


def indent(text: str, by: str = "  ") -> str:
    """Every line moved to the right."""
    return "\n".join(by + line for line in text.split("\n"))


def move_names(found: Plan, boards: Reader) -> list[str | None]:
    """The game's name for what the model expects of each skill; None where it is no move."""
    names: list[str | None] = []
    for before, after in zip(found.states, found.states[1:], strict=False):
        move = _move(boards, before, after)
        names.append(None if move is None else boards.move_name(move))
    return names


def plan_text(found: Plan, boards: Reader) -> str:
    """The plan, a line per skill; or why there is none."""
    took = duration(found.seconds)
    if not found.solved:
        return f"no plan after {took}: {found.verdict}"
    if not found.skills:
        return "plan: nothing to do, the start is the goal"
    lines = [f"plan: {_count(len(found), 'skill')}, found in {took} by {found.planner}"]
    for number, (skill, name) in enumerate(
        zip(found.skills, move_names(found, boards), strict=True), 1
    ):
        lines.append(f"  {number}. skill {skill}: {name or boards.move_name(None)}".rstrip(": "))
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 0.001:
        return "less than 1 ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def solution_text(execution: Execution, boards: Reader) -> str:
    """All that happened: each plan, each skill with the board before and after it."""
    parts: list[str] = []
    shown = -1
    for number, run in enumerate(execution.runs, 1):
        if run.plan != shown:
            parts.append(_plan_part(execution, run.plan, boards))
            shown = run.plan
        parts.append(_run_text(number, run, boards))
    if len(execution.plans) - 1 > shown:  # the last plan found nothing
        parts.append(_plan_part(execution, len(execution.plans) - 1, boards))
    parts.append(ending(execution))
    return "\n\n".join(parts)


def ending(execution: Execution) -> str:
    """How it ended, in one line."""
    spent = f"{_count(len(execution.runs), 'skill')}, {_count(execution.env_steps, 'env step')}"
    if execution.solved:
        return f"solved with {spent}" if execution.runs else "solved: the start is the goal"
    return f"not solved: {execution.reason.value} ({spent})"


def _plan_part(execution: Execution, number: int, boards: Reader) -> str:
    again = "planning again\n" if number else ""
    return again + plan_text(execution.plans[number], boards)


def _run_text(number: int, run: SkillRun, boards: Reader) -> str:
    name = boards.move_name(_move(boards, run.before, run.predicted))
    head = f"{number}. skill {run.skill}: {name}".rstrip(": ")
    head += f"   ({_count(run.steps, 'step')}, {run.effect.value})"
    picture = side_by_side(boards.write(run.before), boards.write(run.after), between=ARROW)
    if run.effect is not Effect.AS_PREDICTED:
        expected = "expected:\n" + boards.write(run.predicted)
        picture = side_by_side("\n" + picture, expected)
    return f"{head}\n{indent(picture)}"


def _move(boards: Reader, before: np.ndarray, after: np.ndarray) -> int | None:
    try:
        return boards.move_between(before, after)
    except SeadsError:  # the model may think itself on bits that are no board
        return None


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
