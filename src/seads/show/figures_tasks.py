"""How boards were solved: success, lengths, failures and planning time, by solution depth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from seads.evaluation.statistics import wilson_interval
from seads.planning.executor import Reason
from seads.show.figures import MARKERS, PAPER_COLOUR, colour, figure, percent_axis
from seads.show.figures_learning import Groups, blank, panel_grid, panels
from seads.show.report_runs import PaperResult, paper_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Tasks = dict[str, list[dict[str, Any]]]
"""Evaluations of tasks by a name for the legend, one for each seed."""


def evaluated_tasks(groups: Groups, replan: bool | None = None) -> Tasks:
    """The newest evaluation of each run, by environment, settings and kind of execution."""
    found: Tasks = {}
    for (env, label), runs in groups.items():
        for kind in (True, False) if replan is None else (replan,):
            parts = [run.tasks(kind) for run in runs]
            some = [part for part in parts if part is not None]
            if some:
                name = env if label == "default" else f"{env}, {label}"
                found[name if kind else f"{name}, no replanning"] = some
    return found


def draw_success_by_depth(groups: Groups) -> Figure | None:
    """Share of boards solved at each depth; bars are min and max over seeds, or 95 % of one."""
    found = {
        env: evaluated_tasks({(env, label): runs for label, runs in labels.items()})
        for env, labels in panels(groups).items()
    }
    found = {env: tasks for env, tasks in found.items() if tasks}
    if not found:
        return None
    with panel_grid(len(found)) as (drawn, axes):
        for one, (env, tasks) in zip(axes.flat, found.items(), strict=False):
            runs = chain(*panels(groups)[env].values())
            _success_panel(one, env, tasks, paper_beside(env, runs))
        blank(axes, len(found))
        return drawn


def _success_panel(axes: Axes, env: str, tasks: Tasks, paper: PaperResult | None) -> None:
    for index, (name, seeds) in enumerate(tasks.items()):
        depths = _depths(seeds)
        if not depths:
            continue
        mean, low, high = np.array([_share(seeds, depth) for depth in depths]).T
        how = name.removeprefix(env).removeprefix(", ") or "replanning"
        axes.errorbar(
            np.array(depths) + _offset(index, len(tasks)) * 0.6,
            mean,
            yerr=np.maximum(0, [mean - low, high - mean]),
            color=colour(index),
            marker=MARKERS[index % len(MARKERS)],
            linestyle="none",
            markersize=7,
            capsize=3,
            elinewidth=1.5,
            label=how if len(seeds) == 1 else f"{how} ({len(seeds)} seeds)",
        )
    _depth_axis(axes, sorted({depth for seeds in tasks.values() for depth in _depths(seeds)}))
    if paper is not None and paper.success is not None:
        label = f"paper, depths 1 to 5 together: {paper.success:.1%}"
        dashes = (0, (4, 3))
        axes.axhline(
            paper.success, color=PAPER_COLOUR, linestyle=dashes, linewidth=1.4, label=label
        )
    percent_axis(axes)
    axes.set_ylabel("boards solved")
    axes.set_title(env)
    axes.legend(loc="lower left")


def draw_lengths(groups: Groups) -> Figure | None:
    """Box plots: env steps of whole solutions by depth, and of single skills."""
    tasks = evaluated_tasks(groups, replan=True) or evaluated_tasks(groups, replan=False)
    if not tasks:
        return None
    with figure(10.4, 4.0, 1, 2, width_ratios=(2.4, 1)) as (drawn, axes):
        wide, narrow = axes.flat
        width = 0.8 / len(tasks)
        for index, (name, seeds) in enumerate(tasks.items()):
            depths = _depths(seeds)
            boxes, places = [], []
            for depth in depths:
                box = _box([seed["depths"][str(depth)]["solution_length"] for seed in seeds])
                if box is not None:
                    boxes.append(box)
                    places.append(depth + _offset(index, len(tasks)))
            _boxes(wide, boxes, places, width * 0.85, index)
            wide.plot([], [], color=colour(index), linewidth=6, label=name)
            box = _box([seed.get("skill_length") for seed in seeds])
            if box is not None:
                _boxes(narrow, [box], [index], 0.6, index)
        _depth_axis(wide, sorted({d for seeds in tasks.values() for d in _depths(seeds)}))
        wide.set_ylabel("environment steps")
        wide.set_title("Solution length of solved boards")
        wide.set_ylim(bottom=0)
        wide.legend(loc="upper left")
        narrow.set_title("Steps of one skill")
        narrow.set_xticks([])
        narrow.set_ylim(bottom=0)
        return drawn


def draw_failures(groups: Groups) -> Figure | None:
    """Why boards were not solved, in words."""
    tasks = evaluated_tasks(groups)
    failures = {
        name: {
            reason: sum(seed.get("failures", {}).get(reason.name.lower(), 0) for seed in seeds)
            / sum(seed["boards"] for seed in seeds)
            for reason in Reason
            if reason is not Reason.SOLVED
        }
        for name, seeds in tasks.items()
    }
    if not any(sum(shares.values()) for shares in failures.values()):
        return None
    with figure(8.6, 1.5 + 0.45 * len(failures)) as (drawn, axes):
        (one,) = axes.flat
        left = np.zeros(len(failures))
        for index, reason in enumerate(r for r in Reason if r is not Reason.SOLVED):
            shares = np.array([found[reason] for found in failures.values()])
            if shares.any():
                one.barh(list(failures), shares, left=left, color=colour(index), label=reason.value)
                left = left + shares
        from matplotlib.ticker import PercentFormatter

        one.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        one.invert_yaxis()
        one.grid(axis="y", visible=False)
        one.set_xlabel("share of all boards")
        one.set_title("Why boards were not solved")
        one.legend(loc="upper center", bbox_to_anchor=(0.4, -0.28 - 0.2 / len(failures)), ncols=2)
        return drawn


def draw_planning_time(groups: Groups) -> Figure | None:
    """Median and quartiles of one plan's time, by depth."""
    tasks = evaluated_tasks(groups, replan=True) or evaluated_tasks(groups, replan=False)
    times = {name: _planning_times(seeds) for name, seeds in tasks.items()}
    if not any(times.values()):  # nothing evaluated, or only baselines, which do not plan
        return None
    with figure(7.6, 3.8) as (drawn, axes):
        (one,) = axes.flat
        for index, (name, rows) in enumerate(times.items()):
            if not rows:
                continue
            depth_axis, median, low, high = np.array(rows).T
            one.fill_between(
                depth_axis, low * 1000, high * 1000, color=colour(index), alpha=0.18, linewidth=0
            )
            one.plot(
                depth_axis,
                median * 1000,
                color=colour(index),
                marker=MARKERS[index % len(MARKERS)],
                label=name,
            )
        one.set_yscale("log")
        low_end, high_end = one.get_ylim()
        one.set_ylim(low_end / 2, high_end * 2)  # a few percent must not look like a trend
        one.yaxis.set_major_formatter("{x:g}")
        one.yaxis.set_minor_formatter("")
        _depth_axis(one, sorted({d for seeds in tasks.values() for d in _depths(seeds)}))
        one.set_ylabel("milliseconds per plan")
        one.set_title("Planning time: median and quartiles")
        one.legend(loc="best")
        return drawn


def _planning_times(seeds: Sequence[dict[str, Any]]) -> list[tuple[float, ...]]:
    """Depth, median and quartiles of a plan's time, for each depth that was planned at."""
    rows = []
    for depth in _depths(seeds):
        times = [seed["depths"][str(depth)].get("planning_seconds") for seed in seeds]
        found = [time for time in times if time is not None]
        if found:
            quartiles = [
                float(np.median([t[key] for t in found])) for key in ("median", "q1", "q3")
            ]
            rows.append((float(depth), *quartiles))
    return rows


def _depths(seeds: Sequence[dict[str, Any]]) -> list[int]:
    """The depths that every seed was evaluated at."""
    common = set.intersection(*(set(seed["depths"]) for seed in seeds))
    return sorted(int(depth) for depth in common)


def _share(seeds: Sequence[dict[str, Any]], depth: int) -> tuple[float, float, float]:
    found = [seed["depths"][str(depth)] for seed in seeds]
    shares = [one["success"] for one in found]
    if len(found) > 1:
        return float(np.mean(shares)), min(shares), max(shares)
    boards = found[0]["boards"]
    return shares[0], *wilson_interval(round(shares[0] * boards), boards)


def _offset(index: int, count: int) -> float:
    """Where beside a depth the i-th group is drawn."""
    return (index - (count - 1) / 2) * 0.8 / max(count, 1) * (0.35 if count == 1 else 1.0)


def _depth_axis(axes: Axes, depths: Sequence[int]) -> None:
    axes.set_xlabel("solution depth (moves needed)")
    axes.set_xticks(list(depths), [str(depth) for depth in depths])
    axes.set_xlim(min(depths) - 0.6, max(depths) + 0.6)
    axes.grid(axis="x", visible=False)


def _box(summaries: Sequence[dict[str, float] | None]) -> dict[str, float] | None:
    """One box for several seeds: the middle of their quartiles, the extremes of their ends."""
    found = [one for one in summaries if one is not None]
    if not found:
        return None
    return {
        "med": float(np.median([one["median"] for one in found])),
        "q1": float(np.median([one["q1"] for one in found])),
        "q3": float(np.median([one["q3"] for one in found])),
        "whislo": min(one["min"] for one in found),
        "whishi": max(one["max"] for one in found),
    }


def _boxes(
    axes: Axes, boxes: list[dict[str, float]], places: Sequence[float], width: float, index: int
) -> None:
    if not boxes:
        return
    tint = colour(index)
    axes.bxp(
        boxes,
        positions=list(places),
        widths=width,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": tint, "alpha": 0.35, "edgecolor": tint, "linewidth": 1.4},
        medianprops={"color": tint, "linewidth": 2.4},
        whiskerprops={"color": tint, "linewidth": 1.4},
        capprops={"color": tint, "linewidth": 1.4},
    )
