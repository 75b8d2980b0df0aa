"""Rollouts that the tests share: actions are a function of a row's seed and the time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from seads import streams
from seads.envs import make_env
from seads.envs.embedding import EmbeddedEnv
from seads.games.game import NO_MOVE
from seads.robot.environment import RobotArm
from seads.robot.simulated import SimulatedPens


def make(name: str, num_envs: int, **options: Any) -> EmbeddedEnv:
    env = make_env(name, num_envs, **options)
    assert isinstance(env, EmbeddedEnv)
    return env


def actions_at(env: EmbeddedEnv, seeds: np.ndarray, time: int) -> np.ndarray:
    """Uniform actions for every row at one time."""
    uniform = streams.uniforms(streams.fork(seeds, 10_000 + time), env.spec.action_size)
    low, high = np.array(env.spec.action_low), np.array(env.spec.action_high)
    return low + uniform * (high - low)


def idle(env: EmbeddedEnv) -> np.ndarray:
    """Actions that touch nothing: no displacement, no push.

    A pen that pushes with every action is over a screen that feels nothing any more.
    """
    actions = np.zeros((env.num_envs, env.spec.action_size))
    if env.spec.action_size == 2:
        assert isinstance(env.manipulator, RobotArm)
        assert isinstance(env.manipulator.pens, SimulatedPens)
        env.manipulator.pens.missed = 1.0
    elif env.manipulator.name != "jaco":
        actions[:, 2] = -1.0
    return actions


@dataclass(frozen=True)
class FirstMove:
    """A row whose random actions make a game move: its seed, when, and which."""

    seed: np.uint64
    steps: int
    move: int


@cache
def first_move(name: str) -> FirstMove:
    """The earliest move among 32 rows acting at random, of those that solve a task of one move.

    Where a field has halves, a press on one of them fits only one state of that field.
    """
    env = make(name, 32)
    seeds = streams.row_seeds(7, 32)
    env.reset(seeds)
    active = np.ones(32, bool)
    for time in range(env.spec.step_limit):
        step = env.step(actions_at(env, seeds, time), active)
        for row in np.flatnonzero(active & (step.move != NO_MOVE)):
            move = step.move[row : row + 1]
            task = env.game.play(env.game.goal[None], move)
            if env.game.move_at(env.touch[row : row + 1], task) == move:
                env.close()
                return FirstMove(seeds[row], time + 1, int(move[0]))
        active &= ~step.done
    raise AssertionError(f"no random row of {name} made a move; the test needs another seed")
