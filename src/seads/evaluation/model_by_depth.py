"""How often the forward model is right, by how deep a board is: deeper than training, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from seads.errors import SeadsError
from seads.evaluation.boards import AnyGame
from seads.evaluation.tasks import draw_tasks
from seads.games.game import Split
from seads.planning.model import SymbolicModel

EXACT = "solution depth"
FIRST_MOVES, THEN_FROM = 5, 10
"""Where depths are not known exactly: all numbers of moves up to the first, then 10, 20, 40, …"""


def accuracy_by_depth(
    model: SymbolicModel,
    game: AnyGame,
    moves: Int[np.ndarray, "skills"],
    depths: Sequence[int],
    per_depth: int,
    split: Split,
    seed: int,
) -> dict[str, Any]:
    """How often the mode of q(z' | z, k) is the board after the move that skill k makes, as JSON.

    `moves` are the moves the skills make (`NO_MOVE` for one that makes none: the board then
    stays). A prediction is right if every bit is; every skill is asked on every board.
    """
    of_depth, boards, _ = draw_tasks(game, depths, per_depth, split, seed)
    found: dict[str, Any] = {}
    for depth in depths:
        states = boards[of_depth == depth]
        right = predictions_right(model, game, states, moves)
        by_skill = right.mean(0)
        worst = int(by_skill.argmin())
        found[str(depth)] = {
            "boards": len(states),
            "distinct_boards": len(np.unique(states, axis=0)),
            "right": float(right.mean()),
            "all_skills_right": float(right.all(1).mean()),
            "worst_skill": {"skill": worst, "right": float(by_skill[worst])},
        }
    by_depth = {depth: one["right"] for depth, one in found.items()}
    return {
        "right": float(np.mean(list(by_depth.values()))),
        "by_depth": by_depth,
        "depths": found,
        "depth_is": meaning_of_depth(game),
    }


def predictions_right(
    model: SymbolicModel,
    game: AnyGame,
    states: Bool[np.ndarray, "boards bits"],
    moves: Int[np.ndarray, "skills"],
) -> Bool[np.ndarray, "boards skills"]:
    """On which boards the model predicts the outcome of each skill's move."""
    boards = np.repeat(game.from_bits(states), len(moves), axis=0)
    after = game.to_bits(game.play(boards, np.tile(moves, len(states))))
    expected = after.reshape(len(states), len(moves), -1)
    return (model.successors(states) == expected).all(axis=-1)


def knows_depths(game: AnyGame) -> bool:
    """Whether boards can be drawn by their exact solution depth; else by distinct random moves."""
    try:
        game.depth_counts()
    except SeadsError:
        return False
    return True


def meaning_of_depth(game: AnyGame) -> str:
    """What the depth of a drawn board says."""
    return EXACT if knows_depths(game) else "distinct moves from the goal"


def deepest(game: AnyGame, split: Split) -> int:
    """The depth of the split's deepest boards; the number of moves where boards are too many."""
    return max(all_depths(game, split)) if knows_depths(game) else game.num_moves


def all_depths(game: AnyGame, split: Split) -> list[int]:
    """The depths of the split's boards; a few numbers of moves where boards are too many."""
    if knows_depths(game):
        return sorted(depth for depth, count in game.depth_counts(split).items() if depth and count)
    some = list(range(1, FIRST_MOVES + 1))
    moves = THEN_FROM
    while moves <= game.num_moves:
        some.append(moves)
        moves *= 2
    return some
