"""The model a planner searches: a successor function over bit vectors, whatever is behind it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from seads.errors import SeadsError
from seads.games.game import Game
from seads.planning.threads import single_threaded_blas, split

# Rows of one matrix product: the activations then stay in the processor's cache.
BLOCK_ROWS = 2048
_LINEAR_BLOCK = 128


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


class MLPModel:
    """The mode of the paper's forward model q_theta: a ReLU network with two hidden layers.

    The network sees [z, onehot(k)] and gives a logit per bit; a bit flips where it is positive.
    Weights act from the right (`inputs @ weights`). The product z @ W1_z is shared by all
    skills. Since relu(x + c) = max(x, -c) + c, each layer's constant moves into the next one's,
    and a layer costs one matrix product and one pass over the result.

    Shapes: state (bits, hidden), skill (skills, hidden), second (hidden, hidden2) and last
    weights (hidden2, bits), with a bias for each layer.
    """

    def __init__(
        self,
        state_weights: np.ndarray,
        skill_weights: np.ndarray,
        hidden_bias: np.ndarray,
        second_weights: np.ndarray,
        second_bias: np.ndarray,
        last_weights: np.ndarray,
        last_bias: np.ndarray,
    ) -> None:
        named = {
            "state_weights": state_weights,
            "skill_weights": skill_weights,
            "hidden_bias": hidden_bias,
            "second_weights": second_weights,
            "second_bias": second_bias,
            "last_weights": last_weights,
            "last_bias": last_bias,
        }
        arrays = {name: np.asarray(value, np.float64) for name, value in named.items()}
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise SeadsError(f"the network's {name} hold NaN or infinity; train it again")
        shapes = {name: array.shape for name, array in arrays.items()}
        self.num_bits, hidden = (*shapes["state_weights"], 0, 0)[:2]
        self.num_skills = (*shapes["skill_weights"], 0)[0]
        hidden2 = (*shapes["second_bias"], 0)[0]
        expected = {
            "state_weights": (self.num_bits, hidden),
            "skill_weights": (self.num_skills, hidden),
            "hidden_bias": (hidden,),
            "second_weights": (hidden, hidden2),
            "second_bias": (hidden2,),
            "last_weights": (hidden2, self.num_bits),
            "last_bias": (self.num_bits,),
        }
        for name, shape in expected.items():
            if shapes[name] != shape or 0 in shape:
                raise SeadsError(f"{name} has shape {shapes[name]}; it must be {shape}")

        first = arrays["skill_weights"] + arrays["hidden_bias"]
        second = first @ arrays["second_weights"] + arrays["second_bias"]
        last = second @ arrays["last_weights"] + arrays["last_bias"]
        self._weights = tuple(
            np.ascontiguousarray(arrays[name], np.float32)
            for name in ("state_weights", "second_weights", "last_weights")
        )
        self._floors = tuple((-constant).astype(np.float32) for constant in (first, second, last))

    @property
    def flops_per_state(self) -> int:
        """Floating-point operations of the matrix products that expand one state."""
        first, second, last = (weights.size for weights in self._weights)
        return 2 * (first + self.num_skills * (second + last))

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every skill, on all processors."""
        after = np.empty((len(states), self.num_skills, self.num_bits), bool)
        block = max(1, BLOCK_ROWS // self.num_skills)
        with single_threaded_blas():
            split(
                len(states),
                lambda begin, end: self._expand(states[begin:end], after[begin:end], block),
                smallest=block,
            )
        return after

    def _expand(
        self,
        states: Bool[np.ndarray, "rows bits"],
        after: Bool[np.ndarray, "rows skills bits"],
        block: int,
    ) -> None:
        """Write the successors of all states into `after`, block by block."""
        first, second, last = self._weights
        floor1, floor2, floor3 = self._floors
        skills = self.num_skills
        block = min(block, len(states))
        hidden1 = np.empty((block, skills, first.shape[1]), np.float32)
        hidden2 = np.empty((block * skills, second.shape[1]), np.float32)
        logits = np.empty((block * skills, self.num_bits), np.float32)
        for begin in range(0, len(states), max(1, block)):
            here = states[begin : begin + block]
            size, wide = len(here), len(here) * skills
            shared = here.astype(np.float32) @ first
            np.maximum(shared[:, None], floor1, out=hidden1[:size])
            np.matmul(hidden1[:size].reshape(wide, -1), second, out=hidden2[:wide])
            by_skill = hidden2[:wide].reshape(size, skills, -1)
            np.maximum(by_skill, floor2, out=by_skill)
            np.matmul(hidden2[:wide], last, out=logits[:wide])
            flips = after[begin : begin + size]
            np.greater(logits[:wide].reshape(size, skills, -1), floor3, out=flips)
            np.logical_xor(flips, here[:, None], out=flips)

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own skill."""
        first, second, last = self._weights
        floor1, floor2, floor3 = self._floors
        with single_threaded_blas():
            hidden = np.maximum(states.astype(np.float32) @ first, floor1[skills])
            hidden = np.maximum(hidden @ second, floor2[skills])
            return ((hidden @ last) > floor3[skills]) ^ states


class LinearModel:
    """The mode of a forward model that is linear in the board, with a map for each skill.

    Weights (bits, skills * bits) act from the right; a bit flips where its logit is positive.
    """

    def __init__(
        self,
        weights: Float[np.ndarray, "bits skill_bits"],
        bias: Float[np.ndarray, "skills bits"],
    ) -> None:
        for name, array in (("weights", weights), ("bias", bias)):
            if not np.isfinite(array).all():
                raise SeadsError(f"the model's {name} hold NaN or infinity; train it again")
        self.num_skills, self.num_bits = bias.shape
        expected = (self.num_bits, self.num_skills * self.num_bits)
        if weights.shape != expected:
            raise SeadsError(f"weights has shape {weights.shape}; it must be {expected}")
        self._weights = np.ascontiguousarray(weights, np.float32)
        self._by_skill = np.ascontiguousarray(
            self._weights.reshape(self.num_bits, self.num_skills, self.num_bits).swapaxes(0, 1)
        )
        self._floor = -bias.astype(np.float32)

    @property
    def flops_per_state(self) -> int:
        """Floating-point operations of the matrix product that expands one state."""
        return 2 * self._weights.size

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every skill, on all processors."""
        after = np.empty((len(states), self.num_skills, self.num_bits), bool)

        def expand(begin: int, end: int) -> None:
            for start in range(begin, end, _LINEAR_BLOCK):
                here = states[start : min(start + _LINEAR_BLOCK, end)]
                logits = (here.astype(np.float32) @ self._weights).reshape(-1, *self._floor.shape)
                flips = after[start : start + len(here)]
                np.greater(logits, self._floor, out=flips)
                np.logical_xor(flips, here[:, None], out=flips)

        with single_threaded_blas():
            split(len(states), expand, smallest=_LINEAR_BLOCK)
        return after

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own skill."""
        after = np.empty(states.shape, bool)
        for skill in np.unique(skills):
            rows = skills == skill
            logits = states[rows].astype(np.float32) @ self._by_skill[skill]
            after[rows] = (logits > self._floor[skill]) ^ states[rows]
        return after
