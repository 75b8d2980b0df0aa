"""What the flat replay hands out: whole transitions, none across episodes, exact values."""

from __future__ import annotations

import numpy as np
import pytest

from seads.agent.arrays import from_arrays, to_arrays
from seads.baselines.flat_replay import FlatReplay
from seads.baselines.ring import Ring, pack, unpack
from seads.envs.interface import EnvSpec

SPEC = EnvSpec("box", 14, (-1.0,), (1.0,), 11, 10, None)
"""Two floats of a body, 11 bits, the remaining time; one action."""


def observation(env: int, step: int) -> np.ndarray:
    """One that says which it is."""
    bits = [(env + step) >> i & 1 for i in range(11)]
    return np.array([env, step, *bits, 1 - step / 1000], np.float32)


def filled(steps: int, transitions: int) -> FlatReplay:
    """Two environments whose episodes end with steps 6, 13, 20, …; reward 1 every third step."""
    replay = FlatReplay(SPEC, transitions, 2)
    for t in range(steps):
        replay.append(
            np.stack([observation(env, t) for env in range(2)]),
            np.array([[t], [-t]], np.float32),
            np.full(2, t % 3 == 0, np.float32),
            np.full(2, t % 7 == 6),
        )
    return replay


@pytest.mark.parametrize("steps", [10, 40])
def test_a_transition_is_what_happened(steps: int) -> None:
    replay = filled(steps, 30)
    drawn = replay.sample(3000, 0.9, np.random.default_rng(0))
    env, t = drawn.inputs[:, 0].astype(int), drawn.inputs[:, 1].astype(int)
    for i in range(len(t)):
        np.testing.assert_array_equal(drawn.inputs[i], observation(env[i], t[i]))
        if t[i] % 7 != 6:
            np.testing.assert_array_equal(drawn.next_inputs[i], observation(env[i], t[i] + 1))
    np.testing.assert_array_equal(drawn.actions[:, 0], np.where(env == 0, t, -t))
    np.testing.assert_array_equal(drawn.rewards, t % 3 == 0)
    np.testing.assert_array_equal(drawn.discounts, np.where(t % 7 == 6, 0, np.float32(0.9)))
    # all the newest 30 transitions with a successor, and no others, are drawn
    known = min(steps - 1, 15)
    expected = {(e, s) for e in range(2) for s in range(steps - 1 - known, steps - 1)}
    assert set(zip(env.tolist(), t.tolist(), strict=True)) == expected
    assert replay.usable == len(expected)


def test_a_full_replay_fits_into_memory() -> None:
    """The paper's million transitions, for the largest observation: far below 4 GB."""
    spec = EnvSpec("jaco", 42 + 81 + 1, (-1.0,) * 9, (1.0,) * 9, 81, 50, None)
    replay = FlatReplay(spec, 1_000_000, 1)
    assert sum(column.nbytes for column in replay.ring._columns.values()) < 250e6


def test_a_ring_is_restored_exactly() -> None:
    columns = {"a": ((2,), np.float32), "b": ((), np.int32)}
    ring, fresh = Ring(5, columns), Ring(5, columns)
    for i in range(7):
        ring.append(a=np.full((1, 2), i), b=np.array([i]))
        arrays = to_arrays(ring)
        assert arrays[".kept['b']"].shape == (min(i + 1, 5),)  # only what is kept is stored
        copy = from_arrays(fresh, arrays)
        assert copy.get("b", np.arange(copy.size)).tolist() == list(range(max(0, i - 4), i + 1))
        for one in (ring, copy):
            one.append(a=np.zeros((0, 2)), b=np.zeros(0))
        assert copy.capacity == 5
    ring.append(a=np.zeros((12, 2)), b=np.arange(12))
    assert ring.get("b", np.arange(5)).tolist() == [7, 8, 9, 10, 11]
    assert fresh.size == 0
    full = to_arrays(ring)
    with pytest.raises(ValueError, match=r"a'.* is float32\[5, 3\]; needed is float32"):
        from_arrays(fresh, full | {".kept['a']": np.zeros((5, 3), np.float32)})
    with pytest.raises(ValueError, match="replay column 'a' has 4 records; expected 5"):
        from_arrays(fresh, full | {".kept['a']": np.zeros((4, 2), np.float32)})


def test_bits_survive_packing() -> None:
    bits = np.random.default_rng(0).random((7, 11)) < 0.5
    assert pack(bits).shape == (7, 2)
    np.testing.assert_array_equal(unpack(pack(bits), 11), bits)
