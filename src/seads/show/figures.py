"""How all figures look: one style, colours that everyone can tell apart, files for papers."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, made for colour-blind readers; yellow is left out: too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
PAPER_COLOUR = "#222222"
GRID_COLOUR = "#E3E5E8"
FORMATS = ("pdf", "png", "svg")

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
    "grid.color": GRID_COLOUR,
    "grid.linewidth": 0.9,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
    "legend.fontsize": 10.0,
    "lines.linewidth": 2.0,
    "svg.fonttype": "path",  # the page must look the same where a font is missing
    "svg.hashsalt": "seads",  # the same runs give the same file
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
    "savefig.bbox": "tight",
}


@contextmanager
def figure(
    width: float,
    height: float,
    rows: int = 1,
    columns: int = 1,
    width_ratios: Sequence[float] | None = None,
) -> Iterator[Any]:
    """A figure of this size in inches and its axes, in our style; drawn without a screen."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        drawn = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(drawn)
        yield drawn, drawn.subplots(rows, columns, squeeze=False, width_ratios=width_ratios)


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
        for path in paths:
            drawn.savefig(path, dpi=200, metadata=dates[path.suffix[1:]])
    return paths


def colour(index: int) -> str:
    """The colour of the i-th group."""
    return COLOURS[index % len(COLOURS)]


def steps_axis(axes: Axes, label: str = "environment steps") -> None:
    """Label an axis of environment steps: 200k, 1.5M."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: steps_text(value)))


def steps_text(value: float) -> str:
    """A number of steps in few letters."""
    if value >= 1e6:
        return f"{value / 1e6:.3g}M"
    return f"{value / 1e3:.3g}k" if value >= 1e3 else f"{value:.0f}"


def percent_axis(axes: Axes) -> None:
    """A y axis from nothing to all."""
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(-0.02, 1.04)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
