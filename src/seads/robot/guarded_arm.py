"""The arm as programs have it: verbs that go through the guard, in a process that holds the line.

`connect`, `get_observation`, `send_action`, `stop`, `disconnect`. Whatever ends the program, also
`kill -9`, ends in a stop: the other process sees to it.
"""

from __future__ import annotations

import contextlib
import logging
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from msgspec import UNSET

from seads.errors import SeadsError
from seads.reading import as_kind
from seads.robot import faults, kinematics
from seads.robot.arm import BOOT_SECONDS, MOST_TRIES
from seads.robot.faults import KeeperGone, RobotFault, Unstoppable
from seads.robot.guard import Envelope
from seads.robot.keeper import Mailbox, stop_address
from seads.robot.keeper_messages import MOST_PACE, Answer, Request, Settings, Standing
from seads.robot.kinematics import Point
from seads.robot.line import stop_at_once
from seads.robot.protocol import Dialect

LOG = logging.getLogger("seads.robot")
BEAT = 0.05
"""Seconds between signs of life while an answer is waited for."""
PATIENCE = 15.0
"""Seconds beyond every deadline of the other process after which it is taken for dead."""


@dataclass(frozen=True)
class Observation:
    """Where the tip is, in mm."""

    position: Point


class GuardedArm:
    """An arm whose every command is guarded; use it in a `with` block."""

    def __init__(
        self,
        port: str,
        envelope: Envelope,
        pace: float = 1.0,
        grace: float = 1.0,
        deadman: float = 1.0,
        patience: float = PATIENCE,
    ) -> None:
        """`pace` is a twin's clock; `deadman` is how long, in seconds, the program may be silent
        while the arm moves; `patience` how long the process that holds the line may be, beyond
        its own deadlines."""
        self.port, self.envelope, self._patience = port, envelope, patience
        self._settings = Settings(port, envelope, min(pace, MOST_PACE), grace, deadman)
        self._making_ready = patience + BOOT_SECONDS + MOST_TRIES * grace
        self._process: subprocess.Popen[bytes] | None = None
        self.version = ""
        self.dialect: Dialect | None = None
        self.position: Point | None = None
        """Where the arm stands; None while nobody knows."""
        self.unsure = False
        """Whether a corner must be touched before anything but probing."""
        self._number = 0

    def connect(self) -> None:
        """Start the process that holds the line; it connects to the arm and makes it ready."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "seads.robot.keeper", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C must not reach it
            )
        self._mailbox = Mailbox(ours)
        self._mailbox.send(self._settings)
        told = self._answer(None, PATIENCE + self._making_ready)
        self.version, self.dialect = told["version"], Dialect(told["dialect"])

    def get_observation(self) -> Observation:
        """Ask the arm where it is."""
        return Observation(np.array(self._request(Request("position"))))

    def send_action(self, target: Any, feed: float | None = None, probing: bool = False) -> Point:
        """Go to a point in mm and wait until the arm stands; what was really sent.

        `feed` is in turns of the motors a minute; the guard's own cap holds besides.
        """
        self.follow([target], feed, probing)
        return np.round(np.asarray(target, float), 2)

    def follow(
        self, points: Sequence[Any], feed: float | None = None, probing: bool = False
    ) -> list[Point]:
        """Go from point to point, standing at each; where the arm stood.

        A fault says in `made` how many points were reached; none is gone to twice.
        """
        if feed is not None:
            kinematics.Speed(feed=feed)  # which says what is allowed
        legs: Any = [np.asarray(point, float).tolist() for point in points]
        limit = self._patience + 2.0 * self._predict(points, feed, probing)
        wanted = Request("follow", None, legs, None if feed is None else float(feed), probing)
        return [np.array(one) for one in self._request(wanted, limit)]

    def stop(self) -> Point:
        """Stop at once; where the arm stands."""
        return np.array(self._request(Request("stop")))

    def recover(self) -> Point:
        """Configure the arm anew after a reboot or a stop; a corner must be touched next."""
        return np.array(self._request(Request("recover"), self._making_ready))

    def trust(self) -> None:
        """A corner was touched where it should be."""
        self._request(Request("trust"))

    def let_go(self) -> None:
        """Motors off, to lead the arm by hand: hold it first, or it sinks."""
        self._request(Request("let go"))

    def hold(self) -> Point:
        """Motors on again; where the arm is."""
        return np.array(self._request(Request("hold")))

    def state(self) -> dict[str, int]:
        """`late`: moves whose answer was lost; `stale`: answers that nobody waited for."""
        return dict(self._request(Request("state")))

    def disconnect(self) -> None:
        """Close; the arm is stopped, and the line is free when this returns."""
        if self._process is None:
            return
        self._mailbox.send(Request("leave"))
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            LOG.warning("%s", self._keeper_gone("has not ended"))
        self._process = None
        self._mailbox.socket.close()

    def __enter__(self) -> Self:
        try:
            self.connect()
        except BaseException:
            self.disconnect()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def _predict(self, points: Sequence[Any], feed: float | None, probing: bool) -> float:
        """A guess from above, for patience alone: each leg at the slowest that it can be."""
        speed = kinematics.SLOW if probing or feed is not None else self.envelope.speed
        if feed is not None and 0.1 <= feed < speed.feed:
            speed = kinematics.Speed(feed=feed)
        across = kinematics.motion(
            np.array([[-90.0, 0.0, 0.0]]), np.array([[90.0, 130.0, 110.0]]), speed
        )
        return len(points) * (float(across.duration[0]) / self._settings.pace + 1.0)

    def _request(self, wanted: Request, seconds: float | None = None) -> Any:
        if self._process is None:
            raise SeadsError(f"{self.port}: not connected; call connect first")
        self._send(wanted)
        try:
            return self._answer(self._number, seconds or self._patience)
        except SeadsError:
            raise
        except BaseException:  # Ctrl-C, or a bug of the program's: the arm must not go on
            with contextlib.suppress(RobotFault):
                self._send(Request("stop"))
                self._answer(self._number, self._patience)
            raise

    def _send(self, wanted: Request) -> None:
        self._number += 1
        wanted.id = self._number
        self._mailbox.send(wanted)

    def _answer(self, number: int | None, seconds: float) -> Any:
        end, gone = time.monotonic() + seconds, False
        while True:
            # first the time, then a look: what came while this program itself stood still counts
            late = time.monotonic() > end
            try:
                self._mailbox.look()
            except faults.ProgramGone:
                gone = True  # its last words come first
            while (line := self._mailbox.take()) is not None:
                try:
                    told = as_kind(line, Answer, "says what it should not")
                except SeadsError as error:
                    raise self._keeper_gone(str(error)) from None
                if told.id == number:
                    return self._result(told)
            if gone:
                raise self._keeper_gone("has ended")
            if late:
                raise self._keeper_gone(f"has not answered for {seconds:.0f} s")
            if not select.select([self._mailbox.socket], [], [], BEAT)[0]:
                with contextlib.suppress(OSError):
                    self._mailbox.socket.send(b"\n")

    def _result(self, told: Answer) -> Any:
        self.position = None if told.position is None else np.array(told.position)
        self.unsure = told.unsure
        if told.ok is not UNSET:
            return told.ok
        fault = faults.named(told.fault, told.message)
        fault.made = told.made
        raise fault

    def _keeper_gone(self, what: str) -> KeeperGone:
        """Nobody holds the line: stop the arm by the shortest way there is."""
        process, self._process = self._process, None
        assert process is not None
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.wait()
        self.position = None
        stopped = "it was told to stop"
        try:
            stop_at_once(self.port)
        except RobotFault as fault:
            stopped = f"it could not be told to stop ({fault})"
        return KeeperGone(
            f"the process that holds {self.port} {what}; {stopped}: see that the arm stands still, "
            "then start again"
        )


def ask_for_stop(port: str) -> Point | None:
    """Stop the arm from any other program; where it stands.

    The process that holds the line makes the stop, and `Unstoppable` says that it could not. Where
    nobody holds the line it is opened for that: then None, for nobody knows what came of it.
    """
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(PATIENCE)
        try:
            asking.connect(stop_address(port))
            received = asking.recv(4096)
        except TimeoutError:
            raise Unstoppable(
                f"the process that holds {port} does not answer: switch the arm's power off"
            ) from None
        except ConnectionError:
            received = b""
    if not received:  # nobody holds the line, or not any more
        stop_at_once(port)
        return None
    told = as_kind(received, Standing, f"the process that holds {port} says what it should not")
    if told.fault:
        raise Unstoppable(told.fault)
    return None if told.position is None else np.array(told.position)
