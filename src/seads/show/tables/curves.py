"""Moves and boards solved: curves against env steps and bars, with the paper's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from seads.show.report import style
from seads.show.report.learning import mean_over_seeds
from seads.show.report.paper import PaperValue
from seads.show.tables.kinds import Kinds, papers, seeds_text, values_of
from seads.studies.results import Measured, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Place = Callable[[str, str], "tuple[str, str] | None"]
"""Of an environment and a group: the panel and the name of the line there; None for neither."""
PRESET_PAPER = "preset paper, here"
"""Our runs of the preset that is named after the paper, so that none takes them for the paper's."""


def name_of(group: str) -> str:
    """A group beside what the paper reports."""
    return PRESET_PAPER if group == "paper" else group


@dataclass(frozen=True)
class _Line:
    """Runs of a kind in a panel."""

    curves: Sequence[Sequence[tuple[int, float]]]
    moves: int | None
    variant: str
    paper: PaperValue | None


def curves(measure: Measured, place: Place, results: Results, kinds: Kinds) -> Figure | None:
    """A measure against env steps: mean, lowest and highest seed."""
    of_run = results.curves(measure)
    panels: dict[str, dict[str, _Line]] = {}
    for (env, group), runs in kinds.items():
        found = [of_run[run.run] for run in runs if run.run in of_run]
        placed = place(env, group)
        if found and placed is not None:
            said = papers(env, group, runs)
            value = said and (said.coverage if measure == "coverage" else said.success)
            moves = max((run.moves for run in runs if run.moves), default=None)
            line = _Line(found, moves, said.variant if said else "", value or None)
            panels.setdefault(placed[0], {})[placed[1]] = line
    return style.draw_panels(panels, partial(_curve_panel, measure))


def _curve_panel(measure: str, axes: Axes, _: str, lines: Mapping[str, _Line]) -> None:
    printed: dict[str, int] = {}
    for index, (name, line) in enumerate(lines.items()):
        drawn = mean_over_seeds(line.curves)
        if drawn is not None:
            style.draw_band(axes, index, f"{name} ({seeds_text(len(line.curves))})", *drawn)
        if line.paper and (line.variant not in printed or name == PRESET_PAPER):
            printed[line.variant] = index
    for variant, index in printed.items():
        value = list(lines.values())[index].paper
        assert value is not None  # those alone were noted
        label = f"paper, {variant}: {value.text} after {style.steps_text(value.env_steps)}"
        style.paper_line(axes, value.value, label, tint=style.colour(index))
    axes.set_ylim(bottom=0)
    moves = max((line.moves for line in lines.values() if line.moves), default=None)
    if measure != "coverage":
        style.percent_axis(axes, "boards solved")
    else:
        axes.set_ylabel("distinct moves")
        if moves is not None:
            axes.set_ylim(top=1.05 * moves)
    style.steps_axis(axes)
    style.legend_below(axes)


@dataclass(frozen=True)
class _Bar:
    """A measure of runs of a kind."""

    values: list[float]
    env_steps: float
    """Of the agents, on average."""
    paper: PaperValue | None
    """What the paper reports of it: with replanning alone."""


def success_bars(place: Place, results: Results, kinds: Kinds) -> Figure | None:
    """Boards solved with and without replanning, mean and extremes over seeds, and the paper's."""
    panels: dict[str, dict[str, _Bar]] = {}
    for (env, group), runs in kinds.items():
        placed, said = place(env, group), papers(env, group, runs)
        again, first = values_of(runs, "success"), values_of(runs, "success_no_replan")
        reached = [run.success_env_steps for run in runs if run.success_env_steps is not None]
        steps = float(np.mean(reached or [run.budget for run in runs]))
        if placed is not None and again:
            bar = _Bar(again, steps, said.success if said else None)
            panels.setdefault(placed[0], {})[placed[1]] = bar
        if placed is not None and first:
            bars = panels.setdefault(placed[0], {})
            bars[f"{placed[1]}, no replanning"] = _Bar(first, steps, None)
    return style.draw_panels(panels, _bar_panel)


def _bar_panel(axes: Axes, _: str, bars: Mapping[str, _Bar]) -> None:
    printed: set[str] = set()
    for index, (name, bar) in enumerate(bars.items()):
        mean = float(np.mean(bar.values))
        error = [[mean - min(bar.values)], [max(bar.values) - mean]]
        after = style.steps_text(bar.env_steps)
        label = f"{name} ({seeds_text(len(bar.values))}, after {after})"
        axes.bar(index, mean, yerr=error, color=style.colour(index), capsize=3, label=label)
        if bar.paper is not None:  # over its own bar: the paper's is with replanning
            after = style.steps_text(bar.paper.env_steps)
            label = f"paper, with replanning: {bar.paper.text} after {after}"
            axes.plot(
                [index - 0.5, index + 0.5], [bar.paper.value] * 2, "--", color=style.PAPER_COLOUR,
                linewidth=1.8, label=None if label in printed else label,
            )  # fmt: skip
            printed.add(label)
    axes.set_xticks([])
    style.percent_axis(axes, "boards solved")
    style.legend_below(axes)
