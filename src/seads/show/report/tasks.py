"""How boards were solved: success, lengths, failures and planning time, by solution depth."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seads.evaluation.statistics import wilson_interval
from seads.show.report import style
from seads.show.report.learning import line_name, ways
from seads.show.report.reading import Groups
from seads.solving.execution import Reason

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Seeds = list[dict[str, Any]]
"""Evaluations of tasks, one for each seed (`RunRecord.tasks`)."""
PLANS_FOUND, PLANNING_TIME = "Plans found", "Planning time"


def evaluated_tasks(groups: Groups) -> dict[str, dict[str, Seeds]]:
    """The newest evaluations, with and without replanning, by environment and name of the line."""
    found: dict[str, dict[str, Seeds]] = {}
    for (env, label), runs in groups.items():
        for replan, how in ways(runs).items():
            seeds = [tasks for run in runs if (tasks := run.tasks(replan)) is not None]
            if seeds and _depths(seeds):
                found.setdefault(env, {})[_with_seeds(line_name(label) + how, seeds)] = seeds
    return found


def draw_success_by_depth(groups: Groups) -> Figure | None:
    """Share of boards solved at each depth; bars are min and max over seeds, or 95 % of one."""
    return style.draw_panels(evaluated_tasks(groups), partial(_success_panel, groups))


def _success_panel(groups: Groups, axes: Axes, env: str, lines: Mapping[str, Seeds]) -> None:
    for index, (name, seeds) in enumerate(lines.items()):
        mean, low, high = np.array([_share(seeds, depth) for depth in _depths(seeds)]).T
        places = np.array(_depths(seeds)) + _offset(index, len(lines)) * 0.6
        style.draw_whiskers(axes, index, name, places, mean, low, high)
    papers = [runs[0].paper for (one, _), runs in groups.items() if one == env]
    success = next((paper.success for paper in papers if paper and paper.success), None)
    if success is not None:
        style.paper_line(axes, success.value, f"paper, depths 1 to 5 together: {success.text}")
    _depth_axis(axes, {depth for seeds in lines.values() for depth in _depths(seeds)})
    style.percent_axis(axes, "boards solved")
    style.legend_below(axes)


def _share(seeds: Seeds, depth: int) -> tuple[float, float, float]:
    found = [seed["depths"][str(depth)] for seed in seeds]
    shares = [one["success"] for one in found]
    if len(found) > 1:
        return float(np.mean(shares)), min(shares), max(shares)
    boards = found[0]["boards"]
    return shares[0], *wilson_interval(round(shares[0] * boards), boards)


def draw_solution_lengths(groups: Groups) -> Figure | None:
    """Box plots of the env steps of whole solutions, by depth."""
    return style.draw_panels(evaluated_tasks(groups), _solution_panel)


def _solution_panel(axes: Axes, _: str, lines: Mapping[str, Seeds]) -> None:
    for index, (name, seeds) in enumerate(lines.items()):
        boxes = {}
        for depth in _depths(seeds):
            parts = [seed["depths"][str(depth)] for seed in seeds]
            steps = [_of_solved(part["tasks"], "env_steps") for part in parts]
            box = _box(steps, [part.get("solution_length") for part in parts])
            boxes[depth + _offset(index, len(lines))] = box
        _draw_boxes(axes, boxes, 0.68 / len(lines), index, name)
    _depth_axis(axes, {depth for seeds in lines.values() for depth in _depths(seeds)})
    _finish_boxes(axes)


def draw_skill_lengths(groups: Groups) -> Figure | None:
    """Box plots of the env steps of single skills on boards that were solved."""
    found = {
        env: {name: seeds for name, seeds in lines.items() if "skill_length" in seeds[0]}
        for env, lines in evaluated_tasks(groups).items()
    }
    return style.draw_panels({env: lines for env, lines in found.items() if lines}, _skill_panel)


def _skill_panel(axes: Axes, _: str, lines: Mapping[str, Seeds]) -> None:
    for index, (name, seeds) in enumerate(lines.items()):
        boards = [[t for part in seed["depths"].values() for t in part["tasks"]] for seed in seeds]
        runs = [_of_solved(tasks, "skill_steps") for tasks in boards]
        box = _box(runs, [seed["skill_length"] for seed in seeds])
        _draw_boxes(axes, {index: box}, 0.6, index, name)
    axes.set_xticks([])
    axes.set_xlim(-0.8, len(lines) - 0.2)
    _finish_boxes(axes)


def _of_solved(tasks: Sequence[dict[str, Any]], key: str) -> list[float] | None:
    """A value of every solved board, or each of several; None where the file does not list them."""
    if not tasks or any(key not in task for task in tasks):
        return None
    return np.concatenate([[], *(np.ravel(t[key]) for t in tasks if t["solved"])]).tolist()


def _box(
    values: Sequence[list[float] | None], summaries: Sequence[dict[str, float] | None]
) -> dict[str, Any] | None:
    """One box for the values of all agents together; None of nothing.

    Older files hold summaries alone: the middle of their quartiles, the extremes of their ends.
    """
    from matplotlib.cbook import boxplot_stats

    if None not in values:
        pooled = [value for found in values for value in found or ()]
        return boxplot_stats(pooled, whis=1.5)[0] if pooled else None
    known = [one for one in summaries if one is not None]
    if not known:
        return None
    med, q1, q3 = (float(np.median([one[key] for one in known])) for key in ("median", "q1", "q3"))
    low, high = min(one["min"] for one in known), max(one["max"] for one in known)
    return {"med": med, "q1": q1, "q3": q3, "whislo": low, "whishi": high, "fliers": []}


def _draw_boxes(
    axes: Axes, boxes: Mapping[float, dict[str, Any] | None], width: float, index: int, name: str
) -> None:
    known = {place: box for place, box in boxes.items() if box is not None}
    tint = style.colour(index)
    line = {"color": tint, "linewidth": 1.4}
    axes.bxp(
        list(known.values()), positions=list(known), widths=width, patch_artist=True,
        manage_ticks=False, whiskerprops=line, capprops=line, medianprops=line | {"linewidth": 2.4},
        boxprops={"facecolor": tint + "59", "edgecolor": tint, "linewidth": 1.4},
        flierprops={"marker": "o", "markersize": 3, "markeredgecolor": tint, "alpha": 0.6},
    )  # fmt: skip
    axes.plot([], [], color=tint, linewidth=6, label=name)


def _finish_boxes(axes: Axes) -> None:
    axes.set_ylabel("environment steps")
    axes.set_ylim(bottom=0)
    style.legend_below(axes)


def draw_failures(groups: Groups) -> Figure | None:
    """Why boards were not solved, in words."""
    from matplotlib.ticker import PercentFormatter

    reasons = [reason for reason in Reason if reason is not Reason.SOLVED]
    failures = {
        f"{env}, {name}": [
            sum(seed.get("failures", {}).get(reason.name.lower(), 0) for seed in seeds)
            / sum(seed["boards"] for seed in seeds)
            for reason in reasons
        ]
        for env, lines in evaluated_tasks(groups).items()
        for name, seeds in lines.items()
    }
    shares = np.array(list(failures.values())).T
    if not shares.any():
        return None
    with style.figure(8.6, 1.5 + 0.45 * len(failures)) as (drawn, axes):
        (one,) = axes.flat
        left = np.cumsum(shares, axis=0) - shares
        for index, reason in enumerate(reasons):
            if shares[index].any():
                look = {"color": style.colour(index), "label": reason.value}
                one.barh(list(failures), shares[index], left=left[index], **look)
        one.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        one.invert_yaxis()
        one.grid(axis="y", visible=False)
        one.set_xlabel("share of all boards")
        drawn.legend(loc="outside lower center", ncols=2)
        return drawn


def draw_planning(groups: Groups) -> Figure | None:
    """Share of boards for which a plan was found, and how long finding it took, by depth."""
    lines: dict[str, dict[str, np.ndarray]] = {PLANS_FOUND: {}, PLANNING_TIME: {}}
    for (env, label), runs in groups.items():
        for planner in sorted({planner for run in runs for planner in run.planners}):
            seeds = [tasks for run in runs if (tasks := run.tasks(planner=planner)) is not None]
            name = _with_seeds(f"{env}, {line_name(label)}, {planner}", seeds)
            for title, value_of in (
                (PLANS_FOUND, lambda facts: facts.get("plans_found")),
                (PLANNING_TIME, _milliseconds),
            ):
                rows = _over_agents(seeds, value_of)
                if rows:
                    lines[title][name] = np.array(rows).T
    return style.draw_panels({title: one for title, one in lines.items() if one}, _planning_panel)


def _planning_panel(axes: Axes, title: str, lines: Mapping[str, np.ndarray]) -> None:
    from matplotlib.ticker import LogLocator

    for index, (name, (depths, *values)) in enumerate(lines.items()):
        style.draw_band(axes, index, name, depths, values)
    if title == PLANS_FOUND:
        style.percent_axis(axes, "boards with a plan")
    else:
        axes.set_yscale("log")
        low_end, high_end = axes.get_ylim()
        axes.set_ylim(low_end / 2, high_end * 2)  # a few percent must not look like a trend
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
        axes.set_ylabel("milliseconds")
    _depth_axis(axes, {int(depth) for depths, *_ in lines.values() for depth in depths})
    style.legend_below(axes)


def _milliseconds(facts: dict[str, Any]) -> float | None:
    """Of first plans that were found; an older file knows the time of all plans together."""
    times = facts.get("first_plan_seconds", facts.get("planning_seconds"))
    return None if times is None else 1000 * times["mean"]


def _over_agents(
    seeds: Seeds, value_of: Callable[[dict[str, Any]], float | None]
) -> list[tuple[float, ...]]:
    """Depth, and mean, lowest and highest over the agents, where there is a value."""
    rows: list[tuple[float, ...]] = []
    for depth in _depths(seeds):
        values = [value_of(seed["depths"][str(depth)]) for seed in seeds]
        known = [value for value in values if value is not None]
        if known:
            rows.append((depth, float(np.mean(known)), min(known), max(known)))
    return rows


def _depths(seeds: Seeds) -> list[int]:
    """The depths that every seed was evaluated at."""
    common = set.intersection(*(set(seed["depths"]) for seed in seeds))
    return sorted(int(depth) for depth in common)


def _with_seeds(name: str, seeds: Seeds) -> str:
    return name if len(seeds) == 1 else f"{name} ({len(seeds)} seeds)"


def _offset(index: int, count: int) -> float:
    """Where beside a depth the i-th group is drawn."""
    return (index - (count - 1) / 2) * 0.8 / count


def _depth_axis(axes: Axes, depths: Collection[int]) -> None:
    axes.set_xlabel("solution depth (moves needed)")
    axes.set_xticks(sorted(depths))
    axes.set_xlim(min(depths) - 0.6, max(depths) + 0.6)
    axes.grid(axis="x", visible=False)
