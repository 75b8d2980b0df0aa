"""The model a planner searches: a successor function over bit vectors, whatever is behind it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int

from seads.games.game import Game


@runtime_checkable
class SymbolicModel(Protocol):
    """Which state follows when a skill is executed, for many states at once."""

    @property
    def num_bits(self) -> int:
        """Length of a symbolic state."""

    @property
    def num_skills(self) -> int:
        """Number of skills."""

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every skill."""

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own skill."""


class RulesModel:
    """The true rules of a game: skill k is move k."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.num_bits = game.num_bits
        self.num_skills = game.num_moves

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every move."""
        boards = np.repeat(self.game.from_bits(states), self.num_skills, axis=0)
        moves = np.tile(np.arange(self.num_skills), len(states))
        after = self.game.to_bits(self.game.play(boards, moves))
        return after.reshape(len(states), self.num_skills, self.num_bits)

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own move."""
        return self.game.to_bits(self.game.play(self.game.from_bits(states), skills))
