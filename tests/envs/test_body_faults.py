"""A body that fails, as a real arm does: what the environment lets go of, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.envs.rollouts import make

from seads import streams
from seads.envs import MANIPULATORS, ManipulatorRow
from seads.envs.cursor import Cursor
from seads.errors import WorldFault

SEEDS = streams.row_seeds(0, 2)


class Arm(Cursor):
    """A cursor that can be made to fail, and tells when it was closed."""

    fails_at: str = ""
    open_arms: int = 0

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        Arm.open_arms += 1

    def close(self) -> None:
        Arm.open_arms -= 1

    def _may_fail(self, at: str) -> None:
        if Arm.fails_at == at:
            raise WorldFault("the arm does not answer")

    def show(self, rows: np.ndarray, boards: np.ndarray) -> None:
        self._may_fail("show")

    def reset(self, rows: np.ndarray, uniforms: np.ndarray) -> None:
        self._may_fail("reset")
        super().reset(rows, uniforms)

    def stand(self, standing: dict[str, np.ndarray]) -> None:
        self._may_fail("stand")


@pytest.fixture(autouse=True)
def in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ManipulatorRow(Arm, observation_size=2, action_size=3, step_limit=10)
    monkeypatch.setitem(MANIPULATORS, "arm", row)
    monkeypatch.setattr(Arm, "fails_at", "")
    monkeypatch.setattr(Arm, "open_arms", 0)


@pytest.mark.parametrize("depths", [(3, 2), (0, 2)])
def test_a_wrong_request_leaves_no_body_open(depths: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        make("lightsout-arm", 2, depths=depths)
    assert Arm.open_arms == 0
    make("lightsout-arm", 2).close()
    assert Arm.open_arms == 0


@pytest.mark.parametrize("place", ["show", "reset"])
@pytest.mark.parametrize("before", ["nothing", "an episode"])
def test_rows_whose_reset_failed_have_no_episode(
    place: str, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make("lightsout-arm", 2)
    still = np.tile([0.0, 0.0, -1.0], (2, 1))
    if before == "an episode":
        env.reset(SEEDS)
    monkeypatch.setattr(Arm, "fails_at", place)
    with pytest.raises(WorldFault):
        env.reset(SEEDS[1:], np.array([1]))
    monkeypatch.undo()
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: env.resume(np.array([1])), "row 1 has no episode; reset it first"),
        (lambda: env.step(still, np.array([False, True])), "row 1 has no running episode"),
    ]
    for request, message in refused:
        with pytest.raises(ValueError, match=message):
            request()
    if before == "an episode":
        env.step(still, np.array([True, False]))  # the other row goes on
    env.reset(SEEDS[1:], np.array([1]))
    env.step(still, np.array([False, True]))
    env.close()


def test_rows_that_could_not_be_brought_back_have_no_episode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = make("lightsout-arm", 2)
    env.reset(SEEDS)
    standing = env.standing()
    monkeypatch.setattr(Arm, "fails_at", "stand")
    with pytest.raises(WorldFault):
        env.stand(standing)
    with pytest.raises(ValueError, match="row 0 has no episode; reset it first"):
        env.resume()
    monkeypatch.setattr(Arm, "fails_at", "")
    env.stand(standing)
    env.resume()
    env.close()
