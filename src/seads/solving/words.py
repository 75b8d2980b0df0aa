"""Solutions as text that a person can follow: boards side by side, moves by name."""

from __future__ import annotations

from seads.planning.words import count, step_words
from seads.solving.boards import Reader
from seads.solving.execution import Effect, Execution, SkillRun

GAP = "   "
ARROW = " → "
MOST_LINES = 250
"""Lines of boards that anybody reads."""


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


def solution_text(execution: Execution, boards: Reader) -> str:
    """All that happened: each plan, each skill with the board before and after it.

    Where that would be too much to read, a skill is a line, and the board stands at the end.
    """
    height = boards.write(execution.start).count("\n") + 3
    drawn = height * len(execution.runs) <= MOST_LINES
    parts: list[str] = []
    shown = -1
    for number, run in enumerate(execution.runs, 1):
        if run.plan != shown:
            parts.append(_plan_part(execution, run.plan))
            shown = run.plan
        told = f"{number}. {skill_text(run, boards)}"
        parts.append(f"{told}\n{indent(_picture(run, boards))}" if drawn else told)
    if not drawn:
        parts.append(indent(boards.write(execution.state)))
    if len(execution.plans) - 1 > shown:  # the last plan found nothing
        parts.append(_plan_part(execution, len(execution.plans) - 1))
    parts.append(ending(execution))
    return ("\n\n" if drawn else "\n").join(parts)


def ending(execution: Execution) -> str:
    """How it ended, in one line."""
    spent = f"{count(len(execution.runs), 'skill')}, {count(execution.env_steps, 'env step')}"
    if execution.solved:
        return solved_with(spent) if execution.runs else "solved: the start is the goal"
    why = "it goes on" if execution.reason is None else execution.reason.value
    return f"not solved: {why} ({spent})"


def solved_with(spent: str) -> str:
    """That a board is solved, and what that took."""
    return f"solved with {spent}"


def skill_text(run: SkillRun, boards: Reader) -> str:
    """A skill that was run: its number, what it should do, how long it took, what it did."""
    what = step_words(run.skill, boards.change(run.before, run.predicted))
    return f"{what} ({count(run.steps, 'step')}, {run.effect.value})"


def _plan_part(execution: Execution, number: int) -> str:
    again = "planning again\n" if number else ""
    return f"{again}{execution.plans[number]}"


def _picture(run: SkillRun, boards: Reader) -> str:
    picture = side_by_side(boards.write(run.before), boards.write(run.after), between=ARROW)
    if run.effect is not Effect.AS_PREDICTED:
        expected = "expected:\n" + boards.write(run.predicted)
        picture = side_by_side("\n" + picture, expected)
    return picture
