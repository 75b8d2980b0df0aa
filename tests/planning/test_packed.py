from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seads.planning import packed
from seads.planning.packed import StateSet, pack, unpack


@pytest.mark.parametrize("bits", [1, 8, 25, 63, 64, 65, 81, 128, 169])
def test_pack_and_unpack_are_inverse(bits):
    states = np.random.default_rng(bits).random((50, bits)) < 0.5
    words = pack(states)
    assert words.shape == (50, -(-bits // 64))
    np.testing.assert_array_equal(unpack(words, bits), states)
    assert pack(np.eye(bits, dtype=bool))[bits - 1, -1] == np.uint64(1) << np.uint64(
        (bits - 1) % 64
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([3, 70]), st.lists(st.integers(0, 60), max_size=8))
def test_state_set_is_a_python_set(seed, bits, sizes):
    rng = np.random.default_rng(seed)
    pool = rng.random((30, bits)) < 0.5
    states, reference = StateSet(-(-bits // 64)), []
    for size in sizes:
        words = pack(pool[rng.integers(len(pool), size=size)])
        expected = []
        for row, word in enumerate(words.tolist()):
            if word not in reference:
                reference.append(word)
                expected.append(row)
        assert states.add(words).tolist() == expected
        assert states.words.tolist() == reference
    found = states.find(pack(pool)).tolist()
    wanted = [reference.index(w) if w in reference else -1 for w in pack(pool).tolist()]
    assert found == wanted


def test_hash_collisions_lose_no_state(monkeypatch):
    good = packed.keys_of
    monkeypatch.setattr(packed, "keys_of", lambda words: good(words) & np.uint64(3))
    pool = np.unique(np.random.default_rng(0).random((400, 90)) < 0.5, axis=0)
    states = StateSet(2)
    for at in range(0, len(pool), 7):
        batch = pack(pool[max(0, at - 3) : at + 7])  # three states it has already
        assert len(states.add(batch)) == len(pool[at : at + 7])
    assert len(states) == len(pool)
    assert states.find(pack(pool)).tolist() == list(range(len(pool)))
    assert (states.find(pack(~pool)) < 0).all()
