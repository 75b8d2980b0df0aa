"""Random numbers are a pure function of (seed, label, position), and look random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seads.streams import fork, mix, row_seeds, uniforms

words = st.integers(0, 2**64 - 1)


def test_mix_matches_splitmix64_reference():
    # the published first outputs of SplitMix64 seeded with 1234567: mix(seed + i * golden)
    golden = 0x9E3779B97F4A7C15
    states = np.array([(1234567 + i * golden) % 2**64 for i in range(3)], np.uint64)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert mix(states).tolist() == expected


@given(st.lists(words, min_size=1, max_size=8), words, st.integers(1, 5))
def test_rows_do_not_see_their_neighbours(seeds, label, count):
    batch = np.array(seeds, np.uint64)
    forked, drawn = fork(batch, label), uniforms(batch, count)
    for i in range(len(batch)):
        assert fork(batch[i : i + 1], label)[0] == forked[i]
        assert (uniforms(batch[i : i + 1], count)[0] == drawn[i]).all()


@given(words)
def test_a_longer_draw_starts_like_a_shorter_one(seed):
    seeds = np.array([seed], np.uint64)
    assert (uniforms(seeds, 9)[:, :4] == uniforms(seeds, 4)).all()


@given(words, words, words)
def test_labels_separate_streams(seed, label, other):
    seeds = np.array([seed], np.uint64)
    assert (fork(seeds, label) == fork(seeds, other)).all() == (label == other)
    assert fork(seeds, label)[0] != seeds[0]


def test_small_seeds_and_labels_never_meet():
    # users count seeds, epochs and rows from 0, so these are the pairs that occur
    labels = np.arange(200, dtype=np.uint64)
    forked = [fork(np.full(200, seed, np.uint64), labels) for seed in range(200)]
    assert len(np.unique(forked)) == 200 * 200


def test_labels_may_differ_by_row():
    seeds = np.array([5, 5, 9], np.uint64)
    labels = np.array([1, 2, 1], np.uint64)
    single = [fork(seeds[i : i + 1], int(labels[i]))[0] for i in range(3)]
    assert fork(seeds, labels).tolist() == single


def test_row_seeds_depend_on_seed_labels_and_row_only():
    seeds = row_seeds(7, 100, 3, 4)
    assert len(np.unique(seeds)) == 100
    assert (row_seeds(7, 10, 3, 4) == seeds[:10]).all()
    for other in (row_seeds(8, 100, 3, 4), row_seeds(7, 100, 4, 3), row_seeds(7, 100, 3)):
        assert not np.isin(other, seeds).any()
    assert not np.isin(row_seeds(8, 100), row_seeds(7, 100)).any()
    assert (row_seeds(-1, 3) == row_seeds(2**64 - 1, 3)).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_uniforms_are_uniform_and_uncorrelated(axis):
    drawn = uniforms(row_seeds(0, 400), 400)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts = np.histogram(drawn, 20, (0, 1))[0]
    expected = drawn.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 43.8  # chi-square, 19 df, p = 0.001
    neighbours = np.diff(drawn, axis=axis)
    assert abs(neighbours.var() - 1 / 6) < 0.003
