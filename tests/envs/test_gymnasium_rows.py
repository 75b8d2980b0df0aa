"""Rows of a user's environment: which environment is in which row."""

from __future__ import annotations

import itertools
import threading
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest

from seads import streams
from seads.cores import SHARE
from seads.envs import GymBatch
from seads.errors import SeadsError


class Place(gymnasium.Env):
    """A point that stays where its seed puts it."""

    observation_space = gymnasium.spaces.Box(0, 1, (1,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = self.np_random.random(1, np.float32)
        return self.place, {}

    def step(self, action: np.ndarray) -> Any:
        return self.place, 0.0, False, False, {}


def right_half(place: np.ndarray) -> np.ndarray:
    return place > 0.5


@pytest.mark.parametrize("vectorise", ["none", "threads"])
def test_environments_are_those_of_the_rows_in_whatever_order_they_are_made(
    vectorise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARE, "2")
    numbers, third_is_made = itertools.count(), threading.Event()
    in_order_of_end = []

    def make() -> Place:
        number = next(numbers)
        if number == 1 and vectorise == "threads":
            third_is_made.wait(10)
        made = Place()
        in_order_of_end.append(made)
        if number == 2:
            third_is_made.set()
        return made

    with closing(GymBatch(make, right_half, 3, step_limit=5, vectorise=vectorise)) as env:
        seen = env.reset(streams.row_seeds(0, 3))
        places = [one.place[0] for one in env.environments]  # type: ignore[attr-defined]
        assert places == seen[:, 0].tolist()
        assert len(set(places)) == 3
        if vectorise == "threads":
            assert [one.place[0] for one in in_order_of_end] != places


def test_those_of_worker_processes_are_elsewhere() -> None:
    with (
        closing(GymBatch(Place, right_half, 1, step_limit=5, vectorise="processes")) as env,
        pytest.raises(SeadsError, match=r"in worker processes, out of reach; choose 'threads'"),
    ):
        _ = env.environments
