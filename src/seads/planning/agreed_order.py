"""Flips commute: of all orders of one set of skills, find one the model itself agrees with."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from seads.planning.operators import Compiled

# How often the model is asked about the skills that are left, at most.
MAX_QUESTIONS = 1000


def states_along(
    start: Bool[np.ndarray, "bits"], skills: list[int], model: Compiled
) -> Bool[np.ndarray, "steps bits"]:
    """The states that the skills' flips pass through, start included."""
    flips = model.flips
    effects = [flips[skill] for skill in skills]
    return np.logical_xor.accumulate(np.array([start, *effects]), axis=0)


def agreed_order(
    start: Bool[np.ndarray, "bits"],
    skills: list[int],
    model: Compiled,
    questions: int = MAX_QUESTIONS,
) -> list[int] | None:
    """An order of the skills in which the model flips what they flip; None if none is found.

    The given order is kept up to the first step on which the two differ, and searched depth first
    from there on. Where one has got to depends on which skills are left, not on their order,
    so a set that led nowhere is not looked at again.
    """
    states = states_along(start, skills, model)
    after = model.model.successor(states[:-1], np.array(skills, np.int64))
    differs = np.flatnonzero((after != states[1:]).any(axis=1))
    if not len(differs):
        return skills
    flips = model.flips
    done = skills[: int(differs[0])]
    state = states[len(done)]
    # the skills that may still be tried at each step; None where nobody has asked yet
    options: list[list[int] | None] = [None] * (len(done) + 1)
    seen = {frozenset(done[:step]) for step in range(1, len(done) + 1)}
    while options:
        if options[-1] is None:
            if not questions:
                return None
            questions -= 1
            left = np.array([k for k in skills if k not in done])
            after = model.model.successor(np.tile(state, (len(left), 1)), left)
            expected = [state ^ flips[skill] for skill in left]
            options[-1] = left[(after == expected).all(axis=1)].tolist()
        if not options[-1]:
            options.pop()
            if done:
                state = state ^ flips[done.pop()]
            continue
        skill = options[-1].pop()
        reached = frozenset((*done, skill))
        if reached in seen:
            continue
        seen.add(reached)
        done.append(skill)
        state = state ^ flips[skill]
        if len(done) == len(skills):
            return done
        options.append(None)
    return None
