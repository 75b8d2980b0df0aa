"""A process of its own that holds the line: it guards every command, and stops the arm when the
program that commands it is killed, hangs while the arm moves, or somebody asks for a stop.

The firmware would go on by itself. The program only has a socket to this process and no way to
the line: it sends lines of JSON, and an empty line as a sign of life while it waits.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import select
import signal
import socket
import sys
import time
from typing import Any

import msgspec
import numpy as np

from seads.errors import SeadsError
from seads.reading import as_kind
from seads.robot.arm import Arm
from seads.robot.faults import (
    DeadMan,
    LineLost,
    ProgramGone,
    Refused,
    RobotFault,
    Stopped,
    Unstoppable,
)
from seads.robot.guard import Guard
from seads.robot.keeper_messages import (
    Answer,
    Nonsense,
    Request,
    Settings,
    Standing,
    read_request,
)
from seads.robot.kinematics import Speed
from seads.robot.line import Line

LONGEST_MESSAGE = 65536
LONGEST_WORDS = 10_000
LONGEST_COMPLAINT = 1000
"""Characters, so that whoever asks for a stop gets them in one piece."""
ADDRESS_TRIES = 40
ADDRESS_PAUSE = 0.05
"""Seconds between them; `is_held` has the address for a moment, a keeper that ends for longer."""


def stop_address(port: str) -> str:
    """Where the keeper of a port listens; whoever connects stops the arm."""
    name = hashlib.sha256(os.path.realpath(port).encode()).hexdigest()[:24]
    return f"\0seads-robot-{name}"


def is_held(port: str) -> bool:
    """Whether a keeper has this port; the line itself is left alone, for opening resets an arm."""
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.bind(stop_address(port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def listen_for_stops(port: str) -> socket.socket:
    """Where stops are asked for; raises `LineLost` where somebody else has the address."""
    stops = socket.socket(socket.AF_UNIX)
    for tries_left in reversed(range(ADDRESS_TRIES)):
        try:
            stops.bind(stop_address(port))
            break
        except OSError as error:
            if not tries_left:
                stops.close()
                raise LineLost(
                    f"{port}: another program has the address at which `seads robot stop` would be "
                    "heard; end that program, then start again"
                ) from error
            time.sleep(ADDRESS_PAUSE)
    stops.listen()
    stops.setblocking(False)
    return stops


class Mailbox:
    """Lines of JSON over a socket, read without waiting; empty lines are signs of life."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self.socket, self._rest = end, b""
        self.alive_at = time.monotonic()
        self._lines: list[bytes] = []

    def look(self) -> None:
        """Take what has arrived; raises `ProgramGone` at the end of the stream."""
        while True:
            try:
                chunk = self.socket.recv(4096)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            if not chunk:
                raise ProgramGone("the program is gone")
            self.alive_at = time.monotonic()
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            if len(self._rest) > LONGEST_MESSAGE:
                raise ProgramGone("the program sends rubbish")
            self._lines += [line for line in lines if line]

    def take(self) -> bytes | None:
        """The next line, for whoever knows what it should be."""
        return self._lines.pop(0) if self._lines else None

    def wants_stop(self) -> bool:
        """Whether a stop is among what arrived; it stays, to be answered in its turn."""
        asked = map(read_request, self._lines)
        return any(isinstance(one, Request) and one.do == "stop" for one in asked)

    def send(self, message: msgspec.Struct) -> None:
        with contextlib.suppress(OSError):  # nobody there any more: the next look says so
            self.socket.settimeout(1.0)
            self.socket.sendall(msgspec.json.encode(message) + b"\n")
        self.socket.setblocking(False)


class Keeper:
    """Serves one program until it closes its end."""

    def __init__(self, mailbox: Mailbox, settings: Settings) -> None:
        self._mailbox, self._deadman = mailbox, settings.deadman
        self._line = Line(settings.port)
        speed = settings.envelope.speed
        self._arm = Arm(self._line, speed, pace=settings.pace, grace=settings.grace)
        self._guard = Guard(self._arm, settings.envelope)
        self._stops = listen_for_stops(settings.port)
        self._stopped = False
        """Whether somebody else asked for a stop since the program last recovered."""
        self._asking: socket.socket | None = None
        self._made = 0

    def run(self) -> None:
        """Connect, then do as told; returns when the program is gone, with the arm stopped."""
        try:
            self._answer(Request("connect"))
            while True:
                self._wait()
                while (line := self._mailbox.take()) is not None:
                    self._line.on_tick = self._tick
                    self._answer(read_request(line))
                    self._line.on_tick = lambda: None
        except ProgramGone as gone:
            self._leave(str(gone))
        except BaseException:  # a defect of ours must not leave the arm moving either
            self._leave("the process that holds the line failed")
            raise
        finally:
            self._stops.close()  # before the line: whoever has that next needs the address, too
            self._line.close()

    def _connect(self) -> dict[str, Any]:
        self._arm.connect()
        assert self._arm.dialect is not None
        return {"version": self._arm.version, "dialect": self._arm.dialect.value}

    def _answer(self, asked: Request | Nonsense) -> None:
        self._made = 0
        told = Answer(asked.id)
        try:
            told.ok = self._do(asked)
        except ProgramGone:
            raise
        except SeadsError as fault:
            told.fault, told.message = type(fault).__name__, str(fault)[:LONGEST_WORDS]
            told.made = self._made
        told.position, told.unsure = self._stands(), self._guard.unsure
        self._mailbox.send(told)
        if self._asking is not None:  # a question was interrupted, or a move and the arm stands
            self._tell_who_asked(self._stop())

    def _stands(self) -> tuple[float, float, float] | None:
        known = self._arm.known
        return None if known is None else (float(known[0]), float(known[1]), float(known[2]))

    def _do(self, asked: Request | Nonsense) -> Any:
        if isinstance(asked, Nonsense):
            raise Refused(asked.why)
        if self._stopped and asked.do not in ("recover", "position", "stop", "state", "leave"):
            raise Stopped("somebody asked for a stop; nothing was sent")
        match asked.do:
            case "connect" if self._arm.dialect is None:
                return self._connect()
            case "follow":
                return self._follow(asked)
            case "position":
                return self._guard.position().tolist()
            case "stop":
                return self._guard.stop().tolist()
            case "recover":
                self._stopped = False
                return self._guard.recover().tolist()
            case "trust":
                return self._guard.trust()
            case "let go":
                return self._guard.let_go()
            case "hold":
                return self._guard.hold().tolist()
            case "leave":
                raise ProgramGone("")
            case "state":
                return {"late": self._arm.late, "stale": self._arm.stale}
        raise Refused(f"{asked.do!r} is nothing that the keeper of the line can do now")

    def _follow(self, asked: Request) -> list[list[float]]:
        if asked.to is msgspec.UNSET:
            raise Refused("follow: where to?")
        speed = None if asked.feed is None else Speed(feed=asked.feed)
        stood = []
        for leg in asked.to:
            stood.append(self._guard.move(leg, speed, asked.probing).tolist())
            self._made += 1
        return stood

    def _wait(self) -> None:
        """Until the program says something; a stop that somebody asks for is made at once."""
        select.select([self._mailbox.socket, self._stops], [], [])
        if self._stop_asked():
            self._tell_who_asked(self._stop())
        self._mailbox.look()

    def _tick(self) -> None:
        """While the arm is busy: is the program still there, and does it live?"""
        self._mailbox.look()
        silent = time.monotonic() - self._mailbox.alive_at
        if silent > self._deadman:
            raise DeadMan(f"the program gave no sign of life for {silent:.1f} s: it was stopped")
        if self._mailbox.wants_stop():
            raise Stopped("the program asked for a stop")
        if self._stop_asked():
            raise Stopped("somebody asked for a stop")

    def _stop_asked(self) -> bool:
        try:
            asking, _ = self._stops.accept()
        except OSError:
            return False
        self._stopped = True
        self._asking = asking
        return True

    def _stop(self) -> Standing:
        """Stop the arm; where it stands, or why nobody knows whether it does."""
        try:
            self._guard.stop()
        except Unstoppable as fault:
            return Standing(fault=str(fault)[:LONGEST_COMPLAINT])
        except RobotFault as fault:
            unsure = f"nobody knows whether the arm stands: switch its power off ({fault})"
            return Standing(fault=unsure[:LONGEST_COMPLAINT])
        return Standing(self._stands())

    def _tell_who_asked(self, told: Standing) -> None:
        """Say to whoever asked for a stop what came of it."""
        if self._asking is None:
            return
        with self._asking, contextlib.suppress(OSError):
            self._asking.sendall(msgspec.json.encode(told))
        self._asking = None

    def _leave(self, why: str) -> None:
        told = self._stop()
        self._tell_who_asked(told)
        if not why:
            return  # it said goodbye
        where = "the arm does not answer: switch its power off"
        if told.position is not None:
            where = f"the arm stands at {np.round(told.position, 1).tolist()} mm"
        print(f"seads robot: {why}; {where}", file=sys.stderr)


def _end(*_: object) -> None:
    raise ProgramGone("the process that holds the line was told to end")


def main(descriptor: int) -> None:
    """Serve the program at the other end of an inherited socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's: it asks for a stop
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _end)
    mailbox = Mailbox(socket.socket(fileno=descriptor))
    line = None
    try:
        while line is None:
            select.select([mailbox.socket], [], [])
            mailbox.look()
            line = mailbox.take()
        Keeper(mailbox, as_kind(line, Settings, "no settings of an arm")).run()
    except ProgramGone:
        return
    except SeadsError as fault:
        mailbox.send(Answer(fault=type(fault).__name__, message=str(fault)[:LONGEST_WORDS]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
