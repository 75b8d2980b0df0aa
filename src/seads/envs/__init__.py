"""Environments: board games in the reach of a manipulator, batched; or a user's own.

Importing this package registers every environment with Gymnasium. Physics engines are imported
when an environment is made that needs one.
"""

from seads.envs.embedding import EmbeddedEnv
from seads.envs.from_gymnasium import GymBatch, wrap
from seads.envs.interface import BatchedEnv, EnvSpec, Step
from seads.envs.manipulator import Manipulator
from seads.envs.registry import (
    ENVIRONMENTS,
    MANIPULATORS,
    ManipulatorRow,
    describe,
    make_env,
    register,
)

__all__ = [
    "ENVIRONMENTS",
    "MANIPULATORS",
    "BatchedEnv",
    "EmbeddedEnv",
    "EnvSpec",
    "GymBatch",
    "Manipulator",
    "ManipulatorRow",
    "Step",
    "describe",
    "make_env",
    "register",
    "wrap",
]

register()
