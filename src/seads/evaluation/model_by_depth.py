"""How often the forward model is right, by how deep a board is: deeper than training, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from seads.evaluation.boards import AnyGame
from seads.evaluation.depths import meaning_of_depth
from seads.evaluation.tasks import draw_tasks
from seads.games.game import Split
from seads.planning.model import SymbolicModel


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
