"""How all figures look: one style, colours that everyone can tell apart, files for papers."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seads.files import write_aside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, made for colour-blind readers, without yellow, which is too pale for
# lines; the last three are from Paul Tol's.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444",
    "#882255", "#999933", "#332288",
)  # fmt: skip
# 17 beside 10 colours: 170 looks, enough for the 169 skills of the largest board
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">", "p", "d", "h", 6, 7, 4, 5)
PAPER_COLOUR = "#222222"
FORMATS = ("pdf", "png", "svg")
Line = TypeVar("Line")

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 11.0,
    "axes.titlesize": 12.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10.0,
    "axes.labelcolor": "#333333",
    "axes.edgecolor": "#9AA0A6",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E5E8",
    "grid.linewidth": 0.9,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
    "legend.fontsize": 10.0,
    "lines.linewidth": 2.0,
    "text.parse_math": False,  # a dollar sign in a setting's value is a dollar sign
    "svg.fonttype": "path",  # the page must look the same where a font is missing
    "svg.hashsalt": "seads",  # the same runs give the same file
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
    "savefig.bbox": "tight",
}


@contextmanager
def figure(width: float, height: float, rows: int = 1, columns: int = 1) -> Iterator[Any]:
    """A figure of this size in inches and its axes, in our style; drawn without a screen."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        drawn = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(drawn)
        yield drawn, drawn.subplots(rows, columns, squeeze=False)


def draw_panels(
    contents: Mapping[str, Mapping[str, Line]],
    draw: Callable[[Axes, str, Mapping[str, Line]], None],
) -> Figure | None:
    """A panel for each of several sets of lines, titled with its name; None of nothing."""
    if not contents:
        return None
    count = len(contents)
    columns = min(count, 2 if count == 4 else 3)
    rows = math.ceil(count / columns)
    with figure(max(6.4, 4.6 * columns), 3.0 * rows, rows, columns) as (drawn, axes):
        for unused in axes.flat[count:]:
            unused.axis("off")
        for one, (title, lines) in zip(axes.flat, contents.items(), strict=False):
            draw(one, title, lines)
            one.set_title(title)
        named = max(len(one.get_legend_handles_labels()[1]) for one in axes.flat)
        drawn.set_figheight((3.2 + 0.23 * named) * rows)  # a panel keeps its height
        return drawn


def to_svg(drawn: Figure) -> str:
    """The figure as an SVG element to put into a page."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def save(drawn: Figure, directory: Path, name: str) -> list[Path]:
    """Write the figure in every format a paper or a talk may want."""
    import matplotlib

    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"{name}.{suffix}" for suffix in FORMATS]
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    with matplotlib.rc_context(STYLE):
        for suffix, path in zip(FORMATS, paths, strict=True):
            content = io.BytesIO()
            drawn.savefig(content, format=suffix, dpi=200, metadata=dates[suffix])
            write_aside(path, content.getvalue())
    return paths


def colour(index: int) -> str:
    """The colour of the i-th of several."""
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> Any:
    """The marker of the i-th of several: together with its colour, its own up to 170 of them."""
    return MARKERS[index % len(MARKERS)]


def draw_band(axes: Axes, index: int, name: str, x: np.ndarray, values: Any) -> None:
    """A line through means between the lowest and the highest; a single point has whiskers."""
    if len(x) == 1:
        draw_whiskers(axes, index, name, x, *values)
        return
    mean, low, high = values
    mark = marker(index) if len(x) <= 30 else None
    axes.plot(x, mean, color=colour(index), marker=mark, markersize=6, label=name)
    axes.fill_between(x, low, high, color=colour(index), alpha=0.18, linewidth=0)


def draw_whiskers(
    axes: Axes, index: int, name: str, x: np.ndarray, mean: Any, low: Any, high: Any
) -> None:
    """Points with whiskers from the lowest to the highest."""
    axes.errorbar(
        x, mean, np.maximum(0, [mean - low, high - mean]), color=colour(index),
        marker=marker(index), markersize=7, linestyle="none", capsize=3, elinewidth=1.5, label=name,
    )  # fmt: skip


def paper_line(
    axes: Axes, value: float, label: str, index: int = 0, tint: str = PAPER_COLOUR
) -> None:
    """What the paper reports, across the panel; each of several with dashes of its own."""
    dashes = (0, (4 + 3 * index, 3))
    axes.axhline(value, color=tint, linestyle=dashes, linewidth=1.4, label=label)


def legend_below(axes: Axes) -> None:
    """Names where no curve can run through them, and below the x axis' own, however flat it is."""
    from matplotlib.transforms import ScaledTranslation

    drawn: Any = axes.get_figure(root=True)
    inches = 0.55 if axes.get_xlabel() else 0.3
    below = axes.transAxes + ScaledTranslation(0, -inches, drawn.dpi_scale_trans)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below)


def steps_axis(axes: Axes) -> None:
    """An x axis of environment steps from zero on: 200k, 1.5M."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel("environment steps")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: steps_text(value)))


def steps_text(value: float) -> str:
    """A number of steps in few letters."""
    if value >= 1e6:
        return f"{value / 1e6:.3g}M"
    return f"{value / 1e3:.3g}k" if value >= 1e3 else f"{value:.0f}"


def percent_axis(axes: Axes, label: str) -> None:
    """A y axis from nothing to all."""
    from matplotlib.ticker import PercentFormatter

    axes.set_ylabel(label)
    axes.set_ylim(-0.02, 1.04)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
