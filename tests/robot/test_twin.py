"""The twin has the firmwares' habits and traps; its faults come when they should."""

from __future__ import annotations

import math
import os
import time

import numpy as np
import pytest
from tests.robot import test_arm
from tests.robot.arms import MIDDLE, bench, connected

from seads.errors import SeadsError
from seads.robot import kinematics, protocol
from seads.robot.line import Line
from seads.robot.protocol import Dialect
from seads.robot.screen import RecordingScreen
from seads.robot.tablet import Tablet
from seads.robot.twin.firmware import BOOT_SECONDS, FW3_ACCELERATION, QUEUE, Twin
from seads.robot.twin.program import TwinSettings, run_twin
from seads.robot.twin.schedule import FAULTS, TOUCH_FAULTS, Schedule

FAR = 1e6


class Talk:
    """A twin, spoken to in virtual time."""

    def __init__(self, dialect: Dialect, schedule: str = "") -> None:
        self.screen = RecordingScreen()
        self.twin = Twin(self.screen, dialect, schedule=Schedule.read(schedule))
        self.twin.boot(0.0)
        self.now = BOOT_SECONDS + 0.1
        self.twin.advance(self.now)
        if dialect is Dialect.FW4:
            self.say("M2400 S6")
        else:
            self.say("M2410 S77.2\nM2411 S54.5")

    def say(self, lines: str, wait: float = 0.1) -> list[str]:
        """Send lines; what comes back within some seconds."""
        self.twin.receive(f"{lines}\n".encode("latin-1"), self.now)
        return self.wait(wait)

    def wait(self, seconds: float) -> list[str]:
        self.now += seconds
        return self.twin.advance(self.now).decode("latin-1").splitlines()


@pytest.fixture
def fw4() -> Talk:
    return Talk(Dialect.FW4)


@pytest.fixture
def fw3() -> Talk:
    return Talk(Dialect.FW3)


def test_opening_the_line_starts_it_anew() -> None:
    with bench() as where:
        for opened in (1, 2):
            with Line(where.port) as line:
                assert line.wait_for(protocol.Ready, 2.0) == protocol.Ready()
            assert len(where.told("boot")) == opened
            time.sleep(0.1)  # who closes and opens it in no time at all is not noticed


def test_while_it_boots_it_hears_nothing() -> None:
    twin = Twin(RecordingScreen())
    twin.boot(0.0)
    twin.receive(b"#1 P2203\n", 1.0)
    assert twin.advance(1.4) == b""
    assert twin.advance(2.0).endswith(b"@1\r\n")


def test_fw4_answers_a_move_when_it_stands(fw4: Talk) -> None:
    fw4.say("#1 G0 X220 Y0 Z40 F200", wait=9.0)
    assert fw4.say("#2 G0 X220 Y80 Z40 F200") == []
    assert fw4.say("#3 P2220")[0].startswith("$3 ok X")  # questions it answers on the way
    assert fw4.wait(9.0) == ["$2 ok"]


def test_fw4_answers_queued_moves_together(fw4: Talk) -> None:
    fw4.say("#1 G0 X220 Y0 Z40 F200", wait=9.0)
    assert fw4.say("#2 G0 X220 Y80 Z40 F200\n#3 G0 X220 Y-80 Z40 F200\n#4 M17") == []
    assert fw4.wait(0.9) == []
    assert fw4.wait(9.0) == ["$2 ok", "$3 ok", "$4 ok"]


@pytest.mark.parametrize("feed", ["", " F0"])
def test_fw4_without_a_feed_says_ok_and_stays(feed: str, fw4: Talk) -> None:
    before = fw4.twin.body.tip(fw4.now)
    assert fw4.say(f"#1 G0 X220 Y0 Z40{feed}") == ["$1 ok"]
    np.testing.assert_array_equal(fw4.twin.body.tip(fw4.now), before)


def test_fw4_has_bare_answers_and_full_queues_without_a_number(fw4: Talk) -> None:
    assert fw4.say("#5 G0 X1..2") == ["$5"]
    assert fw4.say("#6 M9999") == ["$6 E20"]
    assert fw4.say("#7 M2200") == ["$7 E20"]
    assert fw4.say("#8 G0 X900 Y0 Z0 F100") == ["$8 E22"]
    fw4.say("#9 G0 X220 Y0 Z40 F200", wait=9.0)
    said = []
    for number in range(10, 12 + QUEUE):
        said += fw4.say(f"#{number} G0 X220 Y{number} Z40 F1", wait=0.001)
    said += fw4.wait(0.02)
    assert said == ["E23 buffer full"] * 2
    assert len(fw4.wait(FAR)) == QUEUE


def test_lines_and_bursts_that_are_too_long_are_lost(fw4: Talk) -> None:
    assert fw4.say("#1 P2220" + " " * 60) != []
    said = fw4.say("#1 P2220" + "X1" * 45)
    assert "error: Line overflow" in said
    assert not any("$1" in line for line in said)
    many = "\n".join(f"#{number} P2203" for number in range(1, 30))
    answered = fw4.say(many)
    assert 8 < len(answered) < 15


def test_fw4_withholds_answers_while_it_is_held(fw4: Talk) -> None:
    fw4.say("#1 G0 X220 Y80 Z40 F200", wait=9.0)
    fw4.say("#2 G0 X220 Y-80 Z40 F200", wait=0.4)
    assert fw4.say("!", wait=5.0) == []
    held = fw4.twin.body.tip(fw4.now)
    assert -75.0 < held[1] < 75.0
    assert fw4.say("#3 M17", wait=5.0) == []
    assert fw4.say("#4 G0 X220 Y0 Z40 F200", wait=5.0) == []
    assert fw4.say("#5 P2220")[0].startswith("$5 ok")
    assert fw4.say("\x18") == ["ok", "$2 ok", "$3 ok", "$4 ok"]
    np.testing.assert_array_equal(fw4.twin.body.tip(fw4.now), held)


def test_fw4_loses_steps_if_it_is_reset_while_moving(fw4: Talk) -> None:
    fw4.say("#1 G0 X220 Y80 Z40 F200", wait=9.0)
    fw4.say("#2 G0 X220 Y-80 Z40 F200", wait=0.4)
    before = fw4.twin.body.joints(fw4.now)
    fw4.say("\x18")
    assert abs(fw4.twin.body.joints(fw4.now)[0] - before[0]) == pytest.approx(4.0)


def test_fw3_answers_at_once_and_reports_its_stop(fw3: Talk) -> None:
    fw3.say("#1 M2122 V1")
    assert fw3.say("#2 G0 X220 Y0 Z40 F6000") == ["$2 ok"]
    assert fw3.say("#3 M2200") == ["$3 ok V1"]
    assert fw3.wait(9.0) == ["@9 V0"]
    assert fw3.say("#4 M2200") == ["$4 ok V0"]
    assert fw3.say("#5 G0 X900 Y0 Z0 F100") == ["$5 ok E22"]
    assert fw3.say("!") == []
    assert fw3.say("#6 G0 X1..2") == ["$6 E21"]


def test_fw3_says_where_it_was_sent(fw3: Talk) -> None:
    fw3.say("#1 G0 X220 Y0 Z40 F6000", wait=9.0)
    fw3.say("#2 G0 X220 Y80 Z40 F6000")
    assert fw3.say("#3 P2220") == ["$3 ok X220.0000 Y80.0000 Z40.0000"]
    assert abs(fw3.twin.body.tip(fw3.now)[1]) < 79.0
    fw3.wait(9.0)
    fw3.say("#4 M2019")
    fw3.twin.hand(kinematics.inverse(MIDDLE[None])[0])
    assert fw3.say("#5 P2220") == ["$5 ok X220.0000 Y80.0000 Z40.0000"]  # stale
    fw3.say("#6 M17")
    assert fw3.say("#7 P2220")[0].startswith("$7 ok X2")
    assert "Y0.0" in fw3.say("#8 P2220")[0]


def test_fw3_has_its_feed_in_mm_a_minute(fw3: Talk) -> None:
    fw3.say("#1 G0 X220 Y0 Z40 F6000", wait=9.0)
    fw3.say("#2 G0 X220 Y80 Z40 F600", wait=0.0)
    move = fw3.twin.body.current
    assert move is not None
    assert move.finished - move.begun == pytest.approx(8.0, rel=0.05)
    assert move.motion.acceleration[0] >= FW3_ACCELERATION


@pytest.mark.parametrize("dialect", Dialect)
def test_a_motor_that_is_off_does_not_move(dialect: Dialect) -> None:
    talk = Talk(dialect)
    talk.say("#1 M2019")
    before = talk.twin.body.tip(talk.now)
    assert talk.say("#2 G0 X220 Y0 Z40 F200") == ["$2 E27"]
    np.testing.assert_array_equal(talk.twin.body.tip(talk.now), before)


def test_nobody_at_the_line_stops_nothing() -> None:
    """The firmware goes on by itself: that is why somebody must hold the line."""
    with bench(pace=5.0) as where, Line(where.port) as line:
        line.wait_for(protocol.Ready, 2.0)
        line.request("M2400 S6", 1.0)
        line.write(b"#5 G0 X220 Y90 Z40 F20\n")
        time.sleep(0.1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), line._descriptor)
        end = time.monotonic() + 5.0
        while where.twin.body.moving and time.monotonic() < end:
            time.sleep(0.01)
        np.testing.assert_allclose(where.tip(), [220, 90, 40], atol=0.01)


@pytest.mark.parametrize("pace", [20.0, 50.0])
def test_its_clock_runs_at_the_pace(pace: float) -> None:
    with bench(pace=pace) as where, connected(where, pace=pace) as arm:
        arm.move(MIDDLE)
        speed = kinematics.Speed(feed=2.0)
        target = MIDDLE + np.array([0, 60, 0])
        (seconds,) = kinematics.duration(MIDDLE[None], target[None], speed)
        begin = time.monotonic()
        arm.move(target, speed)
        assert 0.95 * seconds / pace < time.monotonic() - begin < seconds / pace + 0.5


def test_the_tablet_is_where_it_says() -> None:
    tablet = Tablet.lying(near=120.0, turn=4.0, tilt=(2.0, -3.0))
    assert np.linalg.norm(tablet.across) == pytest.approx(217.0)
    assert np.linalg.norm(tablet.down) == pytest.approx(136.0)
    assert tablet.across @ tablet.down == pytest.approx(0.0, abs=1e-9)
    places = np.random.default_rng(0).random((20, 3)) * [1, 1, 50]
    np.testing.assert_allclose(tablet.places(tablet.points(places)), places, atol=1e-9)
    left, right = tablet.points(np.array([[0.0, 0.5, 0.0], [1.0, 0.5, 0.0]]))
    far, near = tablet.points(np.array([[0.5, 0.0, 0.0], [0.5, 1.0, 0.0]]))
    assert left[1] > right[1]
    assert far[0] > near[0]


def test_every_fault_is_in_a_test_and_comes_when_it_should() -> None:
    assert set(test_arm.OUTCOMES) | set(TOUCH_FAULTS) == set(FAULTS)
    drawn = Schedule.drawn(seed=7, every=50, moves=5000)
    assert drawn.by_move == Schedule.drawn(seed=7, every=50, moves=5000).by_move
    assert drawn.by_move != Schedule.drawn(seed=8, every=50, moves=5000).by_move
    assert len(drawn.by_move) == 100
    assert all((number - 1) // 50 == i for i, number in enumerate(sorted(drawn.by_move)))
    assert len(set(drawn.by_move.values())) > 12


def test_touches_fail_as_often_as_they_should() -> None:
    schedule = Schedule(missed=0.02, doubled=0.01, seed=1)
    drawn = [schedule.touch(number) for number in range(1, 2001)]
    assert drawn.count("missed") / 2000 == pytest.approx(0.02, abs=0.012)
    assert drawn.count("doubled") / 2000 == pytest.approx(0.01, abs=0.006)
    assert drawn[:50] == [schedule.touch(number) for number in range(1, 51)]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (dict(faults="rebot@3"), "did you mean 'reboot'"),
        (dict(faults="reboot"), "a fault and its move"),
        (dict(faults="reboot@0"), "a fault and its move"),
        (dict(faults="reboot@1", fault_every=3), "one of them"),
        (dict(missed=0.9, doubled=0.2), "together at most 1"),
        (dict(pace=0.0), "above 0"),
        (dict(pace=math.nan), "above 0"),
        (dict(near=20.0), "out of reach"),
    ],
)
def test_wrong_settings_are_sentences(wrong: dict[str, float], why: str) -> None:
    with pytest.raises(SeadsError, match=why):
        run_twin(TwinSettings(**wrong), print)
