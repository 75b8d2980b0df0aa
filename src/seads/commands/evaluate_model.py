"""`seads evaluate --what model`: how often the forward model is right, by the boards' depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seads.commands.evaluate_skills import env_for_skills
from seads.commands.evaluate_tables import depth_title
from seads.errors import SeadsError


def measure_model(
    agent: Any,
    depths: Sequence[int] | None,
    per_depth: int,
    starts: int,
    split: Any,
    seed: int,
) -> dict[str, Any]:
    """Run every skill to see which move it makes, then ask the model about that move."""
    import numpy as np

    from seads.evaluation.boards import game_of
    from seads.evaluation.coverage import describe_skill, run_all_skills
    from seads.evaluation.depths import all_depths
    from seads.evaluation.model_by_depth import accuracy_by_depth
    from seads.evaluation.symbolic_model import symbolic_model
    from seads.games.game import NO_MOVE

    game = game_of(agent.env)
    if game is None:
        raise SeadsError(f"nobody knows boards and moves of {agent.env!r}")
    model = symbolic_model(agent)
    count = agent.num_skills
    with env_for_skills(agent, starts, split) as env:
        runs = run_all_skills(env, agent.policy, count, starts, seed)
    skills = [describe_skill(k, runs["moves"][:, k], runs["lengths"][:, k]) for k in range(count)]
    moves = np.array([NO_MOVE if one["move"] is None else one["move"] for one in skills])
    asked = all_depths(game, split) if depths is None else list(depths)
    return {
        **accuracy_by_depth(model, game, moves, asked, per_depth, split, seed),
        "boards_per_depth": per_depth,
        "starts": starts,
        "split": split,
        "seed": seed,
        "skills": [{name: one[name] for name in ("skill", "move", "share")} for one in skills],
    }


def show_model(found: dict[str, Any]) -> None:
    """A row per depth, and all of them together."""
    from rich.console import Console

    from seads.commands.table import plain_table

    title = depth_title(found)
    table = plain_table((title, "boards", "right", "all skills right", "worst skill"))
    for depth, one in found["depths"].items():
        worst = one["worst_skill"]
        table.add_row(
            depth,
            str(one["distinct_boards"]),
            f"{one['right']:.2%}",
            f"{one['all_skills_right']:.1%}",
            "" if worst["right"] == 1 else f"{worst['skill']}: {worst['right']:.1%}",
        )
    Console().print(table)
    which = "depths" if title == "depth" else "numbers of moves"
    print(
        f"the forward model is right in {found['right']:.2%}, mean of {len(found['depths'])} "
        f"{which}; each skill's move is the one it makes most often from {found['starts']} starts"
    )
