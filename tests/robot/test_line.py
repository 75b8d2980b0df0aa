"""The serial line on a real pseudo-terminal: pieces, garbage, stale answers, lost cables."""

from __future__ import annotations

import os
import socket
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.robot.arms import bench

from seads.robot import protocol
from seads.robot.faults import BufferFull, LineLost, NoAnswer
from seads.robot.line import Line


class OtherEnd:
    """The far end of a line, answered by hand."""

    def __init__(self) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)

    def say(self, data: bytes) -> None:
        os.write(self.master, data)

    def close(self) -> None:
        os.close(self._slave)
        os.close(self.master)


@contextmanager
def line_answered_by(*answers: bytes, pause: float = 0.0) -> Iterator[tuple[Line, OtherEnd]]:
    """A line; to its first request the answers come one after the other."""
    end = OtherEnd()

    def answer() -> None:
        os.read(end.master, 200)
        for one in answers:
            time.sleep(pause)
            end.say(one)

    thread = threading.Thread(target=answer, daemon=True)
    with Line(end.port) as line:
        thread.start()
        yield line, end
    end.say(b"")
    thread.join(1.0)


@pytest.mark.parametrize(
    "answers",
    [
        (b"$1 ok V7\n",),
        (b"$1", b" ok", b" V7\r", b"\n"),  # pieces
        (b"\xff\x00rubbish\n$1 ok V7\n",),
        (b"$99 ok V3\n$0 ok\n$1 ok V7\n",),  # stale ones first
        (b"$1 ok V7\n$1 ok V8\n",),  # twice
        (b"\n\r\n\n$1 ok V7\n",),
        (b"x" * 9000 + b"\n$1 ok V7\n",),
    ],
)
def test_the_right_answer_is_found(answers: tuple[bytes, ...]) -> None:
    with line_answered_by(*answers, pause=0.005) as (line, _):
        assert line.request("P2220", 1.0).values == {"V": 7.0}


@pytest.mark.parametrize(
    "answers", [(), (b"$1 ok",), (b"$2 ok\n",), (b"\x80$1 ok\n",), (b"@1\n",), (b"ok\n",)]
)
def test_no_answer_ends_at_the_deadline(answers: tuple[bytes, ...]) -> None:
    with line_answered_by(*answers) as (line, _):
        begin = time.monotonic()
        with pytest.raises(NoAnswer, match=r"P2220: no answer within 0\.2 s"):
            line.request("P2220", 0.2)
        assert 0.2 <= time.monotonic() - begin < 1.0


def test_an_end_that_never_pauses_does_not_keep_anybody_waiting() -> None:
    """Something else is plugged in, or an arm that reports and reports: deadlines hold, and so do
    the looks by which a stop is noticed."""
    end, ticks, enough = OtherEnd(), [], threading.Event()

    def chatter() -> None:
        while not enough.wait(0.001):
            end.say(b"@3 X1 Y2 Z3 R0\nnoise\n" * 3)

    with Line(end.port) as line:
        threading.Thread(target=chatter, daemon=True).start()
        threading.Timer(5.0, enough.set).start()  # a wait without an end ends the test, too
        line.on_tick = lambda: ticks.append(time.monotonic())
        begin = time.monotonic()
        with pytest.raises(NoAnswer):
            line.request("P2220", 0.3)
        assert line.wait_for(protocol.Ready, 0.1) is None
        line.drain()
        assert time.monotonic() - begin < 3.0
        assert len(ticks) >= 4
        enough.set()


def test_all_that_has_arrived_counts_however_much_it_is() -> None:
    """More than one read gives: an arm that was left alone for long has started anew at last."""
    chatter = b"@3 X1 Y2 Z3 R0\n" * 400
    seen: list[protocol.Event] = []
    with line_answered_by() as (line, end):
        line.on_event = seen.append
        end.say(chatter + b"@1\n")
        line.drain()
        assert seen[-1] == protocol.Ready()
        end.say(chatter + b"$1 ok V7\n")
        assert line.request("P2220", 0.0).values == {"V": 7.0}


def test_a_late_answer_is_not_taken_for_the_next() -> None:
    with line_answered_by() as (line, end):
        with pytest.raises(NoAnswer):
            line.request("P2220", 0.05)
        end.say(b"$1 ok V1\n$2 ok V2\n")
        assert line.request("P2220", 1.0).values == {"V": 2.0}
        assert line.stale == 1


def test_unasked_events_are_delivered_in_order() -> None:
    seen: list[protocol.Event] = []
    said = b"@5 V0\n@6 N0 V1\n@3 X1 Y2 Z3 R0\n@9 V0\n@1\n$1 ok\n"
    with line_answered_by(said) as (line, _):
        line.on_event = seen.append
        line.request("P2220", 1.0)
    assert seen == [
        protocol.Power(False),
        protocol.LimitSwitch(True),
        protocol.Report(1.0, 2.0, 3.0),
        protocol.Standstill(),
        protocol.Ready(),
    ]


def test_an_event_can_end_the_wait() -> None:
    def refuse(event: protocol.Event) -> None:
        raise ValueError(event)

    with line_answered_by(b"@1\n") as (line, _):
        line.on_event = refuse
        with pytest.raises(ValueError, match="Ready"):
            line.request("P2220", 1.0)


def test_a_full_queue_has_no_number() -> None:
    with line_answered_by(b"E23 buffer full\r\n") as (line, _), pytest.raises(BufferFull):
        line.request("G0 X1", 1.0)


def test_waiting_looks_up_often() -> None:
    looks = [None, None, None]
    with line_answered_by() as (line, _):
        line.on_tick = looks.pop
        with pytest.raises(IndexError):  # the fourth look, long before the wait is over
            line.request("P2220", 5.0)


def test_a_lost_cable_is_a_sentence_at_once() -> None:
    end = OtherEnd()
    with Line(end.port) as line:
        threading.Timer(0.05, end.close).start()
        begin = time.monotonic()
        with pytest.raises(LineLost, match="the line to the arm is lost"):
            line.request("P2220", 5.0)
        assert time.monotonic() - begin < 1.0
        with pytest.raises(LineLost):
            line.request("P2220", 5.0)


def test_a_closed_line_writes_and_reads_nothing_of_whoever_has_its_number_next() -> None:
    end = OtherEnd()
    line = Line(end.port)
    line.close()
    ours, theirs = socket.socketpair()  # files get the smallest numbers that are free
    with ours, theirs:
        theirs.send(b"$1 ok\n")
        uses = (lambda: line.write(b"G0"), lambda: line.wait_for(protocol.Ready, 0.0), line.drain)
        for use in uses:
            with pytest.raises(LineLost, match="it was closed"):
                use()
        assert ours.recv(100) == b"$1 ok\n"
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(100)
    line.close()
    end.close()


def test_an_arm_that_takes_no_bytes_ends_in_a_sentence() -> None:
    end = OtherEnd()
    with Line(end.port) as line, pytest.raises(NoAnswer, match="takes no bytes"):
        line.write(b"x" * 200_000)
    end.close()


def open_missing(path: Path) -> str:
    return str(path / "nothing")


def open_a_file(path: Path) -> str:
    (path / "file").write_text("")
    return str(path / "file")


@pytest.mark.parametrize("make", [open_missing, open_a_file])
def test_what_is_no_line_is_a_sentence(make: Callable[[Path], str], tmp_path: Path) -> None:
    with pytest.raises(LineLost, match=r"no such serial line|cannot be opened"):
        Line(make(tmp_path))


def test_only_one_program_has_the_line() -> None:
    with bench() as where, Line(where.port), pytest.raises(LineLost, match="another program"):
        Line(where.port)


def test_a_thousand_round_trips_a_second() -> None:
    with bench() as where, Line(where.port) as line:
        assert line.wait_for(protocol.Ready, 5.0) == protocol.Ready()
        best = 0.0
        for _ in range(100):  # the machine may be busy: the best counts
            begin = time.perf_counter()
            for _ in range(20):
                assert line.request(protocol.POSITION, 1.0).ok
            best = max(best, 20 / (time.perf_counter() - begin))
        assert best > 1000.0
