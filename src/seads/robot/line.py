"""The serial line to the arm: one request at a time, each with a number and a deadline.

What arrives is read in chunks and taken apart into lines. An answer with another number is stale
and dropped; what the arm says unasked goes to `on_event`, which may raise to end the wait.
"""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Callable, Iterator
from typing import Self

import serial

from seads.robot import protocol
from seads.robot.faults import BufferFull, LineLost, NoAnswer
from seads.robot.protocol import Event, Full, Noise, Reply

BAUD = 115200
LONGEST_RUBBISH = 4096
TICK = 0.02
"""Seconds after which a wait looks up, to notice that nobody wants its result any more."""
LAST_READS = 20
"""Reads of what has arrived that a wait still makes when its time is over; Linux gives 4 kB a read,
and keeps less than this in all."""


class Line:
    """An open serial line; a fault of the line itself raises `LineLost` ever after."""

    def __init__(
        self,
        port: str,
        on_event: Callable[[Event], None] = lambda event: None,
        on_tick: Callable[[], None] = lambda: None,
    ) -> None:
        try:
            self._serial = serial.Serial(port, BAUD, timeout=0, exclusive=True)
        except (serial.SerialException, OSError, ValueError) as error:
            raise LineLost(_why_not_opened(port, error)) from error
        self.port, self.on_event, self.on_tick = port, on_event, on_tick
        self.stale = 0
        """Answers that came for no request, or too late for theirs."""
        self._descriptor = self._serial.fileno()
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)
        self._number = 0
        self._ticked = 0.0
        self._rest = b""
        self._lines: list[bytes] = []

    def request(self, command: str, seconds: float) -> Reply:
        """Send a command and wait for its answer; raises `NoAnswer` after so many seconds.

        The answer may be a refusal. While it waits, `on_tick` is called every 20 ms.
        """
        self._number = self._number % protocol.LAST_NUMBER + 1
        self.write(protocol.encode(self._number, command))
        for found in self._until(time.monotonic() + seconds):
            if isinstance(found, Full):
                raise BufferFull(f"{command}: the arm's queue was full and dropped it")
            if isinstance(found, Reply) and found.number == self._number:
                return found
            self._stray(found)
        raise NoAnswer(f"{command}: no answer within {seconds:.2g} s")

    def wait_for(self, kind: type[Event], seconds: float) -> Event | None:
        """The next event of a kind; None if there is none by then. `on_event` sees the others."""
        for found in self._until(time.monotonic() + seconds):
            if isinstance(found, kind):
                return found
            self._stray(found)
        return None

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        end = time.monotonic() + 1.0
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                if time.monotonic() > end:
                    raise NoAnswer(f"{self.port}: the arm takes no bytes any more") from None
                select.select([], [self._descriptor], [], TICK)
            except OSError as error:
                raise self._lost(error) from error

    def rest(self, seconds: float) -> None:
        """Let time pass at the other end."""
        time.sleep(seconds)

    def drain(self) -> None:
        """Deal with what has arrived, without waiting."""
        for found in self._until(0.0):
            self._stray(found)

    def close(self) -> None:
        self._serial.close()
        self._descriptor = -1  # its number may soon belong to another file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stray(self, found: protocol.Line) -> None:
        if isinstance(found, Reply):
            self.stale += 1
        elif not isinstance(found, Full | Noise):  # the first of all are the arm's greeting
            self.on_event(found)

    def _until(self, end: float) -> Iterator[protocol.Line]:
        """The lines that arrive by then; what was there already when the time was over counts.

        Also while the other end never pauses, it ends in time and `on_tick` is called.
        """
        last_reads = LAST_READS
        if self._descriptor < 0:
            raise self._lost(None)
        while True:
            while self._lines:
                self._look_up()
                yield protocol.parse(self._lines.pop(0))
            if not last_reads:
                return
            self._look_up()
            wait = end - time.monotonic()
            arrived = self._poll.poll(max(min(wait, TICK), 0.0) * 1e3)
            if arrived:
                self._read()
            if wait <= 0.0:
                last_reads = last_reads - 1 if arrived else 0

    def _look_up(self) -> None:
        now = time.monotonic()
        if now - self._ticked >= TICK:
            self._ticked = now
            self.on_tick()

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, 4096)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._lost(error) from error
        if not chunk:
            raise self._lost(None)
        *self._lines, self._rest = (self._rest + chunk).split(b"\n")
        self._rest = self._rest[-LONGEST_RUBBISH:]

    def _lost(self, error: OSError | None) -> LineLost:
        why = os.strerror(error.errno) if error is not None and error.errno else "no device"
        why = "it was closed" if self._descriptor < 0 else why
        return LineLost(
            f"{self.port}: the line to the arm is lost ({why}); put the cable in again, see that "
            "the arm stands still, and start again"
        )


def _why_not_opened(port: str, error: Exception) -> str:
    code = getattr(error, "errno", None)
    if code == errno.ENOENT:
        return f"{port}: no such serial line; is the arm plugged in?"
    if code == errno.EACCES:
        return f"{port}: not allowed; add yourself to the group that owns it (often dialout)"
    if code in (errno.EAGAIN, errno.EBUSY, errno.EWOULDBLOCK) or "lock" in str(error):
        return held_by_another(port)
    return f"{port}: cannot be opened as a serial line ({error})"


def held_by_another(port: str) -> str:
    """The sentence for a line that is in use."""
    return f"{port}: another program has it open; `seads robot stop --port {port}` ends that"


def stop_at_once(port: str) -> None:
    """Open a line only to stop whatever arm is at its end, whichever firmware it has."""
    with Line(port) as line:
        line.write(protocol.STOP_ALWAYS)
        line.wait_for(protocol.Standstill, 0.2)
