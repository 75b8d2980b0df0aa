"""What an environment cannot do is refused in a sentence, and nothing has changed then."""

from __future__ import annotations

import numpy as np
import pytest
from tests.envs.rollouts import actions_at, idle, make

from seads import streams
from seads.envs import EmbeddedEnv


def actions(env: EmbeddedEnv, **changes: float) -> np.ndarray:
    good = idle(env)
    for where, value in changes.items():
        row, column = (int(part) for part in where.strip("a").split("_"))
        good[row, column] = value
    return good


BAD = {
    "one row too few": (lambda e: e.step(idle(e)[:-1]), "actions have shape"),
    "one action too many": (lambda e: e.step(np.zeros((4, 99))), "actions have shape"),
    "a flat action": (lambda e: e.step(idle(e)[0]), "actions have shape"),
    "words": (lambda e: e.step(idle(e).astype(str)), "real numbers"),
    "complex": (lambda e: e.step(idle(e).astype(complex)), "real numbers"),
    "not a number": (lambda e: e.step(actions(e, a2_1=np.nan)), r"row 2: action\[1\] is nan"),
    "infinite": (lambda e: e.step(actions(e, a2_0=np.inf)), r"row 2: action\[0\] is inf"),
    "too large": (lambda e: e.step(actions(e, a1_2=1.01)), r"row 1: action\[2\] is 1.01"),
    "too small": (lambda e: e.step(actions(e, a1_2=-1.01)), r"row 1: action\[2\] is -1.01"),
    "active too short": (lambda e: e.step(idle(e), np.ones(3, bool)), "active is bool"),
    "active as numbers": (lambda e: e.step(idle(e), np.ones(4, int)), "active is int64"),
    "a finished row": (lambda e: e.step(idle(e)), "row 3 has no running episode"),
    "a finished row made active": (
        lambda e: e.step(idle(e), np.array([False, False, False, True])),
        "row 3 has no running episode",
    ),
    "too few seeds": (lambda e: e.reset(streams.row_seeds(0, 3)), "seeds have shape"),
    "a negative seed": (lambda e: e.reset(np.array([-1, 0, 0, 0])), "seeds must be integers"),
    "seeds as floats": (lambda e: e.reset(np.zeros(4)), "seeds must be integers"),
    "a row too high": (
        lambda e: e.reset(streams.row_seeds(0, 1), np.array([4])),
        r"row 4 is not in 0\.\.3",
    ),
    "a row below zero": (lambda e: e.resume(np.array([-1])), r"row -1 is not in 0\.\.3"),
    "a row twice": (lambda e: e.resume(np.array([1, 1])), "twice"),
    "rows as a mask": (lambda e: e.resume(np.ones(4, bool)), "row numbers"),
    "symbols too short": (
        lambda e: e.reset(streams.row_seeds(0, 4), symbols=np.zeros((4, 3), bool)),
        "symbols have shape",
    ),
    "symbols that are no bits": (
        lambda e: e.reset(streams.row_seeds(0, 4), symbols=np.full((4, e.spec.num_bits), 2)),
        "symbols must be bits",
    ),
}


@pytest.mark.parametrize("name", ["lightsout-cursor", "tileswap-reacher"])
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_and_changes_nothing(name: str, case: str) -> None:
    request, message = BAD[case]
    env, twin = make(name, 4), make(name, 4)
    seeds = streams.row_seeds(6, 4)
    for each in (env, twin):
        each.reset(seeds)
    if "finished" in case:
        last = np.array([False, False, False, True])
        for _ in range(env.spec.step_limit):
            env.step(idle(env), last)
            twin.step(idle(twin), last)
    with pytest.raises(ValueError, match=message):
        request(env)
    if "finished" in case:
        env.resume(np.array([3]))
        twin.resume(np.array([3]))
    for time in range(3):
        move = actions_at(env, seeds, time)
        left, right = env.step(move), twin.step(move)
        assert np.array_equal(left.observation, right.observation)
        ended = np.flatnonzero(left.done)
        assert np.array_equal(env.resume(ended), twin.resume(ended))
    env.close()
    twin.close()


@pytest.mark.parametrize("name", ["tileswap-cursor", "tileswap-reacher", "tileswap-jaco"])
def test_symbols_that_describe_no_board_are_refused(name: str) -> None:
    env = make(name, 2)
    with pytest.raises(ValueError, match=r"board|chip"):
        env.reset(streams.row_seeds(0, 2), symbols=np.zeros((2, env.spec.num_bits), bool))
    env.close()


def test_inactive_rows_may_hold_anything() -> None:
    env = make("lightsout-cursor", 2)
    env.reset(streams.row_seeds(0, 2))
    step = env.step(actions(env, a1_0=np.nan), np.array([True, False]))
    assert step.observation[1, -1] == 1.0


def test_rounding_beyond_a_bound_is_forgiven() -> None:
    env = make("lightsout-cursor", 1)
    env.reset(streams.row_seeds(0, 1))
    env.step(np.array([[np.float32(0.2), -np.float32(0.2), 1.0]], np.float32))


def test_a_row_needs_a_reset_first() -> None:
    env = make("lightsout-cursor", 2)
    with pytest.raises(ValueError, match="row 0 has no episode"):
        env.resume()
    with pytest.raises(ValueError, match="row 0 has no running episode"):
        env.step(idle(env))


def test_a_board_that_is_no_task_is_refused() -> None:
    env = make("lightsout-cursor", 1, mode="task")
    seed = streams.row_seeds(0, 1)
    with pytest.raises(ValueError, match="solved already"):
        env.reset(seed, symbols=env.game.to_bits(env.game.goal[None]))
    corner = np.zeros((1, 25), bool)
    corner[0, 0] = True
    with pytest.raises(ValueError, match="has no solution"):
        env.reset(seed, symbols=corner)
