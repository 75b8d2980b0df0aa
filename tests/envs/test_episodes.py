"""Series of episodes: drawn ahead in blocks, and yet a function of each row's seed alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.envs.rollouts import actions_at, make

from seads import streams
from seads.envs import EmbeddedEnv
from seads.envs.episodes import AHEAD
from seads.errors import SeadsError

MANY = 2 * AHEAD + 3  # episodes, so that a row begins its third block
NAMES = ["lightsout-cursor", "tileswap-reacher", "lightsout-cursor-7x7", "lightsout-jaco"]


def everything(env: EmbeddedEnv) -> list[np.ndarray]:
    """What tells one start from another."""
    return [env.boards, env.depths_drawn, env.manipulator.observe(slice(None))]


@pytest.mark.parametrize("name", NAMES)
def test_the_nth_episode_has_the_seed_that_root_and_n_give(name: str) -> None:
    series, seeded = make(name, 2), make(name, 2)
    roots = streams.row_seeds(11, 2)
    series.start_series(roots)
    for episode in range(MANY if "jaco" not in name else AHEAD + 1):
        left, right = series.reset(), seeded.reset(streams.fork(roots, episode))
        assert np.array_equal(left, right), episode
        for mine, other in zip(everything(series), everything(seeded), strict=True):
            assert np.array_equal(mine, other), episode
    # What the body does after a move is drawn from the episode's seed, too.
    assert np.array_equal(series._seeds, seeded._seeds)
    series.close()
    seeded.close()


def test_a_row_does_not_see_how_often_others_are_reset() -> None:
    alone, among = make("lightsout-reacher", 1), make("lightsout-reacher", 4)
    roots = streams.row_seeds(12, 4)
    alone.start_series(roots[2:3])
    among.start_series(roots)
    among.reset()
    alone.reset()
    rng = np.random.default_rng(0)
    for _ in range(MANY):
        others = np.flatnonzero(rng.random(4) < 0.6)
        among.reset(rows=others[others != 2][::-1])
        assert np.array_equal(alone.reset(), among.reset(rows=np.array([2]))[2:3])
    alone.close()
    among.close()


def test_a_new_root_restarts_its_row_alone() -> None:
    env = make("lightsout-cursor", 3)
    roots = streams.row_seeds(13, 3)
    env.start_series(roots)
    first, second = env.reset(), env.reset()
    env.start_series(roots[1:2], np.array([1]))
    again = env.reset()
    assert np.array_equal(again[1], first[1])
    env.start_series(roots)
    env.reset()
    assert np.array_equal(env.reset(), second)
    assert not np.array_equal(again[0], first[0])
    assert not np.array_equal(again[0], second[0])


def test_a_reset_with_seeds_or_boards_keeps_the_series_in_step() -> None:
    env, twin = make("tileswap-cursor", 2), make("tileswap-cursor", 2)
    for each in (env, twin):
        each.start_series(streams.row_seeds(14, 2))
        each.reset()
    env.reset(streams.row_seeds(15, 2))
    # A board that is given takes the place of the drawn one; the pose is the episode's.
    goal = env.game.to_bits(np.tile(env.game.goal, (2, 1)))
    given, drawn = env.reset(symbols=goal), twin.reset()
    assert np.array_equal(given[:, :2], drawn[:, :2])
    assert np.array_equal(env.symbols, goal)
    assert np.array_equal(env.reset(), twin.reset())


def test_a_refused_reset_uses_up_no_episode() -> None:
    env, twin = make("tileswap-cursor", 2, mode="task"), make("tileswap-cursor", 2, mode="task")
    for each in (env, twin):
        each.start_series(streams.row_seeds(16, 2))
    with pytest.raises(SeadsError, match="solved already"):
        env.reset(symbols=env.game.to_bits(np.tile(env.game.goal, (2, 1))))
    assert np.array_equal(env.reset(), twin.reset())


def test_a_row_without_a_series_needs_seeds() -> None:
    env = make("lightsout-cursor", 3)
    env.start_series(streams.row_seeds(0, 1), np.array([1]))
    env.reset(rows=np.array([1]))
    for _ in range(2):
        with pytest.raises(SeadsError, match="row 2 has no series of episodes"):
            env.reset(rows=np.array([1, 2]))
    assert env.reset(rows=np.zeros(0, int)).shape == (3, 28)
    with pytest.raises(ValueError, match="row 3 is not in"):
        env.start_series(streams.row_seeds(0, 1), np.array([3]))


def test_episodes_of_a_series_differ() -> None:
    env = make("lightsout-cursor", 8)
    env.start_series(streams.row_seeds(17, 8))
    starts = np.concatenate([env.reset()[:, :2] for _ in range(MANY)])
    assert len(np.unique(starts, axis=0)) == 8 * MANY
    step = env.step(actions_at(env, streams.row_seeds(17, 8), 0))
    assert step.observation.shape == (8, 28)
