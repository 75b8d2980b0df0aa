"""What skills do, over the board: paths and touches of each, and the fields its model changes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool

from seads.agent.card import FirstAndLast
from seads.errors import SeadsError
from seads.games.game import Game
from seads.show.report.style import colour, figure, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIELD_COLOUR = "#ECEEF1"
EFFECTIVE = "#1A9C3E"
CHANGED, MAYBE = colour(1), "#F0BF99"
SAME_EVERYWHERE = ("nothing", "flips", "exchanges")
"""Kinds of operators that change the same fields of every board."""
MOST_SKILLS = 81
"""More small boards than this in one figure are too small to see anything."""


def draw_touches(found: dict[str, Any], game: Game, title: str) -> Figure:
    """One board with the places where every skill touches it, each skill with its own look."""
    from matplotlib.patheffects import withStroke

    with figure(6.2, 6.2) as (drawn, axes):
        (one,) = axes.flat
        draw_board(one, game)
        for skill in found["skills"]:
            k = skill["skill"]
            points = np.array([_touch(run) for run in skill["runs"] if run["move"] is not None])
            if len(points):
                one.plot(
                    *points.T, color=colour(k), marker=marker(k), linestyle="none", markersize=6,
                    alpha=0.75, markeredgecolor="white", markeredgewidth=0.4,
                )  # fmt: skip
                one.annotate(
                    str(k), np.median(points, axis=0), xytext=(6, 6), textcoords="offset points",
                    fontsize=9, fontweight="bold", color=colour(k), annotation_clip=False,
                    path_effects=[withStroke(linewidth=2.5, foreground="white")],
                )  # fmt: skip
        one.autoscale()  # a small board fills the figure, too
        silent = [str(skill["skill"]) for skill in found["skills"] if skill["move"] is None]
        note = f"\nskills that make no move: {', '.join(silent)}" if silent else ""
        one.set_title(f"Where each skill touches: {title}{note}")
        return drawn


def draw_pushes(found: FirstAndLast, game: Game, title: str) -> Figure:
    """Two boards: where the first and where the last pushes of a training landed, by skill."""
    named = (("first", found.first), ("last", found.last))
    with figure(9.6, 5.2, columns=2) as (drawn, axes):
        for one, (when, pushes) in zip(axes.flat, named, strict=True):
            draw_board(one, game)
            for skill, x, y in pushes:
                one.plot(
                    x, y, color=colour(skill), marker=marker(skill), markersize=5, alpha=0.75,
                    markeredgecolor="white", markeredgewidth=0.4,
                )  # fmt: skip
            one.set_title(f"the {when} {len(pushes)} pushes")
        drawn.suptitle(title)
        return drawn


def draw_paths(found: dict[str, Any], game: Game, title: str) -> Figure | None:
    """A small board for each skill: its paths, pushes in vain, and touches that make a move."""
    skills = found["skills"]
    if len(skills) > MOST_SKILLS:
        return None
    with _small_boards(len(skills), 2.1, f"Paths of each skill: {title}") as (drawn, boards):
        for one, skill in zip(boards, skills, strict=True):
            draw_board(one, game)
            tint = colour(skill["skill"])
            for run in skill["runs"]:
                one.plot(*np.array(run["path"]).T, color=tint, linewidth=0.8, alpha=0.5)
                one.plot(*run["path"][0], "o", color=tint, markersize=2.5, alpha=0.7)
            for run in skill["runs"]:  # above all paths
                for push in run.get("pushes", ()):
                    one.plot(*push, "o", color="black", markersize=2.5, markeredgewidth=0)
                if run["move"] is not None:
                    mark = "o" if run["move"] == skill["move"] else "X"
                    one.plot(*_touch(run), mark, color=EFFECTIVE, markersize=4, markeredgewidth=0)
            name = f"{skill['share']:.0%}" if skill["move"] is not None else "no move"
            one.set_title(f"skill {skill['skill']}   {name}", fontsize=10, pad=4)
        return drawn


def draw_operators(
    kinds: Sequence[str], after: Bool[np.ndarray, "skills bits"], game: Game, title: str
) -> Figure | None:
    """A small board for each skill with the fields that it changes on the solved board.

    `after` is what becomes of that board. Changes that depend on the board are drawn paler.
    """
    if len(kinds) > MOST_SKILLS:
        return None
    heading = f"Fields that each skill changes, as the model says: {title}"
    with _small_boards(len(kinds), 1.45, heading) as (drawn, boards):
        for skill, (one, kind) in enumerate(zip(boards, kinds, strict=True)):
            note, tint = ("", CHANGED) if kind in SAME_EVERYWHERE else ("  depends", MAYBE)
            note = "  spare" if kind == "spare" else note
            try:
                changed = np.flatnonzero(game.from_bits(after[[skill]])[0] != game.goal)
            except SeadsError:  # a model may predict bits that are no board
                note, changed = "  no board", np.array([], int)
            draw_board(one, game, changed, tint)
            one.set_title(f"skill {skill}{note}", fontsize=9, pad=3)
        return drawn


def draw_board(
    axes: Axes, game: Game, filled: Collection[int] | np.ndarray | None = None, tint: str = CHANGED
) -> None:
    """A board in the unit square, origin top left: some fields filled, or where moves are made."""
    from matplotlib.patches import Polygon, Rectangle

    for index, field in enumerate(game.fields):
        corner = (field.x - field.width / 2, field.y - field.height / 2)
        face = tint if filled is not None and index in filled else FIELD_COLOUR
        axes.add_patch(
            Rectangle(
                corner, field.width, field.height, facecolor=face, edgecolor="white", linewidth=1.2
            )
        )
    for outline in game.zones if filled is None else ():
        axes.add_patch(Polygon(outline, fill=False, edgecolor="#D3D7DC", linewidth=0.7))
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(1.03, -0.03)
    axes.set_aspect("equal")
    axes.axis("off")


@contextmanager
def _small_boards(count: int, width: float, heading: str) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with room for this many small boards, as square as can be."""
    columns = min(math.ceil(math.sqrt(count)), 9)
    rows = math.ceil(count / columns)
    with figure(width * columns, (width + 0.2) * rows + 0.4, rows, columns) as (drawn, axes):
        for unused in axes.flat[count:]:
            unused.axis("off")
        drawn.suptitle(heading, fontsize=12, x=0.01, ha="left")
        yield drawn, list(axes.flat[:count])


def _touch(run: dict[str, Any]) -> Sequence[float]:
    """Where a run touched.

    Older files, which list no pushes, give an arm's touch as the middle of the field: there the
    tool's last place is nearer to the truth, unless the arm has been reset since.
    """
    touch, end = run["touch"], run["path"][-1]
    if "pushes" in run or touch is None:
        return end if touch is None else touch
    return touch if np.abs(np.subtract(end, touch)).max() > 0.5 else end
