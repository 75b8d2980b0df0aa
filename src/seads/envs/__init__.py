"""Environments: board games in the reach of a manipulator, batched; or a user's own.

Names are imported when first used, so that asking what there is needs no physics engine.
Importing this package makes the ids known to Gymnasium: a table of strings, 0.1 s.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seads.envs.embedding import EmbeddedEnv as EmbeddedEnv
    from seads.envs.interface import BatchedEnv as BatchedEnv
    from seads.envs.interface import EnvSpec as EnvSpec
    from seads.envs.interface import Manipulator as Manipulator
    from seads.envs.interface import Step as Step
    from seads.envs.own import GymBatch as GymBatch
    from seads.envs.own import wrap as wrap
    from seads.envs.registry import ENVIRONMENTS as ENVIRONMENTS
    from seads.envs.registry import describe as describe
    from seads.envs.registry import make_env as make_env
    from seads.envs.registry import register as register

_HOMES = {
    "BatchedEnv": "interface",
    "EnvSpec": "interface",
    "Manipulator": "interface",
    "Step": "interface",
    "EmbeddedEnv": "embedding",
    "ENVIRONMENTS": "registry",
    "describe": "registry",
    "make_env": "registry",
    "register": "registry",
    "GymBatch": "own",
    "wrap": "own",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seads.envs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"seads.envs.{_HOMES[name]}"), name)


def _register() -> None:
    from seads.envs.registry import register

    register()


_register()
