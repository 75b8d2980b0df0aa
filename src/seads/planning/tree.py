"""The states a search has seen, each with the step that led to it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from seads.planning.packed import StateSet, Words


class SearchTree:
    """Nodes in order of discovery, so that every level is a contiguous range of them."""

    def __init__(self, roots: Words) -> None:
        self._states = StateSet(roots.shape[1])
        self._states.add(roots)
        self._parents = np.full(len(self), -1, np.int32)
        self._skills = np.full(len(self), -1, np.int16)
        self._level = range(0, len(self))
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
        """Add the states that are new, with where they came from; returns their rows."""
        before = len(self)
        new = self._states.add(words)
        if len(self) > len(self._parents):
            room = max(len(self), 3 * len(self._parents) // 2)
            self._parents = _grown(self._parents, room)
            self._skills = _grown(self._skills, room)
        self.relink(np.arange(before, len(self)), parents.take(new), skills.take(new))
        return new

    def relink(
        self,
        nodes: Int[np.ndarray, "nodes"],
        parents: Int[np.ndarray, "nodes"],
        skills: Int[np.ndarray, "nodes"],
    ) -> None:
        """Let other steps lead to these nodes."""
        self._parents[nodes] = parents
        self._skills[nodes] = skills

    def next_level(self) -> range:
        """Close the level under way; returns its nodes."""
        self._level = range(self._level.stop, len(self))
        self.depth += 1
        return self._level

    def find(self, words: Words) -> Int[np.ndarray, "rows"]:
        """The node of each state, or -1."""
        return self._states.find(words)

    def way_to(self, node: int) -> tuple[list[int], Words]:
        """The skills from the root to a node, and the states on the way, both ends included."""
        path = [node]
        while self._parents[path[-1]] >= 0:
            path.append(int(self._parents[path[-1]]))
        path.reverse()
        return self._skills[path[1:]].tolist(), self.words[path]


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    grown = np.empty(size, array.dtype)
    grown[: len(array)] = array
    return grown
