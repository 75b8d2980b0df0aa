"""The process that holds the line: killed, hanging and interrupted programs, by real signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tests.robot.arms import (
    GRACE,
    LEFT,
    MIDDLE,
    PACE,
    RIGHT,
    SLOWLY,
    bench,
    guarded,
    stood_between,
)

from seads.cli import main
from seads.errors import SeadsError
from seads.robot import faults, kinematics
from seads.robot.guard import Envelope
from seads.robot.guarded_arm import GuardedArm, ask_for_stop
from seads.robot.keeper import is_held
from seads.robot.kinematics import Speed
from seads.robot.protocol import Dialect

PROGRAM = """
import sys, numpy
from seads.robot.guard import Envelope
from seads.robot.guarded_arm import GuardedArm
port, left, right = sys.argv[1], [220, 80, 40], [220, -80, 40]
with GuardedArm(port, Envelope.above(0.0), pace=5.0, deadman=0.3) as arm:
    arm.send_action(left)
    print("moving", flush=True)
    arm.send_action(right, feed=2.0)
print("done")
"""

IDLE_PROGRAM = """
import sys
from seads.robot.guard import Envelope
from seads.robot.guarded_arm import GuardedArm
with GuardedArm(sys.argv[1], Envelope.above(0.0), pace=5.0) as arm:
    arm.send_action([220, 80, 40])
    print("standing", flush=True)
    sys.stdin.readline()
"""


def wait_until(condition: object, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # type: ignore[operator]
        time.sleep(0.01)
    assert condition()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("sent", "dialect"),
    [
        (signal.SIGKILL, Dialect.FW4),
        (signal.SIGKILL, Dialect.FW3),
        (signal.SIGSTOP, Dialect.FW4),
        (signal.SIGINT, Dialect.FW4),
    ],
)
def test_the_arm_stops_when_its_program_dies_hangs_or_is_interrupted(
    sent: signal.Signals, dialect: Dialect
) -> None:
    with bench(dialect, pace=PACE) as where:
        heeding = ["env", "--default-signal=INT"]
        program = subprocess.Popen(
            [*heeding, sys.executable, "-c", PROGRAM, where.port],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        assert program.stdout.readline() == "moving\n"
        stops = len(where.told("stop"))
        time.sleep(0.3)
        assert where.twin.body.moving
        program.send_signal(sent)
        wait_until(lambda: not where.twin.body.moving, 2.0)
        assert stood_between(where)
        assert len(where.told("stop")) > stops
        if sent is signal.SIGSTOP:
            program.send_signal(signal.SIGCONT)
        _, complaint = program.communicate(timeout=10)
        told = {
            signal.SIGKILL: "",
            signal.SIGSTOP: "no sign of life",
            signal.SIGINT: "KeyboardInterrupt",
        }
        assert told[sent] in complaint
        assert program.returncode != 0
        assert stood_between(where)
        assert not where.told("steps-lost")


@pytest.mark.parametrize("killed", [True, False])
def test_an_arm_that_moves_unasked_is_stopped_when_its_program_goes(killed: bool) -> None:
    """A button on the arm's base starts what it was taught: nobody waits for such a move."""
    with bench(pace=PACE) as where:
        program = subprocess.Popen(
            [sys.executable, "-c", IDLE_PROGRAM, where.port],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        assert program.stdout.readline() == "standing\n"
        taught = kinematics.inverse(RIGHT[None])[0]
        where.twin.body.go(taught, Speed(feed=0.5), where.log[-1]["when"])
        time.sleep(0.5)
        assert where.twin.body.moving
        if killed:
            program.kill()
        _, complaint = program.communicate("\n" * (not killed), timeout=20)  # the keeper's, too
        wait_until(lambda: not where.twin.body.moving, 0.0)
        assert stood_between(where)
        if killed:
            here = np.round(where.tip(), 0).tolist()
            told = re.search(r"the program is gone; the arm stands at (\[.*\]) mm", complaint)
            assert told is not None, complaint
            np.testing.assert_allclose(json.loads(told[1]), here, atol=1.1)
        else:
            assert complaint == ""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_if_the_keeper_itself_is_ended_the_arm_is_still_stopped(sent: signal.Signals) -> None:
    with bench(pace=PACE) as where, guarded(where) as arm:
        arm.send_action(LEFT)
        assert arm._process is not None
        threading.Timer(0.2, os.kill, [arm._process.pid, sent]).start()
        with pytest.raises(faults.KeeperGone, match="has ended; it was told to stop"):
            arm.send_action(RIGHT, feed=SLOWLY)
        assert stood_between(where)
        assert len(where.told("stop")) >= (3 if sent is signal.SIGTERM else 1)
        with pytest.raises(SeadsError, match="not connected"):
            arm.get_observation()


def test_a_keeper_that_hangs_is_ended_and_the_arm_stopped() -> None:
    with bench(pace=PACE) as where, guarded(where, patience=0.5) as arm:
        arm.send_action(LEFT)
        assert arm._process is not None
        os.kill(arm._process.pid, signal.SIGSTOP)
        begin = time.monotonic()
        with pytest.raises(faults.KeeperGone, match="has not answered"):
            arm.get_observation()
        assert time.monotonic() - begin < 2.0


def test_the_keeper_is_not_taken_for_dead_before_its_own_deadlines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Starting and recovering ask the arm many things, and a busy arm may be slow to answer all."""
    monkeypatch.setattr("seads.robot.guarded_arm.PATIENCE", 0.0)
    with bench() as where:
        arm = GuardedArm(where.port, Envelope.above(0.0), pace=1e9, grace=GRACE, patience=0.0)
        try:
            arm.connect()
            arm.recover()
        finally:
            monkeypatch.undo()
            arm.disconnect()


def test_anybody_may_ask_for_a_stop(capsys: pytest.CaptureFixture[str]) -> None:
    with bench(pace=PACE) as where, guarded(where) as arm:
        arm.send_action(LEFT)
        answers: list[np.ndarray | None] = []
        asked = threading.Timer(0.2, lambda: answers.append(ask_for_stop(where.port)))
        asked.start()
        with pytest.raises(faults.Stopped, match="somebody asked"):
            arm.send_action(RIGHT, feed=SLOWLY)
        asked.join()
        assert stood_between(where)
        np.testing.assert_allclose(answers[0], where.tip(), atol=0.5)
        with pytest.raises(faults.Stopped):  # and it stays stopped until the program knows
            arm.send_action(MIDDLE)
        arm.recover()
        with pytest.raises(faults.CornerFirst):
            arm.send_action(MIDDLE)
        arm.trust()
        arm.send_action(MIDDLE)
        assert main(["robot", "stop", "--port", where.port]) == 0  # while it stands, too
        assert "stopped; the pen is at [2" in capsys.readouterr().out
        with pytest.raises(faults.Stopped):
            arm.send_action(LEFT)


def test_whether_a_line_is_held_can_be_asked_without_touching_it() -> None:
    with bench() as where:
        assert not is_held(where.port)
        with guarded(where):
            stops, boots = len(where.told("stop")), len(where.told("boot"))
            assert is_held(where.port)
            assert (len(where.told("stop")), len(where.told("boot"))) == (stops, boots)
        assert not is_held(where.port)


def test_without_a_program_a_stop_opens_the_line_itself() -> None:
    with bench() as where:
        assert ask_for_stop(where.port) is None
        assert where.told("boot")


def test_a_program_that_fails_stops_the_arm_and_may_go_on() -> None:
    with bench(pace=PACE) as where, guarded(where) as arm:
        arm.send_action(LEFT)

        def alarm(*_: object) -> None:
            raise ZeroDivisionError

        before = signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises(ZeroDivisionError):
                arm.send_action(RIGHT, feed=SLOWLY)
        finally:
            signal.signal(signal.SIGALRM, before)
        assert stood_between(where)
        np.testing.assert_allclose(arm.get_observation().position, where.tip(), atol=0.5)
        arm.send_action(MIDDLE)


def test_verbs_faults_and_counts_come_through() -> None:
    with bench(faults="lost-reply@3,out-of-reach@5,detached@7") as where:
        with guarded(where, pace=1e9, grace=0.5) as arm:
            assert arm.version == "V4.9.0"
            assert arm.dialect is Dialect.FW4
            sent = arm.send_action([220.004, 0.0, 40.0])
            np.testing.assert_array_equal(sent, [220.0, 0.0, 40.0])
            stood = arm.follow([LEFT, RIGHT, MIDDLE])
            np.testing.assert_allclose(stood, [LEFT, RIGHT, MIDDLE], atol=0.5)
            assert arm.state()["late"] == 1
            with pytest.raises(faults.OutOfReach):
                arm.send_action(LEFT)
            with pytest.raises(faults.Detached) as raised:
                arm.follow([RIGHT, LEFT, MIDDLE])
            assert raised.value.made == 1
            np.testing.assert_allclose(arm.position, RIGHT, atol=0.5)
            with pytest.raises(faults.Refused, match="outside the guard"):
                arm.send_action([220.0, 0.0, -1.0])
            arm.let_go()
            np.testing.assert_allclose(arm.hold(), where.tip(), atol=0.5)
            arm.follow([MIDDLE], feed=0.5)
        with guarded(where, pace=1e9) as again:  # the line is free again
            np.testing.assert_allclose(again.stop(), MIDDLE, atol=0.5)


def test_a_speed_that_is_none_is_refused() -> None:
    with bench() as where, guarded(where) as arm:
        with pytest.raises(SeadsError, match="feed=nan"):
            arm.send_action(MIDDLE, feed=float("nan"))
        with pytest.raises(faults.Refused):
            arm.send_action([220.0, float("nan"), 40.0])
        assert where.twin.moves == 0


def test_what_cannot_be_opened_is_a_sentence() -> None:
    with (
        pytest.raises(faults.LineLost, match="is the arm plugged in"),
        GuardedArm("/dev/nothing", Envelope.above(0.0)),
    ):
        pass


def test_unknown_firmware_comes_through() -> None:
    with bench(version="V9.9.9") as where:
        with pytest.raises(faults.UnknownFirmware, match=r"V9\.9\.9"), guarded(where):
            pass
        assert not where.lines("G0")


def test_the_keepers_speed_is_the_envelopes() -> None:
    with bench() as where:
        envelope = Envelope.above(0.0, Speed(10.0, 200.0))
        with GuardedArm(where.port, envelope, pace=1e9, grace=GRACE) as arm:
            arm.send_action(LEFT)
        assert where.lines("M204A10.00")
