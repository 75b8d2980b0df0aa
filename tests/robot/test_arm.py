"""The arm on its twin: both firmwares, every fault of the line and of the arm, none for ever."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from tests.robot.arms import GRACE, LEFT, MIDDLE, RIGHT, SHORT, bench, connected
from tests.robot.direct import Recorded

from seads.robot import faults, kinematics
from seads.robot.arm import Arm
from seads.robot.kinematics import Speed
from seads.robot.line import Line
from seads.robot.protocol import Dialect
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES

both = pytest.mark.parametrize("dialect", Dialect)


@both
def test_moves_end_where_they_should(dialect: Dialect) -> None:
    with bench(dialect) as where, connected(where) as arm:
        assert arm.dialect is dialect
        for target in (MIDDLE, LEFT, RIGHT, RIGHT, MIDDLE - [0, 0, 15]):
            np.testing.assert_allclose(arm.move(target), target, atol=0.5)
            np.testing.assert_allclose(where.tip(), target, atol=0.02)
        assert len(where.lines("G0")) == 5
        assert arm.stale == 0


@both
def test_a_pen_comes_down_once(dialect: Dialect) -> None:
    with bench(dialect) as where, connected(where) as arm:
        place = np.array([[0.3, 0.7, 20.0]])
        high = where.twin.pen.tablet.points(place)[0]
        low = where.twin.pen.tablet.points(place * [1, 1, 0])[0] - [0, 0, 0.2]
        for target in (high, low, high):
            arm.move(target)
        touches = where.screen.take_touches()
        assert [one.kind for one in touches] == ["down", "up"]
        assert (touches[0].x, touches[0].y) == pytest.approx((0.3, 0.7), abs=0.005)


@both
def test_durations_are_predicted(dialect: Dialect) -> None:
    """By the twin's clock: from the command's arrival to the standstill."""
    with bench(dialect) as where, connected(where, speed=Speed(1.25)) as arm:
        arm.move(MIDDLE)
        for target, feed in ((LEFT, 200.0), (MIDDLE, 15.0), (MIDDLE - [0, 0, 20], 200.0)):
            assert arm.known is not None
            speed = Speed(1.25, feed)
            (predicted,) = kinematics.duration(arm.known[None], target[None], speed)
            arm.move(target, speed)
            begun = [one for one in where.told("line") if "G0" in one["text"]][-1]["when"]
            measured = where.told("stood")[-1]["when"] - begun
            assert measured == pytest.approx(predicted, rel=0.01, abs=0.006)  # and 87 µs a byte


@both
def test_the_arm_can_be_led_by_hand(dialect: Dialect) -> None:
    with bench(dialect) as where, connected(where) as arm:
        arm.move(MIDDLE)
        arm.let_go()
        where.twin.hand(kinematics.inverse(LEFT[None])[0])
        np.testing.assert_allclose(arm.hold(), LEFT, atol=0.5)


@both
def test_a_stop_in_the_middle_is_a_stop(dialect: Dialect) -> None:
    """And the old move is forgotten: the next one goes where it should, no steps are lost."""
    with bench(dialect, pace=5.0) as where, connected(where, pace=5.0) as arm:
        arm.move(LEFT)
        begin = time.monotonic()
        arm._line.on_tick = lambda: interrupt(begin + 0.2)
        with pytest.raises(KeyboardInterrupt):
            arm.move(RIGHT, Speed(feed=10.0))
        arm._line.on_tick = lambda: None
        assert len(where.told("stop")) == 2  # one when it connected
        stood = where.tip()
        assert RIGHT[1] + 5.0 < stood[1] < LEFT[1] - 5.0
        np.testing.assert_allclose(arm.known, stood, atol=0.5)
        np.testing.assert_allclose(arm.move(MIDDLE), MIDDLE, atol=0.5)
        assert not where.told("steps-lost")
        assert not where.told("resumed")


def interrupt(when: float) -> None:
    if time.monotonic() > when:
        raise KeyboardInterrupt


def test_a_stop_waits_until_the_arm_stands() -> None:
    """A reset while it still brakes would lose steps, and it may brake for longer than reckoned."""
    told: list[str] = []
    recorded = Recorded(Dialect.FW4, log=lambda kind, *_, **__: told.append(kind))
    recorded.arm.move(LEFT)

    def rest(seconds: float) -> None:
        recorded.line.now += seconds
        recorded.twin.advance(recorded.line.now)

    recorded.line.rest = rest  # type: ignore[method-assign]
    recorded.line.write(b"#999 G0 X220.00 Y-80.00 Z40.00 F200.00\n")
    rest(0.5)
    assert recorded.twin.body.moving
    stands = recorded.arm.stop()
    assert RIGHT[1] + 5.0 < stands[1] < LEFT[1] - 5.0
    assert told.count("stop") == 2  # one when it connected
    assert "steps-lost" not in told


# What comes of each fault at the second of three moves: the fault that is raised, or None where
# the arm goes on as if nothing had been.
OUTCOMES = {
    "lost-reply": None,
    "late-reply": None,
    "torn-line": None,
    "half-line": None,
    "garbage": None,
    "out-of-order": None,
    "cable": faults.LineLost,
    "buffer-full": faults.BufferFull,
    "out-of-reach": faults.OutOfReach,
    "detached": faults.Detached,
    "encoder": faults.EncoderFault,
    "power": faults.PowerLost,
    "reboot": faults.Rebooted,
    "unmoved": faults.Slipped,
    "slipped": faults.Slipped,
}
LOST = ("lost-reply", "late-reply", "torn-line")
NOTHING_TO_STOP = ("out-of-reach", "cable")


UNSEEN_BY_FW3 = ("unmoved", "slipped")
"""FW3 says where it was sent: only the screen can tell."""


@pytest.mark.parametrize(
    ("fault", "dialect"),
    [
        (fault, dialect)
        for dialect in Dialect
        for fault in OUTCOMES
        if dialect is Dialect.FW4 or fault not in UNSEEN_BY_FW3
    ],
)
def test_each_fault_stops_the_arm_and_has_its_sentence(fault: str, dialect: Dialect) -> None:
    grace = SHORT if fault in LOST else GRACE
    with bench(dialect, f"{fault}@2") as where, connected(where, grace=grace) as arm:
        arm.move(MIDDLE)
        stops = len(where.told("stop"))
        begin = time.monotonic()
        expected = OUTCOMES[fault]
        if expected is None:
            np.testing.assert_allclose(arm.move(LEFT), LEFT, atol=0.5)
        else:
            with pytest.raises(expected) as raised:
                arm.move(LEFT)
            assert type(raised.value) is expected
        assert time.monotonic() - begin < 2.0 + 3 * grace
        assert len(where.lines("G0")) == 2  # the move was sent once and never again
        if expected is not None and fault not in NOTHING_TO_STOP:
            assert len(where.told("stop")) > stops
        if expected is None or expected.afterwards is faults.Afterwards.GO_ON:
            np.testing.assert_allclose(arm.move(RIGHT), RIGHT, atol=0.5)
            np.testing.assert_allclose(where.tip(), RIGHT, atol=0.02)
        assert not where.told("steps-lost")


def test_a_line_that_opens_again_after_it_was_lost_is_stopped(tmp_path: Path) -> None:
    """A cable with a loose contact: the arm still moves behind the name that its line has."""
    link = tmp_path / "arm"
    with bench(faults="cable@1") as lost, bench() as back:
        link.symlink_to(lost.port)
        with Line(str(link)) as line:
            arm = Arm(line, pace=AS_FAST_AS_IT_GOES, grace=GRACE)
            arm.connect()
            link.unlink()
            link.symlink_to(back.port)
            with pytest.raises(faults.LineLost):
                arm.move(LEFT)
        wait = time.monotonic() + 5.0
        while not back.log and time.monotonic() < wait:
            time.sleep(0.01)
        assert back.told("boot")  # opened, and what is sent then stops either firmware


@both
def test_a_move_that_is_not_made_in_time_is_stopped_and_not_sent_again(dialect: Dialect) -> None:
    """Its answer does not come, and the arm is found on its way: nobody knows why it is so slow."""
    with bench(dialect, pace=5.0) as where, connected(where, grace=SHORT) as arm:
        arm.move(LEFT)
        stops = len(where.told("stop"))
        with pytest.raises(faults.NoAnswer, match=r"stopped at \(.*the move is not repeated"):
            arm.move(RIGHT, Speed(feed=2.0))
        assert len(where.told("stop")) > stops
        assert RIGHT[1] + 5.0 < where.tip()[1] < LEFT[1]
        assert len(where.lines("G0")) == 2
        assert arm.late == 0


@both
def test_after_a_reboot_it_is_configured_again(dialect: Dialect) -> None:
    with bench(dialect, "reboot@2") as where, connected(where) as arm:
        arm.move(MIDDLE)
        with pytest.raises(faults.Rebooted, match="touch a corner"):
            arm.move(LEFT)
        before = len(where.lines("M2400"))
        np.testing.assert_allclose(arm.recover(), where.tip(), atol=0.5)
        assert len(where.lines("M2400")) == before + 1
        np.testing.assert_allclose(arm.move(RIGHT), RIGHT, atol=0.5)


@pytest.mark.parametrize("seen_by", ["the next move", "a question", "a stop"])
@both
def test_a_reboot_between_moves_is_seen_before_the_next(dialect: Dialect, seen_by: str) -> None:
    with bench(dialect) as where, connected(where) as arm:
        arm.move(MIDDLE)
        where.twin.boot(where.twin._free)
        time.sleep(0.1)
        if seen_by == "a question":
            with pytest.raises(faults.Rebooted):
                arm.position()
        elif seen_by == "a stop":
            arm.stop()
        with pytest.raises(faults.Rebooted):
            arm.move(LEFT)
        assert len(where.lines("G0")) == 1
        arm.recover()
        np.testing.assert_allclose(arm.move(LEFT), LEFT, atol=0.5)


@both
def test_lost_answers_to_questions_are_asked_for_again(dialect: Dialect) -> None:
    with bench(dialect) as where, connected(where, grace=SHORT) as arm:
        arm.move(MIDDLE)
        answer = where.twin._answer
        lost = iter(["P2220", "P2220"])

        def forgetful(number: str, told: str, name: str, now: float) -> None:
            if name != next(lost, None):
                answer(number, told, name, now)

        where.twin._answer = forgetful  # type: ignore[method-assign]
        np.testing.assert_allclose(arm.position(), MIDDLE, atol=0.5)
        assert next(lost, None) is None


@pytest.mark.parametrize("version", ["V2.9.1", "V5.0.0", "something else"])
def test_unknown_firmware_is_refused_before_anything_moves(version: str) -> None:
    with bench(version=version) as where, Line(where.port) as line:
        with pytest.raises(faults.UnknownFirmware):
            Arm(line, grace=GRACE, pace=50.0).connect()
        assert not where.lines("G0")
        assert not where.lines("M")


def test_what_is_no_arm_is_refused() -> None:
    with bench() as where, Line(where.port) as line:
        where.twin._receive_line = lambda *_: None  # type: ignore[method-assign]
        with pytest.raises(faults.UnknownFirmware, match="nothing there answers"):
            Arm(line, grace=0.05, pace=50.0).connect()


@both
def test_no_power_and_broken_encoders_are_refused(dialect: Dialect) -> None:
    with bench(dialect) as where:
        where.twin.power = False
        with pytest.raises(faults.PowerLost, match="switch it on"), connected(where):
            pass
        where.twin.power, where.twin.encoders = True, False
        if dialect is Dialect.FW4:
            with pytest.raises(faults.EncoderFault), connected(where):
                pass
        assert not where.lines("G0")


def test_an_arm_that_does_not_answer_a_stop_says_so() -> None:
    with bench() as where, connected(where, grace=SHORT) as arm:
        arm.move(MIDDLE)
        where.twin._receive_line = lambda *_: None  # type: ignore[method-assign]
        with pytest.raises(faults.Unstoppable, match="switch its power off"):
            arm.stop()


def test_a_fault_of_an_arm_that_cannot_be_stopped_says_to_switch_it_off() -> None:
    with bench(pace=5.0) as where, connected(where, pace=5.0, grace=SHORT) as arm:
        arm.move(LEFT)

        def fail() -> None:
            where.twin._receive_line = lambda *_: None  # type: ignore[method-assign]
            raise faults.DeadMan("no sign of life")

        arm._line.on_tick = fail
        with pytest.raises(faults.Unstoppable, match=r"power off \(.*\); before that: no sign"):
            arm.move(RIGHT, Speed(feed=10.0))
        assert arm.known is None
