"""The reacher's physics against dm_control's own, and where its finger touches the board."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from seads.envs.reacher import Reacher
from seads.games import LightsOut


@pytest.fixture(scope="module")
def suite_physics() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a display when imported
        from dm_control import suite
    return suite.load("reacher", "easy").physics


def test_arms_move_as_in_the_suite(suite_physics: Any) -> None:
    rng = np.random.default_rng(0)
    arms = Reacher(8, LightsOut(), observation="raw")
    rows = np.arange(8)
    arms.reset(rows, rng.random((8, 2)))
    actions = rng.uniform(-1, 1, (8, 40, 3))
    starts = [arms.pose(row) for row in range(8)]
    assert sum(np.pi * 160 / 180 < start[1] for start in starts) >= 2, "none beyond its limit"
    ours, fingers = [], []
    actions[..., 2] = 1.0  # push, to learn where the finger is
    for time in range(40):
        fingers.append(arms.step(rows, actions[:, time]))
        ours.append(arms.observe(rows))
    for row in rows:
        with suite_physics.reset_context():
            suite_physics.data.qpos[:] = starts[row]
        for time in range(40):
            suite_physics.set_control(actions[row, time, :2])
            suite_physics.step(2)
            state = np.concatenate([suite_physics.data.qpos, suite_physics.data.qvel])
            np.testing.assert_allclose(ours[time][row], state, rtol=0, atol=2e-5)
            point = (suite_physics.named.data.geom_xpos["finger", :2] + 0.15) / 0.3
            if ((point >= 0) & (point <= 1)).all():
                np.testing.assert_allclose(fingers[time][row], point, atol=1e-9)
            else:
                assert np.isnan(fingers[time][row]).all()
    assert 0 < np.isnan(fingers).sum() < np.size(fingers), "on and off the board must both occur"
    arms.close()


def test_an_action_lasts_four_hundredths_of_a_second() -> None:
    arms = Reacher(1, LightsOut())
    assert arms.model.opt.timestep == 0.02
    arms.reset(np.array([0]), np.array([[0.1, 0.1]]))
    arms.step(np.array([0]), np.zeros((1, 3)))
    assert arms._batch.bind("time")[0] == pytest.approx(0.04)
    arms.close()


def test_the_push_threshold_is_six_tenths() -> None:
    arms = Reacher(2, LightsOut())
    rows = np.arange(2)
    arms.reset(rows, np.array([[0.0, 0.4], [0.0, 0.4]]))
    touch = arms.step(rows, np.array([[0.0, 0.0, 0.6], [0.0, 0.0, 0.61]]))
    assert np.isnan(touch[0]).all()
    assert np.isfinite(touch[1]).all()
    arms.close()


def test_threads_and_subsets_of_rows_change_no_bit() -> None:
    rng = np.random.default_rng(1)
    alone, pooled = Reacher(6, LightsOut()), Reacher(6, LightsOut(), threads=2)
    rows = np.arange(6)
    start = rng.random((6, 2))
    alone.reset(rows, start)
    pooled.reset(rows, start)
    for _ in range(30):
        actions = rng.uniform(-1, 1, (6, 3))
        for part in (rows[:1], rows[4:], rows[1:4]):
            alone.step(part, actions[part])
        pooled.step(rows, actions)
        assert np.array_equal(alone.observe(rows), pooled.observe(rows))
    alone.close()
    pooled.close()


def test_scaled_and_raw_observations_show_the_same_arm() -> None:
    scaled, raw = Reacher(3, LightsOut(), "scaled"), Reacher(3, LightsOut(), "raw")
    rows = np.arange(3)
    for arms in (scaled, raw):
        arms.reset(rows, np.random.default_rng(2).random((3, 2)))
        arms.step(rows, np.full((3, 3), 0.5))
    angles, speeds = np.split(raw.observe(rows), 2, axis=1)
    want = np.concatenate([np.cos(angles), np.sin(angles), 0.1 * speeds], axis=1)
    np.testing.assert_allclose(scaled.observe(rows), want, atol=1e-6)
    scaled.close()
    raw.close()
