"""The packaged agents of larger boards: their models plan boards however far from the goal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from seads.planning import compile_model, plan
from seads.solving import load
from seads.solving.boards import GameReader
from seads.solving.symbolic_model import symbolic_model
from seads.streams import row_seeds

BOARDS = 5


@pytest.mark.parametrize("size", [7, 9, 13])
def test_boards_of_any_depth_are_planned(size: int) -> None:
    agent = load(f"lightsout-cursor-{size}x{size}")
    reader = agent.boards
    assert isinstance(reader, GameReader)
    game = reader.game
    presses = np.repeat([1, 5, 20, game.num_moves // 2], BOARDS)
    starts = game.to_bits(game.draw(presses, "test", row_seeds(0, len(presses))))
    compiled = compile_model(symbolic_model(agent), starts)
    assert sorted(compiled.flips) == list(range(game.num_moves))
    for start, most in zip(starts, presses, strict=True):
        found = plan(start, reader.goal, compiled)
        assert found.solved, found.verdict
        assert len(found) <= most
        # what the model expects of each skill is a move of the real game
        moves = [reader.move(*pair) for pair in pairwise(found.states)]
        board = game.from_bits(start[None])
        for move in moves:
            board = game.play(board, np.array([move]))
        assert (board[0] == game.goal).all()
