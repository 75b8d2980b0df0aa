"""Boards solved by planning with skills: the paper's protocol (section 4), side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.envs.registry import lookup, most_rows
from seads.errors import SeadsError
from seads.evaluation.coverage import ROWS
from seads.evaluation.partly import keeping
from seads.evaluation.statistics import CONFIDENCE, summary, wilson_interval
from seads.games.game import Game, Split
from seads.planning import Plan
from seads.solving.agent import Agent
from seads.solving.boards import game_of
from seads.solving.execution import Effect, Execution, Reason
from seads.solving.solver import Solver, Solving
from seads.solving.tasks import Tasks, draw_tasks
from seads.tables import mean_text, table_text

EXACT = "solution depth"
OnPlan = Callable[[Plan, int, str | None], None]
"""Called with a plan that was made, the number of boards, and why searches are kept short."""


@dataclass(frozen=True)
class BoardScores:
    """Which of the boards drawn for several depths were solved."""

    game: Game
    tasks: Tasks
    facts: dict[str, Any]
    """How the boards were drawn."""
    solved: Bool[np.ndarray, "boards"]

    @property
    def success(self) -> float:
        """Share of boards solved."""
        return float(self.solved.mean())

    @property
    def depths(self) -> list[int]:
        """The depths that boards were drawn of."""
        return sorted(set(self.tasks.depths.tolist()))

    @property
    def by_depth(self) -> dict[str, float]:
        """Share of boards solved, for each depth."""
        return {str(d): float(self.solved[self.tasks.depths == d].mean()) for d in self.depths}

    def share(self, boards: Bool[np.ndarray, "boards"] | slice = slice(None)) -> dict[str, Any]:
        """How many of some boards were solved, and how sure that is, for JSON."""
        solved = self.solved[boards]
        return {
            "success": float(solved.mean()),
            "interval": list(wilson_interval(int(solved.sum()), len(solved))),
            "boards": len(solved),
        }

    def point(self) -> dict[str, Any]:
        """What a curve along a run keeps, the value first."""
        return {"success": self.success, "by_depth": self.by_depth}

    def total(self) -> str:
        """The share of all boards, in words."""
        low, high = self.share()["interval"]
        return f"solved {self.success:.1%} ({low:.1%} to {high:.1%}) of {len(self.solved)} boards"


@dataclass(frozen=True)
class TaskScores(BoardScores):
    """How an agent with skills did on the boards."""

    executions: list[Execution]
    """What happened on each board."""
    solving: Solving
    compile_seconds: float
    gave_up: str | None = None
    """Why searches were kept short, if they were."""

    def to_json(self) -> dict[str, Any]:
        """As `seads evaluate --json` prints it: success by depth, lengths, reasons for failure."""
        done, solving = self.executions, self.solving
        effects = [run.effect for one in done for run in one.runs]
        reasons = [one.reason for one in done]
        return {
            "replan": solving.replan,
            **self.share(),
            "by_depth": self.by_depth,
            "confidence": CONFIDENCE,
            "planner": solving.planner,
            "minimise": solving.minimise,
            "planning_limit_seconds": solving.seconds,
            "planning_limit_mb": solving.memory_mb,
            "gave_up": self.gave_up,
            "failures": {
                reason.name.lower(): reasons.count(reason)
                for reason in Reason
                if reason is not Reason.SOLVED
            },
            "skill_effects": {effect.name.lower(): effects.count(effect) for effect in Effect},
            **_lengths(done),
            **_plan_times(done),
            "compile_seconds": self.compile_seconds,
            "depths": {str(depth): self._one_depth(depth) for depth in self.depths},
            "tasks": [
                self._one_task(int(depth), one)
                for depth, one in zip(self.tasks.depths, done, strict=True)
            ],
            **self.facts,
        }

    def _one_depth(self, depth: int) -> dict[str, Any]:
        of_depth = self.tasks.depths == depth
        done = [one for one, there in zip(self.executions, of_depth, strict=True) if there]
        lengths = [one.planned_length for one in done]
        return {
            **self.share(of_depth),
            "distinct_boards": len({one.start.tobytes() for one in done}),
            "plan_length": summary([length for length in lengths if length is not None]),
            "planned_optimally": self._planned_optimally(done),
            "skills": summary([len(one.runs) for one in done if one.solved]),
            "plans": summary([len(one.plans) for one in done]),
            **_lengths(done),
            **_plan_times(done),
        }

    def _planned_optimally(self, done: list[Execution]) -> float | None:
        """Share of boards whose first plan is as long as the exact solution depth, where known."""
        starts = self.game.from_bits(np.array([one.start for one in done]))
        exact = self.game.known_depths(starts)
        if exact is None:
            return None
        return float(np.mean([one.planned_length == d for one, d in zip(done, exact, strict=True)]))

    def _one_task(self, depth: int, one: Execution) -> dict[str, Any]:
        return {
            "depth": depth,
            "board": self.game.canonical(self.game.from_bits(one.start[None])[0]),
            "solved": one.solved,
            "reason": "" if one.reason is None else one.reason.name.lower(),
            "planned_length": one.planned_length,
            "skills": list(one.skills),
            "skill_steps": [run.steps for run in one.runs],
            "env_steps": one.env_steps,
            "plans": len(one.plans),
            "planning_seconds": one.planning_seconds,
        }

    def __str__(self) -> str:
        found = self.to_json()
        rows = []
        for depth, one in found["depths"].items():
            low, high = one["interval"]
            seconds, optimal = one["first_plan_seconds"], one["planned_optimally"]
            rows.append(
                (
                    depth,
                    str(one["boards"]),
                    f"{one['success']:.0%}",
                    f"{low:.0%} to {high:.0%}",
                    mean_text(one["plan_length"]),
                    "" if optimal is None else f"{optimal:.0%}",
                    mean_text(one["solution_length"]),
                    "" if seconds is None else f"{seconds['median'] * 1000:.1f} ms",
                )
            )
        titles = (
            depth_title(self.game),
            *("boards", "solved", "95 % interval", "plan", "optimal", "env steps", "planning"),
        )
        replanning = f"{'with' if self.solving.replan else 'without'} replanning"
        lines = [table_text(titles, rows), f"{self.total()} {replanning}"]
        failures = {name: count for name, count in found["failures"].items() if count}
        if failures:
            each = (f"{name.replace('_', ' ')} {count}" for name, count in failures.items())
            lines.append(f"not solved: {', '.join(each)}")
        if self.gave_up is not None:
            lines.append(self.gave_up)
        if found["skill_length"]:
            length = found["skill_length"]
            lines.append(
                f"steps per skill: median {length['median']:.0f}, "
                f"quartiles {length['q1']:.0f} and {length['q3']:.0f}"
            )
        return "\n".join(lines)


def _lengths(done: list[Execution]) -> dict[str, Any]:
    """Env steps of whole solutions and of their skills, where the board was solved (paper S.2)."""
    solved = [one for one in done if one.solved]
    return {
        "solution_length": summary([one.env_steps for one in solved]),
        "skill_length": summary([run.steps for one in solved for run in one.runs]),
    }


def _plan_times(done: list[Execution]) -> dict[str, Any]:
    """How planning went: the paper counts first plans, and times those that were found (S.3)."""
    first = [one.plans[0] for one in done if one.plans]
    return {
        "plans_found": float(np.mean([plan.solved for plan in first])) if first else None,
        "first_plan_seconds": summary([plan.seconds for plan in first if plan.solved]),
        "planning_seconds": summary([plan.seconds for one in done for plan in one.plans]),
    }


def depth_title(game: Game) -> str:
    """What boards are counted by, as the title of a column."""
    return "depth" if game.depth_means == EXACT else "moves"


def measure_tasks(
    agent: Agent,
    depths: Sequence[int] | None = None,
    per_depth: int = 20,
    split: Split = "test",
    seed: int = 0,
    solving: Solving | None = None,
    on_plan: OnPlan | None = None,
) -> TaskScores:
    """Boards of every depth (1 to 5 by default), planned and executed side by side.

    `on_plan` is called with every plan that was made, the number of boards in all, and why
    searches are kept short, if they are.
    """
    solving = Solving() if solving is None else solving
    game, drawn = draw_boards(agent.env, depths, per_depth, split, seed)

    def tell(plan: Plan) -> None:
        if on_plan is not None:
            on_plan(plan, len(drawn.depths), solver.patience.why)

    solver = Solver(agent, drawn.starts, solving, tell)
    goals = game.to_bits(np.repeat(game.goal[None], len(drawn.depths), axis=0))
    executions: list[Execution] = []
    rows = min(most_rows(agent.env, agent.env_options, ROWS), len(drawn.depths))
    facts = {
        "split": split,
        "seed": seed,
        "episodes_per_depth": per_depth,
        "depth_is": game.depth_means,
        "drawn": "with replacement; a board drawn again starts from another pose",
    }

    def ended() -> list[int]:
        return [board for board, one in enumerate(executions) if one.reason is not None]

    def so_far() -> TaskScores:
        done = [executions[board] for board in ended()]
        solved = np.array([one.solved for one in done])
        compiled, why = solver.compile_seconds, solver.patience.why
        return TaskScores(game, drawn.of(ended()), facts, solved, done, solving, compiled, why)

    boards = len(drawn.depths)
    with ExitStack() as stack, keeping(boards, "boards", lambda: len(ended()), so_far):
        env = stack.enter_context(closing(agent.make_env(rows)))
        for first in range(0, len(drawn.depths), rows):
            part = slice(first, first + rows)
            if len(drawn.starts[part]) < rows:  # the last few
                env = stack.enter_context(closing(agent.make_env(len(drawn.starts[part]))))
            working = solver.executor(
                env, agent, drawn.seeds[part], goals[part], drawn.starts[part]
            )
            executions += working.executions
            working.run()
    return so_far()


def draw_boards(
    env: str, depths: Sequence[int] | None, per_depth: int, split: Split, seed: int
) -> tuple[Game, Tasks]:
    """The game of an environment and boards of it, of the depths it is trained on by default."""
    game = game_of(env)
    if game is None:
        raise SeadsError(f"boards and solution depths of {env!r} are not known")
    if per_depth < 1:
        raise SeadsError(f"episodes_per_depth={per_depth}; allowed: 1 or more")
    low, high = lookup(env).depths
    asked = range(low, high + 1) if depths is None else depths
    return game, draw_tasks(game, list(asked), per_depth, split, seed)
