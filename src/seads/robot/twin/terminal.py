"""The twin on a pseudo-terminal: what opens it sees a serial line with an arm at its end."""

from __future__ import annotations

import os
import select
import threading
import time
import tty
from typing import Self

from seads.errors import SeadsError
from seads.robot.twin.firmware import Twin

IDLE_MILLISECONDS = 10
AS_FAST_AS_IT_GOES = float("inf")


class Clock:
    """Virtual seconds: real ones times the pace, or only what is waited for."""

    def __init__(self, pace: float) -> None:
        if not pace > 0.0:
            raise SeadsError(f"pace {pace}; allowed: above 0, inf for as fast as it goes")
        self.pace, self._begin, self._jumped = pace, time.monotonic(), 0.0

    @property
    def jumps(self) -> bool:
        return self.pace == AS_FAST_AS_IT_GOES

    def now(self) -> float:
        if self.jumps:
            return self._jumped
        return (time.monotonic() - self._begin) * self.pace

    def jump(self, to: float) -> None:
        self._jumped = max(self._jumped, to)

    def milliseconds_until(self, due: float | None) -> float:
        """Of real time, at most until it is worth looking again."""
        if due is None:
            return IDLE_MILLISECONDS
        wait = 0.0 if self.jumps else (due - self.now()) / self.pace * 1e3
        return min(max(wait, 0.0), IDLE_MILLISECONDS)


class Terminal:
    """A pseudo-terminal with a twin behind it; `serve` runs until stopped or the cable is cut."""

    def __init__(self, twin: Twin, pace: float = 1.0) -> None:
        self.twin, self.clock = twin, Clock(pace)
        self._master, slave = os.openpty()
        tty.setraw(slave)  # else it sends back what it receives
        os.set_blocking(self._master, False)
        self.port = os.ttyname(slave)
        os.close(slave)  # from now on the master sees whether anybody has the line open
        self._stopped = False

    def serve(self) -> None:
        """Play the arm; whoever opens the line resets it, as the real board does."""
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        is_open = False
        while not self._stopped and not self.twin.cut:
            due = self.twin.next_time()
            ready = poll.poll(self.clock.milliseconds_until(due))
            hung_up = any(event & select.POLLHUP for _, event in ready)
            data = self._read() if ready and not hung_up else b""
            if hung_up:
                is_open = False
                time.sleep(0.002)
            elif not is_open:
                is_open = True
                self.twin.boot(self.clock.now())
            if data:
                self.twin.receive(data, self.clock.now())
            elif self.clock.jumps and due is not None:
                self.clock.jump(due)
            sent = self.twin.advance(self.clock.now())
            if sent and is_open:
                self._write(sent)
        os.close(self._master)

    def stop(self) -> None:
        self._stopped = True

    def _read(self) -> bytes:
        try:
            return os.read(self._master, 4096)
        except (BlockingIOError, OSError):  # EIO: nobody has it open any more
            return b""

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._master, data) :]
        except BlockingIOError:
            pass  # nobody reads: a real line would lose it, too


class TwinThread:
    """A twin in a thread of this process, for as long as a `with` block lasts."""

    def __init__(self, twin: Twin, pace: float = AS_FAST_AS_IT_GOES) -> None:
        self.twin = twin
        self.terminal = Terminal(twin, pace)
        self.port = self.terminal.port
        self._thread = threading.Thread(target=self.terminal.serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.stop()
        self._thread.join()
