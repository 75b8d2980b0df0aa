"""Boards solved by a baseline: the boards, poses and depths that SEADS is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int

from seads.agent.networks import SkillPolicy
from seads.agent.rollout import act
from seads.baselines.agent import BaselineAgent
from seads.baselines.hierarchical_episodes import Horizons, OnStep, play
from seads.envs.interface import BatchedEnv
from seads.evaluation.coverage import ROWS
from seads.evaluation.partly import keeping
from seads.evaluation.statistics import CONFIDENCE, summary
from seads.evaluation.tasks import BoardScores, depth_title, draw_boards
from seads.games.game import Split
from seads.tables import mean_text, table_text

Picked = Bool[np.ndarray, "rows"]


@dataclass(frozen=True)
class BaselineScores(BoardScores):
    """How a baseline did on the boards."""

    lengths: Int[np.ndarray, "boards"]
    """Environment steps made on each board."""

    def _share(self, boards: Any = slice(None)) -> dict[str, Any]:
        lengths = self.lengths[boards][self.solved[boards]]
        return self.share(boards) | {"solution_length": summary(lengths.tolist())}

    def _by_depth(self) -> dict[str, dict[str, Any]]:
        return {str(depth): self._share(self.tasks.depths == depth) for depth in self.depths}

    def to_json(self) -> dict[str, Any]:
        """As `seads evaluate --json` prints it."""
        boards = self.game.from_bits(self.tasks.starts)
        rows = zip(self.tasks.depths, boards, self.solved, self.lengths, strict=True)
        return {
            **self._share(),
            "by_depth": self.by_depth,
            "confidence": CONFIDENCE,
            "step_limit": "the skills' step limit × solution depth",
            "depths": self._by_depth(),
            "tasks": [
                {
                    "depth": int(depth),
                    "board": self.game.canonical(board),
                    "solved": bool(done),
                    "env_steps": int(steps),
                }
                for depth, board, done, steps in rows
            ],
            **self.facts,
        }

    def __str__(self) -> str:
        rows = []
        for depth, one in self._by_depth().items():
            low, high = one["interval"]
            solved, interval = f"{one['success']:.0%}", f"{low:.0%} to {high:.0%}"
            rows.append(
                (depth, str(one["boards"]), solved, interval, mean_text(one["solution_length"]))
            )
        titles = (depth_title(self.game), "boards", "solved", "95 % interval", "env steps")
        return f"{table_text(titles, rows)}\n{self.total()}"


def measure_baseline(
    agent: BaselineAgent,
    depths: Sequence[int] | None = None,
    per_depth: int = 20,
    split: Split = "test",
    seed: int = 0,
) -> BaselineScores:
    """Let the deterministic policy play boards of every depth (1 to 5 by default).

    A board counts as solved within step_limit × depth steps.
    """
    game, drawn = draw_boards(agent.env, depths, per_depth, split, seed)
    goal = game.to_bits(game.goal[None])[0]
    boards = len(drawn.depths)
    solved, lengths = np.zeros(boards, bool), np.zeros(boards, np.int64)
    ended = np.zeros(boards, bool)
    facts = {"split": split, "seed": seed, "episodes_per_depth": per_depth}

    def so_far() -> BaselineScores:
        done = np.flatnonzero(ended)
        return BaselineScores(game, drawn.of(done.tolist()), facts, solved[done], lengths[done])

    with keeping(boards, "boards", lambda: int(ended.sum()), so_far):
        for first in range(0, boards, ROWS):
            part = slice(first, min(first + ROWS, boards))

            def note(over: Picked, good: Picked, steps: np.ndarray, part: slice = part) -> None:
                solved[part], lengths[part], ended[part] = good, steps, over

            with closing(agent.make_env(part.stop - first, mode="task")) as env:
                observations = env.reset(drawn.seeds[part], symbols=drawn.starts[part])
                if agent.high is None:
                    run_flat(env, observations, agent.low, note)
                    continue
                shape = agent.architecture
                horizons = Horizons(shape.horizon_low, shape.horizon_high)
                play(env, observations, agent.low, agent.high, goal, horizons, on_step=note)
    return so_far()


def run_flat(
    env: BatchedEnv,
    observations: Float32[np.ndarray, "rows obs"],
    policy: SkillPolicy,
    on_step: OnStep,
) -> None:
    """Play every row with the deterministic flat policy; `on_step` is told how it goes."""
    rows = env.num_envs
    nothing = np.zeros((rows, 0), np.float32)  # a flat policy has no skill to condition on
    no_noise = np.zeros((rows, env.spec.action_size), np.float32)
    active = np.ones(rows, bool)
    solved, lengths = np.zeros(rows, bool), np.zeros(rows, np.int64)
    while active.any():
        actions = np.asarray(act(policy, observations, nothing, no_noise))
        step = env.step(env.spec.scaled(actions), active)
        observations = step.observation
        lengths += active
        solved |= active & step.terminated
        active &= ~step.done
        on_step(~active, solved, lengths)
