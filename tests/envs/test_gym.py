"""The environments through Gymnasium's own doors."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from tests.envs.rollouts import make

import seads.envs
from seads import streams
from seads.envs import ENVIRONMENTS, EmbeddedEnv
from seads.envs.registry import gym_id
from seads.envs.to_gymnasium import AHEAD

NAMES = list(ENVIRONMENTS)
MAIN = [name for name in NAMES if name.count("-") == 1]
FORGIVEN = ("Box observation space m",)  # a body's velocities have no bound


@pytest.mark.parametrize(
    ("name", "mode"), [(name, "skill") for name in NAMES] + [(name, "task") for name in MAIN]
)
def test_gymnasium_finds_nothing_wrong(name: str, mode: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        env = gymnasium.make(gym_id(name), mode=mode)
        # Pictures take long with an arm: once is enough.
        check_env(env.unwrapped, skip_render_check="jaco" in name and mode == "skill")
        env.close()
    complaints = [str(w.message) for w in said if "WARN" in str(w.message)]
    assert [c for c in complaints if not any(f in c for f in FORGIVEN)] == []


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium\ngymnasium.make('seads.envs:seads/LightsOutCursor-v0')",
        "import gymnasium, seads.envs\ngymnasium.make_vec('seads/TileSwapCursor-v0', num_envs=2)",
        "import seads.envs\nfrom gymnasium import make\nmake('seads/TileSwapCursor-v0')",
    ],
)
def test_ids_are_known_in_a_fresh_python(code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_registering_twice_is_harmless() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seads.envs.register()


def assert_same(ours: Any, theirs: Any, where: str = "") -> None:
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}/{key}")
    elif isinstance(theirs, tuple) or (isinstance(theirs, np.ndarray) and theirs.dtype == object):
        for i, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(left, right, f"{where}[{i}]")
    else:
        assert np.array_equal(ours, theirs), where
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype, where


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("lightsout-cursor", "skill"),
        ("lightsout-cursor", "task"),
        ("tileswap-reacher", "skill"),
        ("tileswap-reacher", "task"),
        ("lightsout-jaco", "skill"),
    ],
)
def test_the_vector_env_equals_gymnasiums_own_loop_over_single_envs(name: str, mode: str) -> None:
    single = lambda: gymnasium.make(gym_id(name), mode=mode, disable_env_checker=True)  # noqa: E731
    theirs = SyncVectorEnv([single] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = gymnasium.make_vec(gym_id(name), num_envs=3, mode=mode)
    assert ours.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    ours.action_space.seed(1)
    endings = 0
    for _ in range(55):
        actions = ours.action_space.sample()
        left, right = ours.step(actions), theirs.step(actions)
        assert_same(left, right)
        endings += int((left[2] | left[3]).sum())
    assert endings > 0 or mode == "task"
    assert_same(ours.reset(seed=[1, 2, None]), theirs.reset(seed=[1, 2, None]))
    ours.close()
    theirs.close()


MANY = 2 * AHEAD + 3  # episodes, so that a row begins its third block


def first_body(env: Any, **request: Any) -> np.ndarray:
    """What tells one start from another, of row 0: the pose and the board."""
    return env.reset(**request)[0][0]


@pytest.mark.parametrize(
    "name", ["lightsout-cursor", "tileswap-reacher", "lightsout-cursor-7x7", "lightsout-jaco"]
)
def test_the_nth_episode_has_the_seed_that_root_and_n_give(name: str) -> None:
    env, seeded = gymnasium.make_vec(gym_id(name), num_envs=2), make(name, 2)
    roots = np.array([11, 12], np.uint64)
    for episode in range(MANY if "jaco" not in name else AHEAD + 1):
        left, _ = env.reset(seed=11 if episode == 0 else None)
        assert np.array_equal(left, seeded.reset(streams.fork(roots, episode))), episode
        batch: EmbeddedEnv = env.unwrapped.batch  # type: ignore[attr-defined]
        # What the manipulator does after a move is drawn from the episode's seed, too.
        assert np.array_equal(batch._seeds, seeded._seeds)
    env.close()
    seeded.close()


def test_a_row_does_not_see_how_often_others_are_reset() -> None:
    alone = gymnasium.make_vec(gym_id("lightsout-reacher"), num_envs=1, autoreset="disabled")
    among = gymnasium.make_vec(gym_id("lightsout-reacher"), num_envs=4, autoreset="disabled")
    alone.reset(seed=[7])
    among.reset(seed=[1, 2, 7, 3])
    rng = np.random.default_rng(0)
    for _ in range(MANY):
        others = rng.random(4) < 0.6
        others[2] = False
        among.reset(options={"reset_mask": others})
        row = among.reset(options={"reset_mask": np.arange(4) == 2})[0][2]
        assert np.array_equal(first_body(alone), row)
    alone.close()
    among.close()


def test_a_seed_begins_its_rows_series_anew_and_no_other() -> None:
    env = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    twin = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    first, _ = env.reset(seed=[5, 6])
    twin.reset(seed=[5, 6])
    env.reset()
    twin.reset()
    again, _ = env.reset(seed=[5, None])
    third, _ = twin.reset()
    assert np.array_equal(again[0], first[0])
    assert np.array_equal(again[1], third[1])
    starts = np.array([env.reset()[0][:, :2] for _ in range(MANY)])
    assert len(np.unique(starts.reshape(-1, 2), axis=0)) == 2 * MANY, "episodes differ"


def test_seeds_may_be_numpys() -> None:
    env = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    twin = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    pairs: list[tuple[Any, Any]] = [
        ([5, 6], np.array([5, 6])),
        ([5, None], [np.int64(5), None]),
        (5, np.int64(5)),
        ([2**64 - 1, 0], np.array([2**64 - 1, 0], np.uint64)),
    ]
    for plain, numpys in pairs:
        assert_same(env.reset(seed=numpys), twin.reset(seed=plain))
    env.close()
    twin.close()


def test_a_board_that_is_given_leaves_the_series_in_step() -> None:
    env = gymnasium.make(gym_id("tileswap-cursor"), mode="task", disable_env_checker=True)
    twin = gymnasium.make(gym_id("tileswap-cursor"), mode="task", disable_env_checker=True)
    game = env.unwrapped.batch.game  # type: ignore[attr-defined]
    goal = game.to_bits(game.goal[None])[0]
    swapped = game.to_bits(game.play(game.goal[None], np.array([3])))[0]
    env.reset(seed=3)
    twin.reset(seed=3)
    with pytest.raises(ValueError, match="solved already"):  # and it uses up no episode
        env.reset(options={"symbol": goal})
    given, info = env.reset(options={"symbol": swapped})
    assert np.array_equal(given[:2], twin.reset()[0][:2]), "the pose is the episode's"
    assert np.array_equal(info["symbol"], swapped)
    assert np.array_equal(env.reset()[0], twin.reset()[0])


def test_where_skills_go_on_a_board_that_is_given_starts_the_first() -> None:
    env = gymnasium.make_vec(gym_id("lightsout-robot"), num_envs=2)
    game = env.unwrapped.batch.game  # type: ignore[attr-defined]
    pressed = game.to_bits(game.play(game.goal[None], np.array([3])))[0]
    first, info = env.reset(seed=0, options={"symbol": pressed})
    assert (info["symbol"] == pressed).all()
    assert_same(env.reset(), (first, info))
    raised = np.tile(np.float32([0.1, 0.1, -1]), (2, 1))
    for _ in range(env.unwrapped.batch.spec.step_limit):  # type: ignore[attr-defined]
        observation, _, _, truncated, info = env.step(raised)
    assert truncated.all()
    for goes_on, last in zip(observation, info["final_obs"], strict=True):
        assert np.array_equal(goes_on[:-1], last[:-1])
    env.close()


def test_no_rows_can_be_reset() -> None:
    env = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    twin = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    env.reset(options={"reset_mask": np.zeros(2, bool)})
    assert_same(env.reset(seed=1), twin.reset(seed=1))
    env.close()
    twin.close()


def test_without_a_seed_rows_and_runs_differ() -> None:
    envs = [gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=4) for _ in range(2)]
    starts = np.concatenate([env.reset()[0][:, :2] for env in envs])
    assert len(np.unique(starts, axis=0)) == 8


def test_a_vector_env_draws_every_row() -> None:
    env = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2, render_mode="rgb_array")
    env.reset(seed=0)
    frames: Any = env.render()
    assert [(frame.dtype, frame.ndim, frame.shape[2]) for frame in frames] == [(np.uint8, 3, 3)] * 2
    assert not np.array_equal(*frames)
    env.close()


def test_without_autoreset_the_caller_resets_by_mask() -> None:
    env = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=3, autoreset="disabled")
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    env.reset(seed=0)
    still = np.tile(np.float32([0, 0, -1]), (3, 1))
    for _ in range(10):
        observation, _, _, truncated, info = env.step(still)
    assert truncated.all()
    assert "final_obs" not in info
    with pytest.raises(ValueError, match="row 0 has no running episode"):
        env.step(still)
    mask = np.array([True, False, True])
    fresh, info = env.reset(options={"reset_mask": mask})
    assert info["_symbol"].tolist() == mask.tolist()
    assert fresh[:, -1].tolist() == [1.0, 0.0, 1.0]
    assert np.array_equal(fresh[1], observation[1])
    resumed, _ = env.reset(options={"reset_mask": ~mask, "resume": True})
    assert np.array_equal(resumed[1, :-1], observation[1, :-1])
    assert resumed[1, -1] == 1.0
    env.step(still)
    env.close()


@pytest.mark.parametrize("name", ["lightsout-cursor", "tileswap-cursor"])
def test_info_tells_symbol_and_move_and_a_symbol_can_be_set(name: str) -> None:
    env = gymnasium.make(gym_id(name), mode="task", disable_env_checker=True)
    game = env.unwrapped.batch.game  # type: ignore[attr-defined]
    start = game.to_bits(game.play(game.goal[None], np.array([3])))[0]
    observation, info = env.reset(seed=0, options={"symbol": start})
    assert np.array_equal(info["symbol"], start)
    x, y = game.point_of(3)
    while True:
        here = (observation[:2] + 1) / 2
        delta = np.clip(np.array([x, y]) - here, -0.2, 0.2)
        arrived = np.abs(np.array([x, y]) - here).max() < 0.2
        action = np.float32([*delta, 1.0 if arrived else -1.0])
        observation, reward, terminated, truncated, info = env.step(action)
        if arrived:
            break
        assert "move" not in info
        assert reward == 0
    assert info["move"] == 3
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert np.array_equal(info["symbol"], game.to_bits(game.goal[None])[0])
    env.close()


def test_the_next_skill_can_follow_by_an_option() -> None:
    env = gymnasium.make(gym_id("lightsout-cursor"), disable_env_checker=True)
    env.reset(seed=3)
    for _ in range(10):
        last, *_ = env.step(np.float32([0.1, 0.1, -1]))
    observation, _ = env.reset(options={"resume": True})
    assert np.array_equal(observation[:-1], last[:-1])
    assert observation[-1] == 1.0
    env.close()


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (lambda e: e.reset(options={"colour": 1}), "unknown reset option 'colour'"),
        (lambda e: e.reset(seed=[1]), "1 seeds were given for 2"),
        (lambda e: e.reset(seed=[-1, 2]), "seed -1 is not allowed; choose a whole number"),
        (lambda e: e.reset(seed=-1), "seed -1 is not allowed"),
        (lambda e: e.reset(seed=np.array([0.5, 1.5])), r"seed .*0.5.* is not allowed"),
        (lambda e: e.reset(seed=1, options={"resume": True}), "give no seed or symbol"),
        (lambda e: e.reset(options={"resume": True, "symbol": [0] * 25}), "no seed or symbol"),
        (lambda e: e.reset(options={"reset_mask": np.array([1, 0])}), "reset_mask is int64"),
        (lambda e: gymnasium.make_vec(e.spec.id, autoreset="next"), "choose from same_step"),
        (lambda e: gymnasium.make_vec(e.spec.id, render_mode="human"), "unknown render_mode"),
    ],
)
def test_wrong_requests_are_refused(request_: Any, message: str) -> None:
    env = gymnasium.make_vec(gym_id("lightsout-cursor"), num_envs=2)
    with pytest.raises(ValueError, match=message):
        request_(env)
    env.close()
