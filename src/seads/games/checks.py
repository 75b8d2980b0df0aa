"""Checks of what callers hand to a game; each error names the value and what is allowed."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from jaxtyping import Int

from seads.errors import SeadsError
from seads.games.board_types import NO_MOVE


def check_options(
    name: str, make: Callable[..., Any], options: Iterable[str], taken: Collection[str] = ()
) -> None:
    """Options are parameters of what makes it, other than those taken."""
    allowed = [option for option in inspect.signature(make).parameters if option not in taken]
    for option in options:
        if option not in allowed:
            raise SeadsError(
                f"{name} has no option {option!r}; choose from {', '.join(allowed) or 'none'}"
            )


def check_size(size: int, largest: int) -> int:
    """The board size as an int in [2, largest]."""
    try:
        value = operator.index(size)
    except TypeError:
        raise SeadsError(f"board size {size!r} is not a whole number") from None
    if not 2 <= value <= largest:
        raise SeadsError(f"board size {value} is not possible; choose from 2 to {largest}")
    return value


def check_moves(moves: Int[np.ndarray, "rows"], num_moves: int) -> None:
    """Every move is `NO_MOVE` or in range(num_moves)."""
    wrong = (moves < NO_MOVE) | (moves >= num_moves)
    if np.count_nonzero(wrong):
        raise SeadsError(
            f"move {moves[wrong][0]} does not exist; "
            f"moves are 0 to {num_moves - 1} ({NO_MOVE} for none)"
        )


def check_move(move: int, num_moves: int) -> None:
    """A single move is in range(num_moves); there is no place or name for `NO_MOVE`."""
    if not 0 <= move < num_moves:
        raise SeadsError(f"move {move} does not exist; moves are 0 to {num_moves - 1}")


def check_field(field: int, num_fields: int) -> None:
    """A single field is in range(num_fields)."""
    if not 0 <= field < num_fields:
        raise SeadsError(f"field {field} is not there; choose 0 to {num_fields - 1}")


def check_values(boards: np.ndarray, num_fields: int, num_values: int) -> None:
    """Boards have `num_fields` fields in their last axis, each in range(num_values)."""
    if boards.shape[-1:] != (num_fields,):
        found = boards.shape[-1] if boards.ndim else 0
        raise SeadsError(f"a board has {num_fields} fields, not {found}")
    if boards.size and not (boards.min() >= 0 and boards.max() < num_values):
        wrong = boards[(boards < 0) | (boards >= num_values)][0]
        raise SeadsError(f"field value {wrong} is not possible; values are 0 to {num_values - 1}")


def check_draw(depths: np.ndarray, seeds: np.ndarray) -> None:
    """A draw has one depth and one seed for each row."""
    if depths.ndim != 1 or depths.shape != seeds.shape:
        raise ValueError(
            f"a draw needs a depth and a seed for each row, not shapes {depths.shape} "
            f"and {seeds.shape}"
        )
