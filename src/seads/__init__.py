"""Skills with symbolic effects on physically embedded board games, and plans made of them.

The public surface; each name is imported on first use, so that `import seads` stays light.
The environments' ids are known to Gymnasium as soon as it is imported too, before or after.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "make_env": "seads.envs",
    "train": "seads.training",
    "load": "seads.agent",
    "plan": "seads.planning",
}

__all__ = ["__version__", "load", "make_env", "plan", "train"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'seads' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _GymnasiumWatch:
    """Registers the environments when somebody imports Gymnasium, and is gone then.

    Gymnasium offers no plugins, and importing it here would cost all who do without it.
    """

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: Any) -> None:
                execute(module)
                importlib.import_module("seads.envs")

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


if "gymnasium" in sys.modules:
    importlib.import_module("seads.envs")
else:
    sys.meta_path.insert(0, _GymnasiumWatch)
