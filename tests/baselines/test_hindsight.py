"""HAC's transitions of all kinds, from an episode written by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from seads.agent.sac import Transitions
from seads.baselines.hierarchical_episodes import HierarchicalEpisodes
from seads.baselines.hindsight_replay import HighReplay, LowReplay, steps_left
from seads.envs.interface import EnvSpec

SPEC = EnvSpec("line", 1 + 3 + 1, (-1.0,), (1.0,), 3, 2, None)
GOAL = np.array([1, 1, 1], bool)
GAMMA = 0.5
HORIZON = 4


def bits(*texts: str) -> np.ndarray:
    return np.array([[c == "1" for c in text] for text in texts])


def episodes() -> HierarchicalEpisodes:
    """Row 0: subgoal 100 reached at once; 010 tested and missed; 111 reached, which solves.

    Row 1: one step, then over. The body's only float is the number of the step, 10 on in row 1.
    """
    symbols = [
        bits("000", "100", "100", "110", "111"),
        bits("001", "011", "011", "011", "011"),
    ]
    subgoals = [bits("100", "010", "010", "111"), bits("111", "000", "000", "000")]
    return HierarchicalEpisodes(
        states=np.array([[0, 1, 2, 3, 4], [10, 11, 12, 13, 14]], np.float32)[..., None],
        symbols=np.array(symbols),
        actions=np.array([[0.0, 0.1, 0.2, 0.3], [0.5, 9, 9, 9]], np.float32)[..., None],
        subgoals=np.array(subgoals),
        begins=np.array([[1, 1, 0, 1], [1, 0, 0, 0]], bool),
        missed=np.array([[0, 1, 0, 0], [0, 0, 0, 0]], bool),
        lengths=np.array([4, 1]),
        solved=np.array([True, False]),
    )


def described(drawn: Transitions) -> Counter[tuple]:
    """Each transition as (body, symbol, goal, action, reward, next body, next symbol, discount)."""

    def text(values: np.ndarray) -> str:
        return "".join(str(int(v)) for v in values)

    found: Counter[tuple] = Counter()
    for inputs, action, reward, after, discount in zip(*drawn, strict=True):
        assert text(inputs[4:]) == text(after[4:])  # the goal stays
        name = text(action) if len(action) == 3 else round(float(action[0]), 3)
        found[
            int(inputs[0]),
            text(inputs[1:4]),
            text(inputs[4:]),
            name,
            float(reward),
            int(after[0]),
            text(after[1:4]),
            float(discount),
        ] += 1
    return found


def test_steps_left_in_an_attempt() -> None:
    assert steps_left(episodes()).tolist() == [[1, 2, 1, 1, 0], [1, 0, 0, 0, 0]]


def test_low_level_transitions() -> None:
    replay = LowReplay(SPEC, 50)
    replay.append(episodes())
    own = described(replay.sample(500, GAMMA, 0, np.random.default_rng(0)))
    assert set(own) == {
        (0, "000", "100", 0.0, 0.0, 1, "100", 0.0),  # reached: reward 0, nothing follows
        (1, "100", "010", 0.1, -1.0, 2, "100", 0.5),
        (
            2,
            "100",
            "010",
            0.2,
            -1.0,
            3,
            "110",
            0.5,
        ),  # missed at the horizon: goes on being worth -1
        (3, "110", "111", 0.3, 0.0, 4, "111", 0.0),
        (10, "001", "111", 0.5, -1.0, 11, "011", 0.5),
    }
    every = described(replay.sample(4000, GAMMA, 3, np.random.default_rng(0)))
    hindsight = set(every) - set(own)
    assert hindsight == {
        (1, "100", "100", 0.1, 0.0, 2, "100", 0.0),  # the goal is what the next step brings
        (1, "100", "110", 0.1, -1.0, 2, "100", 0.5),  # or the one after it, in this attempt only
        (2, "100", "110", 0.2, 0.0, 3, "110", 0.0),
        (10, "001", "011", 0.5, 0.0, 11, "011", 0.0),
    }
    # three of four with a goal in hindsight; for steps 0 and 3 it is the same as their own
    share = sum(every[one] for one in hindsight) / 4000
    assert share == pytest.approx(3 / 4 * 3 / 5, abs=0.04)


def test_the_three_kinds_of_high_level_transitions() -> None:
    replay = HighReplay(SPEC, 50, GOAL, HORIZON)
    replay.append(episodes())
    first = described(replay.sample(500, GAMMA, 0, np.random.default_rng(0)))
    actions = {
        (0, "000", "111", "100", -1.0, 1, "100", 0.5),
        (1, "100", "111", "110", -1.0, 3, "110", 0.5),  # 010 was asked for, 110 came about
        (3, "110", "111", "111", 0.0, 4, "111", 0.0),
        (10, "001", "111", "011", -1.0, 11, "011", 0.5),
    }
    missed = (1, "100", "111", "010", -float(HORIZON), 3, "110", 0.0)
    assert set(first) == actions | {missed}
    every = described(replay.sample(4000, GAMMA, 2, np.random.default_rng(0)))
    goals = {
        (0, "000", "100", "100", 0.0, 1, "100", 0.0),
        (0, "000", "110", "100", -1.0, 1, "100", 0.5),
        (1, "100", "110", "110", 0.0, 3, "110", 0.0),
        (10, "001", "011", "011", 0.0, 11, "011", 0.0),
    }
    assert set(every) == actions | {missed} | goals
    # a missed test is one of its attempt's four transitions, and there are four attempts
    assert every[missed] / 4000 == pytest.approx(1 / 16, abs=0.015)


def test_nothing_reaches_into_another_episode() -> None:
    low, high = LowReplay(SPEC, 9), HighReplay(SPEC, 9, GOAL, HORIZON)
    whole: dict[int, set[tuple]] = {}
    part: dict[int, set[tuple]] = {}
    for count in (1, 4):  # after four times, both rings have wrapped and hold part of an episode
        for _ in range(count):
            low.append(episodes())
            high.append(episodes())
        rng = np.random.default_rng(0)
        found = (
            set(described(low.sample(3000, GAMMA, 3, rng))),
            set(described(high.sample(3000, GAMMA, 3, rng))),
        )
        whole, part = part, dict(enumerate(found))
    assert part[0] <= whole[0]
    assert part[1] <= whole[1]
