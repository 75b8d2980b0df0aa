"""One real arm on its line, or its twin, and the screen that its pen touches: the board is served.

The board that the screen keeps is the true one. After a fault the arm has been stopped; where a
program may go on by itself this one does, and says so, and otherwise the fault is raised.
"""

from __future__ import annotations

import logging

import numpy as np
from jaxtyping import Bool, Float, Int

from seads.envs.interface import Rows
from seads.errors import SeadsError
from seads.games.game import Game
from seads.robot import kinematics
from seads.robot.board.server import BoardServer
from seads.robot.calibration import Calibration
from seads.robot.faults import Afterwards, LineLost, NoScreen, RobotFault
from seads.robot.guarded_arm import GuardedArm
from seads.robot.keeper import is_held
from seads.robot.kinematics import Angles, Speed
from seads.robot.line import held_by_another
from seads.robot.pens import Boards, Moves, Places, moves_between
from seads.robot.touching import Pen, touch_corner

LOG = logging.getLogger("seads.robot")
FIRST_PAGE = 300.0
"""Seconds to open the page on the tablet."""
PAGE_BACK = 600.0
"""Seconds for a page that was closed, or a screen that was locked, to come back."""


class ServedPen:
    """`Pens` of one row; waits for a page on the screen before the arm is touched at all."""

    def __init__(
        self,
        game: Game,
        height: float,
        calibration: Calibration,
        port: str,
        host: str = "127.0.0.1",
        board_port: int = 8090,
        pace: float = 1.0,
        acceleration: float = 1.3,
    ) -> None:
        self.calibration, self._game, self._height = calibration, game, height
        self.faults: list[RobotFault] = []
        """Those after which it went on by itself, oldest first."""
        if is_held(port):  # said at once, not only after somebody has opened a page
            raise LineLost(held_by_another(port))
        envelope = calibration.envelope(Speed(acceleration))
        self.arm = GuardedArm(port, envelope, pace=float(pace))
        self.board = BoardServer(host=host, port=board_port, game=game)
        try:
            LOG.warning("open on the touch screen: %s", self.board.address)
            if not self.board.wait_for_page(FIRST_PAGE):
                raise SeadsError(
                    f"no screen has opened {self.board.address} within {FIRST_PAGE:.0f} s; open it "
                    "on the tablet and start again"
                )
            self.arm.connect()
            self._pen = Pen(self.arm, calibration, self.board)
        except BaseException:
            self.close()
            raise

    def reset(self, rows: Int[np.ndarray, "picked"], uniforms: np.ndarray) -> None:
        self._go(uniforms[0, :2])

    def act(
        self, rows: Rows, places: Places, pushing: Bool[np.ndarray, "picked"]
    ) -> Float[np.ndarray, "picked 2"]:
        self._wait_for_screen()
        if not pushing[0]:
            self._go(places[0])
            return np.full((1, 2), np.nan)
        try:
            x, y = places[0].tolist()
            pushed = self._pen.push(x, y, self._height)
        except RobotFault as fault:
            self._go_on_after(fault)
            return np.full((1, 2), np.nan)
        if pushed.fault is not None:
            self._note(pushed.fault)
        first = [(one.x, one.y) for one in pushed.touches[:1]]
        return np.array(first or [(np.nan, np.nan)])

    def places(self, rows: Rows) -> Places:
        return self.calibration.places(self._position()[None])[:, :2]

    def play(self, rows: Rows, boards: Boards, touch: Places) -> tuple[Moves, Boards]:
        after = self.board.board[None]
        return moves_between(self._game, boards, after, touch), after

    def show(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> None:
        self.board.set_board(boards[0])

    def look(self, rows: Int[np.ndarray, "picked"], boards: Boards) -> Boards:
        return self.board.board[None]

    def joints(self, row: int) -> Angles:
        return kinematics.inverse(self._position()[None])

    def standing(self) -> dict[str, np.ndarray]:
        return {"places": self.places(slice(None))}

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        """Nobody knows what happened meanwhile: the pen goes where it was."""
        self._go(np.clip(standing["places"][0], 0.0, 1.0))

    def close(self) -> None:
        self.arm.disconnect()
        self.board.stop()

    def _go(self, place: Float[np.ndarray, "2"]) -> None:
        """Above a place; after a fault that lets one go on, wherever the arm then stands."""
        try:
            self._pen.go(float(place[0]), float(place[1]), self._height)
        except RobotFault as fault:
            self._go_on_after(fault)

    def _go_on_after(self, fault: RobotFault) -> None:
        """Make the arm ready again, or raise the fault. What it was doing is not done again."""
        if fault.afterwards is Afterwards.PERSON:
            raise fault
        self._note(fault)
        if fault.afterwards is Afterwards.TOUCH_CORNER or self.arm.unsure:
            self.arm.recover()
            with self.board.not_playing():
                self._wait_for_screen()
                off = touch_corner(self.arm, self.board, self.calibration)
            LOG.warning("configured, and a corner was felt %.1f mm from where it should be", off)
        else:  # it may have stopped with the pen on the glass
            self._pen.retract()

    def _note(self, fault: RobotFault) -> None:
        self.faults.append(fault)
        LOG.warning("%s; going on", fault)

    def _wait_for_screen(self) -> None:
        """Pause while the page is closed or the screen locked."""
        if self.board.visible:
            return
        LOG.warning("the screen is locked or its page closed: waiting for %s", self.board.address)
        if not self.board.wait_for_page(PAGE_BACK):
            raise NoScreen(
                f"the screen was locked or its page closed for {PAGE_BACK:.0f} s; the arm stands "
                "still: open the page again and start again"
            )

    def _position(self) -> Float[np.ndarray, "3"]:
        known = self.arm.position
        return self.arm.get_observation().position if known is None else known
