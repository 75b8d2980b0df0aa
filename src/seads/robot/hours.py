"""How long a training's steps take on the arm itself, by its firmware's planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seads.robot.environment import RobotArm
from seads.robot.kinematics import Speed

SPEEDS = (Speed(1.3), Speed(10.0))
"""At the acceleration that the maker advises, and at the most."""


@dataclass(frozen=True)
class ArmHours:
    """Hours in which the arm moves; the program adds a few per cent (`benchmarks/robot.py`)."""

    env_steps: int
    pushes: float
    """Share of the steps that push."""
    hours: dict[float, float]
    """By acceleration, in turns of a motor/s²."""
    paper_steps: int
    paper_hours: float
    """What the paper needed on the real arm, learning included (S.5)."""

    def to_json(self) -> dict[str, Any]:
        """As `seads robot hours --json` prints it."""
        return {
            "env_steps": self.env_steps,
            "pushes": round(self.pushes, 4),
            "hours": {str(speed): round(hours, 3) for speed, hours in self.hours.items()},
            "paper": {"env_steps": self.paper_steps, "hours": self.paper_hours},
        }

    def __str__(self) -> str:
        told = " or ".join(
            f"{hours:.1f} h at {speed:g} turns/s² ({3600 * hours / self.env_steps:.2f} s a step)"
            for speed, hours in self.hours.items()
        )
        return (
            f"{self.env_steps:,} env steps, {self.pushes:.0%} of them pushes: {told}; "
            f"the paper: {self.paper_hours} h for {self.paper_steps:,}"
        )


def hours_on_the_arm(
    arm: RobotArm,
    here: Float[np.ndarray, "steps 2"],
    actions: Float[np.ndarray, "steps act"],
    steps_made: int,
    until: int,
) -> ArmHours:
    """Of a run's first `until` steps, from those that it has kept of all that it has made.

    `here` is where the pen was before each of the kept steps, oldest first.
    """
    share = len(here) / steps_made
    times = {speed.acceleration: arm.seconds(here, actions, speed) for speed in SPEEDS}
    _, pushing = arm.aim(here, actions)
    first = slice(0, max(1, round(until * share)))
    return ArmHours(
        until,
        float(pushing[first].mean()),
        {key: float(one[first].mean()) * until / 3600 for key, one in times.items()},
        *arm.paper,
    )


def kept_steps(
    observations: Float[np.ndarray, "episodes steps_plus_1 obs"],
    actions: Float[np.ndarray, "episodes steps act"],
    lengths: Int[np.ndarray, "episodes"],
) -> tuple[Float[np.ndarray, "steps obs"], Float[np.ndarray, "steps act"]]:
    """What was seen before each step that was made, and what was done: one row each."""
    made = np.arange(actions.shape[1]) < lengths[:, None]
    return observations[:, :-1][made], actions[made]
