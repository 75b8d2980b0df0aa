"""Whether resets lead to all that skills lead to, which decides whether skills are chained."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.own_point import POINT

from seads.training.chaining import OUTSIDE, Reach
from seads.training.config import TrainConfig
from seads.training.loop import Trainer
from seads.training.runner import start

Make = Callable[..., TrainConfig]
SameRun = Callable[[Path, Path], None]
InParts = Callable[[TrainConfig, Path], None]
RNG = np.random.default_rng(0)
EPOCHS = 30

# a hand that begins at rest in its middle, and one that begins anywhere
RESTING = (
    POINT
    + """
class Resting(Point):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = np.zeros(1, np.float32)
        return self.x, {}

def factory(num_envs, home=True, chained=True):
    make = Resting if home else Point
    return wrap(make, phi, num_envs, step_limit=5, num_moves=3, chained=chained)
"""
)


def after(epochs: int, first: Callable[[], np.ndarray], last: Callable[[], np.ndarray]) -> Reach:
    """What many epochs of eight skills after resets tell."""
    reach = Reach.of_nothing(first().shape[1])
    for _ in range(epochs):
        reach = reach.updated(first(), last())
    return reach


def uniform(size: int = 3) -> np.ndarray:
    return RNG.uniform(-1, 1, (8, size))


def normal() -> np.ndarray:
    return RNG.standard_normal((8, 20))


def at_rest() -> np.ndarray:
    return np.concatenate([uniform(2), np.zeros((8, 1))], 1)


def held_sometimes() -> np.ndarray:
    held = RNG.random((8, 1)) < 0.3
    return np.concatenate([uniform(2), held], 1)


def still() -> np.ndarray:
    return np.concatenate([uniform(2), np.full((8, 1), 2.0)], 1)


def rounded() -> np.ndarray:
    """The same, as far as float32 can tell."""
    return np.concatenate([uniform(2), np.full((8, 1), 2.0) * (1 + 1e-7 * uniform(1))], 1)


@pytest.mark.parametrize(
    ("first", "last", "chained"),
    [
        (uniform, uniform, False),
        (normal, normal, False),
        (at_rest, uniform, True),
        (at_rest, held_sometimes, True),
        (at_rest, at_rest, False),
        (still, rounded, False),
        (lambda: 0.5 * uniform(), uniform, True),
        (uniform, lambda: 0.5 * uniform(), False),
        (lambda: 1e-9 * at_rest(), lambda: 1e-9 * uniform(), True),
        (lambda: 1e9 * uniform(), lambda: 1e9 * uniform(), False),
    ],
)
def test_chained_where_resets_do_not_lead(
    first: Callable[[], np.ndarray], last: Callable[[], np.ndarray], chained: bool
) -> None:
    assert after(EPOCHS, first, last).chained is chained
    assert not after(0, first, last).chained, "at first nothing is known"


def test_a_skill_now_and_then_is_no_reason() -> None:
    """A fall that happens to one skill in thirty is nothing to begin with."""

    def last() -> np.ndarray:
        return np.where(RNG.random((8, 1)) < 1 / 30, 5.0, at_rest())

    assert not after(200, at_rest, last).chained


@pytest.fixture
def own(own_module: Callable[[str, str], Path]) -> Path:
    return own_module("own_resting", RESTING)


@pytest.mark.parametrize(
    ("options", "chained"),
    [({}, True), ({"home": False}, False), ({"chained": False}, False)],
)
def test_a_run_finds_out(
    own: Path, tiny_run: Make, options: dict[str, bool], chained: bool
) -> None:
    """From home alone the point would be seen nowhere else when a skill begins."""
    config = tiny_run(env="own_resting:factory", env_options=options)
    with closing(Trainer(config)) as trainer:
        progress = trainer.begin()
        for _ in range(10):
            progress, metrics = trainer.epoch(progress)
        starts = progress.buffer.stored.observations[:, 0, 0]
    assert bool(progress.reach and progress.reach.chained) is chained
    assert (metrics.get("outside_resets", 0.0) > OUTSIDE) is chained
    anywhere = chained or not options.get("home", True)
    assert (len(np.unique(starts)) > 8) is anywhere


def test_a_chained_run_goes_on_bit_for_bit(
    own: Path, tiny_run: Make, same_run: SameRun, in_parts: InParts
) -> None:
    config = tiny_run(env="own_resting:factory", env_steps=400)
    start(config, own / "whole")
    in_parts(config, own / "parts")
    same_run(own / "whole", own / "parts")
