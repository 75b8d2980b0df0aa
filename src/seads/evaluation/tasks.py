"""Boards solved by planning with skills: the paper's protocol (S.6), all boards side by side."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int, UInt64

from seads.agent.agent import Agent
from seads.agent.networks import SkillPolicy
from seads.agent.rollout import run_skills
from seads.envs.interface import BatchedEnv
from seads.errors import SeadsError, unknown
from seads.evaluation.boards import AnyGame, exact_depths
from seads.evaluation.statistics import CONFIDENCE, summary, wilson_interval
from seads.evaluation.symbolic_model import skill_costs, symbolic_model
from seads.games.game import Split
from seads.planning import PLANNERS, Budget, Plan, compile_model, plan
from seads.planning.costs import Costs, Minimise
from seads.planning.executor import Effect, Execution, Reason, execute
from seads.planning.model import SymbolicModel
from seads.planning.planners import ON_THE_MODEL, check_planner
from seads.streams import Purpose, row_seeds


@dataclass(frozen=True)
class Solving:
    """How boards are solved."""

    planner: str = "auto"
    replan: bool = True
    minimise: Minimise = "length"
    seconds: float = 60.0
    """Limit of all planning for one board (the paper's)."""
    max_skills: int | None = None
    """Limit of skills on a board; `seads.planning.executor.skill_limit` by default."""


class Solver:
    """An agent's model, compiled once, and what its skills cost: plans any number of boards.

    `samples` are boards of the kind to be solved, from which the operators are found.
    """

    def __init__(
        self,
        agent: Agent,
        samples: Bool[np.ndarray, "boards bits"],
        solving: Solving,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> None:
        if solving.planner not in PLANNERS:
            raise unknown("planner", solving.planner, PLANNERS)
        self.network: SymbolicModel = symbolic_model(agent)
        self.costs: Costs = skill_costs(agent, solving.minimise)
        self.solving = solving
        self._on_plan = on_plan
        began = time.perf_counter()
        self.model = self.network
        if solving.planner not in ON_THE_MODEL:
            self.model = compiled = compile_model(self.network, samples)
            check_planner(solving.planner, compiled, self.costs)
        self.compile_seconds = time.perf_counter() - began

    def plan(
        self,
        start: Bool[np.ndarray, "bits"],
        goal: Bool[np.ndarray, "bits"],
        spent: float = 0.0,
    ) -> Plan:
        """A cheapest plan in the agent's forward model, `spent` seconds taken off the limit."""
        if not self.solving.seconds >= 0:
            raise SeadsError(f"seconds={self.solving.seconds}; allowed: zero or more")
        budget = Budget(seconds=max(0.0, self.solving.seconds - spent))
        found = plan(start, goal, self.model, self.solving.planner, budget, self.costs)
        if self._on_plan is not None:
            self._on_plan(found)
        return found

    def solve(
        self,
        env: BatchedEnv,
        policy: SkillPolicy,
        seeds: UInt64[np.ndarray, "boards"],
        goals: Bool[np.ndarray, "boards bits"],
        starts: Bool[np.ndarray, "boards bits"] | None = None,
    ) -> list[Execution]:
        """Plan and execute from the start boards, or from those the seeds bring."""
        runner = SkillRunner(
            env, policy, self.network.num_skills, seeds, starts, vary=self.solving.replan
        )
        return execute(
            env.symbols,
            goals,
            self.plan,
            self.network,
            runner,
            self.solving.replan,
            self.solving.max_skills,
        )


class SkillRunner:
    """The paper's `apply` for the executor: skills in real environments.

    Skills act deterministically. With `vary`, a skill that is tried again on a board that
    looks as it did the last time samples its actions instead: what failed once would
    otherwise fail in the same way until the limit of skills is reached.
    """

    def __init__(
        self,
        env: BatchedEnv,
        policy: SkillPolicy,
        num_skills: int,
        seeds: UInt64[np.ndarray, "boards"],
        starts: Bool[np.ndarray, "boards bits"] | None = None,
        vary: bool = True,
    ) -> None:
        self._env, self._policy, self._num_skills = env, policy, num_skills
        self._seeds, self._vary = seeds, vary
        self._tried: Counter[tuple[int, int, bytes]] = Counter()
        env.reset(seeds, symbols=starts)

    def __call__(
        self, skills: Int[np.ndarray, "boards"], active: Bool[np.ndarray, "boards"]
    ) -> tuple[Bool[np.ndarray, "boards bits"], Int[np.ndarray, "boards"]]:
        """Run each active board's skill from where it stands; zero steps if it has ended."""
        # only a user's environment can end by itself
        ended = getattr(self._env, "ended", None)
        running = active if ended is None else active & ~ended
        noise = self._noise(skills, running)
        observations = self._env.resume(np.flatnonzero(running))
        episodes = run_skills(
            self._env,
            self._policy,
            observations,
            skills,
            self._num_skills,
            noise,
            active=running,
        )
        return episodes.after, episodes.lengths

    def _noise(
        self, skills: Int[np.ndarray, "boards"], running: Bool[np.ndarray, "boards"]
    ) -> Float32[np.ndarray, "steps boards act"]:
        """The policy's noise: zero, but for skills that are tried again."""
        spec, symbols = self._env.spec, self._env.symbols
        noise = np.zeros((spec.step_limit, self._env.num_envs, spec.action_size), np.float32)
        for row in np.flatnonzero(running):
            attempt = (int(row), int(skills[row]), symbols[row].tobytes())
            if self._vary and self._tried[attempt]:
                seed = [int(self._seeds[row]), Purpose.RETRY, attempt[1], self._tried[attempt]]
                rng = np.random.default_rng(seed)
                noise[:, row] = rng.standard_normal(noise.shape[::2], np.float32)
            self._tried[attempt] += 1
        return noise


def draw_tasks(
    game: AnyGame, depths: Sequence[int], per_depth: int, split: Split, seed: int
) -> tuple[
    Int[np.ndarray, "boards"], Bool[np.ndarray, "boards bits"], UInt64[np.ndarray, "boards"]
]:
    """Solution depths, start boards and seeds of start poses; `per_depth` boards of each depth.

    Boards are drawn with replacement: at some depths there are fewer than twenty. A depth's
    boards do not depend on which other depths are asked for.
    """
    boards, poses = [], []
    for depth in depths:
        seeds = row_seeds(seed, per_depth, Purpose.TASK_BOARDS, depth)
        boards.append(game.draw(np.full(per_depth, depth), split, seeds))
        poses.append(row_seeds(seed, per_depth, Purpose.TASK_POSES, depth))
    return (
        np.repeat(np.array(depths, np.int64), per_depth),
        game.to_bits(np.concatenate(boards)),
        np.concatenate(poses),
    )


def report(
    game: AnyGame,
    depths: Int[np.ndarray, "boards"],
    executions: list[Execution],
    solver: Solver,
) -> dict[str, Any]:
    """The results as JSON: success by depth with intervals, lengths, reasons for failure."""
    solved = np.array([one.solved for one in executions])
    solving = solver.solving
    runs = [run for one in executions for run in one.runs]
    low, high = wilson_interval(int(solved.sum()), len(solved))
    effects = [run.effect for run in runs]
    reasons = [one.reason for one in executions]
    result: dict[str, Any] = {
        "replan": solving.replan,
        "success": float(solved.mean()),
        "by_depth": {},
        "interval": [low, high],
        "confidence": CONFIDENCE,
        "boards": len(executions),
        "planner": solving.planner,
        "minimise": solving.minimise,
        "planning_limit_seconds": solving.seconds,
        "failures": {
            reason.name.lower(): reasons.count(reason)
            for reason in Reason
            if reason is not Reason.SOLVED
        },
        "skill_effects": {effect.name.lower(): effects.count(effect) for effect in Effect},
        "solution_length": summary([one.env_steps for one in executions if one.solved]),
        "skill_length": summary([run.steps for run in runs]),
        "planning_seconds": summary([p.seconds for one in executions for p in one.plans]),
        "compile_seconds": solver.compile_seconds,
        "depths": {},
        "tasks": [
            _one_task(game, int(depth), one) for depth, one in zip(depths, executions, strict=True)
        ],
    }
    for depth in sorted(set(depths.tolist())):
        picked = [one for one, d in zip(executions, depths, strict=True) if d == depth]
        result["by_depth"][str(depth)] = float(np.mean([one.solved for one in picked]))
        result["depths"][str(depth)] = _one_depth(game, depth, picked)
    return result


def _one_depth(game: AnyGame, depth: int, executions: list[Execution]) -> dict[str, Any]:
    solved = sum(one.solved for one in executions)
    lengths = [one.planned_length for one in executions if one.planned_length is not None]
    return {
        "boards": len(executions),
        "distinct_boards": len({one.start.tobytes() for one in executions}),
        "success": solved / len(executions),
        "interval": list(wilson_interval(solved, len(executions))),
        "plan_length": summary(lengths),
        "planned_optimally": _planned_optimally(game, executions),
        "skills": summary([len(one.runs) for one in executions if one.solved]),
        "plans": summary([len(one.plans) for one in executions]),
        "solution_length": summary([one.env_steps for one in executions if one.solved]),
        "planning_seconds": summary([p.seconds for one in executions for p in one.plans]),
    }


def _planned_optimally(game: AnyGame, executions: list[Execution]) -> float | None:
    """Share of boards whose first plan is as long as the exact solution depth, where known."""
    exact = exact_depths(game, np.array([one.start for one in executions]))
    if exact is None:
        return None
    lengths = [one.planned_length for one in executions]
    return float(np.mean([length == d for length, d in zip(lengths, exact, strict=True)]))


def _one_task(game: AnyGame, depth: int, one: Execution) -> dict[str, Any]:
    return {
        "depth": depth,
        "board": game.canonical(game.from_bits(one.start[None])[0]),
        "solved": one.solved,
        "reason": one.reason.name.lower(),
        "planned_length": one.planned_length,
        "skills": list(one.skills),
        "env_steps": one.env_steps,
        "plans": len(one.plans),
        "planning_seconds": one.planning_seconds,
    }
