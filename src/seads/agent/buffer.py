"""Episodes, and the buffer that keeps them: all of the newest, and older ones of every effect."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import partial

import jax
import numpy as np
from jaxtyping import Bool, Float32, Int

from seads.agent.arrays import stateful
from seads.agent.relabel import place_in_queue


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Episodes:
    """Skill episodes as arrays; beyond its `lengths` a row of the time axis means nothing."""

    observations: Float32[np.ndarray, "episodes steps_plus_1 obs"]
    actions: Float32[np.ndarray, "episodes steps act"]
    """In [-1, 1], as the policy gives them."""
    lengths: Int[np.ndarray, "episodes"]
    skills: Int[np.ndarray, "episodes"]
    before: Bool[np.ndarray, "episodes bits"]
    """z_0"""
    after: Bool[np.ndarray, "episodes bits"]
    """z_T"""
    moves: Int[np.ndarray, "episodes"]
    """Ground truth for metrics; nothing learns from it."""
    disturbed: Bool[np.ndarray, "episodes"]
    """Where more than the policy's own noise was on the actions: no example of what it does."""

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def changed(self) -> Bool[np.ndarray, "episodes"]:
        """Where the symbol changed."""
        return (self.before != self.after).any(1)

    @property
    def bytes_each(self) -> int:
        """Memory of one episode, whatever its length."""
        arrays = jax.tree.leaves(self)
        return sum(math.prod(values.shape[1:]) * values.dtype.itemsize for values in arrays)

    def pick(self, index: np.ndarray) -> Episodes:
        """A copy of some episodes."""
        return jax.tree.map(lambda values: values[index], self)


@stateful("stored", "order", "classes", "added")
class EpisodeBuffer:
    """A fixed number of episodes: always the newest `recent`, and older ones as they last.

    When full, the oldest episode of the most frequent effect class gives way (the oldest of
    all if not `balanced`), so that rare effects stay. The class of an episode is whatever
    `classify` was last told: the skill that the model finds most likely, or "unchanged".

    The arrays are as long as there are episodes: outside of `add` every slot is filled.
    """

    def __init__(
        self, like: Episodes, capacity: int, recent: int, num_classes: int, balanced: bool
    ):
        self.capacity, self.recent, self.balanced = capacity, recent, balanced
        self.num_classes = num_classes
        self.stored: Episodes = jax.tree.map(lambda values: values[:0], like)
        self.order = np.zeros(0, np.int64)
        """When each slot was filled; -1, within `add` alone, where it is yet to be."""
        self.classes = np.zeros(0, np.int32)
        self.added = 0

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, episodes: Episodes) -> None:
        """Store new episodes; until they are classified they count as skill 0's (class 0)."""
        self._make_room(len(episodes))
        slots = self._free_slots(len(episodes))
        for f in fields(episodes):
            getattr(self.stored, f.name)[slots] = getattr(episodes, f.name)
        self.order[slots] = self.added + np.arange(len(episodes))
        self.classes[slots] = 0
        self.added += len(episodes)

    def _make_room(self, count: int) -> None:
        """Slots for so many more episodes, as far as the capacity goes."""
        size, used = min(self.added + count, self.capacity), len(self.order)
        if size > used:
            longer = partial(_longer, size=size, capacity=self.capacity)
            self.stored = jax.tree.map(longer, self.stored)
            self.order, self.classes = longer(self.order), longer(self.classes)
            self.order[used:] = -1

    def _free_slots(self, count: int) -> Int[np.ndarray, "count"]:
        unused = np.flatnonzero(self.order < 0)[:count]
        missing = count - len(unused)
        if missing == 0:
            return unused
        # the newest stay whatever their class: they are learned from in every epoch
        protected = self.added - max(self.recent - count, 0)
        candidates = np.flatnonzero((self.order >= 0) & (self.order < protected))
        candidates = candidates[np.argsort(self.order[candidates])]
        if not self.balanced:
            return np.concatenate([unused, candidates[:missing]])
        queues = [
            list(candidates[self.classes[candidates] == c][::-1]) for c in range(self.num_classes)
        ]
        chosen = []
        for _ in range(missing):
            fullest = max(queues, key=len)
            chosen.append(fullest.pop())
        return np.concatenate([unused, np.array(chosen, np.int64)])

    def newest(self, count: int = 0) -> Int[np.ndarray, "recent"]:
        """Slots of the `recent` newest episodes, or of `count` if those are more, oldest first."""
        newest = np.flatnonzero(self.order >= self.added - max(count, self.recent))
        return newest[np.argsort(self.order[newest])]

    def newest_of_each(self, count: int) -> Int[np.ndarray, "some"]:
        """Slots of the newest `count` episodes of each skill, without exploration noise."""
        undisturbed = np.flatnonzero(~self.stored.disturbed)
        undisturbed = undisturbed[np.argsort(-self.order[undisturbed])]
        return undisturbed[place_in_queue(self.stored.skills[undisturbed]) < count]

    def sample(self, count: int, rng: np.random.Generator) -> Int[np.ndarray, "count"]:
        """Slots drawn with replacement from all that is stored.

        If balanced, a class with a hundredth of another's episodes gets a tenth of its draws: what
        happens seldom would else be learned last, by skills that nothing else is left for.
        """
        if not self.balanced:
            return rng.integers(len(self.order), size=count)
        edges = np.cumsum(np.bincount(self.classes)[self.classes] ** -0.5)
        return np.searchsorted(edges, rng.random(count) * edges[-1], side="right")

    def success(self, num_skills: int) -> Float32[np.ndarray, "skills"]:
        """How often each skill did lately what the model takes for its own.

        Over the newest episodes, ten a skill if there are as many; zero for a skill without any.
        """
        newest = self.newest(10 * num_skills)
        newest = newest[~self.stored.disturbed[newest]]
        skills = self.stored.skills[newest]
        did = np.bincount(skills, self.classes[newest] == skills, num_skills)
        return (did / np.maximum(np.bincount(skills, minlength=num_skills), 1)).astype(np.float32)

    def classify(self, slots: Int[np.ndarray, "n"], classes: Int[np.ndarray, "n"]) -> None:
        """Remember what the model now thinks of some episodes."""
        self.classes[slots] = classes


def _longer(values: np.ndarray, size: int, capacity: int) -> np.ndarray:
    """The same array with more rows, of memory for `capacity` that is taken as it is filled."""
    space, shape = values.base, (capacity, *values.shape[1:])
    if not (isinstance(space, np.ndarray) and (space.shape, space.dtype) == (shape, values.dtype)):
        space = np.zeros(shape, values.dtype)
        space[: len(values)] = values
    return space[:size]
