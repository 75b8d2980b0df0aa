"""The cursor's games played by slow, plain Python, field by field, against the fast version."""

from __future__ import annotations

import numpy as np
import pytest
from tests.envs.rollouts import actions_at, make

from seads import streams


class SlowLightsOut:
    def __init__(self, fields: list[int], x: float, y: float) -> None:
        self.fields, self.x, self.y = list(fields), x, y

    def press(self) -> None:
        column, row = min(int(self.x * 5), 4), min(int(self.y * 5), 4)
        for other_row in range(5):
            for other_column in range(5):
                if abs(other_row - row) + abs(other_column - column) <= 1:
                    self.fields[5 * other_row + other_column] ^= 1

    def bits(self) -> list[bool]:
        return [field == 1 for field in self.fields]


class SlowTileSwap:
    def __init__(self, fields: list[int], x: float, y: float) -> None:
        self.fields, self.x, self.y = list(fields), x, y

    def press(self) -> None:
        nearest, pair = 1 / 6, None
        for row in range(3):
            for column in range(3):
                for down, right in ((0, 1), (1, 0)):
                    if row + down > 2 or column + right > 2:
                        continue
                    middle_x = (column + 0.5 + right / 2) / 3
                    middle_y = (row + 0.5 + down / 2) / 3
                    distance = abs(self.x - middle_x) + abs(self.y - middle_y)
                    if distance <= nearest:
                        nearest = distance
                        pair = (3 * row + column, 3 * (row + down) + column + right)
        if pair is not None:
            first, second = pair
            self.fields[first], self.fields[second] = self.fields[second], self.fields[first]

    def bits(self) -> list[bool]:
        return [chip == i for i in range(9) for chip in self.fields]


@pytest.mark.parametrize(
    ("name", "slow"), [("lightsout-cursor", SlowLightsOut), ("tileswap-cursor", SlowTileSwap)]
)
def test_the_fast_version_plays_as_the_slow_one(
    name: str, slow: type[SlowLightsOut | SlowTileSwap]
) -> None:
    rows = 16
    env = make(name, rows, observation="raw")
    seeds = streams.row_seeds(11, rows)
    env.reset(seeds)
    games = [slow(env.boards[i].tolist(), *env.manipulator.pose(i).tolist()) for i in range(rows)]
    changes, wasted = 0, 0
    for time in range(60):
        actions = actions_at(env, seeds, time)
        step = env.step(actions)
        for row, game in enumerate(games):
            before = game.bits()
            dx, dy, push = actions[row].tolist()
            game.x = min(max(game.x + dx, 0.0), 1.0)
            game.y = min(max(game.y + dy, 0.0), 1.0)
            if push > 0.6:
                game.press()
            assert step.symbol[row].tolist() == game.bits()
            assert step.terminated[row] == (game.bits() != before)
            assert step.observation[row, :2].tolist() == np.float32([game.x, game.y]).tolist()
            changes += step.terminated[row]
            wasted += push > 0.6 and not step.terminated[row]
        ended = np.flatnonzero(step.done)
        if len(ended):
            env.resume(ended)
    assert changes > 50
    assert (wasted > 20) == (name == "tileswap-cursor"), "pushes far from any pair do nothing"
