"""The arm's geometry and speeds, against the firmware's formulas in scalars and measured facts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seads.errors import SeadsError
from seads.robot import kinematics as arm

BENT = np.array([[0.0, 60.0, 30.0]])
rng = np.random.default_rng(7)


def over_the_screen(unit: np.ndarray, z: float) -> np.ndarray:
    """Points over a 217×136 mm screen that lies crosswise, its near edge at x = 160."""
    return np.stack(
        [160 + 136 * unit[:, 1], 217 * (unit[:, 0] - 0.5), np.full(len(unit), z)], axis=1
    )


def turned(base: float, lower: float = 0.0) -> np.ndarray:
    return BENT + np.array([[base, lower, 0.0]])


def scalar_angles(x: float, y: float, z: float) -> tuple[float, float, float]:
    s = math.sqrt(x * x + y * y) - 13.2 - 54.5
    h = z + 77.2 - 107.4
    d2 = s * s + h * h
    phi = math.atan2(h, s)
    a = phi + math.acos((142.07**2 + d2 - 158.81**2) / (2 * 142.07 * math.sqrt(d2)))
    b = math.acos((158.81**2 + d2 - 142.07**2) / (2 * 158.81 * math.sqrt(d2))) - phi
    return math.degrees(math.atan2(y, x)), math.degrees(a), math.degrees(b)


def test_inverse_is_the_firmwares_formula() -> None:
    points = over_the_screen(rng.random((50, 2)), 12.0)
    expected = [scalar_angles(*point) for point in points]
    np.testing.assert_allclose(arm.inverse(points), expected, atol=1e-9)


def test_forward_undoes_inverse() -> None:
    points = over_the_screen(rng.random((200, 2)), -5.0)
    np.testing.assert_allclose(arm.forward(arm.inverse(points)), points, atol=1e-9)


def test_reach_ahead_is_81_to_357() -> None:
    x = np.arange(50.0, 400.0, 0.5)
    reached = x[arm.reachable(np.stack([x, 0 * x, 0 * x], axis=1))]
    assert 80.5 <= reached.min() <= 82.0
    assert 356.0 <= reached.max() <= 358.0


@pytest.mark.parametrize("near", [100.0, 204.0])
def test_a_screen_fits_crosswise(near: float) -> None:
    corners = over_the_screen(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), 0.0)
    corners[:, 0] += near - 160.0
    assert arm.reachable(corners).all()
    corners[:, 0] += 12.0
    assert arm.reachable(corners).all() == (near < 200.0)  # further away it does not fit


@pytest.mark.parametrize(
    "point", [(500.0, 0, 0), (0.0, 0, 0), (-150.0, 0, 0), (math.nan, 0, 0), (200.0, 0, math.inf)]
)
def test_what_cannot_be_reached_is_nan_or_illegal(point: tuple[float, float, float]) -> None:
    assert not arm.reachable(np.array([point])).any()


# The firmware's planner at both accelerations: a push, a displacement, a displacement and push.
@pytest.mark.parametrize(
    ("acceleration", "push", "step", "both"), [(1.3, 1.96, 0.47, 1.78), (10.0, 0.71, 0.17, 0.65)]
)
def test_durations_are_those_of_the_planner(
    acceleration: float, push: float, step: float, both: float
) -> None:
    speed = arm.Speed(acceleration)
    start, end = rng.random((4000, 2)), rng.random((4000, 2))
    near = np.clip(start + rng.uniform(-0.2, 0.2, start.shape), 0.0, 1.0)

    def goes(a: np.ndarray, b: np.ndarray, z: float, to: float) -> np.ndarray:
        return arm.duration(over_the_screen(a, z), over_the_screen(b, to), speed)

    pushes = goes(start, end, 20, 20) + goes(end, end, 20, 0) + goes(end, end, 0, 20)
    steps = goes(start, near, 30, 30)
    steps_and_pushes = steps + goes(near, near, 30, 0) + goes(near, near, 0, 30)
    assert pushes.mean() == pytest.approx(push, rel=0.03)
    assert steps.mean() == pytest.approx(step, rel=0.03)
    assert steps_and_pushes.mean() == pytest.approx(both, rel=0.03)


def test_moves_bulge_upwards_and_never_sag() -> None:
    start = over_the_screen(rng.random((300, 2)), 20.0)
    end = over_the_screen(rng.random((300, 2)), 20.0)
    way = arm.path(arm.inverse(start), arm.inverse(end), np.linspace(0, 1, 41))
    assert way[..., 2].min() > 20.0 - 1e-9
    assert 5.0 < way[..., 2].max() < 40.0
    np.testing.assert_allclose(way[:, 0], start, atol=1e-9)
    np.testing.assert_allclose(way[:, -1], end, atol=1e-9)


def test_a_vertical_move_drifts_a_little() -> None:
    unit = rng.random((300, 2))
    high, low = over_the_screen(unit, 20.0), over_the_screen(unit, 0.0)
    way = arm.path(arm.inverse(high), arm.inverse(low), np.linspace(0, 1, 41))
    drift = np.linalg.norm((way - low[:, None])[..., :2], axis=-1).max(1)
    assert drift.min() > 0.1
    assert drift.max() < 2.7


@given(st.floats(0.1, 10.0), st.floats(0.5, 200.0), st.floats(0.0, 90.0))
def test_the_way_behind_grows_from_nothing_to_all(acc: float, feed: float, turn: float) -> None:
    ends = np.repeat(turned(turn, turn / 3), 50, axis=0)
    moved = arm.motion(np.repeat(BENT, 50, axis=0), ends, arm.Speed(acc, feed))
    times = np.linspace(0.0, moved.duration[0], 50)
    shares = moved.share(times)
    assert shares[-1] == pytest.approx(1.0)
    assert (np.diff(shares) >= -1e-9).all()
    if turn > 0.01:
        assert shares[0] == 0.0
        assert shares[24:26].mean() == pytest.approx(0.5, abs=1e-3)
    stopped, when = moved.stopping_share(times)
    assert ((shares - 1e-9 <= stopped) & (stopped <= 1.0)).all()
    assert ((times <= when) & (when <= times[-1] + 1e-9)).all()


def test_no_motor_accelerates_faster_than_allowed() -> None:
    end = turned(8.0, 8.0)
    alone = arm.motion(BENT, turned(8.0), arm.Speed()).duration
    assert arm.motion(BENT, end, arm.Speed()).duration == pytest.approx(alone)
    assert alone == pytest.approx(2 * math.sqrt(0.1 / 1.3))


def test_a_low_feed_is_kept() -> None:
    moved = arm.motion(BENT, turned(80.0), arm.Speed(10.0, 6.0))
    assert moved.duration[0] == pytest.approx(10.0 + 0.1 / 10.0)


def test_a_feed_in_mm_takes_as_long() -> None:
    start, end = np.array([[200.0, 0, 20]]), np.array([[250.0, 60, 20]])
    feed = arm.millimetre_feed(start, end, arm.Speed(feed=30.0))
    turns = np.linalg.norm(arm.inverse(end) - arm.inverse(start)) / 80.0
    assert np.linalg.norm(end - start) / (feed[0] / 60) == pytest.approx(turns / 0.5)


def test_encoders_round_to_half_a_millimetre() -> None:
    points = over_the_screen(rng.random((500, 2)), 0.0)
    seen = arm.forward(arm.read_back(arm.inverse(points)))
    off = np.linalg.norm(seen - points, axis=1)
    assert 0.1 < off.max() < 0.5


def test_rows_do_not_see_each_other() -> None:
    points = over_the_screen(rng.random((20, 2)), 0.0)
    points[3] = np.nan
    together = arm.inverse(points)
    for row in range(20):
        np.testing.assert_array_equal(together[row], arm.inverse(points[row : row + 1])[0])


@pytest.mark.parametrize("wrong", [dict(feed=0), dict(feed=201), dict(acceleration=math.nan)])
def test_speeds_are_bounded(wrong: dict[str, float]) -> None:
    with pytest.raises(SeadsError, match="allowed"):
        arm.Speed(**wrong)
