"""`seads solve`: plan for a board and execute the plan, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from seads.commands.progress import working
from seads.commands.real_arm import env_options
from seads.errors import SeadsError
from seads.terminal import tell_next


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
    """auto, bfs, dijkstra, bidirectional, astar, or gf2, which adds flips up as equations."""
    minimise: Literal["length", "steps", "risk"] = "length"
    """Number of skills, expected low-level steps, or the risk that one fails."""
    seconds: float = 60.0
    """Limit on the planning time."""
    memory_mb: float = 1024.0
    """Limit on the memory of a search."""
    max_skills: int | None = None
    """Give up after this many skills; twice the first plan and ten more by default."""
    allow: Annotated[str | None, tyro.conf.arg(metavar="MODULE:FACTORY")] = None
    """Import this environment, which the run names; needed where it was not trained here."""
    video: Path | None = None
    """Write an mp4 of the rollout to this file."""
    port: str | None = None
    """Serial line of a real arm, or of its twin (see `seads robot`); by default it is simulated."""
    calibration: Path | None = None
    """Where the tablet lies under that arm: a file of `seads robot calibrate`."""
    env_set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Options of the environment, such as pace=50 for a twin."""
    json: bool = False
    """Print one JSON object."""


def run(options: Options) -> dict[str, Any]:
    """Solve one board in the real environment and tell how."""
    from seads.envs.own import is_own
    from seads.show.video import Film
    from seads.solving import load, solve

    video = options.video
    if video is not None and video.suffix != ".mp4":
        raise SeadsError(f"{video} is no mp4 file; its name must end in .mp4")
    where = env_options(options.env_set, options.port, options.calibration)
    agent = load(options.run, allow=options.allow).with_options(where)
    with working(f"{options.run}: solving"):
        solution = solve(
            agent,
            options.board,
            goal=options.goal,
            depth=options.depth,
            seed=options.seed,
            planner=options.planner,
            replan=options.replan,
            minimise=options.minimise,
            seconds=options.seconds,
            memory_mb=options.memory_mb,
            max_skills=options.max_skills,
            watch=None if video is None else lambda env: Film(env, video),
        )
    print(solution)
    if video is not None:
        print(f"video: {video}")
    if is_own(agent.env):  # it has no boards of known depths to evaluate on
        tell_next("plan", options.run, "--operators")
    else:
        tell_next("evaluate", options.run, "--what", "tasks")
    return {**solution.to_json(), "video": None if video is None else str(video)}
