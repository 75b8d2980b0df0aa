"""Boards of large solution depths: plans found, boards solved, time of planning (S.11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from seads.show.report import style
from seads.show.tables.curves import name_of
from seads.show.tables.kinds import Kinds, seeds_text
from seads.studies.results import Board, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def large_depths(results: Results, kinds: Kinds) -> Figure | None:
    """S.11: share of boards planned and solved, and time of all planning for a board, by depth."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    panels: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    names = ("plans found", "boards solved", "all planning for a board, s")
    for (env, group), runs in kinds.items():
        own = {run.run for run in runs}
        boards = [board for board in results.boards if board.deep and board.run in own]
        depths = sorted({board.depth for board in boards})
        for name in names if boards else ():
            per_run = [
                [
                    _at_depth([b for b in boards if b.run == run and b.depth == d], name)
                    for d in depths
                ]
                for run in sorted({board.run for board in boards})
            ]
            each = np.array(per_run, float)
            lines = panels.setdefault(name, {})
            label = f"{env}, {name_of(group)} ({seeds_text(len(per_run))})"
            lines[label] = (np.array(depths, float), _over_runs(each))

    def panel(axes: Axes, name: str, lines: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
        for index, (label, (depths, summary)) in enumerate(lines.items()):
            if np.isfinite(summary).any():
                style.draw_band(axes, index, label, depths, summary)
        axes.set_xlabel("solution depth")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if name == names[2]:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            for depth, seconds in ((5, 2.02), (9, 301.8)):  # paper S.3
                axes.plot(depth, seconds, "*", color=style.PAPER_COLOUR, markersize=10)
            axes.plot(
                [],
                [],
                "*",
                color=style.PAPER_COLOUR,
                label="paper, lightsout-cursor, breadth-first: 2.02 s at 5, 301.8 s at 9",
            )
        else:
            style.percent_axis(axes, name)
            if name == names[1]:
                label = "paper, lightsout-cursor (5 seeds): ≥ 98 % up to depth 8"
                axes.plot([1, 8], [0.98, 0.98], "--", color=style.PAPER_COLOUR, label=label)
        style.legend_below(axes)

    return style.draw_panels(panels, panel)


def _over_runs(each: np.ndarray) -> np.ndarray:
    """Mean, lowest and highest over the runs, by depth; NaN where no run has a value."""
    found = (column[np.isfinite(column)] for column in each.T)
    nothing = (math.nan,) * 3
    return np.array(
        [(one.mean(), one.min(), one.max()) if len(one) else nothing for one in found]
    ).T


def _at_depth(boards: Sequence[Board], name: str) -> float:
    """What a run has at a depth; NaN where it has nothing there."""
    if name.startswith("all planning"):
        found = [
            board.plan_seconds
            for board in boards
            if board.planned and board.plan_seconds is not None
        ]
    else:
        found = [board.planned if name == "plans found" else board.solved for board in boards]
    return float(np.mean(found)) if found else math.nan
