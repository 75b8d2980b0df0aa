"""The states a search has seen, each with the step that first led to it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from seads.planning.packed import StateSet, Words


class SearchTree:
    """Nodes in order of discovery, so that every level is a contiguous range of them."""

    def __init__(self, states: StateSet, roots: Words) -> None:
        self._states = states
        states.add(roots)
        self._parents = np.full(len(states), -1, np.int32)
        self._skills = np.full(len(states), -1, np.int16)
        self._level = range(0, len(states))
        self.depth = 0

    def __len__(self) -> int:
        return len(self._states)

    @property
    def words(self) -> Words:
        """The packed states, by node."""
        return self._states.words

    @property
    def level(self) -> range:
        """The nodes of the deepest level completed."""
        return self._level

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._states.nbytes + self._parents.nbytes + self._skills.nbytes

    def add(
        self, words: Words, parents: Int[np.ndarray, "rows"], skills: Int[np.ndarray, "rows"]
    ) -> Int[np.ndarray, "new"]:
        """Add the states that are new, with where they came from; returns their nodes."""
        before = len(self._states)
        new = self._states.add(words)
        after = len(self._states)
        if after > len(self._parents):
            room = max(after, 3 * len(self._parents) // 2)
            self._parents = _grown(self._parents, room)
            self._skills = _grown(self._skills, room)
        self._parents[before:after] = parents.take(new)
        self._skills[before:after] = skills.take(new)
        return np.arange(before, after)

    def next_level(self) -> range:
        """Close the level under way; returns its nodes."""
        self._level = range(self._level.stop, len(self._states))
        self.depth += 1
        return self._level

    def find(self, words: Words) -> Int[np.ndarray, "rows"]:
        """The node of each state, or -1."""
        return self._states.find(words)

    def history(self, nodes: range) -> Int[np.ndarray, "rows 2"]:
        """The last two skills on the way to each of the nodes; -1 where there was none."""
        last, parents = (
            self._skills[nodes.start : nodes.stop],
            self._parents[nodes.start : nodes.stop],
        )
        before = np.where(parents >= 0, self._skills.take(parents, mode="wrap"), -1)
        return np.stack([before, last], axis=1)

    def nodes_to(self, node: int) -> list[int]:
        """The nodes from the root to `node`, both included."""
        path = [node]
        while self._parents[path[-1]] >= 0:
            path.append(int(self._parents[path[-1]]))
        return path[::-1]

    def skills_to(self, node: int) -> list[int]:
        """The skills on the way from the root to `node`."""
        return [int(self._skills[step]) for step in self.nodes_to(node)[1:]]


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    grown = np.empty(size, array.dtype)
    grown[: len(array)] = array
    return grown
