"""One board, from plan to solved, in the agent's real environment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.envs.interface import BatchedEnv
from seads.envs.registry import lookup
from seads.errors import SeadsError
from seads.planning.costs import Minimise
from seads.solving.agent import Agent, Board, load
from seads.solving.boards import GameReader, goal_for
from seads.solving.execution import Execution
from seads.solving.executor import Executor, Watcher
from seads.solving.solver import Solver, Solving
from seads.solving.tasks import draw_tasks
from seads.solving.words import indent, solution_text
from seads.streams import row_seeds

Watch = Callable[[BatchedEnv], AbstractContextManager[Watcher]]
"""Makes somebody who looks on, such as a film of the environment."""


@dataclass(eq=False)
class Solution(Execution):
    """What happened on a board; `print` shows it, board by board."""

    agent: Agent = field(kw_only=True, repr=False)
    solving: Solving = field(kw_only=True)
    seed: int = field(kw_only=True)
    compile_seconds: float = field(kw_only=True)
    """What it took to make the agent's model ready to plan with."""

    @property
    def depth(self) -> int | None:
        """The board's solution depth, where it is defined and known."""
        boards = self.agent.boards
        if not isinstance(boards, GameReader) or (self.goal != boards.goal).any():
            return None
        found = boards.game.known_depths(boards.game.from_bits(self.start[None]))
        return None if found is None else int(found[0])

    def __str__(self) -> str:
        board = "board" if self.depth is None else f"board of solution depth {self.depth}"
        boards = self.agent.boards
        told = solution_text(self, boards)
        return f"{self.agent.env}, {board}\n\n{indent(boards.write(self.start))}\n\n{told}"

    def to_json(self) -> dict[str, Any]:
        """As `seads solve --json` prints it."""
        line = self.agent.boards.line
        return {
            "env": self.agent.env,
            "solved": self.solved,
            "reason": None if self.reason is None else self.reason.name.lower(),
            "skills": list(self.skills),
            "env_steps": self.env_steps,
            "depth": self.depth,
            "board": line(self.start),
            "goal": line(self.goal),
            "seed": self.seed,
            "replan": self.solving.replan,
            "planner": self.solving.planner,
            "minimise": self.solving.minimise,
            "seconds": self.planning_seconds + self.compile_seconds,
            "steps": [
                {
                    "skill": one.skill,
                    "steps": one.steps,
                    "effect": one.effect.name.lower(),
                    "plan": one.plan,
                    "predicted": line(one.predicted),
                    "after": line(one.after),
                }
                for one in self.runs
            ],
            "plans": [
                {
                    "status": one.status.name.lower(),
                    "skills": list(one.skills),
                    "moves": list(one.moves),
                    "seconds": one.seconds,
                }
                for one in self.plans
            ],
        }


def solve(
    agent: Agent | str | Path,
    board: Board | None = None,
    *,
    goal: Board | None = None,
    depth: int | None = None,
    seed: int = 0,
    planner: str = "auto",
    replan: bool = True,
    minimise: Minimise = "length",
    seconds: float = 60.0,
    memory_mb: float = 1024.0,
    max_skills: int | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Plan for a board and execute the plan in the agent's environment.

    Without a `board` a test board of that `depth` is drawn (the deepest the agent trained on by
    default), or, in an environment without a game, whatever the seed brings.
    """
    agent = agent if isinstance(agent, Agent) else load(agent)
    solving = Solving(planner, replan, minimise, seconds, memory_mb, max_skills)
    seeds = row_seeds(seed, 1)
    given = _start(agent, board, depth, seed)
    starts = None if given is None else given[None]
    with closing(agent.make_env(1)) as env:
        env.reset(seeds, symbols=starts)
        start = env.symbols[0]
        wanted = goal_for(agent.boards, start, None if goal is None else agent.symbol(goal))
        solver = Solver(agent, np.array([start, wanted]), solving)
        solution = Solution(
            start,
            wanted,
            solver,
            replan,
            max_skills,
            agent=agent,
            solving=solving,
            seed=seed,
            compile_seconds=solver.compile_seconds,
        )
        with nullcontext() if watch is None else watch(env) as watcher:
            Executor(env, agent.policy, agent.num_skills, [solution], seeds).run(watcher)
    solution.plans = [agent.named(plan) for plan in solution.plans]
    return solution


def _start(
    agent: Agent, board: Board | None, depth: int | None, seed: int
) -> Bool[np.ndarray, "bits"] | None:
    """The start asked for; None where the environment itself shall choose one."""
    if board is not None and depth is not None:
        raise SeadsError("a board and a depth contradict each other: give one of them")
    if depth is not None and depth < 1:
        raise SeadsError(f"depth {depth} is not possible; choose 1 or more")
    if board is not None:
        return agent.symbol(board)
    if isinstance(agent.boards, GameReader):
        drawn = lookup(agent.env).depths[1] if depth is None else depth
        return draw_tasks(agent.boards.game, [drawn], 1, "test", seed).starts[0]
    if depth is not None:
        raise SeadsError(f"solution depths are not known in {agent.env!r}; give a board or none")
    return None
