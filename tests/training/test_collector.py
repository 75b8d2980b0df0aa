"""Collecting episodes: a pure function of policy, seed and epoch, with the noise asked for."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from tests.own_point import POINT

from seads.agent.buffer import Episodes
from seads.agent.networks import make_policy
from seads.agent.rollout import act
from seads.envs import ENVIRONMENTS, make_env, wrap
from seads.envs.interface import IN_A_ROW, BatchedEnv
from seads.training.collector import collect, correlated_noise
from seads.training.config import TrainConfig

Make = Callable[..., TrainConfig]
POLICY = make_policy(28 + 25, 3, (8,), jax.random.key(0))
NAMES = [field.name for field in dataclasses.fields(Episodes)]


@pytest.fixture
def env() -> Iterator[BatchedEnv]:
    with closing(make_env("lightsout-cursor", 64)) as made:
        yield made


def test_a_pure_function_of_policy_seed_and_epoch(env: BatchedEnv, tiny_run: Make) -> None:
    settings = tiny_run().settings
    first = collect(env, POLICY, settings, 25, seed=3, epoch=5)
    collect(env, POLICY, settings, 25, seed=3, epoch=6)  # what came before must not matter
    again = collect(make_env("lightsout-cursor", 64), POLICY, settings, 25, seed=3, epoch=5)
    for name in NAMES:
        assert (getattr(first, name) == getattr(again, name)).all()
    for seed, epoch in ((3, 6), (4, 5)):
        other = collect(env, POLICY, settings, 25, seed=seed, epoch=epoch)
        assert (other.skills != first.skills).any()
        assert (other.before != first.before).any()
        assert (other.observations != first.observations).any()


def test_episodes_are_what_happened(env: BatchedEnv, tiny_run: Make) -> None:
    episodes = collect(env, POLICY, tiny_run(noisy_episodes=1.0).settings, 25, seed=0, epoch=0)
    assert len(episodes) == 64
    assert len(set(episodes.skills.tolist())) > 10
    assert (episodes.changed == (episodes.moves >= 0)).all()
    assert episodes.changed.any()
    assert (episodes.lengths[~episodes.changed] == 10).all()
    assert ((episodes.lengths >= 1) & (episodes.lengths <= 10)).all()
    assert np.abs(episodes.actions).max() <= 1
    for row, length in enumerate(episodes.lengths):
        start, end = episodes.observations[row, 0], episodes.observations[row, length]
        assert (start[2:27] == episodes.before[row]).all()
        assert (end[2:27] == episodes.after[row]).all()
        # scaled to [-1, 1], the cursor moves by at most 0.2 of a board one wide
        moved = episodes.observations[row, 1, :2] - start[:2]
        expected = np.clip(start[:2] + 0.4 * episodes.actions[row, 0, :2], -1, 1) - start[:2]
        np.testing.assert_allclose(moved, expected, atol=1e-5)


def test_noise_only_where_it_was_asked_for(env: BatchedEnv, tiny_run: Make) -> None:
    runs = {
        share: collect(env, POLICY, tiny_run(noisy_episodes=share).settings, 25, seed=1, epoch=2)
        for share in (0.0, 0.5, 1.0)
    }
    quiet = runs[0.0]
    onehot = np.eye(25, dtype=np.float32)[quiet.skills]
    rng = np.random.default_rng([1, 2, 2])
    noise = rng.standard_normal((10, 64, 3), np.float32)
    plain = np.asarray(act(POLICY, quiet.observations[:, 0], onehot, noise[0]))
    np.testing.assert_allclose(quiet.actions[:, 0], plain, atol=1e-6)
    differs = {
        share: (np.abs(run.actions[:, 0] - plain) > 1e-5).any(1) for share, run in runs.items()
    }
    assert differs[1.0].all()
    assert 15 < differs[0.5].sum() < 49
    for share, run in runs.items():
        assert (run.disturbed == differs[share]).all()
        assert (run.skills == quiet.skills).all()
        assert (run.before == quiet.before).all()


def test_correlated_noise() -> None:
    noise = correlated_noise(np.random.default_rng(0), (50, 2000, 1), 0.5, 0.8)
    assert noise.dtype == np.float32
    np.testing.assert_allclose(noise.std((1, 2)), 0.5, rtol=0.06)
    pairs = np.corrcoef(noise[:-1].ravel(), noise[1:].ravel())[0, 1]
    assert pairs == pytest.approx(0.8, abs=0.01)


class Ending(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Ends by itself at a line's left end."""

    def step(self, action: Any) -> Any:
        x, reward, _, truncated, info = self.env.step(action)
        return x, reward, bool(x[0] <= -0.9), truncated, info


@pytest.fixture
def point(own_module: Callable[[str, str], Path]) -> Callable[..., BatchedEnv]:
    """Makes rows of a point on a line, which may end an episode at the line's left end."""
    own_module("own_point", POINT)
    own = importlib.import_module("own_point")

    def make(rows: int, ends: bool = False) -> BatchedEnv:
        make_one = (lambda: Ending(own.Point())) if ends else own.Point
        return wrap(make_one, own.phi, rows, step_limit=5, num_moves=3)

    return make


def seen_first_and_last(episodes: Episodes) -> tuple[np.ndarray, np.ndarray]:
    """Where the point was, at the beginning and at the end of every episode."""
    x = episodes.observations[:, :, 0]
    return x[:, 0], x[np.arange(len(x)), episodes.lengths]


def test_skills_of_ones_own_environment_follow_each_other(
    point: Callable[..., BatchedEnv], tiny_run: Make
) -> None:
    settings = tiny_run(episodes_per_epoch=24, recent_episodes=24).settings
    policy = make_policy(4 + 3, 1, (8,), jax.random.key(0))
    with closing(point(4)) as env, closing(point(4)) as anew:
        chained = collect(env, policy, settings, 3, seed=1, epoch=2, chained=True)
        # what came before must not matter, as after resuming a run
        collect(env, policy, settings, 3, seed=1, epoch=3, chained=True)
        again = collect(env, policy, settings, 3, seed=1, epoch=2, chained=True)
        resets = collect(anew, policy, settings, 3, seed=1, epoch=2)
    for name in NAMES:
        assert (getattr(chained, name) == getattr(again, name)).all()
    first, last = seen_first_and_last(chained)
    fresh, _ = seen_first_and_last(resets)
    assert len(first) == 24, "six rounds of four rows"
    from_reset = np.isin(np.arange(24) // 4 % IN_A_ROW, 0)
    assert from_reset.sum() == 8
    np.testing.assert_array_equal(first[from_reset], fresh[from_reset])
    goes_on = np.flatnonzero(~from_reset)
    np.testing.assert_array_equal(first[goes_on], last[goes_on - 4])
    assert not (first[goes_on] == fresh[goes_on]).any()
    assert (chained.before[goes_on] == chained.after[goes_on - 4]).all()
    assert (chained.observations[:, 0, -1] == 1).all(), "each has its whole time"


def test_a_row_that_ended_by_itself_starts_anew(
    point: Callable[..., BatchedEnv], tiny_run: Make
) -> None:
    settings = tiny_run(
        episodes_per_epoch=64, recent_episodes=64, buffer_episodes=64, noisy_episodes=1.0
    ).settings
    policy = make_policy(4 + 3, 1, (8,), jax.random.key(0))
    with closing(point(16, ends=True)) as env, closing(point(16)) as anew:
        ends = collect(env, policy, settings, 3, seed=1, epoch=2, chained=True)
        first, last = seen_first_and_last(ends)
        fresh, _ = seen_first_and_last(collect(anew, policy, settings, 3, seed=1, epoch=2))
    ended = last[:-16] <= -0.9
    assert 0 < ended.sum() < 40
    np.testing.assert_array_equal(first[16:], np.where(ended, fresh[16:], last[:-16]))


# the arm takes long to build, and is made as the others are
@pytest.mark.parametrize("name", [n for n, e in ENVIRONMENTS.items() if e.manipulator != "jaco"])
def test_the_papers_environments_start_as_the_paper_says(name: str) -> None:
    """On boards of the training split: a skill leads to boards of the other, too."""
    with closing(make_env(name, 1)) as env:
        assert not env.spec.chained


def test_rows_go_round_until_there_is_an_episode_for_each_skill(tiny_run: Make) -> None:
    env = make_env("lightsout-cursor", 8)
    episodes = collect(env, POLICY, tiny_run().settings, 25, seed=0, epoch=0)
    assert len(episodes) == 32
    whole = collect(make_env("lightsout-cursor", 32), POLICY, tiny_run().settings, 25, 0, 0)
    np.testing.assert_array_equal(episodes.before, whole.before)
