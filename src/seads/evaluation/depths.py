"""How deep the boards of a game are: exactly where they can be counted, else by the moves made."""

from __future__ import annotations

from seads.errors import SeadsError
from seads.evaluation.boards import AnyGame
from seads.games.game import Split

EXACT = "solution depth"
FIRST_MOVES, THEN_FROM = 5, 10
"""Where depths are not known exactly: all numbers of moves up to the first, then 10, 20, 40, …"""


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
