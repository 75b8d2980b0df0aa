"""Small problems with known answers: a chain's values, and a board of two moves for HAC."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seads.agent import sac
from seads.agent.networks import make_critics, make_policy
from seads.baselines.flat_replay import FlatReplay
from seads.baselines.hierarchical_episodes import Horizons, play
from seads.baselines.hindsight_replay import HighReplay, LowReplay
from seads.baselines.learner import batches_of, initial_hierarchy, learn
from seads.baselines.settings import HACSettings
from seads.envs.interface import EnvSpec, Step
from seads.streams import row_seeds, uniforms

CHAIN = EnvSpec("chain", 1 + 0 + 1, (-1.0,), (1.0,), 0, 2, None)


def test_values_of_a_two_step_chain() -> None:
    """Step one brings nothing, step two brings 1 and ends: Q = gamma, then 1, for any action."""
    gamma = 0.5
    replay = FlatReplay(CHAIN, 400, 1)
    rng = np.random.default_rng(0)
    for t in range(401):
        second = t % 2 == 1
        replay.append(
            np.array([[float(second), 1.0]], np.float32),
            rng.uniform(-1, 1, (1, 1)).astype(np.float32),
            np.array([float(second)], np.float32),
            np.array([second]),
        )
    k_policy, k_critics, key = jax.random.split(jax.random.key(0), 3)
    policy = make_policy(2, 1, (16,), k_policy)
    state = sac.make_state(policy, make_critics(2, 1, (16,), k_critics))
    batches = batches_of(replay.sample(600 * 32, gamma, rng), 600)
    state, _ = learn(state, batches, key, jnp.float32(5e-3), 0.0, 0.1)
    states = jnp.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    values = state.critics(states, jnp.array([[-0.8], [0.8], [-0.8], [0.8]]))
    np.testing.assert_allclose(values, np.tile([gamma, gamma, 1, 1], (2, 1)), atol=0.05)


class TwoSwitches:
    """A board of two bits; an action near -1 flips the first, near 1 the second; solved: 11.

    Starts at 00, so it takes two moves. In between an action does nothing.
    """

    spec = EnvSpec("two-switches", 1 + 2 + 1, (-1.0,), (1.0,), 2, 4, 2)

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs

    def reset(self, seeds: np.ndarray, rows: Any = None, symbols: Any = None) -> np.ndarray:
        self._bits = np.zeros((self.num_envs, 2), bool)
        self._body = uniforms(seeds, 1)
        self._clock = np.zeros(self.num_envs, np.int64)
        self._done = np.zeros(self.num_envs, bool)
        return self._observe()

    def step(self, actions: np.ndarray, active: np.ndarray) -> Step:
        assert not (active & self._done).any()
        self._bits[:, 0] ^= active & (actions[:, 0] < -0.6)
        self._bits[:, 1] ^= active & (actions[:, 0] > 0.6)
        self._clock += active
        solved = self._bits.all(1)
        late = (self._clock >= 8) & ~solved
        self._done = solved | late
        nothing = np.zeros(self.num_envs)
        return Step(
            self._observe(),
            self._bits.copy(),
            solved,
            late,
            solved.astype(np.float32),
            nothing.astype(np.int64),
        )

    @property
    def symbols(self) -> np.ndarray:
        return self._bits.copy()

    def _observe(self) -> np.ndarray:
        time = 1 - self._clock[:, None] / 8
        return np.concatenate([self._body, self._bits, time], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def solved_switches() -> tuple[Any, ...]:
    """Both levels after learning on the two switches, and their replays."""
    env: Any = TwoSwitches(32)
    goal = np.array([True, True])
    settings = HACSettings(
        hidden=(32, 32), horizon_low=2, horizon_high=3, alpha_low=0.05, alpha_high=0.001
    )
    horizons = Horizons(settings.horizon_low, settings.horizon_high)
    state: Any = initial_hierarchy(env.spec, settings, 0)
    low, high = LowReplay(env.spec, 20_000), HighReplay(env.spec, 20_000, goal, 3)
    rng = np.random.default_rng(0)
    for epoch in range(40):
        start = env.reset(row_seeds(0, 32, epoch))
        episodes = play(env, start, state.low.policy, state.high.policy, goal, horizons, rng, 0.3)
        low.append(episodes)
        high.append(episodes)
        levels = {}
        for name, replay, alpha in (
            ("low", low, settings.alpha_low),
            ("high", high, settings.alpha_high),
        ):
            batches = batches_of(replay.sample(20 * 64, 0.99, 3, rng), 20)
            key = jax.random.fold_in(jax.random.key(name == "low"), epoch)
            levels[name], _ = learn(
                getattr(state, name), batches, key, jnp.float32(3e-3), alpha, 0.05
            )
        state = type(state)(**levels)
    return env, state, goal, horizons


def test_hac_solves_a_board_of_two_moves(solved_switches: tuple[Any, ...]) -> None:
    env, state, goal, horizons = solved_switches
    start = env.reset(row_seeds(1, 32))
    episodes = play(env, start, state.low.policy, state.high.policy, goal, horizons)
    assert episodes.solved.mean() >= 0.9
    assert episodes.lengths[episodes.solved].max() <= 6


def test_high_level_values_count_the_subgoals_left(solved_switches: tuple[Any, ...]) -> None:
    _, state, _, _ = solved_switches
    ask = np.array([[0.5, 1, 0, 1, 1], [0.5, 0, 0, 1, 1]], np.float32)  # body, board, goal
    good = state.high.critics(ask, np.array([[1, 1], [1, 1]], np.float32)).min(0)
    # from either board the solved one is one subgoal away: reward 0 and no more
    assert float(good.min()) > -0.5
    idle = state.high.critics(ask, np.array([[1, 0], [0, 0]], np.float32)).min(0)
    # a subgoal that is the board itself costs one and changes nothing
    np.testing.assert_allclose(idle, -1, atol=0.5)


def test_episodes_of_two_levels_are_consistent(solved_switches: tuple[Any, ...]) -> None:
    env, _, goal, horizons = solved_switches
    start = env.reset(row_seeds(2, 32))
    rng = np.random.default_rng(3)
    fresh: Any = initial_hierarchy(
        env.spec, HACSettings(hidden=(8,), horizon_low=2, horizon_high=3), 1
    )
    episodes = play(env, start, fresh.low.policy, fresh.high.policy, goal, horizons, rng, 0.5)
    rows, steps = episodes.begins.shape
    assert steps == episodes.lengths.max()
    assert episodes.begins[:, 0].all()
    for row in range(rows):
        length = episodes.lengths[row]
        starts = np.flatnonzero(episodes.begins[row])
        assert starts.max() < length
        assert len(starts) <= horizons.high
        for first, end in zip(starts, [*starts[1:], length], strict=True):
            assert 1 <= end - first <= horizons.low
            subgoal = episodes.subgoals[row, first]
            assert (episodes.subgoals[row, first:end] == subgoal).all()
            reached = (episodes.symbols[row, first + 1 : end + 1] == subgoal).all(1)
            assert not reached[:-1].any()  # an attempt ends when its subgoal is reached
            full = end - first == horizons.low
            assert reached[-1] or full or end == length
            assert not episodes.missed[row, first] or (full and not reached[-1])
        assert not episodes.missed[row][~episodes.begins[row]].any()
    assert episodes.missed.any()
