"""A user's own Gymnasium environment as a batched environment."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from seads import streams
from seads.cores import SHARE
from seads.envs import GymBatch
from seads.envs.process_rows import ProcessRows
from seads.errors import SeadsError

DOC = Path(__file__).parents[2] / "docs" / "own-environment.md"


def make_reacher() -> gymnasium.Env:
    return gymnasium.make("Reacher-v5")


def finger_side(observation: np.ndarray) -> np.ndarray:
    return np.array([observation[8] + observation[4] > 0, observation[9] + observation[5] > 0])


class Line(gymnasium.Env):
    """A point on a line that ends at 3; symbols are which unit interval it is in."""

    observation_space = gymnasium.spaces.Dict(
        {"x": gymnasium.spaces.Box(-4, 4, (1,)), "level": gymnasium.spaces.Discrete(2)}
    )
    action_space = gymnasium.spaces.Box(-1, 1, (1, 1))

    def __init__(self, obeys: bool = True, fails: str = "") -> None:
        self._obeys, self._fails = obeys, fails

    def _see(self) -> dict[str, Any]:
        return {"x": np.float32([self.x]), "level": int(self.x > 0)}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-0.5, 0.5)
        if options and self._obeys:
            self.x = 1.5 if options["symbol"][1] else (0.5 if options["symbol"][0] else -0.5)
        return self._see(), {}

    def step(self, action: np.ndarray) -> Any:
        if self._fails == "raise":
            raise KeyError("the belt came off")
        if self._fails == "die":
            os._exit(3)
        self.x += float(action[0, 0])
        return self._see(), 2.0 * self.x, self.x > 3, False, {}


def intervals(observation: dict[str, Any]) -> list[int]:
    return [int(observation["x"][0] > 0), int(observation["x"][0] > 1)]


def line(num_envs: int = 2, **options: Any) -> GymBatch:
    return GymBatch(Line, intervals, num_envs, **{"step_limit": 5, **options})


def roll(env: GymBatch, steps: int = 70) -> list[np.ndarray]:
    seeds = streams.row_seeds(0, env.num_envs)
    history = [env.reset(seeds)]
    for time in range(steps):
        step = env.step(2 * streams.uniforms(streams.fork(seeds, time), env.spec.action_size) - 1)
        history += [step.observation, step.symbol, step.terminated, step.truncated, step.reward]
        over = np.flatnonzero(env.ended)
        if len(over):
            history.append(env.reset(streams.fork(seeds[over], time), over))
        on = np.flatnonzero(step.done & ~env.ended)
        on = np.setdiff1d(on, over)
        if len(on):
            history.append(env.resume(on))
    return history


def test_loop_threads_and_processes_take_the_same_course() -> None:
    histories = []
    for vectorise in ("none", "threads", "processes"):
        env = GymBatch(make_reacher, finger_side, 3, step_limit=20, vectorise=vectorise)
        histories.append(roll(env))
        env.close()
        env.close()
    assert multiprocessing.active_children() == []
    loop, threads, processes = histories
    assert any(flags.any() for flags in loop[3::6] if flags.dtype == bool), "nothing happened"
    for other in (threads, processes):
        assert len(other) == len(loop)
        assert all(np.array_equal(a, b) for a, b in zip(loop, other, strict=True))


def test_rows_keep_to_the_cores_that_a_sweep_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARE, "1")
    for vectorise in ("threads", "processes"):
        others = {*threading.enumerate(), *multiprocessing.active_children()}
        env = line(3, vectorise=vectorise)
        workers = {*threading.enumerate(), *multiprocessing.active_children()} - others
        assert len(workers) == 1, vectorise
        env.close()


def test_a_row_does_not_depend_on_its_batch() -> None:
    alone, batch = line(1), line(4)
    seeds = streams.row_seeds(5, 4)
    batch.reset(seeds)
    alone.reset(seeds[2:3])
    for time in range(5):
        actions = 0.2 * streams.uniforms(streams.fork(seeds, time), 1)
        left, right = alone.step(actions[2:3]), batch.step(actions, ~batch_done(batch))
        assert np.array_equal(left.observation[0], right.observation[2])
        if left.done[0]:
            break


def batch_done(env: GymBatch) -> np.ndarray:
    return env._terminated | env._truncated


def test_what_the_agent_sees() -> None:
    env = line()
    assert env.spec.observation_size == 1 + 2 + 2 + 1  # x, one-hot level, bits, time
    assert (env.spec.num_bits, env.spec.step_limit, env.spec.num_moves) == (2, 5, None)
    assert (env.spec.action_low, env.spec.action_high) == ((-1.0,), (1.0,))
    observation = env.reset(streams.row_seeds(0, 2), symbols=np.array([[0, 0], [1, 1]], bool))
    assert sorted(observation[0].tolist()) == sorted([-0.5, 1.0, 0.0, 0.0, 0.0, 1.0])
    assert observation[0, -3:].tolist() == [0.0, 0.0, 1.0]
    assert observation[1, -3:].tolist() == [1.0, 1.0, 1.0]
    step = env.step(np.array([[0.1], [0.1]]))
    assert step.observation[:, -1] == pytest.approx([0.8, 0.8])
    assert step.reward == pytest.approx([-0.8, 3.2])
    assert step.move.tolist() == [-1, -1]


def test_a_skill_ends_by_change_by_the_clock_or_with_the_environment() -> None:
    env = line(3)
    start = np.array([[0, 0], [1, 1], [1, 1]], bool)
    env.reset(streams.row_seeds(0, 3), symbols=start)
    for time in range(5):
        active = ~batch_done(env)
        step = env.step(np.array([[0.15], [0.0], [0.4]]), active)
        if time == 3:
            assert (step.terminated.tolist(), step.truncated.tolist()) == (
                [True, False, False],
                [False, False, True],
            )
    assert (step.terminated.tolist(), step.truncated.tolist()) == (
        [True, False, False],
        [False, True, True],
    )
    assert env.ended.tolist() == [False, False, True]
    observation = env.resume(np.array([0, 1]))
    assert observation[:, -1].tolist() == pytest.approx([1.0, 1.0, 0.2])
    assert env.symbols.tolist() == [[True, False], [True, True], [True, True]]
    with pytest.raises(ValueError, match="row 2: the environment itself has ended"):
        env.resume(np.array([2]))
    with pytest.raises(ValueError, match="row 2 has no running episode"):
        env.step(np.zeros((3, 1)))
    env.reset(streams.row_seeds(1, 1), np.array([2]))
    env.step(np.zeros((3, 1)))


@pytest.mark.parametrize("limit", [1, 5])
def test_a_change_on_the_last_step_is_no_truncation(limit: int) -> None:
    """Whether the clock or the environment itself ends at the same time."""
    env = GymBatch(Line, lambda seen: [seen["x"][0] > 0, seen["x"][0] > 3], 2, step_limit=limit)
    env.reset(streams.row_seeds(0, 2), symbols=np.array([[0, 0], [1, 0]], bool))
    active = np.array([limit == 1, True])
    for _ in range(limit):
        step = env.step(np.array([[1.0], [1.0]]), active)
        active &= ~step.done
    if limit == 1:  # row 0 passes zero on its only step, row 1 changes nothing
        assert step.terminated.tolist() == [True, False]
        assert step.truncated.tolist() == [False, True]
    else:  # row 1 passes 3, where the environment ends
        assert env.ended.tolist() == [False, True]
        assert (step.terminated[1], step.truncated[1]) == (True, False)


def flaky(first: Any, then: Any) -> Callable[[Any], Any]:
    """A phi that answers differently from its third call on."""
    calls = []

    def phi(observation: Any) -> Any:
        calls.append(1)
        return first if len(calls) <= 2 else then

    return phi


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: line(num_bits=3), "phi returned 2 bits; expected 3"),
        (lambda: GymBatch(Line, lambda o: [0, 2], 1, step_limit=5), "must return bits .*not 2"),
        (lambda: GymBatch(Line, lambda o: [0.5], 1, step_limit=5), "must return bits .*not 0.5"),
        (lambda: GymBatch(Line, lambda o: 1, 1, step_limit=5), r"vector of bits.*shape \(\)"),
        (lambda: GymBatch(Line, lambda o: [], 1, step_limit=5), "vector of bits"),
        (lambda: GymBatch(Line, lambda o: ["a"], 1, step_limit=5), "must return bits .*not 'a'"),
        (lambda: GymBatch(Line, intervals, 1), "step_limit is needed"),
        (lambda: GymBatch(Line, intervals, 1, step_limit=0), "step_limit is 0"),
        (lambda: line(num_moves=0), "num_moves is 0; it must be at least 1"),
        (lambda: line(0), "num_envs is 0"),
        (
            lambda: GymBatch(lambda: gymnasium.make("CartPole-v1"), lambda o: o > 0, 1),
            "action space must be a Box",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_once(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("then", "message"),
    [([1], "1 bits; expected 2"), ([1, 7], "not 7"), (np.ones((1, 2)), "shape")],
)
def test_a_phi_that_changes_its_mind_is_caught(then: Any, message: str) -> None:
    env = GymBatch(Line, flaky([0, 1], then), 1, step_limit=5)
    env.reset(streams.row_seeds(0, 1))
    seen = env.symbols
    with pytest.raises(ValueError, match=message):
        env.step(np.zeros((1, 1)))
    assert np.array_equal(env.symbols, seen)
    with pytest.raises(ValueError, match="no running episode"):
        env.step(np.zeros((1, 1)))


def test_an_environment_that_ignores_the_symbol_is_found_out() -> None:
    env = GymBatch(lambda: Line(obeys=False), intervals, 2, step_limit=5)
    with pytest.raises(ValueError, match="must follow reset"):
        env.reset(streams.row_seeds(0, 2), symbols=np.ones((2, 2), bool))


FailingLine = partial(Line, fails="raise")
DyingLine = partial(Line, fails="die")


@pytest.mark.parametrize("vectorise", ["none", "threads", "processes"])
def test_an_environments_own_error_reaches_the_caller(vectorise: Any) -> None:
    env = GymBatch(FailingLine, intervals, 3, step_limit=5, vectorise=vectorise)
    env.reset(streams.row_seeds(0, 3))
    with pytest.raises(SeadsError, match=r"row 0 failed in step: KeyError: .the belt came off"):
        env.step(np.zeros((3, 1)))
    env.reset(streams.row_seeds(0, 3))  # and its neighbours still answer
    env.close()
    assert multiprocessing.active_children() == []


def test_a_dead_worker_is_reported_and_leaves_nothing_behind() -> None:
    env = GymBatch(DyingLine, intervals, 3, step_limit=5, vectorise="processes")
    env.reset(streams.row_seeds(0, 3))
    with pytest.raises(SeadsError, match=r"row 0 died with its worker process \(exit code 3\)"):
        env.step(np.zeros((3, 1)))
    env.close()
    assert multiprocessing.active_children() == []


def test_after_a_death_the_others_answer_what_they_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SHARE, "2")
    seeds, first = streams.row_seeds(0, 2), np.arange(1)
    with closing(line(vectorise="processes")) as env:
        env.reset(seeds)
        assert isinstance(env._rows, ProcessRows)
        doomed = env._rows._workers[1]
        doomed.kill()
        doomed.join()
        with pytest.raises(SeadsError, match=r" row 1 died between two steps .*\(SIGKILL"):
            env.step(np.ones((2, 1)))
        again = env.reset(seeds[first], first)
    assert np.array_equal(again[0], line().reset(seeds)[0])


def make_in_parent_only() -> gymnasium.Env:
    if multiprocessing.parent_process() is not None:
        raise ImportError("no wheels here")
    return Line()


def test_a_worker_that_cannot_start_says_why() -> None:
    with pytest.raises(SeadsError, match="row 0 could not be made: ImportError: no wheels here"):
        GymBatch(make_in_parent_only, intervals, 2, step_limit=5, vectorise="processes")
    assert multiprocessing.active_children() == []


def test_workers_must_be_able_to_import_what_makes_the_environment() -> None:
    with pytest.raises(SeadsError, match=r"can import, not .*<lambda>.*top of a module"):
        GymBatch(lambda: Line(), intervals, 2, step_limit=5, vectorise="processes")
    assert multiprocessing.active_children() == []


def test_workers_find_a_module_where_the_command_was_started(tmp_path: Path) -> None:
    own = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[0]
    (tmp_path / "my_env.py").write_text(own.replace('"threads"', '"processes"'))
    code = "from seads.envs import make_env\nmake_env('my_env:factory', 2).close()"
    # -P: as an installed command, Python does not look in the working directory by itself.
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_code_in_the_documentation_works(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)
    own, builtin = blocks
    assert len([row for row in own.splitlines() if row.strip()]) <= 20
    (tmp_path / "my_env.py").write_text(own)
    checking = ["-m", "seads.cli", "check", "my_env:factory", "--seconds", "0.1"]
    for arguments in (checking, ["-c", builtin]):
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 0, done.stderr
        if arguments is checking:
            assert "verdict: ready\nnext: seads train my_env:factory\n" in done.stdout


def test_wrap_is_the_same_door() -> None:
    assert importlib.import_module("seads.envs").wrap is GymBatch
