"""Hours on the arm: what a step is said to take is what the twin's joints take for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.robot.test_environment import BOTH, SEED, actions, on_twin

from seads.robot.environment import RobotArm
from seads.robot.hours import hours_on_the_arm, kept_steps
from seads.robot.kinematics import Speed


@pytest.mark.parametrize("name", BOTH)
def test_a_step_takes_as_long_as_the_twin_moves(name: str, tmp_path: Path) -> None:
    with on_twin(name, tmp_path) as (env, twin, _):
        arm = env.manipulator
        assert isinstance(arm, RobotArm)
        env.reset(SEED)
        moved: list[float] = []

        def note(kind: str, when: float, **rest: Any) -> None:
            if kind == "stood":
                moved.append(rest["seconds"])

        twin.body._log = note
        for action in actions(env, 25):
            here = arm.pens.places(slice(None))
            said = arm.seconds(here, action, Speed(1.3))
            moved.clear()
            if env.step(action).done[0]:
                env.resume()
            # the arm stands where its encoders cannot quite tell
            assert sum(moved) == pytest.approx(float(said[0]), abs=0.02)


def test_hours_are_of_the_first_steps_and_grow_with_those_forgotten() -> None:
    arm = _Clock()
    here, acted = np.zeros((6, 2)), np.zeros((6, 2))
    whole = hours_on_the_arm(arm, here, acted, steps_made=6, until=6)
    assert whole.hours == pytest.approx({1.3: 21 / 3600, 10.0: 21 / 3600})
    assert whole.pushes == pytest.approx(0.5)
    assert hours_on_the_arm(arm, here, acted, 6, 2).hours[1.3] == pytest.approx(3 / 3600)
    assert hours_on_the_arm(arm, here, acted, 12, 12).hours[1.3] == pytest.approx(42 / 3600)
    assert "the paper: 7.5 h for 5,000" in str(whole)


class _Clock(RobotArm):
    """Whose steps take 1, 2, 3 … seconds, the first half of them pushes."""

    paper = (5_000, 7.5)

    def __init__(self) -> None:
        pass

    def aim(self, here: Any, actions: Any) -> Any:
        return here, np.arange(len(here)) < len(here) // 2

    def seconds(self, here: Any, actions: Any, speed: Speed) -> Any:
        return np.arange(len(here)) + 1.0


def test_steps_that_were_not_made_do_not_count() -> None:
    seen = np.arange(2 * 4 * 1.0).reshape(2, 4, 1)
    acted = np.arange(2 * 3 * 1.0).reshape(2, 3, 1)
    before, done = kept_steps(seen, acted, np.array([1, 3]))
    assert before[:, 0].tolist() == [0.0, 4.0, 5.0, 6.0]
    assert done[:, 0].tolist() == [0.0, 3.0, 4.0, 5.0]
