"""Skill maps: where over the board each skill takes the tool, and where it touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seads.agent.agent import Agent
from seads.agent.rollout import run_skills
from seads.envs.embedding import EmbeddedEnv
from seads.envs.interface import BatchedEnv, EnvSpec, Step
from seads.errors import SeadsError, unknown
from seads.evaluation.coverage import describe_skill
from seads.games.game import NO_MOVE
from seads.streams import Purpose, row_seeds

STARTS_MAPPED = 20
"""More starts do not fit into a figure."""
DIGITS = 3
"""Digits kept of a point: a thousandth of the board is finer than a figure shows."""


def skill_maps(
    env: BatchedEnv, agent: Agent, starts: int = STARTS_MAPPED, seed: int = 0
) -> dict[str, Any]:
    """Every skill from the same starts, as JSON: the tool's path, the touch and the move of each.

    Points are in the board's unit square, origin top left; a path begins at the start and may
    leave the square. `env` must have a row for each skill. Skills act deterministically.
    """
    if not isinstance(env, EmbeddedEnv):
        raise SeadsError(f"skill maps need a board, and nobody knows one in {agent.env!r}")
    skills = np.arange(agent.num_skills)
    if env.num_envs != len(skills):
        raise ValueError(f"{env.num_envs} rows for {len(skills)} skills; make one for each")
    found: list[list[dict[str, Any]]] = [[] for _ in skills]
    moves, lengths = [], []
    for start in row_seeds(seed, starts, Purpose.COVERAGE_STARTS):
        watched = Watched(env)
        observations = env.reset(np.full(len(skills), start))
        watched.note(np.ones(len(skills), bool))
        episodes = run_skills(watched, agent.policy, observations, skills, len(skills))
        for skill in skills:
            found[skill].append(watched.run(int(skill), int(episodes.moves[skill])))
        moves.append(episodes.moves)
        lengths.append(episodes.lengths)
    all_moves, all_lengths = np.array(moves), np.array(lengths)
    return {
        "starts": starts,
        "seed": seed,
        "skills": [
            describe_skill(skill, all_moves[:, skill], all_lengths[:, skill])
            | {"runs": found[skill]}
            for skill in range(len(skills))
        ],
    }


class Watched:
    """What `run_skills` needs of an environment, taking note of tool and touch at every step."""

    def __init__(self, env: EmbeddedEnv) -> None:
        self._env = env
        self.spec: EnvSpec = env.spec
        self.num_envs = env.num_envs
        self._paths: list[list[list[float]]] = [[] for _ in range(env.num_envs)]
        self._tool_points = tool_points(env.manipulator.name)

    @property
    def symbols(self) -> Bool[np.ndarray, "rows bits"]:
        return self._env.symbols

    def reset(self, *arguments: Any, **named: Any) -> np.ndarray:
        """As the environment's."""
        return self._env.reset(*arguments, **named)

    def resume(self, rows: np.ndarray | None = None) -> np.ndarray:
        """As the environment's."""
        return self._env.resume(rows)

    def close(self) -> None:
        """As the environment's."""
        self._env.close()

    def step(self, actions: np.ndarray, active: np.ndarray | None = None) -> Step:
        """Step, and note where the active rows' tools are."""
        step = self._env.step(actions, active)
        self.note(np.ones(self.num_envs, bool) if active is None else active)
        return step

    def note(self, rows: Bool[np.ndarray, "rows"]) -> None:
        """Add the tool's point now to the paths of these rows."""
        points = self._tool_points(self._env)
        for row in np.flatnonzero(rows):
            self._paths[row].append(np.round(points[row], DIGITS).tolist())

    def run(self, row: int, move: int) -> dict[str, Any]:
        """What one row did, once it has ended."""
        touch = self._env.touch[row]
        return {
            "path": self._paths[row],
            "touch": np.round(touch, DIGITS).tolist() if np.isfinite(touch).all() else None,
            "move": None if move == NO_MOVE else move,
        }


def tool_points(body: str) -> Callable[[EmbeddedEnv], Float[np.ndarray, "rows 2"]]:
    """How to find the tools of a manipulator's rows in the board's unit square."""
    if body not in TOOLS:
        raise unknown("manipulator for skill maps", body, TOOLS)
    return TOOLS[body]


def _flat_points(env: EmbeddedEnv) -> Float[np.ndarray, "rows 2"]:
    """The tip of a cursor or a reacher."""
    from seads.envs.render_flat import JOINTS

    joints = JOINTS[env.manipulator.name]
    bodies = env.manipulator
    return np.array([joints(bodies, bodies.pose(row))[-1] for row in range(env.num_envs)])


def _jaco_points(env: EmbeddedEnv) -> Float[np.ndarray, "rows 2"]:
    """The point between the hand's fingers, seen from above."""
    arms: Any = env.manipulator
    angles = np.array([arms.pose(row)[:6] for row in range(env.num_envs)])
    return arms.geometry.unit(arms.kinematics.forward(angles).position[:, :2])


TOOLS: dict[str, Callable[[EmbeddedEnv], Float[np.ndarray, "rows 2"]]] = {
    "cursor": _flat_points,
    "reacher": _flat_points,
    "jaco": _jaco_points,
}
