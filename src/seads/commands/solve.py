"""`seads solve`: plan for a board and execute the plan, step by step."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from seads.commands.progress import working
from seads.errors import SeadsError

if TYPE_CHECKING:
    import numpy as np

    from seads.agent import Agent
    from seads.evaluation.boards import Reader


@dataclass(frozen=True)
class Options:
    """Which board to solve, and how."""

    run: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """Run directory, or the name of an agent that `seads agents` lists."""
    depth: int | None = None
    """Draw a test board of this solution depth; by default the deepest the agent trained on."""
    board: str | None = None
    """Start, row by row: '.#... ###.. ...' for LightsOut, '102 345 678' for TileSwap."""
    goal: str | None = None
    """Where to get to, written like the board; the solved board by default."""
    seed: int = 0
    """Seed of the board and of the manipulator's start."""
    replan: bool = True
    """Plan again when a skill did not do what the model said."""
    planner: str = "auto"
    """auto, bfs, dijkstra, bidirectional, astar or gf2."""
    minimise: Literal["length", "steps", "risk"] = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float = 60.0
    """Limit on the planning time."""
    max_skills: int | None = None
    """Give up after this many skills; twice the first plan and ten more by default."""
    video: Path | None = None
    """Write an mp4 of the rollout to this file."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Solve one board in the real environment and tell how."""
    from seads.jax_setup import prepare_jax

    prepare_jax()
    import numpy as np

    from seads.agent import load
    from seads.envs import make_env
    from seads.evaluation.boards import goal_for, reader_for
    from seads.evaluation.tasks import Solver, Solving
    from seads.show.solution import indent, move_names, solution_text
    from seads.streams import row_seeds

    _check(options)
    agent = load(options.run)
    boards = reader_for(agent)
    given = _start(agent, boards, options)
    starts = None if given is None else given[None]
    seeds = row_seeds(options.seed, 1)
    with ExitStack() as stack:
        env = stack.enter_context(closing(make_env(agent.env, 1, **agent.env_options)))
        agent.check_fits(env.spec)
        env.reset(seeds, symbols=starts)
        start = env.symbols[0]
        goal = goal_for(boards, start, options.goal)
        solving = Solving(
            options.planner, options.replan, options.minimise, options.seconds, options.max_skills
        )
        solver = Solver(agent, np.array([start, goal]), solving)
        if options.video is not None:
            from seads.show.video import Film

            env = stack.enter_context(Film(env, options.video))
        with working(f"{options.run}: solving"):
            (execution,) = solver.solve(env, agent.policy, seeds, goal[None], starts)
    depth = _depth(boards, start, goal)
    print(f"{agent.env}, {'board' if depth is None else f'board of solution depth {depth}'}\n")
    print(indent(boards.write(start)), end="\n\n")
    print(solution_text(execution, boards))
    if options.video is not None:
        print(f"video: {options.video}")
    own = ":" in agent.env  # without boards of known depths to evaluate on
    after = f"plan {options.run} --operators" if own else f"evaluate {options.run} --what tasks"
    print(f"next: seads {after}")
    return {
        "env": agent.env,
        "solved": execution.solved,
        "reason": execution.reason.name.lower(),
        "skills": list(execution.skills),
        "env_steps": execution.env_steps,
        "depth": depth,
        "board": boards.line(start),
        "goal": boards.line(goal),
        "seed": options.seed,
        "replan": options.replan,
        "planner": options.planner,
        "minimise": options.minimise,
        "seconds": execution.planning_seconds + solver.compile_seconds,
        "steps": [
            {
                "skill": one.skill,
                "steps": one.steps,
                "effect": one.effect.name.lower(),
                "plan": one.plan,
                "predicted": boards.line(one.predicted),
                "after": boards.line(one.after),
            }
            for one in execution.runs
        ],
        "plans": [
            {
                "status": one.status.name.lower(),
                "skills": list(one.skills),
                "moves": move_names(one, boards),
                "seconds": one.seconds,
            }
            for one in execution.plans
        ],
        "video": None if options.video is None else str(options.video),
    }


def _check(options: Options) -> None:
    if options.board is not None and options.depth is not None:
        raise SeadsError("--board and --depth contradict each other: give one of them")
    if options.depth is not None and options.depth < 1:
        raise SeadsError(f"depth {options.depth} is not possible; choose 1 or more")
    if options.max_skills is not None and options.max_skills < 0:
        raise SeadsError(f"max-skills is {options.max_skills}; it must be zero or more")
    if options.video is not None and options.video.suffix != ".mp4":
        raise SeadsError(f"{options.video} is no mp4 file; its name must end in .mp4")


def _start(agent: Agent, boards: Reader, options: Options) -> np.ndarray | None:
    """The start asked for; None where the environment itself shall choose one."""
    from seads.envs.registry import lookup
    from seads.evaluation.boards import GameReader
    from seads.evaluation.tasks import draw_tasks

    if options.board is not None:
        return boards.read(options.board)
    if not isinstance(boards, GameReader):
        if options.depth is not None:
            raise SeadsError(f"nobody knows solution depths in {agent.env!r}; give --board or none")
        return None
    depth = lookup(agent.env).depths[1] if options.depth is None else options.depth
    return draw_tasks(boards.game, [depth], 1, "test", options.seed)[1][0]


def _depth(boards: Reader, start: np.ndarray, goal: np.ndarray) -> int | None:
    """The exact solution depth, where it is defined and known."""
    from seads.evaluation.boards import GameReader, exact_depths

    if not isinstance(boards, GameReader) or (goal != boards.goal).any():
        return None
    found = exact_depths(boards.game, start[None])
    return None if found is None else int(found[0])
