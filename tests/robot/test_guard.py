"""Nothing that the guard accepts leaves the envelope, goes below the floor or is too fast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.robot.arms import LEFT, MIDDLE, RIGHT
from tests.robot.direct import Recorded

from seads.errors import SeadsError
from seads.robot import faults
from seads.robot.guard import LARGEST, PROBE_STEP, Envelope, Guard
from seads.robot.kinematics import SLOW, Speed
from seads.robot.protocol import Dialect
from seads.robot.twin.schedule import Schedule

both = pytest.mark.parametrize("dialect", Dialect)

HOSTILE: list[Any] = [
    None,
    "MIDDLE",
    [],
    [1.0],
    [1.0, 2.0],
    [1.0, 2.0, 3.0, 4.0],
    [math.nan, 0.0, 40.0],
    [220.0, math.inf, 40.0],
    [220.0, 0.0, -math.inf],
    [1e308, 1e308, 1e308],
    [10**400, 0, 0],
    {"x": 1},
    [[220.0, 0.0, 40.0]],
    [220.0, 0.0, {"z": 1}],
    [0.0, 0.0, 0.0],
    [-220.0, 0.0, 40.0],
    [220.0, 0.0, -0.006],
    [220.0, 0.0, -1e-9 - 0.01],
    [360.01, 0.0, 40.0],
]


@pytest.fixture(params=Dialect)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return Recorded(request.param)


@pytest.mark.parametrize("target", HOSTILE, ids=repr)
def test_hostile_targets_are_refused_and_nothing_is_sent(target: Any) -> None:
    recorded = Recorded(Dialect.FW4)
    guard = Guard(recorded.arm, Envelope.above(0.0))
    guard.move(MIDDLE)
    before = recorded.twin.moves
    with pytest.raises(faults.Refused, match=r"allowed|nothing was sent"):
        guard.move(target)
    assert recorded.twin.moves == before


def random_envelope(source: np.random.Generator) -> Envelope | None:
    """Any envelope that the class lets one make; None for one that it refuses."""
    tilt = np.radians(source.uniform(0, 35))
    turn = source.uniform(0, 2 * np.pi)
    normal = [np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)]
    low = source.uniform(LARGEST[0] - 20, [200, -30, 60])
    high = source.uniform([220, 30, 80], LARGEST[1] + 20)
    # a floor that passes near the middle of the reach
    offset = float(np.dot(normal, [220.0, 0.0, source.uniform(-50, 60)]))
    try:
        return Envelope(tuple(low), tuple(high), (*normal, offset), Speed(feed=100.0))
    except SeadsError:
        return None


def outside(envelope: Envelope, points: np.ndarray) -> np.ndarray:
    """How many mm outside each side a point is, or under the floor, reckoned without the guard."""
    found = []
    for x, y, z in points:
        (x0, y0, z0), (x1, y1, z1) = envelope.low, envelope.high
        a, b, c, d = envelope.floor
        under = d - (a * x + b * y + c * z)
        found.append([x0 - x, x - x1, y0 - y, y - y1, z0 - z, z - z1, under])
    return np.array(found)


@both
def test_no_accepted_command_leaves_the_envelope(dialect: Dialect) -> None:
    """Random and hostile actions in random envelopes, checked by the ways of the twin's joints."""
    source = np.random.default_rng(15)
    accepted = refused = envelopes = 0
    for _ in range(120):
        envelope = random_envelope(source)
        if envelope is None:
            continue
        envelopes += 1
        recorded = Recorded(dialect, envelope.speed)
        guard = Guard(recorded.arm, envelope)
        for _ in range(60):
            target: Any = source.uniform([50, -250, -70], [370, 250, 220])
            if source.random() < 0.5:
                target = source.uniform([140, -150, -20], [300, 150, 120])
            if source.random() < 0.3:  # on the very edge of what is allowed
                side = source.integers(3)
                target[side] = (envelope.low, envelope.high)[source.integers(2)][side]
            if source.random() < 0.3:
                height = target @ np.array(envelope.floor[:3]) - envelope.floor[3]
                target -= height * np.array(envelope.floor[:3])
            if source.random() < 0.1:
                target = HOSTILE[source.integers(len(HOSTILE))]
            made = len(recorded.ways)
            feed = float(source.choice([0.2, 30.0, 200.0]))
            try:
                guard.move(target, Speed(feed=feed), probing=bool(source.random() < 0.2))
            except faults.Refused:
                refused += 1
                assert len(recorded.ways) == made
                continue
            accepted += 1
            assert len(recorded.ways) == made + 1
            over = outside(envelope, recorded.way())
            # who stands outside one side may come in, but is further out nowhere
            assert (over.max(0) <= np.maximum(over[0], 0.0) + 0.01).all()  # it looks at 65 points
            assert over[-1].max() <= 1e-6
    assert envelopes >= 25
    assert accepted >= 300
    assert refused >= 800


@both
def test_no_move_is_faster_than_the_cap(dialect: Dialect) -> None:
    recorded = Recorded(dialect, Speed(1.3, 12.0))
    guard = Guard(recorded.arm, Envelope(speed=Speed(1.3, 12.0)))
    for target, feed in ((MIDDLE, 200.0), (LEFT, 12.1), (RIGHT, 3.0), (MIDDLE, None)):
        guard.move(target, None if feed is None else Speed(feed=feed))
        cap = min(feed or 12.0, 12.0) / 60.0
        assert recorded.ways[-1].motion.speed[0] == pytest.approx(cap, rel=0.01)


def test_the_way_counts_and_not_only_its_end() -> None:
    """Two points inside, but the arm would swing out of the box on its way between them."""
    recorded = Recorded(Dialect.FW4)
    wide = Guard(recorded.arm, Envelope.above(0.0))
    wide.move([150.0, 150.0, 60.0])
    flat = Envelope((75.0, -250.0, 0.0), (190.0, 250.0, 200.0))
    guard = Guard(recorded.arm, flat)
    with pytest.raises(faults.Refused, match="the way to"):
        guard.move([150.0, -150.0, 60.0])


def test_an_arm_outside_may_only_come_in() -> None:
    recorded = Recorded(Dialect.FW4)
    Guard(recorded.arm, Envelope.above(0.0)).move([320.0, 0.0, 100.0])
    guard = Guard(recorded.arm, Envelope((75.0, -250.0, 0.0), (260.0, 250.0, 120.0)))
    with pytest.raises(faults.Refused):
        guard.move([330.0, 0.0, 100.0])
    guard.move(MIDDLE)
    with pytest.raises(faults.Refused):
        guard.move([320.0, 0.0, 100.0])


@both
def test_probing_near_the_floor_goes_by_small_steps_and_slowly(dialect: Dialect) -> None:
    recorded = Recorded(dialect)
    guard = Guard(recorded.arm, Envelope.above(0.0))
    guard.move([220.0, 0.0, 8.0])
    with pytest.raises(faults.Refused, match="a probing move down"):
        guard.move([220.0, 0.0, 7.4], probing=True)
    guard.move([220.0, 0.0, 8.0 - PROBE_STEP], probing=True)
    assert recorded.ways[-1].motion.speed[0] <= SLOW.feed / 60.0 + 1e-6
    guard.move([220.0, 30.0, 40.0], probing=True)


@both
def test_probing_can_go_all_the_way_down(dialect: Dialect) -> None:
    """The encoders are coarser than a step: what was asked for counts, not what they say."""
    guard = Guard(Recorded(dialect).arm, Envelope.above(0.0))
    guard.move([220.0, 0.0, 10.0])
    for height in np.arange(9.5, -0.1, -PROBE_STEP):
        guard.move([220.0, 0.0, height], probing=True)
    with pytest.raises(faults.Refused):
        guard.move([220.0, 0.0, -PROBE_STEP], probing=True)


@both
def test_a_reboot_makes_unsure(dialect: Dialect) -> None:
    guard = Guard(Recorded(dialect, schedule=Schedule.read("reboot@2")).arm, Envelope.above(0.0))
    guard.move(MIDDLE)
    with pytest.raises(faults.Rebooted):
        guard.move(LEFT)
    with pytest.raises(faults.CornerFirst):
        guard.move(RIGHT)


@both
def test_when_unsure_only_probing_is_allowed(dialect: Dialect) -> None:
    recorded = Recorded(dialect)
    guard = Guard(recorded.arm, Envelope.above(0.0))
    guard.move(MIDDLE)
    guard.recover()
    with pytest.raises(faults.CornerFirst, match="touch a corner first"):
        guard.move(LEFT)
    guard.move(LEFT, probing=True)
    guard.trust()
    guard.move(RIGHT)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(low=(10.0, -250.0, 0.0)),
        dict(high=(400.0, 250.0, 200.0)),
        dict(low=(200.0, 0.0, 0.0), high=(100.0, 10.0, 10.0)),
        dict(low=(math.nan, 0.0, 0.0)),
        dict(floor=(0.0, 0.0, -1.0, 0.0)),
        dict(floor=(0.0, 1.0, 0.0, 0.0)),
        dict(floor=(0.0, 0.0, 2.0, 0.0)),
        dict(floor=(0.0, 0.0, 1.0, math.inf)),
    ],
)
def test_envelopes_are_bounded(wrong: dict[str, Any]) -> None:
    with pytest.raises(SeadsError, match="allowed"):
        Envelope(**wrong)
