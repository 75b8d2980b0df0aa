"""Contact, calibration by touches and pushes on the twin, with everything a screen can do."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from tests.robot.arms import bench
from tests.robot.direct import LocalArm, Recorded

from seads.errors import SeadsError
from seads.robot import faults, kinematics, pushing, touching
from seads.robot.calibration import CORNERS, NINE, Calibration, Touched
from seads.robot.guard import PROBE_STEP, Envelope
from seads.robot.guarded_arm import GuardedArm
from seads.robot.protocol import Dialect
from seads.robot.screen import RecordingScreen
from seads.robot.tablet import Tablet
from seads.robot.touching import Pen
from seads.robot.twin.schedule import RECOVERABLE, Schedule

both = pytest.mark.parametrize("dialect", Dialect)
TABLET = Tablet.lying()
ABOVE = TABLET.points(np.array([[x, y, 18.0] for x, y in NINE]))


def true_calibration(tablet: Tablet = TABLET) -> Calibration:
    tips = tablet.points(np.array([[*corner, 0.0] for corner in CORNERS]))
    return Calibration.fit(
        [Touched(c, tuple(t)) for c, t in zip(CORNERS, tips.tolist(), strict=True)]
    )


def pen_with(
    dialect: Dialect = Dialect.FW4, schedule: str = "", most_misses: int = 3, **rates: float
) -> tuple[Pen, LocalArm, RecordingScreen]:
    recorded = Recorded(dialect, schedule=Schedule.read(schedule, **rates))
    calibration = true_calibration()
    arm = LocalArm(recorded, calibration.envelope())
    return Pen(arm, calibration, recorded.screen, most_misses, seconds=0.0), arm, recorded.screen


@both
def test_contact_is_found_to_half_a_millimetre(dialect: Dialect) -> None:
    recorded = Recorded(dialect)
    arm = LocalArm(recorded, Envelope.above(-5.0))
    place = np.array([[0.4, 0.6, 15.0]])
    above = TABLET.points(place)[0]
    seen, tip = touching.find_contact(arm, recorded.screen, above, seconds=0.0)
    assert (seen.x, seen.y) == pytest.approx((0.4, 0.6), abs=0.01)
    assert abs(TABLET.places(tip[None])[0, 2]) <= 0.5 * PROBE_STEP + 0.02
    assert recorded.twin.pen.deepest >= -PROBE_STEP - 0.02
    np.testing.assert_allclose(arm.position, above, atol=0.5)  # and up again


@both
def test_beside_the_screen_the_floor_ends_the_way_down(dialect: Dialect) -> None:
    recorded = Recorded(dialect)
    arm = LocalArm(recorded, Envelope.above(2.0))
    above = TABLET.points(np.array([[0.5, 1.2, 15.0]]))[0]
    with pytest.raises(faults.NoContact, match="felt nothing"):
        touching.find_contact(arm, recorded.screen, above, seconds=0.0)
    low = min(recorded_way[-1, 2] for recorded_way in ends(recorded))
    assert 2.0 <= low < 2.0 + PROBE_STEP + 0.02
    np.testing.assert_allclose(arm.position, above, atol=0.5)


@both
def test_the_way_down_ends_when_the_screen_is_locked(dialect: Dialect) -> None:
    """The floor may be the table, far under the glass: nobody would feel the pen press on it."""
    recorded = Recorded(dialect)
    arm = LocalArm(recorded, Envelope.above(-5.0))
    above = TABLET.points(np.array([[0.4, 0.6, 15.0]]))[0]
    take, looks = recorded.screen.take_touches, iter(range(10))

    def locked_half_way() -> Any:
        recorded.screen.visible = next(looks, None) is not None
        return take()

    recorded.screen.take_touches = locked_half_way  # type: ignore[method-assign]
    with pytest.raises(faults.Refused, match=r"locked.*the pen went up again"):
        touching.find_contact(arm, recorded.screen, above, seconds=0.0)
    assert recorded.twin.pen.deepest > 5.0
    np.testing.assert_allclose(arm.position, above, atol=0.5)


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (3.0, -2.0), (-2.5, 1.5)])
@both
def test_a_corner_that_is_not_felt_ends_above_it(
    dialect: Dialect, tilt: tuple[float, float]
) -> None:
    """The last step ends at the floor, which rounding must not put it under."""
    tablet = Tablet.lying(tilt=tilt)
    found = true_calibration(tablet)
    for corner in range(4):
        recorded = Recorded(dialect, tablet=tablet, schedule=Schedule.read("", missed=1.0))
        arm = LocalArm(recorded, found.envelope())
        with pytest.raises(faults.NoContact, match="felt nothing"):
            touching.touch_corner(arm, recorded.screen, found, corner, seconds=0.0)
        assert arm.position is not None
        place = tablet.places(arm.position[None])[0]
        assert place[2] == pytest.approx(100.0 * pushing.PUSH_HEIGHT, abs=0.5)


def ends(recorded: Recorded) -> list[np.ndarray]:
    return [kinematics.forward(way.end[None]) for way in recorded.ways]


@both
def test_nine_touches_calibrate(dialect: Dialect) -> None:
    recorded = Recorded(dialect)
    arm = LocalArm(recorded, Envelope.above(-5.0))
    found = touching.calibrate_by_touches(arm, recorded.screen, list(ABOVE), seconds=0.0)
    assert found.residuals["plane"] < 0.4
    assert found.residuals["map"] < 0.3
    grid = np.array([[x, y, 0.0] for x in (0.05, 0.5, 0.95) for y in (0.05, 0.5, 0.95)])
    off = TABLET.places(found.points(grid)) - grid
    assert np.abs(off[:, :2] * [217, 136]).max() < 0.6
    assert np.abs(off[:, 2]).max() < pushing.PRESS - 0.1  # so a push always meets the glass


@both
def test_corners_by_hand_calibrate(dialect: Dialect) -> None:
    recorded = Recorded(dialect)
    arm = LocalArm(recorded, Envelope.above(-5.0))
    asked: list[str] = []

    def hand(words: str) -> None:
        corner = np.array([[*CORNERS[len(asked)], 0.0]])
        recorded.twin.hand(kinematics.inverse(TABLET.points(corner))[0])
        asked.append(words)

    found = touching.calibrate_by_hand(arm, hand)
    assert ["top left" in asked[0], "bottom left" in asked[3]] == [True, True]
    grid = np.array([[x, y, 0.0] for x in (0.1, 0.5, 0.9) for y in (0.1, 0.5, 0.9)])
    off = np.linalg.norm(found.points(grid) - TABLET.points(grid), axis=1)
    assert off.max() < 0.8


@both
def test_pushes_meet_their_places(dialect: Dialect) -> None:
    pen, arm, _ = pen_with(dialect)
    places = np.random.default_rng(2).uniform(0.02, 0.98, (30, 2))
    for x, y in [*places, *CORNERS]:
        pushed = pen.push(x, y)
        assert len(pushed.touches) == 1
        assert (pushed.touches[0].x, pushed.touches[0].y) == pytest.approx((x, y), abs=0.004)
        assert pen.place() == pytest.approx((x, y, 0.2), abs=0.006)
    assert arm.recorded.twin.pen.deepest > -pushing.PRESS - 0.05


@both
def test_many_pushes_at_once_land_where_single_ones_do(dialect: Dialect) -> None:
    """The batched reckoning against the arm on its twin, with a calibration that errs a little."""
    recorded = Recorded(dialect)
    tips = TABLET.points(np.array([[*corner, 0.1] for corner in CORNERS])) + np.array(
        [[0.3, -0.2, 0.1], [-0.4, 0.1, -0.1], [0.2, 0.3, 0.1], [-0.1, -0.3, 0.0]]
    )
    found = Calibration.fit(
        [Touched(c, tuple(t)) for c, t in zip(CORNERS, tips.tolist(), strict=True)]
    )
    pen = Pen(LocalArm(recorded, found.envelope()), found, recorded.screen, seconds=0.0)
    places = np.concatenate([np.random.default_rng(4).random((40, 2)), CORNERS])
    ways = pushing.push_ways(found, places)
    expected = pushing.contacts(recorded.twin.pen.tablet, ways)
    singly = [pen.push(x, y).touches for x, y in places]
    assert [len(one) for one in singly] == [1] * len(places)
    np.testing.assert_allclose([(one[0].x, one[0].y) for one in singly], expected, atol=1e-9)
    assert np.abs(expected - places).max() > 0.001  # it does err
    durations = pushing.seconds(ways, recorded.arm.speed)
    recorded.ways.clear()
    for x, y in places:
        pen.push(x, y)
    singly_seconds = [float(way.motion.duration[0]) for way in recorded.ways]
    by_push = np.array(singly_seconds).reshape(-1, 3)[:, 1:].sum(1)
    if dialect is Dialect.FW4:  # FW3 has an acceleration of its own
        np.testing.assert_allclose(by_push, durations, rtol=1e-6)


def test_pushes_beside_the_screen_are_not_felt() -> None:
    beside = np.array([[-0.02, 0.5], [0.5, 1.005], [1.005, 0.5], [np.nan, 0.5]])
    expected = np.array([[np.nan] * 2, [0.5, 1.0], [1.0, 0.5], [np.nan] * 2])
    np.testing.assert_array_equal(pushing.felt(beside), expected)


def test_a_displacement_then_a_push_from_the_hover() -> None:
    pen, arm, screen = pen_with()
    pen.go(0.5, 0.5, pushing.HOVER)
    sent = arm.recorded.twin.moves
    pushed = pen.push(0.5, 0.5, height=pushing.HOVER, first=False)
    assert len(pushed.touches) == 1
    assert arm.recorded.twin.moves == sent + 2
    pen.go(0.7, 0.4, pushing.HOVER)
    assert screen.take_touches() == []


@pytest.mark.parametrize(
    ("fault", "touches"),
    [("missed", 0), ("doubled", 2), ("misplaced", 1), ("cancelled", 1)],
)
def test_what_the_screen_saw_counts(fault: str, touches: int) -> None:
    pen, arm, _ = pen_with(schedule=f"{fault}@2")
    pushed = pen.push(0.3, 0.5)
    assert len(pushed.touches) == touches
    assert pushed.fault is None
    if fault == "misplaced":
        assert abs(pushed.touches[0].x - 0.3) > 0.2
    assert arm.recorded.twin.moves == 3  # nothing was repeated
    assert len(pen.push(0.6, 0.5).touches) == 1


def test_too_many_misses_in_a_row_stop_the_arm() -> None:
    pen, arm, _ = pen_with(missed=1.0)
    told: list[str] = []
    arm.recorded.twin.log = lambda kind, *_, **__: told.append(kind)
    assert pen.push(0.3, 0.5).touches == ()
    assert pen.push(0.6, 0.5).touches == ()
    with pytest.raises(faults.TooManyMisses, match="3 pushes in a row"):
        pen.push(0.5, 0.5)
    assert told.count("stop") == 1
    assert arm.position is not None


def test_a_push_that_was_not_made_is_neither_a_miss_nor_felt() -> None:
    pen, _, _ = pen_with(schedule="out-of-reach@7,out-of-reach@10", missed=1.0)
    for misses in (1, 2, 2):
        pen.push(0.3, 0.5)
        assert pen.misses == misses
    assert pen.push(0.6, 0.5).fault is not None
    with pytest.raises(faults.TooManyMisses):
        pen.push(0.6, 0.5)


def test_a_locked_screen_is_not_pushed() -> None:
    pen, arm, screen = pen_with(schedule="page-gone@2")
    assert pen.push(0.3, 0.5).touches == ()
    assert not screen.visible
    sent = arm.recorded.twin.moves
    with pytest.raises(faults.Refused, match="unlock it"):
        pen.push(0.3, 0.5)
    assert arm.recorded.twin.moves == sent
    screen.visible = True
    assert len(pen.push(0.3, 0.5).touches) == 1


@pytest.mark.parametrize("move", [1, 2, 3], ids=["on the way", "going down", "going up"])
@pytest.mark.parametrize("fault", ["out-of-reach", "detached", "buffer-full"])
@both
def test_after_a_fault_that_allows_it_the_pen_goes_up_and_on(
    fault: str, move: int, dialect: Dialect
) -> None:
    pen, _, _ = pen_with(dialect, f"{fault}@{move}")
    pushed = pen.push(0.3, 0.5)
    assert pushed.fault is not None
    assert len(pushed.touches) == (1 if move == 3 else 0)
    assert pen.place()[2] > 0.15
    assert len(pen.push(0.7, 0.5).touches) == 1


def test_the_pen_goes_up_only_once_its_position_is_known() -> None:
    pen, arm, _ = pen_with()
    pen.go(0.3, 0.5, 0.01)
    twin = arm.recorded.twin
    hear, sent = twin._receive_line, twin.moves
    arm.recorded.arm.known = None
    twin._receive_line = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(faults.NoAnswer):
        pen.retract()
    assert twin.moves == sent
    twin._receive_line = hear  # type: ignore[method-assign]
    pen.retract()
    assert pen.place() == pytest.approx((0.3, 0.5, pushing.PUSH_HEIGHT), abs=0.01)  # straight up


@both
def test_after_a_reboot_a_corner_comes_first(dialect: Dialect) -> None:
    pen, arm, screen = pen_with(dialect, "reboot@2")
    with pytest.raises(faults.Rebooted):
        pen.push(0.3, 0.5)
    arm.recover()
    with pytest.raises(faults.CornerFirst):
        pen.push(0.3, 0.5)
    off = touching.touch_corner(arm, screen, true_calibration(), corner=2, seconds=0.0)
    assert off < 1.0
    assert not arm.unsure
    assert len(pen.push(0.3, 0.5).touches) == 1


def test_a_tablet_that_moved_is_noticed_at_its_corner() -> None:
    recorded = Recorded(Dialect.FW4, tablet=Tablet.lying(side=6.0))
    arm = LocalArm(recorded, true_calibration().envelope())
    arm.recover()
    with pytest.raises(faults.Refused, match="calibrate again"):
        touching.touch_corner(arm, recorded.screen, true_calibration(), seconds=0.0)
    assert arm.unsure


def test_a_tablet_out_of_reach_is_refused() -> None:
    far = true_calibration(Tablet.lying(near=215.0))
    recorded = Recorded(Dialect.FW4)
    with pytest.raises(SeadsError, match="move the tablet"):
        Pen(LocalArm(recorded, far.envelope()), far, recorded.screen)


@pytest.mark.parametrize("place", [(1.01, 0.5), (-0.2, 0.5), (float("nan"), 0.5)])
def test_places_beside_the_screen_are_refused(place: tuple[float, float]) -> None:
    pen, arm, _ = pen_with()
    with pytest.raises(faults.Refused, match="allowed"):
        pen.push(*place)
    assert arm.recorded.twin.moves == 0


@both
def test_from_nothing_to_pushes_on_a_terminal_with_every_fault(dialect: Dialect) -> None:
    """The whole way with the real process and pseudo-terminal: touch, fit, push, recover."""
    by_move = {300 + 7 * i: one for i, one in enumerate(RECOVERABLE)}
    last = max(by_move) + 100  # later than the corner that is felt for after the reboot
    schedule = Schedule(by_move | {last: "page-gone"}, missed=0.02, doubled=0.01, seed=3)
    with bench(dialect, schedule=schedule) as where:
        fast: Any = dict(pace=1e9, grace=0.5)
        with GuardedArm(where.port, Envelope.above(-5.0), **fast) as arm:
            corners = list(ABOVE[[0, 2, 4, 6, 8]])
            found = touching.calibrate_by_touches(arm, where.screen, corners, seconds=0.0)
        assert where.twin.moves < 300
        with GuardedArm(where.port, found.envelope(), **fast) as arm:
            pen = Pen(arm, found, where.screen, seconds=0.0)
            felt = faulty = reboots = 0
            source = np.random.default_rng(1)
            while where.screen.visible:
                try:
                    pushed = pen.push(*source.uniform(0.05, 0.95, 2))
                    felt += len(pushed.touches)
                    faulty += pushed.fault is not None
                except faults.Rebooted:
                    reboots += 1
                    arm.recover()
                    with suppress(faults.NoContact):  # a touch that is missed here, too
                        touching.touch_corner(arm, where.screen, found, seconds=0.0)
                except faults.CornerFirst:
                    touching.touch_corner(arm, where.screen, found, seconds=0.0)
            assert reboots == 1
            assert faulty >= 3
            assert felt >= 25
            with pytest.raises(faults.Refused, match="unlock it"):
                pen.push(0.5, 0.5)
        assert len(where.told("fault")) == len(by_move) + 1
        assert not where.told("steps-lost")
