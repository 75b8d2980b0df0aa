"""Simulated arms, many at once: their kinematics, their tablets, their bad luck.

A push lands where the arm on its twin lands: both use the same ways and the same crossing.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from seads.envs.interface import Rows
from seads.errors import require
from seads.games.game import Game
from seads.robot import kinematics
from seads.robot.calibration import CORNERS, Calibration, Touched
from seads.robot.kinematics import Angles
from seads.robot.pens import Boards, Moves, Places, moves_between
from seads.robot.pushing import contacts, push_ways
from seads.robot.tablet import Tablet
from seads.streams import fork, row_seeds, uniforms

_DIGITS = 4
"""Decimals of a position in mm, as the firmware tells it."""


class SimulatedPens:
    """Rows of arms over tablets that lie alike; a row is a function of its numbers at a reset."""

    def __init__(
        self,
        num_envs: int,
        game: Game,
        height: float,
        calibration: Calibration | None = None,
        calibration_error: float = 0.0,
        missed: float = 0.0,
        doubled: float = 0.0,
    ) -> None:
        """`height` is the z from which pens come down; `calibration_error` in mm shifts each of
        the corners that a calibration is made of; `missed` and `doubled` are shares of touches."""
        self.missed, self.doubled, self.calibration_error = missed, doubled, calibration_error
        for name in ("missed", "doubled"):
            require(self, 0.0 <= getattr(self, name) <= 1.0, name, "0 to 1")
        require(self, missed + doubled <= 1.0, "doubled", "together with missed at most 1")
        require(self, 0.0 <= calibration_error <= 5.0, "calibration_error", "0 to 5 mm")
        self._game, self._height, self._tablet = game, height, Tablet.lying()
        self.calibration = calibration or erring_calibration(self._tablet, calibration_error)
        self._joints = np.zeros((num_envs, 3))
        self._luck = np.zeros(num_envs, np.uint64)
        self._touches = np.zeros(num_envs, np.uint64)
        self._twice = np.zeros(num_envs, bool)
        """Whether the screen felt the last touch twice."""

    def reset(
        self, rows: Int[np.ndarray, "picked"], uniforms: Float[np.ndarray, "picked 3"]
    ) -> None:
        above = push_ways(self.calibration, uniforms[:, :2], self._height)[:, 0]
        self._joints[rows] = kinematics.inverse(above)
        self._luck[rows] = (uniforms[:, 2] * 2.0**53).astype(np.uint64)
        self._touches[rows] = 0

    def act(
        self, rows: Rows, places: Places, pushing: Bool[np.ndarray, "picked"]
    ) -> Float[np.ndarray, "picked 2"]:
        ways = push_ways(self.calibration, places, self._height)
        self._joints[rows] = kinematics.inverse(ways[:, 0])
        touch = np.full_like(places, np.nan)
        if pushing.any():
            touch[pushing] = contacts(self._tablet, ways[pushing])
        felt = ~np.isnan(touch[:, 0])
        self._touches[rows] += felt.astype(np.uint64)
        missed, twice = self._fates(self._luck[rows], self._touches[rows])
        self._twice[rows] = felt & twice
        touch[missed] = np.nan
        return touch

    def places(self, rows: Rows) -> Places:
        seen = kinematics.forward(kinematics.read_back(self._joints[rows]))
        return self.calibration.places(np.round(seen, _DIGITS))[:, :2]

    def play(self, rows: Rows, boards: Boards, touch: Places) -> tuple[Moves, Boards]:
        once = self._game.play(boards, self._game.move_at(touch, boards))
        again = self._game.play(once, self._game.move_at(touch, once))
        after = np.where(self._twice[rows][:, None], again, once)
        return moves_between(self._game, boards, after, touch), after

    def show(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> None:
        return

    def look(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> Boards:
        return boards

    def joints(self, row: int) -> Angles:
        return self._joints[row : row + 1].copy()

    def standing(self) -> dict[str, np.ndarray]:
        kept = dict(joints=self._joints, luck=self._luck, touches=self._touches)
        return {name: values.copy() for name, values in kept.items()}

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        self._joints[:], self._luck[:] = standing["joints"], standing["luck"]
        self._touches[:] = standing["touches"]

    def close(self) -> None:
        return

    def _fates(
        self, luck: UInt64[np.ndarray, "picked"], numbers: UInt64[np.ndarray, "picked"]
    ) -> tuple[Bool[np.ndarray, "picked"], Bool[np.ndarray, "picked"]]:
        """Which touches the screen does not see, and which it sees twice."""
        drawn = uniforms(fork(luck, numbers), 1)[:, 0]
        missed = drawn < self.missed
        return missed, ~missed & (drawn < self.missed + self.doubled)


def erring_calibration(tablet: Tablet, error: float = 0.0, seed: int = 0) -> Calibration:
    """What four touched corners of a tablet give when each is off by so many mm (the deviation)."""
    corners = tablet.points(np.array([[*corner, 0.0] for corner in CORNERS]))
    # sums of twelve uniforms are as good as normal ones here, and never far out
    drawn = uniforms(row_seeds(seed, 4), 36).reshape(4, 3, 12).sum(2) - 6.0
    tips = [(float(x), float(y), float(z)) for x, y, z in corners + error * drawn]
    return Calibration.fit([Touched(c, t) for c, t in zip(CORNERS, tips, strict=True)])
