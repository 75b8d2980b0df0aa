"""A user's own environment by `module:factory`: found, called, and looked at before it is used."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from seads.envs.interface import BatchedEnv, EnvSpec
from seads.errors import FAILURES, SeadsError, told

Factory = Callable[..., Any]
NEEDED = ("spec", "num_envs", "reset", "resume", "step", "symbols", "close")
"""What a batch of environments has."""
CALLED: ContextVar[str | None] = ContextVar("environment's name", default=None)
"""What the batch that a factory is making is called: its failures later on name it."""


def is_own(name: str) -> bool:
    """Whether a name is a user's own environment, `module:factory`, and none of the table."""
    return ":" in name


def make_own(
    name: str, num_envs: int, wishes: dict[str, Any], options: dict[str, Any]
) -> BatchedEnv:
    """Call the factory for rows of the environment; whatever goes wrong there names it.

    `wishes` reach it only where it has parameters of these names.
    """
    factory = find_factory(name, options)
    parameters = inspect.signature(factory).parameters
    if wishes["mode"] == "task" and "mode" not in parameters:
        raise SeadsError(f"environment {name!r} has no task mode: its factory takes no 'mode'")
    heard = {key: value for key, value in wishes.items() if key in parameters and value is not None}
    token = CALLED.set(name)
    try:
        env = factory(num_envs=num_envs, **heard, **options)
    except SeadsError as error:  # such as wrap's, which does not know the name
        raise SeadsError(f"environment {name!r}: {error}") from error
    except FAILURES as error:
        raise SeadsError(f"environment {name!r}: its factory failed: {told(error)}") from error
    finally:
        CALLED.reset(token)
    _check_batch(name, env, num_envs)
    return env


def check_env_options(options: dict[str, Any]) -> None:
    """Raise for a name that is no option of an environment, but says how one is made."""
    for name in sorted(options.keys() & {"name", "num_envs", "split", "depths", "mode"}):
        raise SeadsError(f"{name!r} is no option of an environment, but decided by who makes one")


def find_factory(name: str, options: dict[str, Any]) -> Factory:
    """The factory, imported; raises unless it can be called with `num_envs` and the options."""
    module_name, _, factory_name = name.partition(":")
    if not (module_name and factory_name):
        raise SeadsError(f"environment {name!r}; allowed: module:factory")
    check_env_options(options)
    # An installed command does not look where it was started, but its user means that place.
    # It stays on the path: worker processes of the environment inherit that.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
        factory = getattr(module, factory_name, None)
    except ModuleNotFoundError as error:
        raise SeadsError(
            f"environment {name!r}: no module {error.name!r} is installed or in {here}"
        ) from error
    except FAILURES as error:
        raise SeadsError(
            f"environment {name!r}: {module_name} cannot be imported: {told(error)}"
        ) from error
    if not callable(factory):
        # perhaps another module of that name was meant
        where = getattr(module, "__file__", None) or "which is built into Python"
        raise SeadsError(
            f"environment {name!r}: {module_name} ({where}) has no function {factory_name!r}"
        )
    try:
        signature = inspect.signature(factory)
        signature.bind(num_envs=1, **options)
    except (TypeError, ValueError) as error:  # ValueError: something of C that tells no signature
        asked = ", ".join(["num_envs=N", *(f"{key}={value!r}" for key, value in options.items())])
        raise SeadsError(
            f"environment {name!r}: {factory_name} is to be called as {factory_name}({asked}) and "
            f"cannot be: {error}"
        ) from error
    return factory


def _check_batch(name: str, env: Any, num_envs: int) -> None:
    """What a factory returned is a batch of as many rows as it was asked for."""
    missing = [attribute for attribute in NEEDED if not hasattr(env, attribute)]
    if not missing and not isinstance(env.spec, EnvSpec):
        missing = ["a spec that is an EnvSpec"]
    if missing:
        if inspect.iscoroutine(env):  # nobody waits for it
            env.close()
        raise SeadsError(
            f"environment {name!r}: the factory returned {type(env).__name__}, which lacks "
            f"{', '.join(missing)}; wrap a Gymnasium environment with seads.envs.wrap"
        )
    if env.num_envs != num_envs:
        env.close()
        raise SeadsError(
            f"environment {name!r}: the factory made {env.num_envs} rows where num_envs is "
            f"{num_envs}"
        )
