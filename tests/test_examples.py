"""The complete files in examples/: each trains for a few epochs, and one runs its benchmark."""

from __future__ import annotations

import dataclasses
import importlib
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiny_settings import TINY

import seads
from seads.cores import SHARE
from seads.training import Run

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = {
    "blocks": {},
    "cabinet": {},
    "gymnasium_reacher": {},
    "dm_control_finger": {},
    "ogbench_puzzle": {"size": "3x3", "vectorise": "none"},
}
"""Every example, with options that make it light."""


@pytest.fixture(scope="module", autouse=True)
def in_its_directory() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        yield


@pytest.fixture(scope="module")
def trained(
    in_its_directory: None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Run]:
    """A few epochs on one of them, made when it is first asked for."""
    home = tmp_path_factory.mktemp("examples")

    @cache
    def train(name: str) -> Run:
        return seads.train(
            f"{name}:factory",
            env_steps=250,
            settings=TINY | dict(episodes_per_epoch=3, recent_episodes=6),
            env_options=FILES[name],
            out=home / name,
            quiet=True,
        )

    return train


def test_all_are_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_it_trains_for_a_few_epochs(name: str, trained: Callable[[str], Run]) -> None:
    run = trained(name)
    assert (run.status, run.env) == ("finished", f"{name}:factory")
    assert all(np.isfinite(line["critic_loss"]) for line in run.metrics if "critic_loss" in line)
    assert "critic_loss" in run.metrics[-1], "nothing was learned from"
    bits = {"ogbench_puzzle": 9, "blocks": 6}
    assert run.agent.architecture.num_bits == bits.get(name, run.agent.num_skills)


def test_the_benchmarks_own_episodes(trained: Callable[[str], Run]) -> None:
    puzzle = importlib.import_module("ogbench_puzzle")
    agent = trained("ogbench_puzzle").agent
    solved = puzzle.run_tasks(agent, episodes=1, num_envs=2, max_skills=1)
    assert solved.shape == (5, 1)
    assert solved.dtype == np.bool_


@pytest.mark.parametrize("name", ["puzzle-3x3", "puzzle-4x4"])
def test_agents_that_come_with_it_solve_the_benchmarks_tasks(name: str) -> None:
    puzzle = importlib.import_module("ogbench_puzzle")
    agent = seads.load(EXAMPLES / "agents" / name)
    assert puzzle.run_tasks(agent, episodes=1, num_envs=2).all()


def test_tasks_belong_to_their_rows_in_whatever_order_these_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    puzzle = importlib.import_module("ogbench_puzzle")
    make, waits = puzzle.gymnasium.make, iter([0.0, 0.5, 0.0])

    def make_late(*given: Any, **options: Any) -> Any:
        wait = next(waits)
        made = make(*given, **options)
        time.sleep(wait)
        return made

    monkeypatch.setattr(puzzle.gymnasium, "make", make_late)
    monkeypatch.setenv(SHARE, "2")
    agent = seads.load(EXAMPLES / "agents" / "puzzle-3x3")
    # three different tasks, then the last two
    assert puzzle.run_tasks(agent, episodes=1, num_envs=3).all()


def test_the_benchmarks_own_verdict() -> None:
    puzzle = importlib.import_module("ogbench_puzzle")
    task = puzzle.Task(puzzle.gymnasium.make("puzzle-3x3-v0", disable_env_checker=True))
    task.task_id = 4
    seen, info = task.reset(seed=0)
    assert puzzle.phi(seen).tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert puzzle.phi(info["goal"]).tolist() == task.goal.tolist() == [1] * 9
    still = np.zeros(5, np.float32)
    ended = task.step(still)[2]
    assert (task.success, ended) == (False, False)
    physics = task.unwrapped.data
    task.unwrapped.set_state(physics.qpos.copy(), physics.qvel.copy(), task.goal.astype(int))
    ended = task.step(still)[2]
    assert (task.success, ended) == (True, True)
    task.reset(seed=0)
    assert not task.success
    task.close()


def test_a_drawer_moves_with_the_cursor_that_holds_it_if_it_is_unlocked() -> None:
    cabinet = importlib.import_module("cabinet")
    env = cabinet.Cabinet()
    env.reset(seed=0)
    env.out, env.unlocked = np.array([0.72, 0.2]), np.array([True, False])
    env.cursor = np.array([0.72, cabinet.RAILS[0]])
    pulled = env.step(np.array([1.0, 0.0, 0.5]))[0]
    assert cabinet.phi(pulled).tolist() == [True, False, True, False, False, True]
    env.cursor = np.array([0.2, cabinet.RAILS[1]])
    locked = env.step(np.array([1.0, 0.0, 0.5]))[0]
    np.testing.assert_array_equal(cabinet.phi(locked), cabinet.phi(pulled))
    env.cursor = cabinet.BUTTONS[1].copy()
    assert cabinet.phi(env.step(np.array([0.0, 0.0, 0.7]))[0])[:2].tolist() == [True, True]


def test_the_cabinets_agent_knows_the_locks_and_reaches_goals() -> None:
    """Without what its skills need it reaches a third as many: it pulls at locked drawers."""
    cabinet = importlib.import_module("cabinet")
    agent = seads.load(EXAMPLES / "agents" / "cabinet")
    needs = {skill["skill"]: skill["needs"] for skill in agent.card["skills"] if "needs" in skill}
    assert needs == {0: [(1, True)], 1: [(0, True)], 4: [(0, True)], 5: [(1, True)]}
    reached = cabinet.run_tasks(agent, starts=50).mean()
    blind = agent.card | {"skills": [skill | {"needs": []} for skill in agent.card["skills"]]}
    without = cabinet.run_tasks(dataclasses.replace(agent, card=blind), starts=50).mean()
    assert reached > 0.7 > 0.5 > without


def test_a_block_is_in_a_zone_or_in_the_hand() -> None:
    blocks = importlib.import_module("blocks")
    env = blocks.Blocks()
    seen, _ = env.reset(seed=0)
    assert blocks.phi(seen).reshape(2, 3).sum(1).tolist() == [1, 1]
    env.hand, env.blocks = np.array([0.3, 0.5]), [np.array([0.3, 0.52]), np.array([0.95, 0.5])]
    near, grasp, release = np.array([0, 0, 0.0]), np.array([0, 0, 0.7]), np.array([0, 0, -0.7])
    assert blocks.phi(env.step(near)[0]).tolist() == [True, False, False, False, False, True]
    assert blocks.phi(env.step(grasp)[0]).tolist() == [False, False, False, False, False, True]
    env.step(np.array([1, 0, 0.7]))
    assert blocks.phi(env.step(release)[0]).tolist() == [False, True, False, False, False, True]
