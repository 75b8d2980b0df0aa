"""Skill maps: where over the board each skill takes the tool, and where it touches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.agent.rollout import run_skills
from seads.envs.embedding import EmbeddedEnv
from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError
from seads.evaluation.coverage import SkillRuns, SkillsDone, env_for_skills
from seads.evaluation.partly import keeping
from seads.games.game import NO_MOVE, Split
from seads.solving.agent import Agent
from seads.streams import Purpose, row_seeds

STARTS_MAPPED = 20
"""More starts do not fit into a figure."""
DIGITS = 3
"""Digits kept of a point: a thousandth of the board is finer than a figure shows."""

Point = list[float]


@dataclass(frozen=True)
class SkillPath:
    """What a skill did from one start; points are in the board's unit square, origin top left."""

    path: list[Point]
    """Where the tool was, from the start on; it may leave the square."""
    pushes: list[Point]
    """Where it touched without effect (black in the paper, S.2.1)."""
    touch: Point | None
    """Where it touched at last."""
    move: int | None
    """The move that this made."""


@dataclass(frozen=True)
class SkillMaps:
    """Every skill from the same starts."""

    runs: SkillRuns
    paths: list[list[SkillPath]]
    """By skill, then by start."""
    seed: int

    def to_json(self) -> dict[str, Any]:
        """As `seads evaluate --what skills --json` prints it."""
        return {
            "starts": len(self.runs.moves),
            "seed": self.seed,
            "skills": [
                asdict(skill) | {"runs": [asdict(one) for one in paths]}
                for skill, paths in zip(self.runs.skills, self.paths, strict=True)
            ],
        }

    def point(self) -> dict[str, Any]:
        """Nothing: no curve is drawn of maps."""
        return {}

    def __str__(self) -> str:
        return f"{len(self.paths)} skills from {len(self.runs.moves)} starts"


def measure_skill_maps(
    agent: Agent, starts: int = STARTS_MAPPED, split: Split = "test", seed: int = 0
) -> SkillMaps:
    """Follow every skill from the same starts; skills act deterministically."""
    starts = min(starts, STARTS_MAPPED)
    with env_for_skills(agent, 1, split) as env:
        return follow_skills(env, agent, starts, seed)


def follow_skills(env: BatchedEnv, agent: Agent, starts: int, seed: int) -> SkillMaps:
    """The same in an environment that has a row for each skill."""
    if not isinstance(env, EmbeddedEnv):
        raise SeadsError(f"skill maps need a board, and {agent.env!r} has none")
    skills = np.arange(agent.num_skills)
    found: list[list[SkillPath]] = [[] for _ in skills]
    done = SkillsDone(len(skills))

    def so_far() -> SkillMaps:
        return SkillMaps(done.runs(), [paths[: done.starts] for paths in found], seed)

    with keeping(starts, "starts", lambda: done.starts, so_far):
        for start in row_seeds(seed, starts, Purpose.COVERAGE_STARTS):
            observations = env.reset(np.full(len(skills), start))
            trace = _Trace(env)
            episodes = run_skills(
                env, agent.policy, observations, skills, len(skills), on_step=trace.note
            )
            for skill in skills:
                found[skill].append(trace.path(skill, int(episodes.moves[skill])))
            done.add(episodes, len(skills))
    return so_far()


class _Trace:
    """Where each row's tool goes and touches."""

    def __init__(self, env: EmbeddedEnv) -> None:
        self._env = env
        self._paths: list[list[Point]] = [[] for _ in range(env.num_envs)]
        self._touches: list[list[Point]] = [[] for _ in range(env.num_envs)]
        self.note(np.ones(env.num_envs, bool))

    def note(self, rows: Bool[np.ndarray, "rows"]) -> None:
        """Add where the tools of these rows are, and touch, now."""
        tips, touches = self._env.manipulator.tips(), self._env.touch
        for row in np.flatnonzero(rows):
            self._paths[row].append(np.round(tips[row], DIGITS).tolist())
            if np.isfinite(touches[row]).all():
                self._touches[row].append(np.round(touches[row], DIGITS).tolist())

    def path(self, row: int, move: int) -> SkillPath:
        """What one row did, once it has ended."""
        touches = self._touches[row]
        made = move != NO_MOVE
        pushes = touches[:-1] if made else touches
        touch = touches[-1] if touches else None
        return SkillPath(self._paths[row], pushes, touch, move if made else None)
