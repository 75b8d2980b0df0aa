"""What a planner needs of an agent: its forward model as a successor function, and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import jax
import numpy as np
from jaxtyping import Array, Bool, Int

from seads.agent.needs import Needs
from seads.agent.skill_model import ForwardModel
from seads.errors import SeadsError, unknown
from seads.planning.costs import Costs, Minimise
from seads.planning.model import SymbolicModel

if TYPE_CHECKING:
    from seads.solving.agent import Agent

PAIRS = 2048
"""States times skills of one call: the activations then stay in the processor's cache."""
STATES = 64
"""States of one call where each has a skill of its own."""
FEW_STATES = 16
"""The same where there are no more than these, as in most plans that are replayed."""


def symbolic_model(agent: Agent) -> SymbolicModel:
    """The mode of the agent's forward model q_theta; raises for an agent that has none (VIC).

    On a board that lacks what a skill needs the skill changes nothing.
    """
    model = without_needs(agent)
    model.needs = skill_needs(agent)
    return model


def without_needs(agent: Agent) -> LearnedModel:
    """The same as if every skill had what it needs on every board."""
    if not isinstance(agent.model, ForwardModel):
        raise SeadsError(
            f"the agent has no forward model to plan with: it was trained by "
            f"{agent.architecture.algorithm!r}, which learns none"
        )
    return LearnedModel(agent.model, agent.architecture.num_bits, spare_skills(agent))


def spare_skills(agent: Agent) -> Bool[np.ndarray, "skills"]:
    """The skills without an effect of their own, by the agent's card; none if it says nothing."""
    found = agent.card.get("skills") or []
    spare = [not skill.get("own", True) for skill in found]
    return np.array(spare if len(spare) == agent.num_skills else [False] * agent.num_skills)


def skill_needs(agent: Agent) -> Needs:
    """What each skill needs to do anything, by the agent's card; nothing if it says nothing.

    Raises for a bit that the agent does not have.
    """
    found = agent.card.get("skills") or []
    num_bits = agent.architecture.num_bits
    for one in found:
        for bit, _ in one.get("needs", []):
            if bit >= num_bits:
                raise SeadsError(
                    f"the agent's card says that skill {one['skill']} needs bit {bit}; "
                    f"allowed: 0 to {num_bits - 1}"
                )
    needs = [one.get("needs", []) for one in found]
    return Needs.of(needs if len(needs) == agent.num_skills else [[]] * agent.num_skills, num_bits)


class LearnedModel:
    """The mode of a forward model: a bit flips where its logit is positive.

    Spare skills count as changing nothing, so that no plan uses them; so do skills on boards that
    lack what they need. Calls are cut into
    blocks of few sizes, so that JAX compiles three times at most.
    """

    def __init__(
        self,
        model: ForwardModel,
        num_bits: int,
        spare: Bool[np.ndarray, "skills"] | None = None,
        needs: Needs | None = None,
    ) -> None:
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(model)):
            raise SeadsError("the forward model's weights hold NaN or infinity; train it again")
        self.model = model
        self.num_bits = num_bits
        self.num_skills = model.num_skills
        self.used = np.ones(model.num_skills, bool) if spare is None else ~spare
        self.needs = Needs.of([[]] * model.num_skills, num_bits) if needs is None else needs

    def successors(
        self, states: Bool[np.ndarray, "rows bits"]
    ) -> Bool[np.ndarray, "rows skills bits"]:
        """The successor of every state under every skill."""
        after = np.empty((len(states), self.num_skills, self.num_bits), bool)
        block = max(1, PAIRS // self.num_skills)
        for at in range(0, len(states), block):
            here = states[at : at + block]
            flips = np.asarray(_all_flips(self.model, _padded(here, block)))[: len(here)]
            flips = flips & self.used[:, None]
            for skill in np.flatnonzero(self.needs.asked.any(1)):
                flips[:, skill] &= self.needs.met(here, np.full(len(here), skill))[:, None]
            np.logical_xor(here[:, None], flips, out=after[at : at + block])
        return after

    def successor(
        self, states: Bool[np.ndarray, "rows bits"], skills: Int[np.ndarray, "rows"]
    ) -> Bool[np.ndarray, "rows bits"]:
        """The successor of each state under its own skill."""
        after = states.copy()
        block = FEW_STATES if len(states) <= FEW_STATES else STATES
        for at in range(0, len(states), block):
            here = slice(at, at + block)
            flips = _flips(self.model, _padded(states[here], block), _padded(skills[here], block))
            can = self.used[skills[here]] & self.needs.met(states[here], skills[here])
            after[here] ^= np.asarray(flips)[: len(states[here])] & can[:, None]
        return after


@jax.jit
def _all_flips(
    model: ForwardModel, states: Bool[Array, "rows bits"]
) -> Bool[Array, "rows skills bits"]:
    return model.all_flip_logits(states) > 0


@jax.jit
def _flips(
    model: ForwardModel, states: Bool[Array, "rows bits"], skills: Int[Array, "rows"]
) -> Bool[Array, "rows bits"]:
    return model.flip_logits(states, skills) > 0


def _padded(rows: np.ndarray, size: int) -> np.ndarray:
    """The rows, with zeros behind them."""
    padded = np.zeros((size, *rows.shape[1:]), rows.dtype)
    padded[: len(rows)] = rows
    return padded


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
