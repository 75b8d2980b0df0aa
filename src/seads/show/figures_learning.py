"""What a run became over time: coverage and success against environment steps, and the clock."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from seads.show.figures import (
    MARKERS,
    PAPER_COLOUR,
    colour,
    figure,
    percent_axis,
    steps_axis,
    steps_text,
)
from seads.show.report_runs import RunRecord, paper_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Groups = dict[tuple[str, str], list[RunRecord]]
Points = Sequence[tuple[int, float]]


def panels(groups: Groups) -> dict[str, dict[str, list[RunRecord]]]:
    """The groups by environment: a panel each, a line for every label in it."""
    found: dict[str, dict[str, list[RunRecord]]] = {}
    for (env, label), runs in groups.items():
        found.setdefault(env, {})[label] = runs
    return found


def line_name(label: str) -> str:
    """A group's name beside others': without a preset's, the algorithm's."""
    return label.replace("default", "seads", 1) if label.startswith("default") else label


def legend_below(axes: Axes) -> None:
    """Names where no curve can run through them."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def grid_size(count: int) -> tuple[int, int]:
    """Rows and columns for this many panels."""
    columns = min(count, 2 if count in (2, 4) else 3)
    return math.ceil(count / columns), columns


def mean_over_seeds(curves: Sequence[Points]) -> tuple[np.ndarray, np.ndarray] | None:
    """Common steps, and (mean, lowest, highest) there, over the curves that have points.

    Between its points a curve is straight; outside of what all of them cover nothing is drawn.
    """
    arrays = [np.array(curve, float) for curve in curves if len(curve)]
    if not arrays:
        return None
    first = max(curve[0, 0] for curve in arrays)
    last = min(curve[-1, 0] for curve in arrays)
    steps = np.unique(np.concatenate([curve[:, 0] for curve in arrays]))
    steps = steps[(steps >= first) & (steps <= last)]
    if not len(steps):
        return None
    values = np.stack([np.interp(steps, curve[:, 0], curve[:, 1]) for curve in arrays])
    return steps, np.stack([values.mean(0), values.min(0), values.max(0)])


def draw_coverage(groups: Groups) -> Figure | None:
    """Distinct moves of the skills against env steps, with the paper's final value."""
    curves = {
        env: {
            line_name(label): [run.curve("coverage") for run in runs]
            for label, runs in labels.items()
        }
        for env, labels in panels(groups).items()
    }
    curves = _with_points(curves)
    if not curves:
        return None
    with panel_grid(len(curves)) as (drawn, axes):
        for one, (env, labels) in zip(axes.flat, curves.items(), strict=False):
            _lines(one, labels)
            paper = paper_beside(env, chain(*panels(groups)[env].values()))
            if paper and paper.coverage is not None:
                std = "" if paper.coverage_std is None else f" ± {paper.coverage_std}"
                _paper_mark(one, paper.coverage, f"{paper.coverage}{std}", paper.env_steps)
            one.set_ylim(bottom=0)
            one.set_xlim(left=0)
            one.set_title(env)
            one.set_ylabel("distinct moves")
            steps_axis(one)
            legend_below(one)
        blank(axes, len(curves))
        return drawn


def draw_success(groups: Groups) -> Figure | None:
    """Boards solved against env steps, with and without replanning."""
    curves: dict[str, dict[str, Any]] = {}
    for env, labels in panels(groups).items():
        for label, runs in labels.items():
            plans = runs[0].algorithm == "seads"
            ways = {True: ", replanning", False: ", no replanning"} if plans else {True: ""}
            for replan, how in ways.items():
                found = [run.success_curve(replan) for run in runs]
                curves.setdefault(env, {})[line_name(label) + how] = found
    curves = _with_points(curves)
    if not curves:
        return None
    with panel_grid(len(curves)) as (drawn, axes):
        for one, (env, lines) in zip(axes.flat, curves.items(), strict=False):
            _lines(one, lines)
            percent_axis(one)
            paper = paper_beside(env, chain(*panels(groups)[env].values()))
            if paper and paper.success is not None:
                _paper_mark(one, paper.success, f"{paper.success:.1%}", paper.env_steps)
            one.set_title(env)
            one.set_ylabel("boards solved")
            one.set_xlim(left=0)
            steps_axis(one)
            legend_below(one)
        blank(axes, len(curves))
        return drawn


def draw_wall_clock(groups: Groups) -> Figure | None:
    """Minutes of training against env steps, a line per run."""
    found = {
        env: {line_name(label): [run.wall_clock for run in runs] for label, runs in labels.items()}
        for env, labels in panels(groups).items()
    }
    found = _with_points(found)
    if not found:
        return None
    with panel_grid(len(found)) as (drawn, axes):
        for one, (env, labels) in zip(axes.flat, found.items(), strict=False):
            for index, (label, runs) in enumerate(labels.items()):
                for number, run in enumerate(points for points in runs if points):
                    steps, seconds = np.array(run).T
                    name = label if number == 0 else None
                    one.plot(steps, seconds / 60, color=colour(index), label=name)
            one.set_title(env)
            one.set_ylabel("minutes of training")
            one.set_ylim(bottom=0)
            one.set_xlim(left=0)
            steps_axis(one)
            one.legend(loc="upper left")
        blank(axes, len(found))
        return drawn


def _with_points(curves: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Only the panels and lines in which there is something to draw."""
    kept = {
        env: {label: found for label, found in labels.items() if any(map(len, found))}
        for env, labels in curves.items()
    }
    return {env: labels for env, labels in kept.items() if labels}


def panel_grid(count: int) -> Any:
    """A figure with room for this many panels."""
    rows, columns = grid_size(count)
    return figure(max(6.4, 4.6 * columns), 3.6 * rows, rows, columns)


def blank(axes: np.ndarray, used: int) -> None:
    """Leave the panels that are not used empty."""
    for unused in list(axes.flat)[used:]:
        unused.axis("off")


def _lines(axes: Axes, labels: Mapping[str, Sequence[Points]]) -> None:
    for index, (label, curves) in enumerate(labels.items()):
        found = mean_over_seeds(curves)
        if found is None:
            continue
        steps, (mean, low, high) = found
        seeds = sum(map(bool, map(len, curves)))
        name = label if seeds == 1 else f"{label} ({seeds} seeds)"
        few = len(steps) <= 30
        axes.plot(
            steps,
            mean,
            color=colour(index),
            label=name,
            marker=MARKERS[index % len(MARKERS)] if few else None,
            markersize=6,
        )
        if seeds > 1:
            axes.fill_between(steps, low, high, color=colour(index), alpha=0.18, linewidth=0)


def _paper_mark(axes: Axes, value: float, text: str, env_steps: int) -> None:
    """The paper's final value: a line, since its number of steps is often far off to the right."""
    label = f"paper: {text} after {steps_text(env_steps)}"
    axes.axhline(value, color=PAPER_COLOUR, linestyle=(0, (4, 3)), linewidth=1.4, label=label)
