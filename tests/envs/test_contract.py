"""One contract for every environment of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.envs.rollouts import actions_at, first_move, idle, make

from seads import streams
from seads.envs import ENVIRONMENTS, EmbeddedEnv, describe
from seads.envs.cursor import Cursor
from seads.games import LightsOut
from seads.games.game import NO_MOVE

NAMES = list(ENVIRONMENTS)
MAIN = [name for name in NAMES if name.count("-") == 1]
SEED = np.uint64(0xC0FFEE)


def trajectory(name: str, num_envs: int, row: int, steps: int, mode: str = "skill") -> list[Any]:
    """One row's life among others that act, rest, finish and restart as they like."""
    env = make(name, num_envs, mode=mode)
    seeds = streams.row_seeds(num_envs, num_envs)
    seeds[row] = SEED
    history: list[Any] = [env.reset(seeds)[row]]
    others = np.arange(num_envs) != row
    for time in range(steps):
        rest = streams.uniforms(streams.fork(seeds, 5_000 + time), 1)[:, 0] < 0.2
        step = env.step(actions_at(env, seeds, time), ~(rest & others))
        facts = (step.symbol, step.terminated, step.truncated, step.reward, step.move)
        history += [step.observation[row], env.touch[row], *(fact[row] for fact in facts)]
        ended = np.flatnonzero(step.done & others)
        if len(ended):
            env.reset(streams.fork(seeds[ended], time), ended)
        if step.done[row]:
            again = np.array([row])
            if mode == "skill" and time % 2:
                history.append(env.resume(again)[row])
            else:
                history.append(env.reset(streams.fork(seeds[again], time), again)[row])
    env.close()
    return history


def same(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
        for a, b in zip(left, right, strict=True)
    )


@pytest.mark.parametrize(
    ("name", "mode"), [(name, "skill") for name in NAMES] + [(name, "task") for name in MAIN]
)
def test_a_row_is_a_function_of_its_seed_and_actions_alone(name: str, mode: str) -> None:
    steps = {"cursor": 16, "reacher": 24, "jaco": 6, "robot": 8}[name.split("-")[1]]
    alone = trajectory(name, 1, 0, steps, mode)
    assert same(alone, trajectory(name, 5, 3, steps, mode)), "differs in a batch of 5"
    assert same(alone, trajectory(name, 32, 17, steps, mode)), "differs in a batch of 32"
    if name in MAIN and "jaco" not in name:
        moves = [fact for fact in alone if isinstance(fact, np.integer)]
        assert any(move != NO_MOVE for move in moves), "the comparison saw no move"


@pytest.mark.parametrize("name", NAMES)
def test_sizes_bounds_and_types_are_as_described(name: str) -> None:
    env = make(name, 3)
    facts = describe(name)
    observation = env.reset(streams.row_seeds(0, 3))
    assert observation.shape == (3, facts["observation_size"])
    assert observation.dtype == np.float32
    assert env.spec.observation_size == facts["observation_size"]
    assert (env.spec.action_size, env.spec.step_limit) == (
        facts["action_size"],
        facts["step_limit"],
    )
    assert (env.spec.num_moves, env.spec.num_bits) == (facts["moves"], facts["bits"])
    assert (env.game.name, env.game.size) == (facts["game"], facts["size"])
    assert env.spec.continuing == ENVIRONMENTS[name].manipulator_row.continuing
    body = env.manipulator.observation_size
    assert env.spec.own_size == body
    for time in range(env.spec.step_limit):
        step = env.step(actions_at(env, streams.row_seeds(1, 3), time))
        assert np.isfinite(step.observation).all()
        assert np.array_equal(step.observation[:, body:-1], step.symbol)
        assert np.array_equal(step.symbol, env.game.to_bits(env.boards))
        left = np.float32(1 - (time + 1) / env.spec.step_limit)
        assert np.all(step.observation[:, -1] == left)
        if step.done.any():
            break
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_start_boards_have_the_depth_and_split_asked_for(name: str) -> None:
    train = make(name, 40)
    train.reset(streams.row_seeds(2, 40))
    low, high = train.depths
    drawn = train.draw_starts(streams.row_seeds(2, 40)).depths
    assert set(drawn) == set(range(low, high + 1))
    assert train.game.in_split(train.boards, "train").all()
    if train.game.size <= 5:
        assert np.array_equal(train.game.depth(train.boards), drawn)
    train.close()
    test = make(name, 8, split="test", depths=(2, 2))
    test.reset(streams.row_seeds(2, 8))
    assert (test.draw_starts(streams.row_seeds(2, 8)).depths == 2).all()
    assert test.game.in_split(test.boards, "test").all()
    test.close()


@pytest.mark.parametrize("name", NAMES)
def test_arrays_handed_out_and_taken_in_are_not_shared(name: str) -> None:
    """A caller that scribbles over everything it has seen changes nothing."""
    tidy, rude = make(name, 4), make(name, 4)
    seeds = streams.row_seeds(3, 4)

    def scribble(*arrays: np.ndarray) -> None:
        for array in arrays:
            array[...] = 1 if array.dtype == bool else 77

    given = seeds.copy()
    scribble(rude.reset(given), given)
    tidy.reset(seeds)
    for time in range(4):
        actions = actions_at(tidy, seeds, time)
        before = actions.copy()
        want = tidy.step(actions)
        got = rude.step(actions)
        assert np.array_equal(actions, before), "the caller's actions were changed"
        for field in ("observation", "symbol", "terminated", "truncated", "reward", "move"):
            assert np.array_equal(getattr(want, field), getattr(got, field)), field
        kept = want.observation.copy()
        scribble(got.observation, got.symbol, got.terminated, got.truncated, got.reward, got.move)
        scribble(actions, rude.symbols, rude.boards, rude.touch)
        scribble(np.asarray(rude.manipulator.observe(np.arange(4))))
        ended = np.flatnonzero(want.done)
        again = tidy.resume(ended)
        assert np.array_equal(want.observation, kept), "an old observation changed"
        assert np.array_equal(rude.resume(ended), again)
    tidy.close()
    rude.close()


@pytest.mark.parametrize("name", NAMES)
def test_no_component_of_the_observation_is_constant(name: str) -> None:
    # Deep boards: at depth 1 a chip hardly leaves its field.
    rows, depths = 256, ENVIRONMENTS[name].depths
    env = make(name, rows, depths=(depths[1], depths[1]) if depths[1] == 5 else depths)
    seen = []
    for episode in range(6):
        seen.append(env.reset(streams.row_seeds(4, rows, episode)))
    running = np.ones(rows, bool)
    for time in range(2):
        step = env.step(actions_at(env, streams.row_seeds(4, rows), time), running)
        running = ~step.done
        seen.append(step.observation)
    spread = np.ptp(np.concatenate(seen), axis=0)
    assert (spread > 1e-6).all(), f"constant: {np.flatnonzero(spread <= 1e-6)}"
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_ends_by_change_or_by_the_clock_and_says_which(name: str) -> None:
    env = make(name, 16)
    seeds = streams.row_seeds(7, 16)
    env.reset(seeds)
    clock = np.zeros(16, int)
    active = np.ones(16, bool)
    for time in range(env.spec.step_limit):
        boards, symbols = env.boards, env.symbols
        step = env.step(actions_at(env, seeds, time), active)
        clock += active
        changed = (step.symbol != symbols).any(axis=1)
        assert np.array_equal(env.boards[active], env.game.play(boards, step.move)[active])
        assert np.array_equal(step.terminated[active], changed[active])
        assert np.isfinite(env.touch[active & changed]).all(), "a change without a touch"
        assert np.array_equal(
            step.truncated[active], (~changed & (clock == env.spec.step_limit))[active]
        )
        assert not (step.terminated & step.truncated).any()
        assert not changed[~active].any(), "a resting row changed"
        assert (step.reward == 0).all()
        active &= ~step.done
        if not active.any():
            break
    assert not active.any(), "a skill outlived its limit"
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_clock_alone_truncates(name: str) -> None:
    env = make(name, 2)
    env.reset(streams.row_seeds(5, 2))
    for _ in range(env.spec.step_limit - 1):
        assert not env.step(idle(env)).done.any()
    step = env.step(idle(env))
    assert step.truncated.all()
    assert not step.terminated.any()
    assert (step.observation[:, -1] == 0).all()
    env.close()


def replay(env: EmbeddedEnv, seed: np.uint64, steps: int) -> Any:
    for time in range(steps):
        step = env.step(actions_at(env, np.array([seed]), time))
    return step


@pytest.mark.parametrize("name", NAMES)
def test_the_next_skill_starts_where_the_last_one_ended(name: str) -> None:
    known = first_move(name)
    env = make(name, 1)
    env.reset(np.array([known.seed]))
    step = replay(env, known.seed, known.steps)
    assert step.terminated[0]
    assert step.move[0] == known.move
    board, body = env.boards, slice(0, env.manipulator.observation_size)
    observation = env.resume()
    assert np.array_equal(env.boards, board)
    assert np.array_equal(env.symbols, step.symbol)
    assert observation[0, -1] == 1.0
    stays = env.manipulator.name != "jaco"
    assert np.array_equal(observation[0, body], step.observation[0, body]) == stays
    for _ in range(env.spec.step_limit - 1):
        assert not env.step(idle(env)).truncated.any()
    assert env.step(idle(env)).truncated[0]
    env.close()


def test_where_the_arm_goes_after_a_move_is_its_rows_own_affair() -> None:
    known = first_move("lightsout-jaco")
    env = make("lightsout-jaco", 2)
    seeds = np.array([known.seed, known.seed])
    env.reset(seeds)
    poses = []
    for row in (0, 1):
        alone = np.arange(2) == row
        for time in range(known.steps):
            step = env.step(actions_at(env, seeds, time), alone)
        assert step.terminated[row]
        poses.append(env.resume(np.array([row]))[row])
    assert np.array_equal(*poses), "the first row's move was counted for the second"
    # And the next move leads somewhere else.
    env.reset(seeds[:1], np.array([0]))
    for time in range(known.steps):
        step = env.step(actions_at(env, seeds, time), np.array([True, False]))
    env._moves_made[0] += np.uint64(1)
    body = slice(0, env.manipulator.observation_size)
    assert not np.array_equal(env.resume(np.array([0]))[0, body], poses[0][body])
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_rewarded_when_its_last_move_solves_it(name: str) -> None:
    known = first_move(name)
    env = make(name, 1, mode="task")
    # Moves of both games undo themselves: one move before the goal is one move after it.
    board = env.game.play(env.game.goal[None], np.array([known.move]))
    env.reset(np.array([known.seed]), symbols=env.game.to_bits(board))
    if known.steps > 1:
        step = replay(env, known.seed, known.steps - 1)
        assert not step.done[0]
        assert step.reward[0] == 0
    step = env.step(actions_at(env, np.array([known.seed]), known.steps - 1))
    assert (step.terminated[0], step.truncated[0], step.reward[0]) == (True, False, 1.0)
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_task_goes_on_after_a_move_and_lasts_its_depth(name: str) -> None:
    known = first_move(name)
    skill, task = make(name, 1), make(name, 1, mode="task", depths=(2, 2))
    task.reset(np.array([known.seed]))
    start = task.symbols
    skill.reset(np.array([known.seed]), symbols=start)
    body = slice(0, task.manipulator.observation_size)
    after = replay(task, known.seed, known.steps)
    ended = replay(skill, known.seed, known.steps)
    limit = 2 * task.spec.step_limit
    assert after.move[0] == ended.move[0]
    if ended.terminated[0]:  # the press may not fit this other board where fields have halves
        assert not np.array_equal(after.symbol, start)
        assert np.array_equal(after.observation[0, body], skill.resume()[0, body])
    assert not after.done[0]
    assert after.observation[0, -1] == np.float32(1 - known.steps / limit)
    for _ in range(limit - known.steps - 1):
        assert not task.step(idle(task)).done.any()
    step = task.step(idle(task))
    assert (step.terminated[0], step.truncated[0], step.reward[0]) == (False, True, 0.0)
    with pytest.raises(ValueError, match="resume starts the next skill"):
        task.resume()
    skill.close()
    task.close()


class Jumping(Cursor):
    """A cursor that a move throws somewhere else."""

    def after_move(self, rows: np.ndarray, uniforms: np.ndarray) -> None:
        self._position[rows] = uniforms


def test_a_task_that_is_solved_ends_where_it_was_solved() -> None:
    """A body reacts to moves on the way, not to the last one."""
    game = LightsOut()
    body = Jumping(2, game)
    env = EmbeddedEnv(game, body, "jumping", 2, depths=(1, 1), split="all", mode="task")
    solved_by, other = 12, 0
    one_press = game.play(game.goal[None], np.array([solved_by]))
    env.reset(streams.row_seeds(0, 2), symbols=game.to_bits(one_press.repeat(2, 0)))
    body._position[:] = [game.point_of(solved_by), game.point_of(other)]
    step = env.step(np.array([[0.0, 0.0, 1.0]] * 2))
    assert step.done.tolist() == [True, False]
    stayed = np.isclose(body.tips(), [game.point_of(solved_by), game.point_of(other)]).all(1)
    assert stayed.tolist() == [True, False]
