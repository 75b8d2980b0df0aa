"""Playing boards on two levels: subgoals from the high level, steps toward them from the low."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int

from seads.agent.networks import SkillPolicy
from seads.agent.rollout import act
from seads.baselines.policies import SubgoalPolicy, propose
from seads.envs.interface import BatchedEnv, EnvSpec
from seads.envs.own import is_own
from seads.envs.registry import lookup
from seads.errors import SeadsError

OnStep = Callable[
    [Bool[np.ndarray, "rows"], Bool[np.ndarray, "rows"], Int[np.ndarray, "rows"]], None
]
"""Called after every step: which rows have ended, which are solved, how many steps each made."""


@dataclass(frozen=True)
class Horizons:
    """How many actions each level has for one goal."""

    low: int
    high: int


@dataclass(frozen=True)
class HierarchicalEpisodes:
    """One episode a row. An attempt is the stretch of steps toward one subgoal."""

    states: Float32[np.ndarray, "rows steps+1 size"]
    """The manipulator's part of the observations."""
    symbols: Bool[np.ndarray, "rows steps+1 bits"]
    actions: Float32[np.ndarray, "rows steps act"]
    subgoals: Bool[np.ndarray, "rows steps bits"]
    """The subgoal of the attempt that each step belongs to."""
    begins: Bool[np.ndarray, "rows steps"]
    """Whether an attempt begins with this step."""
    missed: Bool[np.ndarray, "rows steps"]
    """Whether the attempt that begins here was tested, had its full horizon, and missed."""
    lengths: Int[np.ndarray, "rows"]
    solved: Bool[np.ndarray, "rows"]


def end_goal(env: str) -> Bool[np.ndarray, "bits"]:
    """The solved board's symbol."""
    if is_own(env):
        raise SeadsError(f"the solved board of {env!r} is not known, the end goal that hac needs")
    game = lookup(env).make_game()
    return game.to_bits(game.goal[None])[0]


def of_manipulator(
    observations: Float32[np.ndarray, "rows obs"], spec: EnvSpec
) -> Float32[np.ndarray, "rows size"]:
    """The observation without symbol and remaining time."""
    return observations[:, : spec.own_size]


def play(
    env: BatchedEnv,
    observations: Float32[np.ndarray, "rows obs"],
    low: SkillPolicy,
    high: SubgoalPolicy,
    goal: Bool[np.ndarray, "bits"],
    horizons: Horizons,
    rng: np.random.Generator | None = None,
    subgoal_tests: float = 0.0,
    on_step: OnStep | None = None,
) -> HierarchicalEpisodes:
    """Play every row's board to its end, from a fresh reset in task mode.

    Without `rng` both levels are deterministic. A row ends when its board is solved, at the
    task's step limit, or when the high level has used up its subgoals.
    """
    spec, rows = env.spec, env.num_envs
    goals = np.repeat(goal[None].astype(np.float32), rows, axis=0)
    subgoals = np.zeros((rows, spec.num_bits), bool)
    tested = np.zeros(rows, bool)
    used_low, used_high = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    first = np.zeros(rows, np.int64)
    lengths = np.zeros(rows, np.int64)
    solved = np.zeros(rows, bool)
    active = np.ones(rows, bool)
    symbols = env.symbols
    log: dict[str, list[np.ndarray]] = {name: [] for name in ("act", "sub", "begin", "missed")}
    seen = [(of_manipulator(observations, spec), symbols)]

    step = 0
    while active.any():
        state = observations[:, :-1]
        begins = active & (used_low == 0)
        noise = np.zeros((rows, spec.action_size), np.float32)
        proposal_noise = np.zeros((rows, spec.num_bits), np.float32)
        if rng is not None:
            # drawn for all rows at every step: what a row gets depends on no other row
            noise = rng.standard_normal((rows, spec.action_size), np.float32)
            proposal_noise = rng.logistic(size=(rows, spec.num_bits)).astype(np.float32)
            tested = np.where(begins, rng.random(rows) < subgoal_tests, tested)
        if begins.any():
            proposed = np.asarray(propose(high, state, goals, proposal_noise))
            subgoals = np.where(begins[:, None], proposed, subgoals)
            first = np.where(begins, step, first)
        noise[tested] = 0
        actions = np.asarray(act(low, state, subgoals.astype(np.float32), noise))
        made = env.step(spec.scaled(actions), active)
        observations, symbols = made.observation, made.symbol

        used_low += active
        reached = (symbols == subgoals).all(1)
        out_of_steps = used_low >= horizons.low
        attempt_over = active & (reached | out_of_steps | made.done)
        log["act"].append(actions)
        log["sub"].append(subgoals)
        log["begin"].append(begins)
        log["missed"].append(np.zeros(rows, bool))
        failed = np.flatnonzero(attempt_over & tested & ~reached & out_of_steps)
        for row in failed:
            log["missed"][first[row]][row] = True
        seen.append((of_manipulator(observations, spec), symbols))

        lengths[active] += 1
        solved |= active & made.terminated
        used_high += attempt_over
        used_low[attempt_over] = 0
        active &= ~made.done & ~(attempt_over & (used_high >= horizons.high))
        step += 1
        if on_step is not None:
            on_step(~active, solved, lengths)

    states, boards = (np.stack(part, axis=1) for part in zip(*seen, strict=True))
    stacked = {name: np.stack(parts, axis=1) for name, parts in log.items()}
    return HierarchicalEpisodes(
        states,
        boards,
        stacked["act"],
        stacked["sub"],
        stacked["begin"],
        stacked["missed"],
        lengths,
        solved,
    )
