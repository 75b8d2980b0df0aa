"""Lengths of solutions and of skills: boxes (the paper's S.9 and S.10), and their medians."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from seads.show.report import style
from seads.show.report.paper import ENVIRONMENTS
from seads.show.tables.curves import name_of
from seads.show.tables.document import Table
from seads.show.tables.kinds import REFERENCES, Kinds
from seads.studies.results import Board, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEEPEST = 5
"""Depth of the boards whose solutions the paper names the length of."""
SOLUTION_LENGTHS = dict(zip(ENVIRONMENTS, (15, 10), strict=False))
"""About how many env steps the paper's agents need at depth 5 (S.2.2), where it says so."""
SKILL_LENGTHS = dict(zip(ENVIRONMENTS, (3, 2, 11, 9, 12, 13), strict=True))
"""The paper's medians (S.2.3)."""


def solution_lengths(results: Results, kinds: Kinds) -> Figure | None:
    """S.9: env steps of solved boards, by depth, with and without replanning."""
    return _boxes(results, kinds, lambda board: [board.env_steps], by_depth=True)


def skill_lengths(results: Results, kinds: Kinds) -> Figure | None:
    """S.10: env steps of single skills on solved boards."""
    return _boxes(results, kinds, _skill_steps, by_depth=False)


def length_tables(kinds: Kinds, results: Results) -> Iterator[Table]:
    """The medians beside the paper's."""
    rows = []
    for env, lines in _solved(results, kinds).items():
        for name, boards in lines.items():
            skills = [steps for board in boards for steps in _skill_steps(board)]
            deepest = [board.env_steps for board in boards if board.depth == DEEPEST]
            rows.append(
                (
                    env, name,
                    f"{np.median(skills):g}", _said(SKILL_LENGTHS, env),
                    f"{np.median(deepest):g}" if deepest else "", _said(SOLUTION_LENGTHS, env),
                )
            )  # fmt: skip
    if rows:
        yield Table(
            "lengths",
            "Env steps of skills and of solutions",
            (
                "environment", "runs", "a skill", "a skill, paper",
                f"a board of depth {DEEPEST}", f"a board of depth {DEEPEST}, paper",
            ),
            rows,
            ("Medians over the solved boards of all runs.",),
        )  # fmt: skip


def _said(lengths: Mapping[str, int], env: str) -> str:
    return str(lengths.get(env, ""))


def _skill_steps(board: Board) -> list[int]:
    return [int(one) for one in board.skill_steps.split()]


def _solved(results: Results, kinds: Kinds) -> dict[str, dict[str, list[Board]]]:
    """Solved boards of the usual depths by environment and name of the line."""
    of_run: dict[str, list[Board]] = {}
    for board in results.boards:
        if board.solved and not board.deep and board.skill_steps:
            of_run.setdefault(board.run, []).append(board)
    found: dict[str, dict[str, list[Board]]] = {}
    for (env, group), runs in kinds.items():
        boards = [board for run in runs for board in of_run.get(run.run, ())]
        for replan, how in ((True, ""), (False, ", no replanning")):
            own = [board for board in boards if board.replan is replan]
            if own and group in REFERENCES:
                found.setdefault(env, {})[f"{name_of(group)}{how}"] = own
    return found


def _boxes(
    results: Results, kinds: Kinds, values: Callable[[Board], list[int]], by_depth: bool
) -> Figure | None:
    def panel(axes: Axes, env: str, lines: Mapping[str, list[Board]]) -> None:
        for index, (name, boards) in enumerate(lines.items()):
            keys = sorted({board.depth for board in boards}) if by_depth else [0]
            data = [
                [v for board in boards if not by_depth or board.depth == key for v in values(board)]
                for key in keys
            ]
            offset = (index - (len(lines) - 1) / 2) * 0.8 / len(lines)
            tint = style.colour(index)
            axes.boxplot(
                data, positions=[key + offset for key in keys], widths=0.7 / len(lines), whis=1.5,
                manage_ticks=False, patch_artist=True, label=name,
                boxprops={"facecolor": tint + "59", "edgecolor": tint},
                medianprops={"color": tint, "linewidth": 2.4}, flierprops={"markersize": 3},
            )  # fmt: skip
        axes.set_xticks(
            sorted({b.depth for boards in lines.values() for b in boards}) if by_depth else []
        )
        if by_depth and env in SOLUTION_LENGTHS:
            steps = SOLUTION_LENGTHS[env]
            label = f"paper: about {steps} at depth {DEEPEST}"
            axes.plot(DEEPEST, steps, "*", color=style.PAPER_COLOUR, markersize=10, label=label)
        elif not by_depth and env in SKILL_LENGTHS:
            steps = SKILL_LENGTHS[env]
            style.paper_line(axes, steps, f"paper: median {steps}")
        axes.set_xlabel("solution depth" if by_depth else "")
        axes.set_ylabel("env steps")
        style.legend_below(axes)

    return style.draw_panels(_solved(results, kinds), panel)
