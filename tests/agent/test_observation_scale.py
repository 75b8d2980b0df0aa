"""Observations are scaled by what was collected, and a policy takes the scale along."""

from __future__ import annotations

import jax
import numpy as np

from seads.agent.networks import make_policy
from seads.agent.observation_scale import ObservationScale


def test_statistics_of_many_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    scale = ObservationScale(5, (3, 4))
    kept = []
    for _ in range(4):
        rows = rng.normal([5.0, -300.0, 0.02, 1.0, 0.5], [2.0, 40.0, 0.01, 9.0, 9.0], (6, 7, 5))
        rows = rows.astype(np.float32)
        counts = rng.random((6, 7)) < 0.6
        kept.append(rows[counts])
        scale = scale.updated(rows, counts)
    whole = np.concatenate(kept)
    np.testing.assert_allclose(scale.mean[:3], whole.mean(0)[:3], rtol=1e-4)
    np.testing.assert_allclose(scale.deviation[:3], whole.std(0)[:3], rtol=1e-3)
    off = whole - whole.mean(0)
    np.testing.assert_allclose(scale.with_bits[:, 0], off.T @ off[:, 3] / len(off), rtol=1e-3)
    # the symbol and the time stay as they are
    scaled = np.asarray(scale(whole))
    np.testing.assert_array_equal(scaled[:, 3:], whole[:, 3:])
    np.testing.assert_allclose(scaled[:, :3].std(0), 1, rtol=1e-2)


def test_what_never_changes_is_not_blown_up() -> None:
    same = np.full((4, 2, 3), 7.0, np.float32)
    scale = ObservationScale(3, (2, 3)).updated(same, np.ones((4, 2)) > 0)
    assert np.abs(np.asarray(scale(np.array([[7.001, 7.0, 1.0]], np.float32)))).max() <= 1.0


def test_the_unit_of_a_number_does_not_matter() -> None:
    """Neither a position in kilometres nor a small move far from zero is taken for a constant."""
    rng = np.random.default_rng(0)
    units, offsets = np.array([1.0, 1e-6, 1e7, 1.0]), np.array([0.0, 0.0, 3e8, 2e5])
    rows = rng.standard_normal((6, 20, 1)).repeat(4, -1) * units + offsets
    rows = np.concatenate([rows, rng.random((6, 20, 1)) < 0.5, np.ones((6, 20, 1))], -1)
    scale = ObservationScale(6, (4, 5)).updated(rows.astype(np.float32), np.ones((6, 20), bool))
    seen = np.asarray(scale(rows.astype(np.float32)))
    for column in range(1, 4):
        assert 0.5 < seen[..., column].std() < 5
        assert np.corrcoef(seen[..., column].ravel(), seen[..., 0].ravel())[0, 1] > 0.99


def test_what_is_left_of_numbers_that_cancel_out_is_no_unit() -> None:
    rng = np.random.default_rng(0)
    rest = rng.choice([-6e-17, 0.0, 6e-17], (6, 20)), np.full((6, 20), 1e-38)
    rows = np.stack([*rest, rng.random((6, 20)) < 0.5, np.ones((6, 20))], -1).astype(np.float32)
    rows[0, 0, 1] = 0.0
    scale = ObservationScale(4, (2, 3)).updated(rows, np.ones((6, 20), bool))
    assert np.abs(np.asarray(scale(rows))[..., :2]).max() < 1e-6


def test_a_small_number_that_goes_along_with_a_bit_is_seen_from_the_start() -> None:
    rng = np.random.default_rng(0)
    scale = ObservationScale(3, (1, 2))
    for _ in range(3):
        bits = rng.random((8, 20, 1)) < 0.5
        hint = 1e-5 * (bits + 0.375 * rng.standard_normal(bits.shape))  # a correlation of 0.8
        rows = np.concatenate([hint, bits, np.ones_like(hint)], -1).astype(np.float32)
        scale = scale.updated(rows, np.ones((8, 20), bool))
        assert scale.seen.tolist() == [True, True, True]


def test_a_folded_policy_acts_on_plain_observations_as_the_other_on_scaled_ones() -> None:
    policy = make_policy(5 + 2, 2, (16,), jax.random.key(0), unseen=(3, 4))
    rng = np.random.default_rng(1)
    rows = rng.normal([9.0, -3.0, 0.1, 0.5, 0.5], [2.0, 40.0, 0.01, 0.5, 0.3], (8, 3, 5))
    rows[..., 2] = np.where(rows[..., 3] > 0.5, 4.0, -1.0)
    rows[..., 3] = rows[..., 3] > 0.5
    scale = ObservationScale(5, (3, 4)).updated(rows.astype(np.float32), np.ones((8, 3), bool))
    assert scale.seen.tolist() == [True, True, False, True, True]
    plain = rows.reshape(-1, 5).astype(np.float32)
    skills = np.eye(2, dtype=np.float32)[rng.integers(2, size=len(plain))]
    wanted = policy(np.concatenate([scale(plain), skills], 1))
    got = scale.folded(policy)(np.concatenate([plain, skills], 1))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_what_moves_seldom_is_not_far_off_when_it_does() -> None:
    rows = np.zeros((100, 10, 3), np.float32)
    rows[3, 4, 0] = 0.02  # a button that is pressed once
    counts = np.ones((100, 10), bool)
    counts[7] = False
    rows[7, :, 0] = -50.0  # beyond an episode's end, which means nothing
    scale = ObservationScale(3, (1, 2)).updated(rows, counts)
    assert 0.02 / rows[counts][:, 0].std() > 30
    np.testing.assert_allclose(np.asarray(scale(rows[3, 4]))[0], 5.0, rtol=1e-3)


def test_a_bit_of_the_symbol_in_disguise_is_not_seen() -> None:
    """As where a user's observation holds the board: what a skill does must not depend on it."""
    rng = np.random.default_rng(0)
    bits = rng.random((40, 8, 2)) < 0.5
    arm = rng.normal(0.0, 3.0, (40, 8, 2))
    disguised = np.stack([2.0 - 3.0 * bits[..., 1], bits[..., 0]], -1)
    hinting = bits[..., :1] + 0.1 * rng.standard_normal((40, 8, 1))  # says more than the bit
    rows = np.concatenate([arm, disguised, hinting, bits, np.ones((40, 8, 1))], -1)
    rows = rows.astype(np.float32)
    scale = ObservationScale(8, (5, 7))
    for part in np.split(rows, 4):
        scale = scale.updated(part, np.ones(part.shape[:2], bool))
    assert scale.seen.tolist() == [True, True, False, False, True, True, True, True]
    assert not np.asarray(scale(rows))[..., 2:4].any()
    untouched = ObservationScale(8, (5, 7), scales=False).updated(rows, np.ones((40, 8), bool))
    np.testing.assert_array_equal(untouched(rows), rows)
