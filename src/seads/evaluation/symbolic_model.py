"""What a planner needs of an agent: its forward model as a successor function, and costs."""

from __future__ import annotations

from typing import get_args

import numpy as np
from jaxtyping import Bool, Float32, Int

from seads.agent.agent import Agent
from seads.agent.skill_model import LinearForwardModel, NetworkForwardModel
from seads.errors import SeadsError, unknown
from seads.planning.costs import Costs, Minimise
from seads.planning.model import LinearModel, MLPModel, SymbolicModel

_BLOCK = 1024
"""States expanded at once by a network that `MLPModel` does not fit."""


def symbolic_model(agent: Agent) -> SymbolicModel:
    """The mode of the agent's forward model q_theta; raises for an agent that has none (VIC)."""
    if isinstance(agent.model, LinearForwardModel):
        return LinearModel(np.asarray(agent.model.weights), np.asarray(agent.model.bias))
    if not isinstance(agent.model, NetworkForwardModel):
        raise SeadsError(
            f"the agent has no forward model to plan with: it was trained by "
            f"{agent.architecture.algorithm!r}, which learns none"
        )
    layers = [
        (np.asarray(layer.weight), np.asarray(layer.bias)) for layer in agent.model.mlp.layers
    ]
    if len(layers) != 3:
        return NetworkModel(layers, agent.architecture.num_bits)
    (first, first_bias), (second, second_bias), (last, last_bias) = layers
    bits = agent.architecture.num_bits
    return MLPModel(first[:bits], first[bits:], first_bias, second, second_bias, last, last_bias)


class NetworkModel:
    """The mode of a forward model with any number of hidden layers."""

    def __init__(self, layers: list[tuple[np.ndarray, np.ndarray]], num_bits: int) -> None:
        self._layers = layers
        self.num_bits = num_bits
        self.num_skills = len(layers[0][0]) - num_bits

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every skill."""
        after = np.empty((len(states), self.num_skills, self.num_bits), bool)
        for begin in range(0, len(states), _BLOCK):
            block = states[begin : begin + _BLOCK]
            pairs = np.repeat(block, self.num_skills, axis=0)
            skills = np.tile(np.arange(self.num_skills), len(block))
            after[begin : begin + _BLOCK] = self.successor(pairs, skills).reshape(
                len(block), self.num_skills, self.num_bits
            )
        return after

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own skill."""
        weight, bias = self._layers[0]
        x: Float32[np.ndarray, "rows units"]
        x = states.astype(np.float32) @ weight[: self.num_bits]
        x += weight[self.num_bits :][skills] + bias
        for weight, bias in self._layers[1:]:
            x = np.maximum(x, 0.0) @ weight + bias
        return states ^ (x > 0)


def skill_costs(agent: Agent, minimise: Minimise) -> Costs:
    """What a plan should spend little of: skills, low-level steps, or the risk of failing."""
    if minimise not in get_args(Minimise):
        raise unknown("quantity to minimise", minimise, get_args(Minimise))
    if minimise == "length":
        return Costs.length(agent.num_skills)
    found = agent.card.get("skills")
    if not found or len(found) != agent.num_skills:
        raise SeadsError(
            f"the agent's card has no statistics of its skills, so {minimise} cannot be "
            "minimised; plan for length, or train the agent again"
        )
    if minimise == "steps":
        return Costs(np.array([skill["steps"] for skill in found]))
    return Costs.from_success(np.array([skill["success"] for skill in found]))
