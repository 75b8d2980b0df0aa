"""The figures by the paper's numbers: which runs each is of, and their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from seads.errors import SeadsError
from seads.show.report import style
from seads.show.report.paper import ENVIRONMENTS, LARGER_BOARDS
from seads.show.tables.curves import curves, name_of, success_bars
from seads.show.tables.depths import large_depths
from seads.show.tables.heat_maps import heat_maps
from seads.show.tables.kinds import REFERENCES, Kinds, kinds_of, without_trials
from seads.show.tables.lengths import skill_lengths, solution_lengths
from seads.show.tables.skills import FRAMES_OF, skill_figures, skill_frames
from seads.studies.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELABELLING = ("no-relabelling", "no-model-relabelling", "no-sac-relabelling")
ELEVATED = ("lightsout-jaco", "lightsout3d-jaco")
ROBOTS = ("lightsout-robot-absolute", "lightsout-robot")
SPACED = "-spaced"

Draw = Callable[[Results, Kinds], "Figure | None"]
Takes = Callable[[str, str], bool]
"""Of an environment and a group: whether such runs are in the figure."""


def write_figures(
    results: Results, sources: Sequence[Path], home: Path
) -> tuple[dict[str, list[str]], list[str]]:
    """Write every figure that the results allow, as PDF, PNG and SVG; and what was left out."""
    kinds = figure_kinds(results)
    found: dict[str, list[str]] = {}
    remarks: list[str] = []
    for number, draw in FIGURES.items():
        drawn = draw(results, kinds)
        if drawn is not None:
            found[number] = _saved(drawn, home, number)
    maps = skill_figures(results, sources, home, remarks)
    for number, drawn in (*heat_maps(results), *maps):
        found[number] = _saved(drawn, home, number)
    if any(run.env == FRAMES_OF for run in results.runs):
        try:
            found["S.12"] = _saved(skill_frames(results, sources), home, "S.12")
        except SeadsError as error:
            remarks.append(f"figure S.12 is left out: {error}")
    return found, remarks


def figure_kinds(results: Results) -> Kinds:
    """The runs in the order of the panels: larger boards from small to large, the rest as ever."""
    kinds = without_trials(kinds_of(results))
    sizes = list(LARGER_BOARDS)

    def size(env: str) -> int:
        plain = env.removesuffix(SPACED)
        return sizes.index(plain) if plain in sizes else -1

    return dict(sorted(kinds.items(), key=lambda item: size(item[0][0])))


def _saved(drawn: Figure, home: Path, number: str) -> list[str]:
    return [str(path) for path in style.save(drawn, home, f"figure-{number}")]


def _where(takes: Takes, env: str, group: str) -> tuple[str, str] | None:
    """A panel for each environment, a line for each group."""
    return (env, name_of(group)) if takes(env, group) else None


def _if_any(about: Takes, draw: Draw) -> Draw:
    """Left out where there are no runs of what the figure is about, but only others beside them."""

    def drawn(results: Results, kinds: Kinds) -> Figure | None:
        return draw(results, kinds) if any(about(*kind) for kind in kinds) else None

    return drawn


def _of_paper(env: str, group: str) -> bool:
    return env in ENVIRONMENTS and not group.startswith("vic") and group not in RELABELLING[1:]


def _six(env: str, _: str) -> bool:
    return env in ENVIRONMENTS


def _elevated(env: str, group: str) -> bool:
    return env in ELEVATED and group in REFERENCES


def _in_3d(env: str, _: str) -> bool:
    return env == ELEVATED[1]


def _not_relabelled(env: str, group: str) -> bool:
    return env in ENVIRONMENTS and group in RELABELLING


def _relabelling(env: str, group: str) -> bool:
    return _not_relabelled(env, group) or (env in ENVIRONMENTS and group == "paper")


def _vic(env: str, group: str) -> bool:
    return env in ENVIRONMENTS[:2] and group.startswith("vic")


def _beside_vic(env: str, group: str) -> bool:
    return _vic(env, group) or (env in ENVIRONMENTS[:2] and group == "paper")


def _robots(env: str, _: str) -> bool:
    return env in ROBOTS


def _by_size(env: str, group: str) -> tuple[str, str] | None:
    """A panel for each size of the board; the one with gaps beside the one without (S.15)."""
    plain = env.removesuffix(SPACED)
    if plain not in LARGER_BOARDS:
        return None
    return plain, f"{name_of(group)}, with gaps" if env != plain else name_of(group)


FIGURES: dict[str, Draw] = {
    "3-moves": partial(curves, "coverage", partial(_where, _of_paper)),
    "3-success": partial(curves, "success", partial(_where, _six)),
    "3-bars": partial(success_bars, partial(_where, _six)),
    "S.9": solution_lengths,
    "S.10": skill_lengths,
    "S.11": large_depths,
    "S.13-moves": _if_any(_in_3d, partial(curves, "coverage", partial(_where, _elevated))),
    "S.13-success": _if_any(_in_3d, partial(success_bars, partial(_where, _elevated))),
    "S.15": partial(curves, "coverage", _by_size),
    "S.17": partial(curves, "success", partial(_where, _robots)),
    "S.19": _if_any(_not_relabelled, partial(curves, "coverage", partial(_where, _relabelling))),
    "S.20": _if_any(_vic, partial(curves, "coverage", partial(_where, _beside_vic))),
}
"""By the paper's numbers; figure 3 and S.13 have several parts."""
