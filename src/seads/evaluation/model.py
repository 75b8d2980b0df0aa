"""How often the forward model is right, by how deep a board is: deeper than training, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from seads.errors import SeadsError
from seads.evaluation.coverage import SkillSummary, env_for_skills, run_all_skills
from seads.evaluation.partly import keeping
from seads.evaluation.tasks import depth_title
from seads.games.game import NO_MOVE, Game, Split
from seads.planning.model import SymbolicModel
from seads.solving.agent import Agent
from seads.solving.boards import game_of
from seads.solving.symbolic_model import symbolic_model
from seads.solving.tasks import Tasks, draw_tasks
from seads.tables import table_text


@dataclass(frozen=True)
class ModelScores:
    """Where the mode of q(z' | z, k) is the board after the move that skill k makes."""

    game: Game
    tasks: Tasks
    right: Bool[np.ndarray, "boards skills"]
    """Whether every bit is, for each skill on each board."""
    skills: list[SkillSummary]
    """The moves that the skills make."""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def by_depth(self) -> dict[str, float]:
        """How often the model is right at each depth."""
        depths = dict.fromkeys(self.tasks.depths.tolist())
        return {str(d): float(self.right[self.tasks.depths == d].mean()) for d in depths}

    @property
    def mean(self) -> float:
        """How often it is right, mean over the depths."""
        return float(np.mean(list(self.by_depth.values())))

    def point(self) -> dict[str, Any]:
        """What a curve along a run keeps, the value first."""
        return {"model_right": self.mean, "by_depth": self.by_depth}

    def to_json(self) -> dict[str, Any]:
        """As `seads evaluate --what model --json` prints it."""
        names = ("skill", "move", "share")
        return {
            "right": self.mean,
            "by_depth": self.by_depth,
            "depths": {depth: self._one_depth(int(depth)) for depth in self.by_depth},
            "depth_is": self.game.depth_means,
            **self.facts,
            "skills": [{name: getattr(one, name) for name in names} for one in self.skills],
        }

    def _one_depth(self, depth: int) -> dict[str, Any]:
        of_depth = self.tasks.depths == depth
        right, states = self.right[of_depth], self.tasks.starts[of_depth]
        by_skill = right.mean(0)
        worst = int(by_skill.argmin())
        return {
            "boards": len(states),
            "distinct_boards": len(np.unique(states, axis=0)),
            "right": float(right.mean()),
            "all_skills_right": float(right.all(1).mean()),
            "worst_skill": {"skill": worst, "right": float(by_skill[worst])},
        }

    def __str__(self) -> str:
        title = depth_title(self.game)
        rows = []
        for depth in self.by_depth:
            one = self._one_depth(int(depth))
            worst = one["worst_skill"]
            rows.append(
                (
                    depth,
                    str(one["distinct_boards"]),
                    f"{one['right']:.2%}",
                    f"{one['all_skills_right']:.1%}",
                    "" if worst["right"] == 1 else f"{worst['skill']}: {worst['right']:.1%}",
                )
            )
        table = table_text((title, "boards", "right", "all skills right", "worst skill"), rows)
        which = "depths" if title == "depth" else "numbers of moves"
        return (
            f"{table}\nthe forward model is right in {self.mean:.2%}, mean of {len(rows)} {which}; "
            f"each skill's move is the one it makes most often from {self.facts['starts']} starts"
        )


def measure_model(
    agent: Agent,
    depths: Sequence[int] | None = None,
    per_depth: int = 300,
    starts: int = 100,
    split: Split = "test",
    seed: int = 0,
) -> ModelScores:
    """Run every skill to see which move it makes, then ask the model about that move.

    All depths there are by default. A skill that makes no move should leave the board as it is.
    """
    game = game_of(agent.env)
    if game is None:
        raise SeadsError(f"boards and solution depths of {agent.env!r} are not known")
    if per_depth < 1:
        raise SeadsError(f"boards_per_depth={per_depth}; allowed: 1 or more")
    model = symbolic_model(agent)
    asked = game.depths(split) if depths is None else list(depths)
    drawn = draw_tasks(game, asked, per_depth, split, seed)
    with env_for_skills(agent, starts, split) as env:
        skills = run_all_skills(env, agent.policy, agent.num_skills, starts, seed).skills
    moves = np.array([NO_MOVE if one.move is None else one.move for one in skills])
    facts = {"boards_per_depth": per_depth, "starts": starts, "split": split, "seed": seed}
    right: list[np.ndarray] = []  # a part for each depth

    def done() -> int:
        return sum(map(len, right))

    def so_far() -> ModelScores:
        asked_about = drawn.of(range(done()))
        return ModelScores(game, asked_about, np.concatenate(right), skills, facts)

    with keeping(len(drawn.depths), "boards", done, so_far):
        for first in range(0, len(drawn.depths), per_depth):
            of_depth = drawn.starts[first : first + per_depth]
            right.append(predictions_right(model, game, of_depth, moves))
    return so_far()


def predictions_right(
    model: SymbolicModel,
    game: Game,
    states: Bool[np.ndarray, "boards bits"],
    moves: Int[np.ndarray, "skills"],
) -> Bool[np.ndarray, "boards skills"]:
    """On which boards the model predicts the outcome of each skill's move."""
    boards = np.repeat(game.from_bits(states), len(moves), axis=0)
    after = game.to_bits(game.play(boards, np.tile(moves, len(states))))
    expected = after.reshape(len(states), len(moves), -1)
    return (model.successors(states) == expected).all(axis=-1)
