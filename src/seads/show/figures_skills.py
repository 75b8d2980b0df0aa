"""What skills do, over the board: paths and touches of each, and the bits its model flips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seads.evaluation.boards import AnyGame
from seads.games import LightsOut
from seads.planning.operators import Compiled
from seads.show.figures import colour, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIELD_COLOUR = "#ECEEF1"
EDGE_COLOUR = "#FFFFFF"
USUAL, OTHER, FLIPPED = colour(0), colour(1), colour(1)
MAYBE = "#F0BF99"
MOST_SKILLS = 81
"""More small boards than this in one figure are too small to see anything."""


def draw_touches(found: dict[str, Any], game: AnyGame, title: str) -> Figure | None:
    """One board with the places where every skill touches it, each skill with its number."""
    with figure(6.2, 6.2) as (drawn, axes):
        (one,) = axes.flat
        draw_board(one, game)
        # neighbours get different colours; the numbers tell the skills apart
        for skill in found["skills"]:
            points = np.array([_end(run) for run in skill["runs"] if run["move"] is not None])
            if not len(points):
                continue
            tint = colour(skill["skill"])
            one.plot(*points.T, ".", color=tint, markersize=6, alpha=0.55, markeredgewidth=0)
            middle = np.median(points, axis=0)
            one.annotate(
                str(skill["skill"]),
                middle,
                ha="center",
                va="center",
                fontsize=10,
                fontweight="bold",
                color="white",
                bbox={"boxstyle": "circle,pad=0.25", "facecolor": tint, "edgecolor": "white"},
            )
        silent = [str(s["skill"]) for s in found["skills"] if s["move"] is None]
        one.set_title(f"Where each skill touches: {title}")
        if silent:
            one.set_xlabel(f"skills that make no move: {', '.join(silent)}")
        return drawn


def draw_paths(found: dict[str, Any], game: AnyGame, title: str) -> Figure | None:
    """A small board for each skill: its paths, and touches that make its usual move or another."""
    skills = found["skills"]
    if len(skills) > MOST_SKILLS:
        return None
    rows, columns = grid(len(skills))
    with figure(2.1 * columns, 2.3 * rows + 0.4, rows, columns) as (drawn, axes):
        for one in axes.flat:
            one.axis("off")
        for one, skill in zip(axes.flat, skills, strict=False):
            draw_board(one, game)
            for run in skill["runs"]:
                path = np.array(run["path"])
                one.plot(*path.T, color="#8A9099", linewidth=0.8, alpha=0.55)
                one.plot(*path[0], "o", color="#8A9099", markersize=2, alpha=0.6)
                usual = run["move"] is not None and run["move"] == skill["move"]
                if run["move"] is not None:
                    mark, tint = ("o", USUAL) if usual else ("X", OTHER)
                    one.plot(*_end(run), mark, color=tint, markersize=5, markeredgewidth=0)
            name = f"{skill['share']:.0%}" if skill["move"] is not None else "no move"
            one.set_title(f"skill {skill['skill']}   {name}", fontsize=10, pad=4)
        drawn.suptitle(
            f"Paths of each skill: {title}\n"
            "dot: its usual move (share of starts), cross: another move",
            fontsize=12,
            x=0.01,
            ha="left",
        )
        return drawn


def draw_operators(compiled: Compiled, game: AnyGame, title: str) -> Figure | None:
    """A small board for each skill with the fields that its operator flips; LightsOut only.

    What a skill without such an operator does to the solved board is drawn paler.
    """
    if not isinstance(game, LightsOut) or compiled.num_skills > MOST_SKILLS:
        return None
    rows, columns = grid(compiled.num_skills)
    goal = game.to_bits(game.goal[None])[0]
    with figure(1.45 * columns, 1.6 * rows + 0.4, rows, columns) as (drawn, axes):
        for one in axes.flat:
            one.axis("off")
        for skill, one in zip(range(compiled.num_skills), axes.flat, strict=False):
            operator = compiled.operators.get(skill)
            known = operator is not None and operator.is_flip
            after = compiled.model.successor(goal[None], np.array([skill]))[0]
            draw_board(one, game, goal ^ after, FLIPPED if known else MAYBE)
            note = "" if known else "  depends"
            one.set_title(f"skill {skill}{note}", fontsize=9, pad=3)
        drawn.suptitle(f"Fields that each skill flips, as the model says: {title}", fontsize=12,
                       x=0.01, ha="left")  # fmt: skip
        return drawn


def draw_board(
    axes: Axes, game: AnyGame, flipped: np.ndarray | None = None, tint: str = FLIPPED
) -> None:
    """An empty board in the unit square, origin top left; flipped fields are filled."""
    from matplotlib.patches import Rectangle

    for field in range(game.num_fields):
        if isinstance(game, LightsOut):
            width = game.tile_width
            x, y = game.point_of(field)
        else:
            width = 1 / game.size
            row, column = divmod(field, game.size)
            x, y = (column + 0.5) * width, (row + 0.5) * width
        face = tint if flipped is not None and flipped[field] else FIELD_COLOUR
        corner = (x - width / 2, y - width / 2)
        axes.add_patch(
            Rectangle(corner, width, width, facecolor=face, edgecolor=EDGE_COLOUR, linewidth=1.2)
        )
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(1.03, -0.03)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def grid(count: int) -> tuple[int, int]:
    """Rows and columns for this many small boards."""
    columns = min(math.ceil(math.sqrt(count)), 9)
    return math.ceil(count / columns), columns


def _end(run: dict[str, Any]) -> Sequence[float]:
    """Where a run touched; an arm's sensor tells the field alone, so its tool's last place."""
    if run["touch"] is None:
        return run["path"][-1]
    end, touch = np.array(run["path"][-1]), np.array(run["touch"])
    return touch.tolist() if np.abs(end - touch).max() > 0.5 else end.tolist()
