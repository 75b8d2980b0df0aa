"""What `seads evaluate` finds out by running every skill: coverage, and maps of where they go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from seads.errors import SeadsError

ROWS = 512
"""Environments that run side by side in an evaluation."""


@contextmanager
def env_for_skills(agent: Any, starts: int, split: Any) -> Iterator[Any]:
    """An environment for every skill from as many of the starts as fit side by side."""
    from seads.envs import make_env

    rows = agent.num_skills * min(starts, max(1, ROWS // agent.num_skills))
    with closing(make_env(agent.env, rows, split=split, **agent.env_options)) as env:
        agent.check_fits(env.spec)
        yield env


def measure_coverage(agent: Any, starts: int, split: Any, seed: int) -> dict[str, Any]:
    """The paper's protocol for one agent."""
    from seads.evaluation.coverage import coverage

    with env_for_skills(agent, starts, split) as env:
        if env.spec.num_moves is None:
            raise SeadsError(
                f"coverage needs to know the moves of {agent.env!r}, and nobody does; "
                "`seads plan RUN --operators` shows what its skills do"
            )
        return coverage(env, agent.policy, agent.model, agent.num_skills, starts, seed)


def map_skills(agent: Any, starts: int, split: Any, seed: int) -> dict[str, Any]:
    """Where each skill goes and touches, from a few starts: what `seads report` draws."""
    from seads.evaluation.skill_maps import STARTS_MAPPED, skill_maps

    with env_for_skills(agent, 1, split) as env:
        return skill_maps(env, agent, min(starts, STARTS_MAPPED), seed)
