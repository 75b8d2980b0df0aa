"""A trained agent: skills that act, a model of what they do, plans made of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import Bool
from msgspec import Struct
from numpy.typing import ArrayLike

from seads.agent.card import CARD, find, read_card, read_weights
from seads.agent.model_kinds import make_model
from seads.agent.networks import SkillPolicy, make_policy
from seads.agent.skill_model import Discriminator, ForwardModel
from seads.agent.trained import Trained
from seads.envs.interface import symbol_columns
from seads.errors import SeadsError, unknown
from seads.jax_setup import prepare_jax
from seads.planning import Asked, Plan
from seads.planning.costs import Minimise
from seads.reading import Layers, Size
from seads.solving.boards import GameReader, Reader, Symbol, game_of, goal_for
from seads.solving.solver import Solver, Solving

ALGORITHMS = ("seads", "vic")
"""Those that learn skills."""
WITHOUT_SKILLS = ("sac", "hac")
"""Those of `seads train` that do not."""

Board = str | ArrayLike
"""A board as text such as '.#... ###.. …', as its fields' values, or as symbolic bits."""


class Architecture(Struct, frozen=True, forbid_unknown_fields=True):
    """All that is needed to rebuild the networks before their weights are read."""

    algorithm: str
    observation_size: Size
    action_size: Size
    num_bits: Size
    num_skills: Size
    hidden: Layers
    model_hidden: Layers
    model: Literal["network", "linear", "table", "network-without-xor"] = "network"
    policy_sees_symbol: bool = True

    def __post_init__(self) -> None:
        if self.num_bits >= self.observation_size:  # it holds the bits and the time left
            raise SeadsError(
                f"an observation of {self.observation_size} numbers cannot hold "
                f"{self.num_bits} bits"
            )

    @property
    def unseen(self) -> tuple[int, int]:
        """The inputs that the policy does not see."""
        symbol = symbol_columns(self.observation_size, self.num_bits)
        return (0, 0) if self.policy_sees_symbol else symbol


@dataclass(frozen=True)
class Agent(Trained[Architecture]):
    """What evaluate, plan, solve and play need: skills and what they do."""

    policy: SkillPolicy
    model: ForwardModel | Discriminator

    @property
    def networks(self) -> tuple[SkillPolicy, ForwardModel | Discriminator]:
        """All that has weights."""
        return self.policy, self.model

    def __str__(self) -> str:
        steps = self.card.get("env_steps")
        after = "" if steps is None else f", trained for {steps:,} env steps"
        return f"{self.num_skills} skills on {self.env}{after}"

    @property
    def num_skills(self) -> int:
        """K, how many skills there are."""
        return self.architecture.num_skills

    @cached_property
    def boards(self) -> Reader:
        """How its boards are read, written and put into words."""
        game = game_of(self.env)
        return Reader(self.architecture.num_bits) if game is None else GameReader(game)

    def symbol(self, board: Board) -> Bool[np.ndarray, "bits"]:
        """The symbolic state of a board; raises SeadsError naming what is wrong with it."""
        if isinstance(board, str):
            return self.boards.read(board)
        values, bits = np.asarray(board), self.architecture.num_bits
        game = self.boards.game if isinstance(self.boards, GameReader) else None
        if game is not None and values.shape in (game.shape, (game.num_fields,)):
            text = ",".join(map(str, values.ravel().tolist()))
            if values.size != bits:  # the game says what is wrong with its fields
                return self.boards.read(text)
        if values.size != bits or not np.isin(values, (0, 1)).all():
            given = values.shape if values.size != bits else sorted(set(values.ravel().tolist()))
            raise SeadsError(f"a board of {given}; give text, {bits} bits, or the fields' values")
        return values.ravel().astype(bool)

    def task(self, board: Board, goal: Board | None = None) -> tuple[Symbol, Symbol]:
        """Start and goal, the solved board by default; raises SeadsError if no moves lead there."""
        start = self.symbol(board)
        return start, goal_for(self.boards, start, None if goal is None else self.symbol(goal))

    def plan(
        self,
        board: Board,
        goal: Board | None = None,
        *,
        planner: str = "auto",
        minimise: Minimise = "length",
        seconds: float = 60.0,
        memory_mb: float = 1024.0,
    ) -> Plan:
        """A cheapest plan of skills from the board to the goal, the solved board by default."""
        solving = Solving(planner, True, minimise, seconds, memory_mb)
        start, wanted = self.task(board, goal)
        solver = self.solver(solving, np.array([start, wanted]))
        asked = Asked(planner, minimise, self.boards.line(start), self.boards.line(wanted))
        found = self.named(solver.plan(start, wanted))
        return replace(found, compile_seconds=solver.compile_seconds, asked=asked)

    def named(self, plan: Plan) -> Plan:
        """The plan with words for what the model expects of each skill."""
        steps = zip(plan.states, plan.states[1:], strict=False)
        names = tuple(self.boards.change(*step) for step in steps)
        return replace(plan, moves=names)

    def solver(self, solving: Solving, samples: Bool[np.ndarray, "boards bits"]) -> Solver:
        """What plans for its boards; its model is compiled from the samples once, and kept."""
        if solving not in self._solvers:
            self._solvers[solving] = Solver(self, samples, solving)
        return self._solvers[solving]

    @cached_property
    def _solvers(self) -> dict[Solving, Solver]:
        return {}

    def with_options(self, options: dict[str, Any]) -> Agent:
        """The same agent in its environment with other options, such as a real arm's."""
        return replace(self, env_options={**self.env_options, **options})


def load(source: str | Path, *, allow: str | None = None) -> Agent:
    """An agent by its name in the package, or from a run directory or an agent directory.

    Reads arrays and JSON only: loading an agent never runs code. An environment that is code of
    its own, `module:factory`, is imported when one is made, and only if the agent was trained
    here or `allow` names that factory.
    """
    prepare_jax()

    def refuse(algorithm: str, env: str) -> SeadsError:
        if algorithm not in WITHOUT_SKILLS:
            return unknown("algorithm with skills", algorithm, ALGORITHMS)
        return SeadsError(
            f"{source} was trained with --algo {algorithm}, which learns no skills to plan with: "
            f"`seads evaluate {source}` measures it, `seads train {env}` learns skills"
        )

    directory = find(source)
    card = read_card(directory, Architecture, ALGORITHMS, refuse)
    shape = card.architecture
    game = game_of(card.env)
    if game is not None and game.num_bits != shape.num_bits:
        raise SeadsError(
            f"{directory / CARD} contradicts itself: boards of {card.env!r} have {game.num_bits} "
            f"bits, its networks are made for {shape.num_bits}"
        )

    def fresh() -> tuple[SkillPolicy, ForwardModel | Discriminator]:
        key = jax.random.key(0)
        inputs = shape.observation_size + shape.num_skills
        policy = make_policy(inputs, shape.action_size, shape.hidden, key, shape.unseen)
        sizes = (shape.num_bits, shape.num_skills, shape.model_hidden)
        return policy, make_model(shape.algorithm, shape.model, *sizes, key, learns=False)

    policy, model = read_weights(directory, fresh)
    return Agent(
        card.env,
        card.env_options,
        shape,
        card.facts(),
        policy,
        model,
        code_refusal=card.code_refusal(source, allow),
    )
