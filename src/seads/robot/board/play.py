"""`seads robot board`: LightsOut on a touch screen, for a person or to try a tablet out."""

from __future__ import annotations

import itertools
import time

import numpy as np

from seads.errors import SeadsError
from seads.games.game import Game
from seads.robot.board.server import PORT, BoardServer
from seads.streams import Purpose, row_seeds

_PAUSE = 3.0
"""Seconds in which a solved board stays."""


def run_board(
    host: str = "127.0.0.1", port: int = PORT, size: int = 5, depth: int = 5, seed: int = 0
) -> None:
    """Serve boards until Ctrl-C, a new one after each that was solved.

    A board has that solution depth; where boards are too many to count, at most that many moves.
    """
    with BoardServer(size, host, port) as server:
        if not 1 <= depth <= server.game.num_moves:
            raise SeadsError(f"depth {depth} is not possible; choose 1 to {server.game.num_moves}")
        try:
            # before anybody is asked to play: a Ctrl-C while modules are imported can get lost
            server.set_board(_new_board(server.game, depth, seed, 0))
            _tell(server, port)
            _deal(server, depth, seed)
        except KeyboardInterrupt:  # the way to end it, not an accident
            counted = server.counters
            print(
                f"\n{counted.touches} touches; {counted.duplicates} came twice, "
                f"{counted.cancelled} cancelled, {counted.dropped} dropped, "
                f"{counted.reconnects} reconnects"
            )


def _tell(server: BoardServer, port: int) -> None:
    if port not in (0, server.port):
        print(f"port {port} is in use; took {server.port}", flush=True)
    print(f"open on the touch screen: {server.address} (Ctrl-C ends it)", flush=True)
    print(f"to look on: {server.watch_address}", flush=True)
    if server.code is not None:
        print("only who has the code in the address can play", flush=True)


def _deal(server: BoardServer, depth: int, seed: int) -> None:
    """A new board after each that was solved, of which the first is there."""
    for dealt in itertools.count(1):
        while not np.array_equal(server.board, server.game.goal):
            server.take_touches()
            # not one wait without end: a signal just before it begins would not be seen
            server.wait_for_touch(0.5)
        time.sleep(_PAUSE)
        server.set_board(_new_board(server.game, depth, seed, dealt))


def _new_board(game: Game, depth: int, seed: int, dealt: int) -> np.ndarray:
    """A board that is not solved: distinct moves can undo each other where boards are large."""
    for attempt in range(100):
        board = game.draw(
            np.array([depth]), "all", row_seeds(seed, 1, Purpose.DEALT, dealt, attempt)
        )[0]
        if not np.array_equal(board, game.goal):
            return board
    raise SeadsError(f"{depth} moves always lead back to the solved board; choose another depth")
