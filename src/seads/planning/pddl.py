"""Compiled operators as a planning problem for outside planners (extra `planning`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool

from seads.errors import SeadsError
from seads.planning.operators import Compiled, Operator

if TYPE_CHECKING:
    from unified_planning.model import Problem

MAX_DECIDING_BITS = 6

Needs = Callable[[int], Sequence[tuple[int, bool]]]
"""The bits that must have certain values for a skill to do anything."""


def to_problem(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    name: str = "seads",
    needs: Needs = lambda skill: [],
) -> Problem:
    """The problem in unified-planning's terms: a fluent per bit, an action per skill.

    A skill that changes bits becomes an action with conditional effects, and what it needs its
    precondition. Skills without
    effect are left out; a skill without an operator cannot be written and raises SeadsError.
    """
    if compiled.opaque:
        raise SeadsError(
            f"skills {list(compiled.opaque)} have no operator, so they cannot be exported"
        )
    from unified_planning import shortcuts as up

    problem = up.Problem(name)
    fluents = [up.Fluent(f"bit_{bit}", up.BoolType()) for bit in range(compiled.num_bits)]
    for fluent, value in zip(fluents, start, strict=True):
        problem.add_fluent(fluent, default_initial_value=False)
        problem.set_initial_value(fluent, bool(value))
    for skill, operator in compiled.operators.items():
        action = up.InstantaneousAction(f"skill_{skill}")
        for bit, value in needs(skill):
            action.add_precondition(fluents[bit] if value else up.Not(fluents[bit]))
        if _add_effects(up, action, operator, fluents):
            problem.add_action(action)
    for fluent, value in zip(fluents, goal, strict=True):
        problem.add_goal(fluent if value else up.Not(fluent))
    return problem


def write_pddl(
    start: Bool[np.ndarray, "bits"],
    goal: Bool[np.ndarray, "bits"],
    compiled: Compiled,
    folder: str | Path,
    name: str = "seads",
    needs: Needs = lambda skill: [],
) -> tuple[Path, Path]:
    """Write `domain.pddl` and `problem.pddl` into the folder; returns their paths."""
    problem = to_problem(start, goal, compiled, name, needs)
    from unified_planning.io import PDDLWriter

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    domain_path, problem_path = folder / "domain.pddl", folder / "problem.pddl"
    writer = PDDLWriter(problem)
    writer.write_domain(str(domain_path))
    writer.write_problem(str(problem_path))
    return domain_path, problem_path


def _add_effects(up: Any, action: Any, operator: Operator, fluents: list[Any]) -> bool:
    """Add the operator's effects to the action; returns whether there are any."""
    changes = False
    for bit, fluent in enumerate(fluents):
        deciding = np.flatnonzero(operator.decides[bit])
        if len(deciding) > MAX_DECIDING_BITS:
            raise SeadsError(
                f"skill {operator.skill} lets {len(deciding)} bits decide on bit {bit}; "
                f"at most {MAX_DECIDING_BITS} can be written"
            )
        others = [int(other) for other in deciding if other != bit]
        for values in product((False, True), repeat=len(others) + 1):
            before, rest = values[0], values[1:]
            odd = (sum(rest) + (before and operator.decides[bit, bit])) % 2 == 1
            if odd == bool(operator.always[bit]):
                continue
            facts = [(fluent, before), *zip((fluents[o] for o in others), rest, strict=True)]
            condition = up.And(*(f if value else up.Not(f) for f, value in facts))
            action.add_effect(fluent, not before, condition)
            changes = True
    return changes
