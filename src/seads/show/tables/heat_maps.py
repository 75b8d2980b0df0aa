"""Heat maps of searches: success on test boards over two settings, a panel for each of a third."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from seads.baselines.settings import BEST_HAC, BEST_SAC
from seads.reading import as_kind
from seads.show.report import style
from seads.show.report.paper import ENVIRONMENTS
from seads.studies.results import Results, RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

AXES = {"sac": ("updates", "alpha"), "hac": ("alpha_low", "alpha_high", "temperature")}
"""What the paper searched over: columns, rows, and panels."""
FIRST = {"sac": 21, "hac": 27}
"""The figure of the first environment; those of the others follow in their order."""

BEST: dict[str, dict[str, dict[str, Any]]] = {"sac": BEST_SAC, "hac": BEST_HAC}
"""What the captions of these figures call the best cell, by environment."""
PAPERS = "#D55E00"
"""The colour of its frame, which no cell has."""

BESIDE = 0.9
"""Inches of a panel to the left of its cells and of its title: numbers and a name."""
NOT_IN_NAMES = r"[^\w.:-]"
"""What a name that was read from a file must not bring into a figure's."""


def heat_maps(results: Results) -> Iterator[tuple[str, Figure]]:
    """Figures S.21 to S.32, of those environments and algorithms that were searched.

    A search has its own, and so has a budget; where there are several, their names tell which.
    """
    searches: dict[tuple[str, str], dict[tuple[str, int], list[RunResult]]] = {}
    for run in results.runs:
        if run.is_trial and run.algorithm in AXES:
            of = searches.setdefault((run.algorithm, run.env), {})
            of.setdefault((run.search, run.budget), []).append(run)
    for (algorithm, env), found in searches.items():
        axes, said = AXES[algorithm], BEST[algorithm].get(env)
        best = tuple(float(said[name]) for name in axes) if said else None
        maps = {key: cells for key, runs in found.items() if len(cells := _cells(runs, axes)) > 1}
        for (search, budget), cells in maps.items():
            title = f"{algorithm} on {env}, {budget:,} env steps"
            number = f"search-{algorithm}-{env}"
            if env in ENVIRONMENTS:
                number = f"S.{FIRST[algorithm] + ENVIRONMENTS.index(env)}"
            if len(maps) > 1:
                title, number = f"{search}: {title}", f"{number}-{search}-{budget}"
            yield re.sub(NOT_IN_NAMES, "-", number), _draw(cells, axes, title, best)


Cells = dict[tuple[float, ...], list[float]]


def _cells(runs: list[RunResult], axes: tuple[str, ...]) -> Cells:
    """Success over seeds, by the values searched over; other settings have no place in the map."""
    found: Cells = {}
    for run in runs:
        settings = dict(part.partition("=")[::2] for part in run.settings.split())
        if run.success is not None and all(name in settings for name in axes):
            values = tuple(
                as_kind(settings[name].encode(), float, f"{run.run}: its setting {name}")
                for name in axes
            )
            found.setdefault(values, []).append(run.success)
    return found


def _draw(
    cells: Cells, axes: tuple[str, ...], title: str, papers_best: tuple[float, ...] | None
) -> Figure:
    """Bold: the best here, several if they tie; framed, or said below where it was not tried: the
    paper's best.
    """
    columns, rows = (sorted({values[i] for values in cells}) for i in (0, 1))
    panels = sorted({values[2:] for values in cells})
    best = max(float(np.mean(success)) for success in cells.values())
    wide = 1.6 + 0.9 * len(columns)
    titles: list[Text] = []
    below: list[Text] = []
    with style.figure(wide * len(panels), 1.8 + 0.7 * len(rows), 1, len(panels)) as (
        drawn,
        all_axes,
    ):
        for one, rest in zip(all_axes.flat, panels, strict=True):
            means = np.full((len(rows), len(columns)), np.nan)
            for values, success in cells.items():
                if values[2:] == rest:
                    place = rows.index(values[1]), columns.index(values[0])
                    means[place] = np.mean(success)
                    _write(one, place, success, math.isclose(float(means[place]), best))
            one.imshow(means, vmin=0, vmax=1, cmap="viridis", origin="lower", aspect="auto")
            one.grid(visible=False)
            one.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
            one.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
            one.set_xlabel(axes[0])
            one.set_ylabel(axes[1])
            third = f", {axes[2]}={rest[0]:g}" if rest else ""
            titles.append(one.set_title(f"{title}{third}", fontsize=10))
            if papers_best in cells and papers_best[2:] == rest:
                _frame(one, rows.index(papers_best[1]), columns.index(papers_best[0]))
        if papers_best is not None:
            named = ", ".join(f"{a}={v:g}" for a, v in zip(axes, papers_best, strict=True))
            how = "framed" if papers_best in cells else "not tried here"
            below = [drawn.supxlabel(f"the paper's best ({how}): {named}", fontsize=9)]
        # words are as wide as they are, however few columns there are
        drawn.set_figwidth(max(len(panels) * max(wide, BESIDE + _inches(titles)), _inches(below)))
        return drawn


def _inches(texts: list[Text]) -> float:
    """The width of the widest."""
    return max((one.get_window_extent().width / one.figure.dpi for one in texts), default=0.0)


def _frame(axes: Axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (column - 0.48, row - 0.48), 0.96, 0.96, fill=False, edgecolor=PAPERS, linewidth=3
        )
    )


def _write(axes: Axes, place: tuple[int, int], success: list[float], best: bool) -> None:
    mean: Any = float(np.mean(success))
    axes.text(
        place[1], place[0], f"{mean:.0%}\nn={len(success)}", ha="center", va="center", fontsize=9,
        color="black" if mean > 0.5 else "white", fontweight="bold" if best else "normal",
    )  # fmt: skip
