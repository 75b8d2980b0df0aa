"""The figures by the paper's numbers: curves, bars, boxes, depths, skills, heat maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from seads.errors import SeadsError
from seads.evaluation.stored import StoredMaps
from seads.files import write_text_aside
from seads.reading import MOST_RESULT_BYTES, Name, as_kind, read_bytes
from seads.show.report import style
from seads.show.report.learning import mean_over_seeds
from seads.show.report.paper import ENVIRONMENTS, LARGER_BOARDS
from seads.show.tables.heat_maps import heat_maps
from seads.show.tables.kinds import Kinds, kinds_of, papers, values_of
from seads.studies.results import Board, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RELABELLING = ("no-relabelling", "no-model-relabelling", "no-sac-relabelling")
ELEVATED = ("lightsout-jaco", "lightsout3d-jaco")
ROBOTS = ("lightsout-robot-absolute", "lightsout-robot")
LARGER = (*LARGER_BOARDS, "lightsout-cursor-5x5-spaced")
FRAMES = "lightsout3d-jaco"
SKILLS = {"S.6": ENVIRONMENTS[0:2], "S.7": ENVIRONMENTS[2:4], "S.8": ENVIRONMENTS[4:6]}
"""Paths of the skills; where they touch is S.5."""

SOLUTION_LENGTHS = dict(zip(ENVIRONMENTS, (15, 10), strict=False))
"""About how many env steps the paper's agents need at depth 5 (S.2.2), where it says so."""
SKILL_LENGTHS = dict(zip(ENVIRONMENTS, (3, 2, 11, 9, 12, 13), strict=True))
"""The paper's medians (S.2.3)."""

MAPS_ARE = "an evaluation of skills"


class _Maps(TypedDict):
    """What of such a file is drawn."""

    env: Name
    skill_maps: StoredMaps


Draw = Callable[[Results, Kinds], "Figure | None"]


def write_figures(
    results: Results, sources: Sequence[Path], home: Path
) -> tuple[dict[str, list[str]], list[str]]:
    """Write every figure that the results allow, as PDF, PNG and SVG; and what was left out."""
    kinds = kinds_of(results)
    found: dict[str, list[str]] = {}
    remarks: list[str] = []
    for number, draw in FIGURES.items():
        drawn = draw(results, kinds)
        if drawn is not None:
            found[number] = _saved(drawn, home, number)
    for number, drawn in (*heat_maps(results), *skill_figures(sources, home, remarks)):
        found[number] = _saved(drawn, home, number)
    try:
        found["S.12"] = [str(_frame(home))]
    except SeadsError as error:
        remarks.append(f"figure S.12 is left out: {error}")
    return found, remarks


def _saved(drawn: Figure, home: Path, number: str) -> list[str]:
    return [str(path) for path in style.save(drawn, home, f"figure-{number}")]


def curves(
    measure: str, takes: Callable[[str, str], bool], results: Results, kinds: Kinds
) -> Figure | None:
    """A measure against env steps, a panel for each environment: mean, lowest and highest seed."""
    of_run: dict[str, list[tuple[int, float]]] = {}
    for point in results.points:
        if point.measure == measure:
            of_run.setdefault(point.run, []).append((point.env_steps, point.value))
    lines: dict[str, dict[str, Any]] = {}
    for (env, group), runs in kinds.items():
        found = [sorted(of_run[run.run]) for run in runs if run.run in of_run]
        if found and takes(env, group):
            lines.setdefault(env, {})[group] = found
    return style.draw_panels(lines, partial(_curve_panel, measure, kinds))


def _curve_panel(
    measure: str, kinds: Kinds, axes: Axes, env: str, lines: Mapping[str, Any]
) -> None:
    for index, (group, found) in enumerate(lines.items()):
        drawn = mean_over_seeds(found)
        if drawn is not None:
            style.draw_band(axes, index, f"{group} ({len(found)} seeds)", *drawn)
    said = {group: papers(env, group, kinds[env, group]) for group in lines}
    values = [
        (one.coverage if measure == "coverage" else one.success) for one in said.values() if one
    ]
    for index, value in enumerate(dict.fromkeys(one for one in values if one is not None)):
        label = f"paper: {value.text} after {style.steps_text(value.env_steps)}"
        style.paper_line(axes, value.value, label, index)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("distinct moves")
    if measure != "coverage":
        style.percent_axis(axes, "boards solved")
    style.steps_axis(axes)
    style.legend_below(axes)


def success_bars(
    takes: Callable[[str, str], bool], results: Results, kinds: Kinds
) -> Figure | None:
    """Boards solved with and without replanning, mean and extremes over seeds, and the paper's."""
    bars: dict[str, dict[str, list[float]]] = {}
    for (env, group), runs in kinds.items():
        for measure, how in (("success", ""), ("success_no_replan", ", no replanning")):
            values = values_of(runs, measure)  # type: ignore[arg-type]
            if values and takes(env, group):
                bars.setdefault(env, {})[f"{group}{how}"] = values
    return style.draw_panels(bars, partial(_bar_panel, kinds))


def _bar_panel(kinds: Kinds, axes: Axes, env: str, bars: Mapping[str, list[float]]) -> None:
    for index, (name, values) in enumerate(bars.items()):
        mean = float(np.mean(values))
        error = [[mean - min(values)], [max(values) - mean]]
        label = f"{name} ({len(values)} seeds)"
        axes.bar(index, mean, yerr=error, color=style.colour(index), capsize=3, label=label)
    said = [papers(env, group, runs) for (one, group), runs in kinds.items() if one == env]
    value = next((one.success for one in said if one and one.success), None)
    if value is not None:
        style.paper_line(axes, value.value, f"paper: {value.text}")
    axes.set_xticks([])
    style.percent_axis(axes, "boards solved")
    style.legend_below(axes)


def solution_lengths(results: Results, kinds: Kinds) -> Figure | None:
    """S.9: env steps of solved boards, by depth, with and without replanning."""
    return _boxes(results, kinds, lambda board: [board.env_steps], by_depth=True)


def skill_lengths(results: Results, kinds: Kinds) -> Figure | None:
    """S.10: env steps of single skills on solved boards."""
    steps = lambda board: [int(one) for one in board.skill_steps.split()]  # noqa: E731
    return _boxes(results, kinds, steps, by_depth=False)


def _boxes(
    results: Results, kinds: Kinds, values: Callable[[Board], list[int]], by_depth: bool
) -> Figure | None:
    of_run: dict[str, list[Board]] = {}
    for board in results.boards:
        if board.solved and not board.deep and board.skill_steps:
            of_run.setdefault(board.run, []).append(board)
    found: dict[str, dict[str, list[Board]]] = {}
    for (env, group), runs in kinds.items():
        boards = [board for run in runs for board in of_run.get(run.run, ())]
        for replan, how in ((True, ""), (False, ", no replanning")):
            own = [board for board in boards if board.replan is replan]
            if own and group in ("paper", "default"):
                found.setdefault(env, {})[f"{group}{how}"] = own

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
            label = f"paper: about {steps} at depth 5"
            axes.plot(5, steps, "*", color=style.PAPER_COLOUR, markersize=10, label=label)
        elif not by_depth and env in SKILL_LENGTHS:
            steps = SKILL_LENGTHS[env]
            style.paper_line(axes, steps, f"paper: median {steps}")
        axes.set_xlabel("solution depth" if by_depth else "")
        axes.set_ylabel("env steps")
        style.legend_below(axes)

    return style.draw_panels(found, panel)


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
            summary = np.stack([np.nanmean(each, 0), np.nanmin(each, 0), np.nanmax(each, 0)])
            panels.setdefault(name, {})[f"{env}, {group}"] = (np.array(depths, float), summary)

    def panel(axes: Axes, name: str, lines: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
        for index, (label, found) in enumerate(lines.items()):
            style.draw_band(axes, index, label, *found)
        axes.set_xlabel("solution depth")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if name == names[2]:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            for depth, seconds in ((5, 2.02), (9, 301.8)):  # paper S.3
                axes.plot(depth, seconds, "*", color=style.PAPER_COLOUR, markersize=10)
            axes.plot(
                [], [], "*", color=style.PAPER_COLOUR, label="paper: 2.02 s at 5, 301.8 s at 9"
            )
        else:
            style.percent_axis(axes, name)
        style.legend_below(axes)

    return style.draw_panels(panels, panel)


def _at_depth(boards: Sequence[Board], name: str) -> float:
    if name.startswith("all planning"):
        found = [
            board.plan_seconds
            for board in boards
            if board.planned and board.plan_seconds is not None
        ]
        return float(np.mean(found)) if found else float("nan")
    return float(
        np.mean([board.planned if name == "plans found" else board.solved for board in boards])
    )


def skill_figures(
    sources: Sequence[Path], home: Path, remarks: list[str]
) -> Iterator[tuple[str, Figure]]:
    """S.5 to S.8: where skills touch and how they get there, of the first run that has maps.

    What they are drawn from is kept beside them, so that they can be drawn again. A damaged file
    is a remark.
    """
    from seads.show.report.skills import draw_paths, draw_touches
    from seads.solving.boards import game_of

    done: set[str] = set()
    for path in (path for source in sources for path in sorted(source.glob("**/skills-*.json"))):
        try:
            content = read_bytes(path, MAPS_ARE, MOST_RESULT_BYTES)
            found = as_kind(content, _Maps, f"{path} is not {MAPS_ARE}")
        except SeadsError as error:
            remarks.append(str(error))
            continue
        env = found["env"]
        game = None if env in done else game_of(env)
        if game is None:
            continue
        done.add(env)
        write_text_aside(home / f"skills-{env}.json", content.decode())
        number = next((number for number, envs in SKILLS.items() if env in envs), "S.8")
        yield f"S.5-{env}", draw_touches(found["skill_maps"], game, env)
        paths = draw_paths(found["skill_maps"], game, env)
        if paths is not None:
            yield f"{number}-{env}", paths


def _frame(home: Path) -> Path:
    """S.12: how the board with raised fields looks."""
    from contextlib import closing

    from PIL import Image

    from seads.envs import make_env
    from seads.envs.render import Renderer
    from seads.streams import row_seeds

    path = home / "figure-S.12.png"
    with closing(make_env(FRAMES)) as env:
        env.reset(row_seeds(0, 1))
        with closing(Renderer(env)) as renderer:
            Image.fromarray(renderer.frame(0)).save(path)
    return path


def _of_paper(env: str, group: str) -> bool:
    return env in ENVIRONMENTS and not group.startswith("vic") and group not in RELABELLING[1:]


def _six(env: str, _: str) -> bool:
    return env in ENVIRONMENTS


def _elevated(env: str, group: str) -> bool:
    return env in ELEVATED and group in ("paper", "default")


def _relabelling(env: str, group: str) -> bool:
    return env in ENVIRONMENTS and group in ("paper", *RELABELLING)


def _vic(env: str, group: str) -> bool:
    return env in ENVIRONMENTS[:2] and (group.startswith("vic") or group == "paper")


FIGURES: dict[str, Draw] = {
    "3-moves": partial(curves, "coverage", _of_paper),
    "3-success": partial(curves, "success", _six),
    "3-bars": partial(success_bars, _six),
    "S.9": solution_lengths,
    "S.10": skill_lengths,
    "S.11": large_depths,
    "S.13-moves": partial(curves, "coverage", _elevated),
    "S.13-success": partial(success_bars, _elevated),
    "S.15": partial(curves, "coverage", lambda env, _: env in LARGER),
    "S.17": partial(curves, "success", lambda env, _: env in ROBOTS),
    "S.19": partial(curves, "coverage", _relabelling),
    "S.20": partial(curves, "coverage", _vic),
}
"""By the paper's numbers; figure 3 and S.13 have several parts."""
