"""What the robot's environments ask of their arms, whether simulated here or on a serial line."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from seads.envs.interface import Rows
from seads.games.board_types import NO_MOVE
from seads.games.game import Game
from seads.robot.calibration import Calibration
from seads.robot.kinematics import Angles

Places = Float[np.ndarray, "picked 2"]
Boards = UInt8[np.ndarray, "picked fields"]
Moves = Int[np.ndarray, "picked"]


class Pens(Protocol):
    """Rows of arms, each with a pen over a screen; a place is in the unit square of its screen."""

    calibration: Calibration

    def reset(self, rows: Int[np.ndarray, "picked"], uniforms: np.ndarray) -> None:
        """Bring pens above random places: two numbers each, and one for the luck of touches."""

    def act(
        self, rows: Rows, places: Places, pushing: Bool[np.ndarray, "picked"]
    ) -> Float[np.ndarray, "picked 2"]:
        """Go above places, push some of them; where each screen was first touched, NaN if not."""

    def places(self, rows: Rows) -> Places:
        """Where the tips are, as the arms' encoders say."""

    def play(self, rows: Rows, boards: Boards, touch: Places) -> tuple[Moves, Boards]:
        """What the touches of the last `act` did to the boards."""

    def show(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> None:
        """Put boards on the screens."""

    def look(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> Boards:
        """The boards that the screens show, where they could differ from those given."""

    def joints(self, row: int) -> Angles:
        """The angles of one arm, as a row."""

    def standing(self) -> dict[str, np.ndarray]:
        """All there is to know to go on later, a row each."""

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        """Go on from there: bring the arms to where they stood."""

    def close(self) -> None:
        """Let go of everything."""


def moves_between(game: Game, before: Boards, after: Boards, touch: Places) -> Moves:
    """The move at each touched point where it turned the one board into the other, else none."""
    moves = game.move_at(touch, before)
    made = (game.play(before, moves) == after).all(axis=1) & (before != after).any(axis=1)
    return np.where(made, moves, NO_MOVE)
