"""What each skill does: the operators that planning uses, in words, as game moves, as PDDL."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.planning import compile_model, operator_rows
from seads.planning.compile import walk
from seads.planning.describe import OperatorRow
from seads.planning.pddl import write_pddl
from seads.solving.agent import Agent, Board
from seads.solving.boards import Reader
from seads.solving.symbolic_model import skill_needs, spare_skills, without_needs

SPARE = "is spare: no effect of its own, left out of planning"
MOVE_SAMPLES = 64
"""States in which a skill's predicted effect is compared with the game's moves."""


@dataclass(frozen=True)
class SkillOperator(OperatorRow):
    """One skill in words, with the move of the game that it makes.

    One more kind than operators have is spare: a skill without an effect of its own.
    """

    move: int | None
    """The game move that the model's prediction is in most states."""
    move_name: str | None
    share: float
    """In how many of the sampled states it is that move."""

    def to_json(self) -> dict[str, Any]:
        """As `seads plan --operators --json` prints it."""
        return dataclasses.asdict(self)


def list_operators(agent: Agent) -> list[SkillOperator]:
    """A row for every skill of the agent; operators are found around the solved board.

    They say what a skill does where it has what it needs, and then what that is.
    """
    compiled = compile_model(without_needs(agent), _around(agent))
    spare, needs = spare_skills(agent), skill_needs(agent)
    states = walk(compiled.model, _around(agent), MOVE_SAMPLES, np.random.default_rng(0))
    found = []
    for row in operator_rows(compiled, agent.boards.bit_name):
        if spare[row.skill]:
            row = dataclasses.replace(row, kind="spare", effect=SPARE, agreement=None)
        elif needed := needs.of_skill(row.skill):
            name = agent.boards.bit_name
            listed = " and ".join(f"{name(bit)} {'on' if on else 'off'}" for bit, on in needed)
            row = dataclasses.replace(row, effect=f"{row.effect}; needs {listed}")
        after = compiled.model.successor(states, np.full(len(states), row.skill))
        move, share = _usual_move(agent.boards, states, after)
        found.append(
            SkillOperator(
                **vars(row), move=move, move_name=agent.boards.move_name(move), share=share
            )
        )
    return found


def export_pddl(
    agent: Agent, board: Board, goal: Board | None = None, *, folder: str | Path
) -> tuple[Path, Path]:
    """Write domain.pddl and problem.pddl, from the board to the goal, for planners elsewhere.

    The goal is the solved board by default; returns the paths. Needs the extra `planning`.
    """
    start, wanted = agent.task(board, goal)
    compiled = compile_model(without_needs(agent), np.array([start, wanted]))
    needs = skill_needs(agent)
    return write_pddl(start, wanted, compiled, folder, agent.env, needs.of_skill)


def _around(agent: Agent) -> Bool[np.ndarray, "1 bits"]:
    goal = agent.boards.goal
    return (np.zeros(agent.architecture.num_bits, bool) if goal is None else goal)[None]


def _usual_move(
    boards: Reader, states: Bool[np.ndarray, "n bits"], after: Bool[np.ndarray, "n bits"]
) -> tuple[int | None, float]:
    """The move made in most states, and in what share of them."""
    moves = (boards.move(*pair) for pair in zip(states, after, strict=True))
    votes = Counter(move for move in moves if move is not None)
    if not votes:
        return None, 0.0
    (move, count), *_ = votes.most_common(1)
    return move, count / len(states)
