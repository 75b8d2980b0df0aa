"""Calibration: exact where it can be, good where it is noisy, a sentence where it is wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.robot.direct import Recorded

from seads.errors import SeadsError
from seads.robot import faults
from seads.robot.calibration import CORNERS, DEEPEST, NINE, Calibration, Touched
from seads.robot.guard import Guard
from seads.robot.protocol import Dialect
from seads.robot.tablet import Tablet

rng = np.random.default_rng(5)


def touches(
    tablet: Tablet, places: tuple[tuple[float, float], ...] = CORNERS, noise: float = 0.0
) -> list[Touched]:
    tips = tablet.points(np.array([[*place, 0.0] for place in places]))
    tips = tips + rng.normal(0.0, noise, tips.shape)
    return [
        Touched(place, (float(x), float(y), float(z)))
        for place, (x, y, z) in zip(places, tips, strict=True)
    ]


def random_tablet() -> Tablet:
    return Tablet.lying(
        near=rng.uniform(110, 195),
        side=rng.uniform(-15, 15),
        height=rng.uniform(-5, 20),
        turn=rng.uniform(-5, 5),
        tilt=(rng.uniform(-3, 3), rng.uniform(-3, 3)),
    )


@pytest.mark.parametrize("places", [CORNERS, NINE], ids=["four", "nine"])
def test_a_tablet_is_found_exactly(places: tuple[tuple[float, float], ...]) -> None:
    for _ in range(20):
        tablet = random_tablet()
        found = Calibration.fit(touches(tablet, places))
        wanted = rng.random((50, 3))
        points = tablet.points(wanted * [1, 1, 100])
        np.testing.assert_allclose(found.points(wanted), points, atol=1e-6)
        np.testing.assert_allclose(found.places(points), wanted, atol=1e-9)
        assert max(found.residuals.values()) < 1e-6
        np.testing.assert_allclose(found.axes[2], tablet.normal, atol=1e-9)


def test_a_perspective_map_is_found() -> None:
    """Corners of a trapezium: an affine map could not."""
    tips = [(300.0, 90.0, 5.0), (300.0, -90.0, 5.0), (170.0, -110.0, 5.0), (170.0, 110.0, 5.0)]
    found = Calibration.fit([Touched(c, t) for c, t in zip(CORNERS, tips, strict=True)])
    corners = found.points(np.array([[*corner, 0.0] for corner in CORNERS]))
    np.testing.assert_allclose(corners, tips, atol=1e-6)
    # the diagonals' crossing is the picture of the middle
    middle = found.points(np.array([[0.5, 0.5, 0.0]]))[0]
    share = 180.0 / (180.0 + 220.0)
    crossing = np.array(tips[0]) * (1 - share) + share * np.array(tips[2])
    np.testing.assert_allclose(middle, crossing, atol=1e-9)


def test_touches_of_the_encoders_are_good_to_half_a_millimetre() -> None:
    worst = {}
    for name, places in (("four", CORNERS), ("nine", NINE)):
        off = []
        for _ in range(40):
            tablet = random_tablet()
            found = Calibration.fit(touches(tablet, places, noise=0.2))
            inner = np.column_stack([rng.uniform(0.1, 0.9, (30, 2)), np.zeros(30)])
            off.append(np.linalg.norm(found.points(inner) - tablet.points(inner), axis=1).max())
        worst[name] = float(np.mean(off))
    assert worst["four"] < 0.6
    assert worst["nine"] < 0.6


def test_residuals_show_a_bad_touch() -> None:
    given = touches(Tablet.lying(), NINE)
    given[4] = Touched(given[4].place, (given[4].tip[0] + 4.0, *given[4].tip[1:]))
    assert Calibration.fit(given).residuals["map"] > 2.0
    given = touches(Tablet.lying(), NINE)
    given[4] = Touched(given[4].place, (*given[4].tip[:2], given[4].tip[2] + 3.0))
    assert Calibration.fit(given).residuals["plane"] > 2.0


def test_a_file_keeps_it(tmp_path: Path) -> None:
    found = Calibration.fit(touches(random_tablet(), NINE, noise=0.2))
    found.save(tmp_path / "tablet.json")
    again = Calibration.load(tmp_path / "tablet.json")
    places = rng.random((20, 3))
    np.testing.assert_allclose(again.points(places), found.points(places), atol=1e-9)
    assert list(tmp_path.iterdir()) == [tmp_path / "tablet.json"]
    assert json.loads((tmp_path / "tablet.json").read_text())["residuals_mm"]["plane"] < 1.0


TIPS = ((300, 108, 5), (300, -108, 5), (164, -108, 5), (164, 108, 5))
PAIRS = [{"place": p, "tip": t} for p, t in zip(CORNERS, TIPS, strict=True)]
GOOD: dict[str, Any] = {"version": 1, "touches": PAIRS}


def changed(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def moved(scale: tuple[float, float, float], by: tuple[float, float, float] = (0, 0, 0)) -> str:
    told = [
        {"place": one["place"], "tip": (np.array(one["tip"]) * scale + by).tolist()}
        for one in PAIRS
    ]
    return changed(touches=told)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "truncated"),
        ("{", "truncated"),
        ("\udcff", "not UTF-8"),
        ("[]", "expected object, got array"),
        ("3", "expected object, got int"),
        (changed(version=2), "version: invalid enum value 2"),
        (changed(moon=2), "unknown field moon"),
        (changed(touches=None), "touches: expected array, got null"),
        (changed(touches=[]), "touches: expected array of length >= 4"),
        (changed(touches=[{"place": [0, 0], "tip": [1, 2, 3]}] * 3), "of length >= 4"),
        (changed(touches=[{"place": [0, 0], "tip": [200, 0, 0]}] * 4), "in a line"),
        (
            changed(touches=[{"place": [0], "tip": [1, 2, 3]}] * 4),
            "expected array of length 2",
        ),
        (changed(touches=[{"place": "ab", "tip": "abc"}] * 4), "place: expected array, got str"),
        (changed(touches=[{"place": [0, 0], "tip": [1, 2, math.nan]}] * 4), "malformed"),
        (changed(touches=[{"place": [0, 9], "tip": [1, 2, 3]}] * 4), "far beside"),
        (moved((1, 1, 1), (0, 0, 500)), "cannot be there"),
        (moved((1, 1, 1), (200, 0, 0)), "cannot be there"),
        (moved((0.3, 0.3, 1), (150, 0, 0)), "sides of"),
        (moved((1, 0.001, 1)), "in a line|sides of"),
    ],
)
def test_a_wrong_file_is_a_sentence(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "tablet.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SeadsError, match=why) as raised:
        Calibration.load(file)
    assert str(raised.value).startswith(str(file))
    assert "\n" not in str(raised.value)


def test_a_leaning_screen_is_refused() -> None:
    with pytest.raises(SeadsError, match="leans by"):
        Calibration.fit(touches(Tablet.lying(tilt=(35.0, 0.0), height=60.0)))


def test_swapped_corners_are_refused() -> None:
    given = touches(Tablet.lying())
    crossed = [Touched(CORNERS[i], given[j].tip) for i, j in enumerate((1, 0, 2, 3))]
    with pytest.raises(SeadsError, match="do not fit a flat screen"):
        Calibration.fit(crossed)


@pytest.mark.parametrize("order", [(1, 0, 3, 2), (3, 2, 1, 0), (0, 3, 2, 1)])
def test_a_mirrored_screen_is_refused(order: tuple[int, ...]) -> None:
    """Corners in the order of a clock that runs backwards: no screen looks like that from above."""
    given = touches(Tablet.lying())
    mirrored = [Touched(CORNERS[i], given[j].tip) for i, j in enumerate(order)]
    with pytest.raises(SeadsError, match="the wrong way round"):
        Calibration.fit(mirrored)


@pytest.mark.parametrize("first", range(4))
def test_a_screen_may_be_turned(first: int) -> None:
    given = touches(Tablet.lying())
    turned = [Touched(CORNERS[i], given[(first + i) % 4].tip) for i in range(4)]
    assert Calibration.fit(turned).residuals["map"] < 1e-6


@pytest.mark.parametrize("dialect", Dialect)
def test_no_calibration_lets_anything_below_its_floor(dialect: Dialect) -> None:
    """Random touches, most of them nonsense; random and hostile places, also below the screen."""
    fitted = accepted = 0
    recorded = Recorded(dialect)
    for _ in range(400):
        given = touches(random_tablet(), NINE, noise=float(rng.choice([0.0, 0.5, 5.0, 40.0])))
        try:
            found = Calibration.fit(given)
            envelope = found.envelope()
        except SeadsError:
            continue
        fitted += 1
        guard = Guard(recorded.arm, envelope)
        lowest = found.points(np.array([[0.3, 0.3, 0.0]]))[0] @ found.axes[2] - DEEPEST
        for place in rng.uniform([-0.5, -0.5, -0.1], [1.5, 1.5, 1.2], (6, 3)):
            sent = len(recorded.ways)
            try:
                guard.move(found.points(place[None])[0])
            except faults.Refused:
                assert len(recorded.ways) == sent
                continue
            accepted += 1
            way = recorded.way()
            assert (way[-1] @ found.axes[2]) >= lowest - 1e-6
            begins = float(way[0] @ found.axes[2])
            assert (way @ found.axes[2]).min() >= min(lowest, begins) - 0.01
    assert fitted > 100
    assert accepted > 200


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SeadsError, match=r"tablet.json cannot be read .*seads robot calibrate"):
        Calibration.load(tmp_path / "tablet.json")
