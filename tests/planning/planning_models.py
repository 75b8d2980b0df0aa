"""Small models with known answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Int

from seads.games import Game
from seads.planning.model import SymbolicModel

Step = Callable[[np.ndarray, int], np.ndarray]


class Table:
    """A model given by a function of one state and one skill."""

    def __init__(self, num_bits: int, num_skills: int, step: Step) -> None:
        self.num_bits, self.num_skills, self.step = num_bits, num_skills, step
        self.asked = 0

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        self.asked += len(states)
        pairs = zip(states, skills, strict=True)
        rows = [self.step(state.copy(), int(skill)) for state, skill in pairs]
        return np.array(rows, bool).reshape(len(states), self.num_bits)

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        every = np.tile(np.arange(self.num_skills), len(states))
        after = self.successor(np.repeat(states, self.num_skills, axis=0), every)
        return after.reshape(len(states), self.num_skills, self.num_bits)


class Flips:
    """A model in which skill k flips the bits of row k."""

    def __init__(self, effects: Bool[np.ndarray, "skills bits"]) -> None:
        self.effects = effects
        self.num_skills, self.num_bits = effects.shape
        self.asked = 0

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        self.asked += len(states)
        return states ^ self.effects[skills]

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        self.asked += self.num_skills * len(states)
        return states[:, None] ^ self.effects


class Faulty:
    """A model that does nothing in some (state, skill) pairs where it should do something."""

    def __init__(self, model: SymbolicModel, faults: set[tuple[bytes, int]]) -> None:
        self.model, self.faults = model, faults
        self.num_bits, self.num_skills = model.num_bits, model.num_skills

    def successor(self, states, skills):
        after = self.model.successor(states, skills)
        for row, (state, skill) in enumerate(zip(states, skills, strict=True)):
            if (state.tobytes(), int(skill)) in self.faults:
                after[row] = state
        return after

    def successors(self, states):
        after = self.model.successors(states)
        for row, state in enumerate(states):
            for skill in range(self.num_skills):
                if (state.tobytes(), skill) in self.faults:
                    after[row, skill] = state
        return after


def half_fields(size: int) -> Table:
    """LightsOut whose upper halves (skills 0..n-1) switch on and lower halves switch off."""
    fields = size * size

    def step(state: np.ndarray, skill: int) -> np.ndarray:
        field, lower = skill % fields, skill >= fields
        if state[field] != lower:
            return state
        row, column = divmod(field, size)
        for r, c in ((row, column), (row + 1, column), (row - 1, column)):
            if 0 <= r < size and 0 <= c < size:
                state[r * size + c] ^= True
        for c in (column - 1, column + 1):
            if 0 <= c < size:
                state[row * size + c] ^= True
        return state

    return Table(fields, 2 * fields, step)


def every_state(bits: int) -> Bool[np.ndarray, "all bits"]:
    return (np.arange(2**bits)[:, None] >> np.arange(bits) & 1).astype(bool)


def goal_bits(game: Game) -> Bool[np.ndarray, "bits"]:
    return game.to_bits(game.goal[None])[0]


def boards(game: Game, depth: int, count: int, seed: int = 0) -> Bool[np.ndarray, "count bits"]:
    seeds = np.arange(count, dtype=np.uint64) + np.uint64(1000 * seed)
    return game.to_bits(game.draw(np.full(count, depth), "all", seeds))


def shortest(model: SymbolicModel, start: np.ndarray, goal: np.ndarray) -> int | None:
    """Length of a shortest plan, by the plainest search there is."""
    frontier, seen, depth = [start.tobytes()], {start.tobytes()}, 0
    while frontier:
        if goal.tobytes() in frontier:
            return depth
        states = np.array([np.frombuffer(state, bool) for state in frontier])
        frontier = []
        for state in model.successors(states).reshape(-1, model.num_bits):
            if state.tobytes() not in seen:
                seen.add(state.tobytes())
                frontier.append(state.tobytes())
        depth += 1
    return None


class Erring:
    """Another model that does nothing in a share of the (state, skill) pairs, always the same."""

    def __init__(self, model: SymbolicModel, share: float, seed: int = 0) -> None:
        self.model, self.share = model, share
        self.num_bits, self.num_skills = model.num_bits, model.num_skills
        rng = np.random.default_rng(seed)
        self._weights = rng.integers(1, 2**61, (self.num_bits, self.num_skills), np.uint64) | 1
        self._shift = rng.integers(0, 2**61, self.num_skills, np.uint64)

    def errs(self, states: Bool[np.ndarray, "rows bits"]) -> Bool[np.ndarray, "rows skills"]:
        mixed = (states.astype(np.uint64) @ self._weights + self._shift) * np.uint64(
            0x9E3779B97F4A7C15
        )
        return (mixed >> np.uint64(11)).astype(float) / 2**53 < self.share

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        after = self.model.successors(states)
        return np.where(self.errs(states)[:, :, None], states[:, None], after)

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        wrong = self.errs(states)[np.arange(len(states)), skills]
        return np.where(wrong[:, None], states, self.model.successor(states, skills))


def replay(
    start: Bool[np.ndarray, "bits"], skills: tuple[int, ...], model: SymbolicModel
) -> Bool[np.ndarray, "steps bits"]:
    """The states the model itself passes through, start included."""
    states = [start]
    for skill in skills:
        states.append(model.successor(states[-1][None], np.array([skill]))[0])
    return np.array(states)
