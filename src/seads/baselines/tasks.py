"""Boards solved by a baseline: the boards, poses and depths that SEADS is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int, UInt64

from seads.agent.networks import SkillPolicy
from seads.agent.rollout import act
from seads.baselines.agent import BaselineAgent
from seads.baselines.hierarchical_episodes import Horizons, play
from seads.envs import make_env
from seads.envs.interface import BatchedEnv
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.evaluation.boards import AnyGame, GameReader, game_of
from seads.evaluation.statistics import CONFIDENCE, summary, wilson_interval
from seads.evaluation.tasks import draw_tasks
from seads.games.game import Split

ROWS = 512
"""Environments that run side by side."""


def end_goal(env: str) -> Bool[np.ndarray, "bits"]:
    """The solved board's symbol."""
    game = game_of(env)
    goal = None if game is None else GameReader(game).goal
    if goal is None:
        raise SeadsError(f"nobody knows the solved board of {env!r}, the end goal that hac needs")
    return goal


def run_flat(
    env: BatchedEnv, observations: Float32[np.ndarray, "rows obs"], policy: SkillPolicy
) -> tuple[Bool[np.ndarray, "rows"], Int[np.ndarray, "rows"]]:
    """Which rows the deterministic flat policy solves, and in how many steps each ended."""
    rows, spec = env.num_envs, env.spec
    low, high = np.array(spec.action_low), np.array(spec.action_high)
    nothing = np.zeros((rows, 0), np.float32)  # a flat policy has no skill to condition on
    no_noise = np.zeros((rows, spec.action_size), np.float32)
    active = np.ones(rows, bool)
    solved, lengths = np.zeros(rows, bool), np.zeros(rows, np.int64)
    while active.any():
        actions = np.asarray(act(policy, observations, nothing, no_noise), np.float64)
        step = env.step(low + (high - low) * (actions + 1) / 2, active)
        observations = step.observation
        lengths += active
        solved |= active & step.terminated
        active &= ~step.done
    return solved, lengths


def solve(
    agent: BaselineAgent,
    starts: Bool[np.ndarray, "boards bits"],
    seeds: UInt64[np.ndarray, "boards"],
) -> tuple[Bool[np.ndarray, "boards"], Int[np.ndarray, "boards"]]:
    """Which boards are solved within step_limit × depth steps, and the steps made on each."""
    found = []
    for first in range(0, len(starts), ROWS):
        part = slice(first, first + ROWS)
        rows = len(starts[part])
        with closing(make_env(agent.env, rows, mode="task", **agent.env_options)) as env:
            agent.check_fits(env.spec)
            observations = env.reset(seeds[part], symbols=starts[part])
            if agent.high is None:
                found.append(run_flat(env, observations, agent.low))
                continue
            ours = agent.architecture
            horizons = Horizons(ours.horizon_low, ours.horizon_high)
            goal = end_goal(agent.env)
            played = play(env, observations, agent.low, agent.high, goal, horizons)
            found.append((played.solved, played.lengths))
    solved, lengths = (np.concatenate(part) for part in zip(*found, strict=True))
    return solved, lengths


def measure(
    agent: BaselineAgent, depths: Sequence[int] | None, per_depth: int, split: Split, seed: int
) -> dict[str, Any]:
    """Success by depth with intervals, and every board, as JSON; None: the usual depths."""
    game = game_of(agent.env)
    if game is None:
        raise SeadsError(f"nobody knows boards and solution depths of {agent.env!r}")
    if depths is None:
        low, high = lookup(agent.env).depths
        depths = range(low, high + 1)
    drawn, starts, seeds = draw_tasks(game, list(depths), per_depth, split, seed)
    solved, lengths = solve(agent, starts, seeds)
    by_depth = {int(d): _share(solved[drawn == d], lengths[drawn == d]) for d in depths}
    return {
        **_share(solved, lengths),
        "by_depth": {str(depth): one["success"] for depth, one in by_depth.items()},
        "confidence": CONFIDENCE,
        "step_limit": "the skills' step limit × solution depth",
        "depths": {str(depth): one for depth, one in by_depth.items()},
        "tasks": _tasks(game, drawn, starts, solved, lengths),
        "split": split,
        "seed": seed,
        "episodes_per_depth": per_depth,
    }


def _share(
    solved: Bool[np.ndarray, "boards"], lengths: Int[np.ndarray, "boards"]
) -> dict[str, Any]:
    return {
        "success": float(solved.mean()),
        "interval": list(wilson_interval(int(solved.sum()), len(solved))),
        "boards": len(solved),
        "solution_length": summary(lengths[solved].tolist()),
    }


def _tasks(
    game: AnyGame,
    depths: Int[np.ndarray, "boards"],
    starts: Bool[np.ndarray, "boards bits"],
    solved: Bool[np.ndarray, "boards"],
    lengths: Int[np.ndarray, "boards"],
) -> list[dict[str, Any]]:
    boards = game.from_bits(starts)
    return [
        {
            "depth": int(depth),
            "board": game.canonical(board),
            "solved": bool(done),
            "env_steps": int(steps),
        }
        for depth, board, done, steps in zip(depths, boards, solved, lengths, strict=True)
    ]
