"""The episode buffer: a ring, or one that keeps rare effects; against a plain list."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seads.agent.arrays import from_arrays, to_arrays
from seads.agent.buffer import EpisodeBuffer, Episodes


def episodes(first: int, count: int) -> Episodes:
    """Episodes that carry their number in every array."""
    number = np.arange(first, first + count)
    return Episodes(
        observations=np.broadcast_to(number[:, None, None], (count, 3, 2)).astype(np.float32),
        actions=np.broadcast_to(number[:, None, None], (count, 2, 1)).astype(np.float32),
        lengths=1 + number % 2,
        skills=number % 3,
        before=(number[:, None] >> np.arange(12)) % 2 == 1,
        after=(number[:, None] >> np.arange(12)) % 2 == 0,
        moves=number,
        disturbed=number % 5 == 4,
    )


def numbers(buffer: EpisodeBuffer) -> set[int]:
    return set(buffer.stored.moves[buffer.order >= 0].tolist())


def test_ring_keeps_the_newest() -> None:
    buffer = EpisodeBuffer(episodes(0, 1), 10, 4, 3, balanced=False)
    for first in range(0, 24, 4):
        buffer.add(episodes(first, 4))
        assert len(buffer) == min(first + 4, 10)
        assert numbers(buffer) == set(range(max(0, first - 6), first + 4))


def test_a_rare_effect_outlives_a_frequent_one() -> None:
    buffer = EpisodeBuffer(episodes(0, 1), 12, 4, 3, balanced=True)
    buffer.add(episodes(0, 4))
    buffer.classify(np.arange(4), np.array([2, 1, 1, 1]))  # episode 0 is the only one of class 2
    for first in range(4, 100, 4):
        buffer.add(episodes(first, 4))
        buffer.classify(buffer.newest(), np.ones(4, np.int64))
        assert 0 in numbers(buffer)
        assert set(range(first, first + 4)) <= numbers(buffer)
    ring = EpisodeBuffer(episodes(0, 1), 12, 4, 3, balanced=False)
    for first in range(0, 100, 4):
        ring.add(episodes(first, 4))
    assert 0 not in numbers(ring)


class PlainList:
    """What the buffer should hold, the slow way: (number, class) of each, oldest first."""

    def __init__(self, capacity: int, recent: int, balanced: bool):
        self.capacity, self.recent, self.balanced = capacity, recent, balanced
        self.held: list[list[int]] = []

    def add(self, first: int, count: int) -> None:
        while len(self.held) + count > self.capacity:
            protected = first - max(self.recent - count, 0)
            old = [one for one in self.held if one[0] < protected]
            classes = [one[1] for one in old]
            if self.balanced:
                common = max(sorted(set(classes)), key=classes.count)
                old = [one for one in old if one[1] == common]
            self.held.remove(old[0])
        self.held += [[n, 0] for n in range(first, first + count)]


@given(st.data())
def test_equals_a_plain_list(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 5))
    recent = data.draw(st.integers(count, 12))
    capacity = data.draw(st.integers(recent, 20))
    balanced = data.draw(st.booleans())
    classes = data.draw(st.lists(st.integers(0, 3), min_size=60, max_size=60))
    buffer = EpisodeBuffer(episodes(0, 1), capacity, recent, 4, balanced)
    plain = PlainList(capacity, recent, balanced)
    for first in range(0, 12 * count, count):
        buffer.add(episodes(first, count))
        plain.add(first, count)
        newest = buffer.stored.moves[buffer.newest()].tolist()
        assert newest == list(range(max(0, first + count - recent), first + count))
        assert numbers(buffer) == {n for n, _ in plain.held}
        assert (buffer.order >= 0).all()  # no slot is ever empty
        told = buffer.newest()
        buffer.classify(told, np.array([classes[n] for n in buffer.stored.moves[told]]))
        for one in plain.held:
            one[1] = classes[one[0]] if one[0] in newest else one[1]
    kept = np.flatnonzero(buffer.order >= 0)
    expected = episodes(0, 60).pick(buffer.stored.moves[kept])
    for name in ("observations", "actions", "lengths", "skills", "before", "after"):
        assert (getattr(buffer.stored, name)[kept] == getattr(expected, name)).all()


def test_samples_come_from_all_that_is_stored_and_from_nothing_else() -> None:
    buffer = EpisodeBuffer(episodes(0, 1), 10, 4, 3, balanced=False)
    buffer.add(episodes(5, 4))
    slots = buffer.sample(200, np.random.default_rng(0))
    assert set(buffer.stored.moves[slots]) == {5, 6, 7, 8}


def test_a_class_is_drawn_by_the_root_of_how_often_it_is_there() -> None:
    buffer = EpisodeBuffer(episodes(0, 1), 100, 10, 4, balanced=True)
    buffer.add(episodes(0, 90))
    rare = np.array([7, 50, 60, 70, 71, 72, 80, 81, 89])  # a ninth of the others
    buffer.classify(np.arange(90), np.where(np.isin(np.arange(90), rare), 3, 1))
    drawn = buffer.sample(9000, np.random.default_rng(0))
    assert set(drawn) <= set(range(90))
    assert abs(np.isin(drawn, rare).mean() - 3 / (3 + 9)) < 0.02


def test_success_is_of_what_was_not_disturbed() -> None:
    some = episodes(0, 15)
    buffer = EpisodeBuffer(some, 15, 15, 4, balanced=True)
    buffer.add(some)
    failed = some.disturbed | (np.arange(15) == 3)
    buffer.classify(np.arange(15), np.where(failed, 3, some.skills))
    undisturbed = np.bincount(some.skills[~some.disturbed])
    np.testing.assert_allclose(buffer.success(3), 1 - np.array([1, 0, 0]) / undisturbed)


def test_as_a_pytree_it_is_restored_whole() -> None:
    fresh = EpisodeBuffer(episodes(0, 1), 10, 4, 3, balanced=True)
    buffer = EpisodeBuffer(episodes(0, 1), 10, 4, 3, balanced=True)
    assert len(from_arrays(fresh, to_arrays(buffer))) == 0
    for first in range(0, 16, 4):
        buffer.add(episodes(first, 4))
        buffer.classify(buffer.newest(), np.arange(4) % 3)
    twin = from_arrays(fresh, to_arrays(buffer))
    for one in (buffer, twin):
        one.add(episodes(16, 4))
    ours, theirs = to_arrays(buffer), to_arrays(twin)
    assert ours.keys() == theirs.keys()
    assert all((ours[name] == theirs[name]).all() for name in ours)
    assert not np.shares_memory(ours[".order"], theirs[".order"])
    assert len(fresh) == 0


def test_changed_and_pick() -> None:
    some = episodes(0, 4)
    assert some.changed.all()
    same = Episodes(**{**vars(some), "after": some.before})
    assert not same.changed.any()
    assert some.pick(np.array([2, 0])).moves.tolist() == [2, 0]


@pytest.mark.parametrize("take", [False, True])
def test_a_buffer_is_as_large_as_what_it_holds_and_goes_on_after_being_read(take: bool) -> None:
    whole, parts = (EpisodeBuffer(episodes(0, 0), 20, 4, 3, balanced=True) for _ in range(2))
    for first in range(0, 40, 4):
        for buffer in (whole, parts):
            buffer.add(episodes(first, 4))
            buffer.classify(buffer.newest(), buffer.stored.skills[buffer.newest()])
        arrays = {name: value.copy() for name, value in to_arrays(parts).items()}
        assert len(arrays[".stored.observations"]) == len(parts) == min(first + 4, 20)
        fresh = EpisodeBuffer(episodes(0, 0), 20, 4, 3, balanced=True)
        parts = from_arrays(fresh, arrays, take=take)
        if take:
            assert parts.stored.observations is arrays[".stored.observations"]
    for name, value in to_arrays(whole).items():
        np.testing.assert_array_equal(value, to_arrays(parts)[name])


def test_the_memory_of_an_episode() -> None:
    some = episodes(0, 7)
    assert 7 * some.bytes_each == sum(getattr(some, f.name).nbytes for f in fields(some))


def test_the_newest_of_each_skill_however_seldom_it_was_tried() -> None:
    buffer = EpisodeBuffer(episodes(0, 0), 40, 4, 3, balanced=False)
    some = episodes(0, 30)
    some.skills[:] = [1, 2, *[0] * 28]
    buffer.add(some)
    found = buffer.stored.moves[buffer.newest_of_each(3)].tolist()
    assert sorted(found) == [0, 1, 26, 27, 28]  # 29 is disturbed, as every fifth is
