"""A game or a manipulator added to its table is an environment, with nothing else changed."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from tests.envs.rollouts import actions_at, make
from tests.games.small_games import RowOfLights

import seads.envs
from seads import streams
from seads.envs import ENVIRONMENTS, MANIPULATORS, Manipulator, ManipulatorRow, describe
from seads.envs.own import is_own
from seads.envs.registry import VARIANTS, Environment, gym_id, lookup
from seads.envs.render import Renderer
from seads.games import GAMES, Game


class Stamp(Manipulator):
    """Touches the board wherever the action says, a little beside its last place."""

    name = "stamp"
    num_uniforms = 2
    observation_size = 2
    action_low = (0.0, 0.0)
    action_high = (1.0, 1.0)
    step_limit = 5

    def __init__(self, num_envs: int, game: Game, shift: float = 0.0) -> None:
        super().__init__(num_envs, game)
        self._shift = shift
        self._position = np.zeros((num_envs, 2))

    def reset(self, rows: np.ndarray, uniforms: np.ndarray) -> None:
        self._position[rows] = uniforms

    def step(self, rows: np.ndarray | slice, actions: np.ndarray) -> np.ndarray:
        self._position[rows] = actions + self._shift
        return self._position[rows]

    def observe(self, rows: np.ndarray | slice) -> np.ndarray:
        return self._position[rows].astype(np.float32)

    def pose(self, row: int) -> np.ndarray:
        return self._position[row].copy()


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = set(gymnasium.registry)
    monkeypatch.setitem(GAMES, "row", RowOfLights)
    monkeypatch.setitem(
        MANIPULATORS,
        "stamp",
        ManipulatorRow(Stamp, observation_size=2, action_size=2, step_limit=5),
    )
    yield
    for added in set(gymnasium.registry) - known:
        del gymnasium.registry[added]


NEW = ["row-cursor", "row-reacher", "row-jaco", "row-stamp", "lightsout-stamp", "tileswap-stamp"]


def test_every_pair_is_in_the_table() -> None:
    assert set(NEW) <= set(ENVIRONMENTS)
    assert lookup("row-stamp").make_game().num_fields == 5
    assert describe("row-stamp") == {
        "name": "row-stamp",
        "gym_id": "seads/RowOfLightsStamp-v0",
        "game": "row",
        "size": 5,
        "shape": [1, 5],
        "manipulator": "stamp",
        "moves": 5,
        "bits": 5,
        "observation_size": 8,
        "action_size": 2,
        "step_limit": 5,
    }
    row = lookup("row-stamp").manipulator_row
    cursor = lookup("lightsout-cursor").manipulator_row
    assert (row.entropy_weight, row.schedule) == (0.1, cursor.schedule)
    assert row.baseline_schedule == cursor.baseline_schedule
    assert not is_own("row-stamp")
    assert is_own("mine:factory")


@pytest.mark.parametrize("name", NEW)
def test_a_new_environment_is_stepped_and_drawn(name: str) -> None:
    if name == "row-jaco":
        pytest.importorskip("dm_control")
    env = make(name, 3)
    seeds = streams.row_seeds(1, 3)
    env.reset(seeds)
    low, high = env.depths
    drawn = env.game.depth(env.boards)
    assert ((drawn >= low) & (drawn <= high)).all()
    moves = 0
    for time in range(4):
        before = env.symbols
        step = env.step(actions_at(env, seeds, time))
        changed = (step.symbol != before).any(axis=1)
        moves += int(changed.sum())
        assert np.array_equal(step.terminated, changed)
        env.resume(np.flatnonzero(step.done))
    assert moves > 0 or "stamp" not in name
    assert env.manipulator.tips().shape == (3, 2)
    assert len(env.manipulator.stage.tops) == env.game.num_fields
    if name != "row-jaco":  # it needs OpenGL, see test_render
        renderer = Renderer(env, 64, 64)
        assert renderer.frame(1).std() > 5
        renderer.close()
    env.close()


def test_options_of_a_new_manipulator_are_its_parameters() -> None:
    assert make("row-stamp", 1, shift=0.5).manipulator._shift == 0.5  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="has no option 'wheels'; choose from shift"):
        make("row-stamp", 1, wheels=3)


def test_a_variant_can_have_a_gymnasium_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    short = Environment("row", "stamp", {"length": 4}, gym_name="RowOf4Stamp")
    monkeypatch.setitem(VARIANTS, "row4-stamp", short)
    assert gym_id("row4-stamp") == "seads/RowOf4Stamp-v0"


def test_gymnasium_knows_it_once_it_is_told() -> None:
    seads.envs.register()
    env = gymnasium.make(gym_id("row-stamp"), mode="task")
    observation, info = env.reset(seed=0)
    assert observation.shape == (8,)
    assert info["symbol"].shape == (5,)
    env.close()
