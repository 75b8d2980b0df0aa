"""The arm behind its line: connect, configure, move, position, stop, as each firmware wants it.

After any fault the arm is stopped first. No move is ever sent twice: where an answer is lost, the
position decides whether it was made.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import numpy as np

from seads.robot import kinematics, protocol
from seads.robot.faults import (
    Detached,
    LineLost,
    NoAnswer,
    NotUnderstood,
    OutOfReach,
    PowerLost,
    ProgramGone,
    Rebooted,
    RobotFault,
    Slipped,
    UnknownFirmware,
    Unstoppable,
)
from seads.robot.kinematics import PEN, Motion, Point, Speed
from seads.robot.line import Line, stop_at_once
from seads.robot.protocol import Dialect, Event, Power, Ready, Reply, Standstill

BOOT_SECONDS = 5.0
"""From opening the line, which resets the board, to `@1`; a board without that says nothing."""
TOLERANCE = 2.0
"""How far from its target, in mm, the arm may stand; the encoders are good to half of one."""
QUESTION_TRIES = 3
MOST_TRIES = 32
"""Answers that `connect` and `recover` wait for at the very most, each as long as they may."""
STANDING = 0.05
"""Seconds to let the arm come to rest when it was told to stop, besides what braking takes."""


class Arm:
    """One arm; not yet guarded: only the guard should have one."""

    def __init__(
        self, line: Line, speed: Speed | None = None, pace: float = 1.0, grace: float = 1.0
    ) -> None:
        """`pace` is how much faster than real the other end runs (a twin); a deadline is twice
        the predicted time and `grace` seconds."""
        self._line, self.speed = line, speed or Speed()
        self._pace, self._grace = pace, grace
        self.version = ""
        self.dialect: Dialect | None = None
        self.known: Point | None = None
        """Where the arm stands; None while nobody knows."""
        self.late = 0
        """Moves whose answer was lost although they were made."""
        self._expecting_boot = True
        self._stopping = False
        self._unready: type[RobotFault] | None = None
        """The fault after which nothing moves until the arm was configured anew."""
        self._braking = 0.0
        line.on_event = self._event

    @property
    def stale(self) -> int:
        """Answers that came too late for their request, or for none."""
        return self._line.stale

    def connect(self) -> None:
        """Wait for the board to start, learn its firmware, stop it, and make it ready."""
        self._expecting_boot = True
        self._line.wait_for(Ready, BOOT_SECONDS / min(self._pace, 20.0))
        try:
            self.version = self._ask(protocol.VERSION).text
        except (NoAnswer, NotUnderstood) as fault:
            raise UnknownFirmware(
                f"{self._line.port}: nothing there answers as the arm does ({fault})"
            ) from fault
        self.dialect = protocol.dialect_of(self.version)
        self._expecting_boot = False
        self.stop()
        self.configure()

    def configure(self) -> None:
        """Make a freshly started arm ready: pen, acceleration, power, encoders, motors."""
        assert self.dialect is not None
        for command in protocol.configure(
            self.dialect, self.speed.acceleration, PEN.front, PEN.height
        ):
            self._ask(command)
        if self._ask(protocol.POWER).values.get("V") != 1.0:
            raise PowerLost("the arm has no power: switch it on and start again")
        if self.dialect is Dialect.FW4:
            with contextlib.suppress(NotUnderstood):  # older builds of it cannot say
                self._ask(protocol.ENCODERS)
        self._ask(protocol.ATTACH)
        self._unready = None
        self.position()

    def position(self) -> Point:
        """Where the pen is, in mm; FW3 says where it was sent."""
        values = self._ask(protocol.POSITION).values
        if not {"X", "Y", "Z"} <= values.keys():
            raise NotUnderstood(f"P2220 answered {values}; allowed: X, Y and Z")
        self.known = np.array([values[axis] for axis in "XYZ"])
        return self.known

    def _position_after(self, seconds: float) -> Point:
        """The encoders are coarse: only time tells an arm that creeps from one that stands."""
        self._line.rest(seconds)
        return self.position()

    def _motion(self, target: Point, speed: Speed) -> Motion:
        start = self.known if self.known is not None else self.position()
        angles = kinematics.inverse(np.stack([start, target]))
        return kinematics.motion(angles[:1], angles[1:], speed)

    def move(self, target: Point, speed: Speed | None = None) -> Point:
        """Go to a point and wait until the arm stands there; where it stands."""
        try:
            self._line.drain()  # a reboot since the last move must be known before the next
            self._refuse_unready()
            return self._drive(target, speed or self.speed)
        except OutOfReach:
            self.position()  # nothing was queued, so there is nothing to stop
            raise
        except Detached:
            self.stop()
            self._ask(protocol.ATTACH)
            self.position()
            raise
        except NoAnswer as fault:
            return self._decide(target, fault)
        except LineLost:
            self._last_resort()
            raise
        except BaseException as fault:
            self._stop_after_fault(fault)
            raise

    def stop(self) -> Point:
        """Stop, forget every move that waits, and learn where the arm stands."""
        self.known = None
        try:
            with self._undisturbed():
                return self._stop()
        except NoAnswer as fault:
            raise Unstoppable(
                f"the arm does not answer to a stop: switch its power off ({fault})"
            ) from fault

    def recover(self) -> Point:
        """After the board has started anew: stop it and configure it; where it stands."""
        with self._undisturbed():
            self._line.wait_for(Ready, 0.2)
            self.stop()
            self.configure()
        return self.position()

    def let_go(self) -> None:
        """Motors off: the arm sinks unless somebody holds it, and can be led by hand."""
        self._ask(protocol.DETACH)
        self.known = None

    def hold(self) -> Point:
        """Motors on; where the arm is (FW3 would not notice before)."""
        self._ask(protocol.ATTACH)
        return self.position()

    def close(self) -> None:
        self._line.close()

    def _stop(self) -> Point:
        if self.dialect is Dialect.FW4:
            self._line.write(protocol.HOLD)
            braking = max(STANDING, self._braking / self._pace)
            self._line.rest(braking)
            end = time.monotonic() + braking + self._grace
            before, here = self.position(), self._position_after(STANDING)
            while np.abs(here - before).max() > 0.01:
                if time.monotonic() > end:
                    raise NoAnswer("it still moves")
                before, here = here, self._position_after(STANDING)
            self._line.write(protocol.RESET)  # leaves the hold; the old move is forgotten
        elif self.dialect is Dialect.FW3:
            self._ask(protocol.QUICK_STOP)
        else:
            self._line.write(protocol.STOP_ALWAYS)
        return self.position()

    def _drive(self, target: Point, speed: Speed) -> Point:
        motion = self._motion(target, speed)
        assert self.known is not None
        seconds = float(np.nan_to_num(motion.duration)[0])
        self._braking = float(np.nan_to_num(motion.speed / motion.acceleration)[0])
        feed = speed.feed
        if self.dialect is Dialect.FW3:
            feed = float(kinematics.millimetre_feed(self.known[None], target[None], speed)[0])
            feed = max(feed, 1.0)
        x, y, z = target
        command = protocol.move(x, y, z, feed)
        deadline = 2.0 * seconds / self._pace + self._grace
        end = time.monotonic() + deadline
        self.known = None
        self._accept(command, self._line.request(command, deadline))
        if self.dialect is Dialect.FW3:  # FW4 answers when it stands, FW3 when it has understood
            self._wait_for_standstill(command, seconds / self._pace, end)
        here = self.position()
        if (off := float(np.linalg.norm(here - target))) > TOLERANCE:
            raise Slipped(
                f"the arm says it is at {_text(target)} mm but stands {off:.1f} mm beside, at "
                f"{_text(here)}: look for what is in its way, then calibrate again"
            )
        return here

    def _wait_for_standstill(self, command: str, seconds: float, end: float) -> None:
        wait = min(seconds + 0.02, 0.25)
        while time.monotonic() < end:
            self._line.wait_for(Standstill, wait)
            if self._ask(protocol.MOVING).values.get("V") == 0.0:
                return
        raise NoAnswer(f"{command}: still moving after its deadline")

    def _decide(self, target: Point, fault: NoAnswer) -> Point:
        """The answer to a move is missing: stop, and see whether the move was made."""
        here = self.stop()
        if np.linalg.norm(here - target) > TOLERANCE:
            raise NoAnswer(f"{fault}; stopped at {_text(here)} mm, the move is not repeated")
        self.late += 1
        return here

    def _stop_after_fault(self, first: BaseException) -> None:
        """The first fault is the one to tell, unless the arm may still be moving."""
        try:
            self.stop()
        except LineLost:
            self._last_resort()
        except Unstoppable as fault:
            if not isinstance(first, ProgramGone):  # who leaves stops it once more, and says so
                raise Unstoppable(f"{fault}; before that: {first}") from first
        except RobotFault:
            self.known = None

    def _last_resort(self) -> None:
        """The line is lost: should it open again at once, stop what is at its end."""
        self.known = None
        self._line.close()
        with contextlib.suppress(LineLost, NoAnswer):
            stop_at_once(self._line.port)

    def _ask(self, command: str) -> Reply:
        """Questions are asked again if nobody answers; everything else once."""
        tries = QUESTION_TRIES if command[0] == "P" or command == protocol.MOVING else 1
        for _ in range(tries - 1):
            with contextlib.suppress(NoAnswer):
                return self._accept(command, self._line.request(command, self._grace))
        return self._accept(command, self._line.request(command, self._grace))

    @staticmethod
    def _accept(command: str, reply: Reply) -> Reply:
        if not reply.ok:
            raise protocol.refusal(command, reply)
        return reply

    def _event(self, event: Event) -> None:
        if isinstance(event, Ready) and not self._expecting_boot:
            self._unready, self.known = Rebooted, None
        elif isinstance(event, Power) and not event.on:
            self._unready, self.known = PowerLost, None
        if not self._stopping and not self._expecting_boot:
            self._refuse_unready()

    def _refuse_unready(self) -> None:
        """What was said unasked, also while the arm was being stopped, holds until configured."""
        if self._unready is Rebooted:
            raise Rebooted(
                "the arm's board has started anew: it was stopped; configure it and touch a "
                "corner before anything else"
            )
        if self._unready is PowerLost:
            raise PowerLost("the arm's power went off: it was stopped; switch it on, start again")

    @contextlib.contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """While the arm is being stopped nothing may interrupt."""
        tick, self._line.on_tick = self._line.on_tick, lambda: None
        before, self._stopping = self._stopping, True
        try:
            yield
        finally:
            self._line.on_tick, self._stopping = tick, before


def _text(point: Point) -> str:
    return "(" + ", ".join(f"{value:.1f}" for value in point) + ")"
