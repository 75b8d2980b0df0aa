"""What a run became over time: coverage and success against environment steps, and the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from seads.show.report import style
from seads.show.report.paper import SEADS
from seads.show.report.reading import Groups
from seads.show.report.records import Part, Points, RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Lines = dict[str, dict[str, list[Points]]]
"""Curves of the seeds, by environment and name of the line."""


def line_name(label: str) -> str:
    """A group's name beside others': without a preset's, the algorithm's."""
    return label.replace("default", "seads", 1) if label.startswith("default") else label


def ways(runs: Sequence[RunRecord]) -> dict[bool, str]:
    """With and without replanning, as part of a line's name; a baseline has no plan."""
    plans = runs[0].algorithm == "seads"
    return {True: ", replanning", False: ", no replanning"} if plans else {True: ""}


def draw_curves(groups: Groups, part: Part) -> Figure | None:
    """Distinct moves or boards solved against env steps, with the paper's final value."""
    lines: Lines = {}
    for (env, label), runs in groups.items():
        for replan, how in (ways(runs) if part == "tasks" else {True: ""}).items():
            for run in runs:
                for boards, points in run.curves(part, replan).items():
                    name = f"{line_name(label)}{how}, {boards}"
                    lines.setdefault(env, {}).setdefault(name, []).append(points)
    return style.draw_panels(lines, partial(_panel, groups, part))


def _panel(
    groups: Groups, part: Part, axes: Axes, env: str, lines: Mapping[str, Sequence[Points]]
) -> None:
    for index, (label, curves) in enumerate(lines.items()):
        found = mean_over_seeds(curves)
        if found is not None:
            name = label if len(curves) == 1 else f"{label} ({len(curves)} seeds)"
            style.draw_band(axes, index, name, *found)
    papers = dict.fromkeys(runs[0].paper for (one, _), runs in groups.items() if one == env)
    for index, paper in enumerate(paper for paper in papers if paper is not None):
        value = paper.coverage if part == "coverage" else paper.success
        if value is not None:
            variant = "" if paper.variant == SEADS else f", {paper.variant}"
            label = f"paper{variant}: {value.text} after {style.steps_text(value.env_steps)}"
            # a line, since the paper's number of steps is often far off to the right
            style.paper_line(axes, value.value, label, index)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("distinct moves")
    if part == "tasks":
        style.percent_axis(axes, "boards solved")
    style.steps_axis(axes)
    style.legend_below(axes)


def mean_over_seeds(curves: Sequence[Points]) -> tuple[np.ndarray, np.ndarray] | None:
    """Common steps, and (mean, lowest, highest) there, over the curves.

    Between its points a curve is straight; outside of what all of them cover nothing is drawn.
    Single points, whose steps hardly ever are the same, are one point at their mean.
    """
    arrays = [np.array(curve, float) for curve in curves]
    steps = np.unique(np.concatenate([curve[:, 0] for curve in arrays]))
    if all(len(curve) == 1 for curve in arrays):
        steps = steps.mean(keepdims=True)
    else:
        first, last = max(curve[0, 0] for curve in arrays), min(curve[-1, 0] for curve in arrays)
        steps = steps[(steps >= first) & (steps <= last)]
    if not len(steps):
        return None
    values = np.stack([np.interp(steps, curve[:, 0], curve[:, 1]) for curve in arrays])
    return steps, np.stack([values.mean(0), values.min(0), values.max(0)])


def draw_wall_clock(groups: Groups) -> Figure | None:
    """Minutes of training against env steps, a line per run."""
    clocks: Lines = {}
    for (env, label), runs in groups.items():
        found = [run.wall_clock for run in runs if run.wall_clock]
        if found:
            clocks.setdefault(env, {})[line_name(label)] = found
    return style.draw_panels(clocks, _clock_panel)


def _clock_panel(axes: Axes, _: str, labels: Mapping[str, Sequence[Points]]) -> None:
    for index, (label, runs) in enumerate(labels.items()):
        for number, run in enumerate(runs):
            steps, seconds = np.array(run).T
            name = label if number == 0 else None
            axes.plot(steps, seconds / 60, color=style.colour(index), label=name)
    axes.set_ylabel("minutes of training")
    axes.set_ylim(bottom=0)
    style.steps_axis(axes)
    axes.legend(loc="upper left")
