"""How finely MuJoCo integrates: the reference and the faster presets measured against it."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

CONTROL_TIMESTEP = 0.1  # seconds an action lasts, paper S.7.3
PRESS_FORCE = 1e-3  # newtons on a touch sensor that make a press


@dataclass(frozen=True)
class PhysicsOptions:
    """What a preset sets on a compiled model; everything else stays as the scene says."""

    timestep: float
    """Seconds of one physics substep; must divide the control timestep."""
    integrator: mujoco.mjtIntegrator
    noslip_iterations: int
    """Passes of the solver that removes the slip that soft friction leaves."""
    several_contacts: bool
    """Look for more than one contact between two convex bodies (MuJoCo's multiccd)."""
    islands: bool
    """Solve unconnected groups of constraints apart."""

    @property
    def substeps(self) -> int:
        """Physics substeps in one action."""
        return round(CONTROL_TIMESTEP / self.timestep)

    def apply(self, model: mujoco.MjModel) -> None:
        """Set these options on a model, in place."""
        option = model.opt
        option.timestep = self.timestep
        option.integrator = self.integrator
        option.noslip_iterations = self.noslip_iterations
        for wanted, bit in (
            (self.several_contacts, mujoco.mjtDisableBit.mjDSBL_MULTICCD),
            (self.islands, mujoco.mjtDisableBit.mjDSBL_ISLAND),
        ):
            option.disableflags &= ~int(bit)
            if not wanted:
                option.disableflags |= int(bit)


_EULER, _IMPLICIT = mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
PHYSICS = {
    "reference": PhysicsOptions(0.002, _EULER, 5, several_contacts=True, islands=True),
    "fast": PhysicsOptions(0.005, _IMPLICIT, 0, several_contacts=False, islands=False),
    "fastest": PhysicsOptions(0.01, _IMPLICIT, 0, several_contacts=False, islands=False),
}
"""`reference` is what dm_control's composer runs; the others trade accuracy for speed.

Measured against the reference on the same starts and actions, 200 episodes of random actions
and 200 of open-loop pushes at fields, "same field pressed, or none in both", random / pushes:
`fast` .99 / .96 on lightsout, 1.0 / .95 on lightsout3d, 1.0 / .99 on tileswap; `fastest`
.99 / .90, .99 / .88, 1.0 / .93. Where they differ, several fingers land within one substep
or slide off a field's edge.
"""
