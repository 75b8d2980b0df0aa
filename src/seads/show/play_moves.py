"""Plans in words for the page of `seads play`, and advice for boards that have no solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from seads.evaluation.boards import AnyGame, GameReader
from seads.games import LightsOut
from seads.planning.result import Plan

NO_SOLUTION = "this board has no solution: no sequence of moves leads to the goal"


@dataclass(frozen=True)
class PlannedMove:
    """A step of the plan: the skill, and the game move that the model takes it for."""

    skill: int
    move: int | None
    name: str


def planned_move(
    reader: GameReader,
    skill: int,
    before: Bool[np.ndarray, "bits"],
    after: Bool[np.ndarray, "bits"],
) -> PlannedMove:
    """What the model expects of a skill on this board, as a move of the game."""
    try:
        move = reader.move_between(before, after)
    except ValueError:  # the model may predict bits that are no board
        move = None
    return PlannedMove(skill, move, reader.move_name(move))


def planned_moves(reader: GameReader, found: Plan) -> list[PlannedMove]:
    """Every step of a plan."""
    steps: Sequence[tuple[int, np.ndarray, np.ndarray]] = list(
        zip(found.skills, found.states[:-1], found.states[1:], strict=True)
    )
    return [planned_move(reader, int(skill), before, after) for skill, before, after in steps]


def advice(game: AnyGame, board: np.ndarray) -> str:
    """Why a board has no solution, and a single field that would give it one, if there is any."""
    if isinstance(game, LightsOut):
        for field in range(game.num_fields):
            changed = board.copy()
            changed[field] ^= 1
            if _feasible(game, changed):
                row, column = divmod(field, game.size)
                return f"{NO_SOLUTION}; switch row {row + 1}, column {column + 1} and it has one"
    return NO_SOLUTION


def _feasible(game: AnyGame, board: np.ndarray) -> bool:
    try:
        game.check_feasible(board)
    except ValueError:
        return False
    return True
