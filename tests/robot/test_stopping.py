"""Stops that cannot be made, or are not seen to be: each is said, none is taken for made."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time

import pytest
from tests.robot.arms import LEFT, PACE, RIGHT, SHORT, SLOWLY, Bench, bench, guarded, stood_between

from seads.cli import main
from seads.robot import faults, kinematics
from seads.robot.guarded_arm import ask_for_stop
from seads.robot.keeper import stop_address
from seads.robot.kinematics import Speed


def deaf(where: Bench) -> None:
    where.twin._receive_line = lambda *_: None  # type: ignore[method-assign]


def test_an_arm_that_does_not_answer_to_a_stop_is_not_called_stopped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with bench(pace=PACE) as where, guarded(where, grace=SHORT) as arm:
        arm.send_action(LEFT)
        deaf(where)
        assert main(["robot", "stop", "--port", where.port]) == 2
        told = capsys.readouterr()
        assert "switch its power off" in told.err
        assert "stopped" not in told.out


def test_a_stop_of_a_moving_arm_that_does_not_answer_is_told_to_both() -> None:
    with bench(pace=PACE) as where, guarded(where, grace=SHORT) as arm:
        arm.send_action(LEFT)
        answers: list[object] = []

        def ask() -> None:
            deaf(where)
            try:
                answers.append(ask_for_stop(where.port))
            except faults.Unstoppable as fault:
                answers.append(fault)

        asked = threading.Timer(0.2, ask)
        asked.start()
        with pytest.raises(faults.Unstoppable, match="before that: somebody asked for a stop"):
            arm.send_action(RIGHT, feed=SLOWLY)
        asked.join()
        assert isinstance(answers[0], faults.Unstoppable)
        assert arm.position is None


def test_a_stop_asked_for_between_moves_is_made_before_it_is_told() -> None:
    """The arm may move unasked, by a button on its base, while a program only asks where it is."""
    with bench(pace=PACE) as where, guarded(where) as arm:
        arm.send_action(LEFT)
        taught = kinematics.inverse(RIGHT[None])[0]
        where.twin.body.go(taught, Speed(feed=0.5), where.log[-1]["when"])
        answer, lost = where.twin._answer, iter(["P2220"])

        def forgetful(number: str, told: str, name: str, now: float) -> None:
            if name != next(lost, None):
                answer(number, told, name, now)

        where.twin._answer = forgetful  # type: ignore[method-assign]
        asked = threading.Timer(0.3, ask_for_stop, [where.port])
        asked.start()
        with pytest.raises(faults.Stopped):
            arm.get_observation()
        asked.join()
        assert not where.twin.body.moving
        assert stood_between(where)


def test_a_keeper_that_does_not_answer_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with bench(pace=PACE) as where, guarded(where) as arm:
        assert arm._process is not None
        os.kill(arm._process.pid, signal.SIGSTOP)
        with monkeypatch.context() as patched:
            patched.setattr("seads.robot.guarded_arm.PATIENCE", 0.2)
            assert main(["robot", "stop", "--port", where.port]) == 2
        os.kill(arm._process.pid, signal.SIGCONT)
        assert "does not answer: switch the arm's power off" in capsys.readouterr().err


def test_a_keeper_that_hangs_at_the_end_leaves_the_arm_stopped(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with bench(pace=PACE) as where:
        with guarded(where) as arm:
            arm.send_action(LEFT)
            taught = kinematics.inverse(RIGHT[None])[0]
            where.twin.body.go(taught, Speed(feed=0.5), where.log[-1]["when"])
            assert arm._process is not None
            os.kill(arm._process.pid, signal.SIGSTOP)
            monkeypatch.setattr("seads.robot.guarded_arm.PATIENCE", 0.2)
        assert "has not ended; it was told to stop" in caplog.text
        end = time.monotonic() + 20.0
        # by a boot, since the line was opened, or by what was written if the twin saw no gap
        while where.twin.body.moving and time.monotonic() < end:
            time.sleep(0.01)
        assert not where.twin.body.moving
        assert stood_between(where)


def test_nobody_keeps_a_line_without_hearing_of_stops() -> None:
    with bench() as where, socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(stop_address(where.port))
        refused = pytest.raises(faults.LineLost, match="another program has the address")
        with refused, guarded(where):
            pass
        threading.Timer(0.5, squatter.close).start()
        with guarded(where):  # it tries for longer than this
            assert ask_for_stop(where.port) is not None
