"""Touching the screen with the arm: finding its height, calibrating by touches, pushing a place.

A push is never repeated: what the screen saw counts, and too many misses in a row end in a stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seads.errors import SeadsError
from seads.robot.calibration import CORNERS, FULL_HEIGHT, Calibration, Touched
from seads.robot.faults import Afterwards, NoContact, Refused, RobotFault, TooManyMisses
from seads.robot.guard import CLEAR, PROBE_STEP
from seads.robot.guarded_arm import GuardedArm
from seads.robot.kinematics import Point
from seads.robot.pushing import HOVER, PUSH_HEIGHT, push_ways
from seads.robot.screen import SeenTouch, TouchReader, wait_for_touches

SCREEN_SECONDS = 0.25
"""How long a touch may take from the glass to the host."""
STEP_SECONDS = 0.03
"""How long a step down waits for it; a touch that comes later costs half a millimetre."""
ROUNDING = 0.01
"""mm, more than a point sinks when the guard rounds it: one at the floor would be refused."""
CORNER_NAMES = ("top left", "top right", "bottom right", "bottom left")
CORNER_TOLERANCE = 2.0
"""mm that a corner may lie above or below the calibrated plane."""


def find_contact(
    arm: GuardedArm, screen: TouchReader, above: Point, seconds: float = STEP_SECONDS
) -> tuple[SeenTouch, Point]:
    """Go above a point, then down by half a millimetre at a time until the screen feels it.

    What the screen felt, and where the glass is. The way down ends at the guard's floor at the
    latest, or when the screen can feel nothing any more; then, and after a touch, the pen goes up
    again. `seconds` is how long each step waits for the screen.
    """
    normal = np.array(arm.envelope.floor[:3])
    arm.send_action(above, probing=True)
    screen.take_touches()
    here, felt = np.array(above, float), None
    while felt is None and arm.envelope.height(here) >= PROBE_STEP + ROUNDING:
        if not screen.visible:
            arm.send_action(above, probing=True)
            raise Refused(
                "the screen is locked or its page closed: unlock it; the pen went up again"
            )
        here = here - PROBE_STEP * normal
        arm.send_action(here, probing=True)
        seen = wait_for_touches(screen, seconds)
        felt = next((one for one in seen if one.kind == "down"), None)
    arm.send_action(above, probing=True)
    if felt is None:
        raise NoContact(
            f"the pen came down to the floor at {np.round(here, 1).tolist()} mm and the screen "
            "felt nothing; is it on, and under the pen?"
        )
    # the glass lies somewhere between this step and the one before
    return felt, here + 0.5 * PROBE_STEP * normal


def calibrate_by_hand(arm: GuardedArm, ask: Callable[[str], object]) -> Calibration:
    """Let a person lead the tip to each corner, as in the paper; `ask` waits until it is there."""
    touches = []
    for name, place in zip(CORNER_NAMES, CORNERS, strict=True):
        arm.let_go()
        try:
            ask(f"hold the arm, lead the pen's tip onto the screen's {name} corner")
        finally:  # nobody may be there to hold it
            x, y, z = (float(value) for value in arm.hold())
        touches.append(Touched(place, (x, y, z)))
    return Calibration.fit(touches)


def calibrate_by_touches(
    arm: GuardedArm, screen: TouchReader, above: Sequence[Point], seconds: float = STEP_SECONDS
) -> Calibration:
    """Touch the screen below each of some points (nine, say) and fit what it felt.

    The points are anywhere above the screen; where it was touched, the screen says itself. Once
    the glass has been felt, the way down to it is shorter.
    """
    touches: list[Touched] = []
    for point in above:
        start = np.array(point, float)
        if touches:
            start[2] = min(start[2], max(one.tip[2] for one in touches) + CLEAR)
        seen, tip = find_contact(arm, screen, start, seconds)
        x, y, z = (float(value) for value in tip)
        touches.append(Touched((seen.x, seen.y), (x, y, z)))
    return Calibration.fit(touches)


def touch_corner(
    arm: GuardedArm,
    screen: TouchReader,
    calibration: Calibration,
    corner: int = 0,
    seconds: float = STEP_SECONDS,
) -> float:
    """Feel for the screen near a corner and compare with the calibration; mm between them.

    After a reboot nothing else is allowed before; where it fits, the arm is trusted again.
    """
    inward = 0.9 * np.array([*CORNERS[corner], 0.0]) + 0.1 * np.array([0.5, 0.5, 0.0])
    above = calibration.points(inward[None] + [[0.0, 0.0, PUSH_HEIGHT]])[0]
    seen, tip = find_contact(arm, screen, above, seconds)
    expected = calibration.points(np.array([[seen.x, seen.y, 0.0]]))[0]
    off = float(np.linalg.norm(tip - expected))
    if off > CORNER_TOLERANCE:
        raise Refused(
            f"the corner was felt {off:.1f} mm from where the calibration has it; allowed: "
            f"{CORNER_TOLERANCE} mm: calibrate again"
        )
    arm.trust()
    return off


@dataclass(frozen=True)
class Push:
    """What came of one push."""

    place: tuple[float, float]
    """Where it was to be, on the screen."""
    touches: tuple[SeenTouch, ...]
    """What the screen saw that counts: none is a miss, two a doubled touch."""
    fault: RobotFault | None = None
    """What went wrong although the program may go on."""


class Pen:
    """An arm, a calibration and a screen as one: goes to places and pushes them."""

    def __init__(
        self,
        arm: GuardedArm,
        calibration: Calibration,
        screen: TouchReader,
        most_misses: int = 5,
        seconds: float = SCREEN_SECONDS,
    ) -> None:
        if missing := calibration.unreachable(HOVER):
            raise SeadsError(
                f"the arm cannot reach the places {missing} of the screen; move the tablet: its "
                "near edge belongs 100 to 200 mm before the arm"
            )
        self._arm, self._calibration, self._screen = arm, calibration, screen
        self._most_misses, self._seconds = most_misses, seconds
        self.misses = 0
        """Pushes in a row that the screen did not feel."""

    def place(self) -> tuple[float, float, float]:
        """Where the tip is, as a place over the screen; asks the arm."""
        here = self._arm.get_observation().position
        x, y, z = self._calibration.places(here[None])[0]
        return float(x), float(y), float(z)

    def go(self, x: float, y: float, z: float) -> None:
        """Go to a place; x and y must be on the screen."""
        place = np.column_stack([self._on_screen(x, y), [[z]]])
        self._arm.follow(list(self._calibration.points(place)))

    def push(self, x: float, y: float, height: float = PUSH_HEIGHT, first: bool = True) -> Push:
        """Push a place from a height and go up again; `first` goes above it before.

        A fault after which the program may go on is in the result; others are raised.
        """
        if not self._screen.visible:
            raise Refused("the screen is locked or its page closed: unlock it; nothing was sent")
        self._screen.take_touches()
        legs = list(push_ways(self._calibration, self._on_screen(x, y), height)[0])
        fault: RobotFault | None = None
        try:
            self._arm.follow(legs if first else legs[1:])
        except RobotFault as failed:
            if failed.afterwards is not Afterwards.GO_ON or self._arm.position is None:
                raise
            fault = failed
            self.retract()
        seen = wait_for_touches(self._screen, self._seconds)
        counted = tuple(one for one in seen if one.kind == "down")
        if counted or fault is None:  # a push that was not made says nothing of the screen
            self._count(bool(counted))
        return Push((x, y), counted, fault)

    def _on_screen(self, x: float, y: float) -> np.ndarray:
        place = np.array([[x, y]], float)
        if not ((place >= 0.0) & (place <= 1.0)).all():
            raise Refused(f"place ({x}, {y}); allowed: from 0 to 1")
        return place

    def retract(self) -> None:
        """Up from the screen, straight along its normal, from where the arm says that it is."""
        here = self._arm.position
        if here is None:
            here = self._arm.get_observation().position
        z = float(self._calibration.places(here[None])[0, 2])
        if z < PUSH_HEIGHT:
            up = here + (PUSH_HEIGHT - z) * FULL_HEIGHT * self._calibration.axes[2]
            self._arm.follow([up])

    def _count(self, felt: bool) -> None:
        self.misses = 0 if felt else self.misses + 1
        if self.misses >= self._most_misses:
            stands = np.round(self._arm.stop(), 1).tolist()
            raise TooManyMisses(
                f"{self.misses} pushes in a row that the screen did not feel; the arm stands at "
                f"{stands} mm: clean the pen's tip, see that the tablet has not moved, calibrate"
            )
