"""Every environment by name: one table, one row each; bodies are imported when one is made."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seads.envs.embedding import EmbeddedEnv, Mode
from seads.envs.interface import BatchedEnv
from seads.envs.render_gl import setting_checked
from seads.errors import SeadsError, unknown
from seads.games import make_game
from seads.games.game import Game, Split


@dataclass(frozen=True)
class Body:
    """A manipulator's class and the sizes it will have, known without importing its physics."""

    module: str
    class_name: str
    observation_size: int
    action_size: int
    step_limit: int


@dataclass(frozen=True)
class Environment:
    """One row of the table: a game, a body, and what is special about this pair."""

    game: str
    size: int
    body: str
    game_options: dict[str, Any] = field(default_factory=dict)
    body_options: dict[str, Any] = field(default_factory=dict)
    depths: tuple[int, int] = (1, 5)

    def make_game(self) -> Game:
        return make_game(self.game, size=self.size, **self.game_options)


BODIES: dict[str, Body] = {
    "cursor": Body("seads.envs.cursor", "Cursor", 2, 3, 10),
    "reacher": Body("seads.envs.reacher", "Reacher", 6, 3, 50),
    "jaco": Body("seads.envs.jaco", "Jaco", 42, 9, 50),
}


def _tiles(size: int, spacing: float) -> Environment:
    """A board whose tiles are a thirteenth wide whatever its size (paper S.4.2)."""
    options = {"tile_width": 1 / 13, "relative_spacing": spacing}
    return Environment("lightsout", size, "cursor", options)


ENVIRONMENTS: dict[str, Environment] = {
    "lightsout-cursor": Environment("lightsout", 5, "cursor"),
    "tileswap-cursor": Environment("tileswap", 3, "cursor"),
    "lightsout-reacher": Environment("lightsout", 5, "reacher"),
    "tileswap-reacher": Environment("tileswap", 3, "reacher"),
    "lightsout-jaco": Environment("lightsout", 5, "jaco", {}, {"board": "lightsout"}),
    "tileswap-jaco": Environment("tileswap", 3, "jaco", {}, {"board": "tileswap"}),
    "lightsout3d-jaco": Environment("lightsout", 5, "jaco", {}, {"board": "lightsout3d"}),
    "lightsout-cursor-2x2": Environment("lightsout", 2, "cursor", depths=(1, 3)),
    "lightsout-cursor-half": Environment("lightsout", 5, "cursor", {"half_fields": True}),
    "lightsout-cursor-5x5": _tiles(5, 0.0),
    "lightsout-cursor-7x7": _tiles(7, 0.0),
    "lightsout-cursor-9x9": _tiles(9, 0.0),
    "lightsout-cursor-13x13": _tiles(13, 0.0),
    "lightsout-cursor-5x5-spaced": _tiles(5, 1.0),
    "lightsout-cursor-7x7-spaced": _tiles(7, 1.0),
    "lightsout-cursor-9x9-spaced": _tiles(9, 1.0),
    "lightsout-cursor-13x13-spaced": _tiles(13, 1.0),
}

_WORDS = {"lightsout": "LightsOut", "lightsout3d": "LightsOut3D", "tileswap": "TileSwap"}


def gym_id(name: str) -> str:
    """The Gymnasium id of a table entry: 'lightsout-cursor' is 'seads/LightsOutCursor-v0'."""
    return "seads/" + "".join(_WORDS.get(w, w.capitalize()) for w in name.split("-")) + "-v0"


def register() -> None:
    """Make every id known to Gymnasium, for `gymnasium.make` and `gymnasium.make_vec`."""
    import gymnasium

    for name in ENVIRONMENTS:
        if gym_id(name) not in gymnasium.registry:
            gymnasium.register(
                id=gym_id(name),
                entry_point="seads.envs.gym_env:SeadsEnv",
                vector_entry_point="seads.envs.gym_vector:SeadsVectorEnv",
                kwargs={"name": name},
            )


def make_env(
    name: str,
    num_envs: int = 1,
    *,
    split: Split = "train",
    depths: tuple[int, int] | None = None,
    mode: Mode = "skill",
    **options: Any,
) -> BatchedEnv:
    """A batch of environments, from the table or from a user's `module:factory`.

    `depths` is the range of start boards' solution depths, by default the table's (1 to 5
    except on tiny boards). `options` go to the manipulator, such as `observation="raw"`.

    A user's factory is called as `factory(num_envs=..., **options)` and returns a
    `BatchedEnv` (see `seads.envs.wrap`); `split`, `depths` and `mode` reach it only if it
    has parameters of these names. Its module is looked for in the working directory too.
    """
    if num_envs < 1:
        raise SeadsError(f"num_envs is {num_envs}; it must be at least 1")
    if ":" in name:
        return _make_own(name, num_envs, {"split": split, "depths": depths, "mode": mode}, options)
    entry = lookup(name)
    body = BODIES[entry.body]
    game = entry.make_game()
    with setting_checked():
        make_body = getattr(importlib.import_module(body.module), body.class_name)
        _check_options(name, make_body, options)
        manipulator = make_body(num_envs, **{**entry.body_options, **options})
    return EmbeddedEnv(game, manipulator, name, num_envs, depths or entry.depths, split, mode)


def lookup(name: str) -> Environment:
    """The table's entry; an unknown name raises with the nearest known one."""
    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name]
    raise unknown("environment", name, [*ENVIRONMENTS, "module:factory"])


def describe(name: str) -> dict[str, Any]:
    """What `seads envs` shows of a table entry; builds no physics."""
    entry = lookup(name)
    body = BODIES[entry.body]
    game = entry.make_game()
    return {
        "name": name,
        "gym_id": gym_id(name),
        "game": entry.game,
        "size": entry.size,
        "manipulator": entry.body,
        "moves": game.num_moves,
        "bits": game.num_bits,
        "observation_size": body.observation_size + game.num_bits + 1,
        "action_size": body.action_size,
        "step_limit": body.step_limit,
    }


def _check_options(name: str, make_body: Callable[..., Any], options: dict[str, Any]) -> None:
    fixed = lookup(name).body_options
    allowed = [p for p in inspect.signature(make_body).parameters if p not in {"num_envs", *fixed}]
    unknown = [option for option in options if option not in allowed]
    if unknown:
        raise SeadsError(
            f"{name} has no option {unknown[0]!r}; choose from {', '.join(allowed) or 'none'}"
        )


def _make_own(
    name: str, num_envs: int, wishes: dict[str, Any], options: dict[str, Any]
) -> BatchedEnv:
    module_name, _, factory_name = name.partition(":")
    module = _import_own(module_name, name)
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise SeadsError(f"environment {name!r}: {module_name} has no function {factory_name!r}")
    parameters = inspect.signature(factory).parameters
    if wishes["mode"] == "task" and "mode" not in parameters:
        raise SeadsError(f"environment {name!r} has no task mode: its factory takes no 'mode'")
    heard = {key: value for key, value in wishes.items() if key in parameters and value is not None}
    env = factory(num_envs=num_envs, **heard, **options)
    missing = [a for a in ("spec", "reset", "resume", "step", "symbols") if not hasattr(env, a)]
    if missing:
        raise SeadsError(
            f"environment {name!r}: the factory returned {type(env).__name__}, which lacks "
            f"{', '.join(missing)}; wrap a Gymnasium environment with seads.envs.wrap"
        )
    return env


def _import_own(module_name: str, name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or module_name.split(".")[0] != error.name:
            raise
    # An installed command does not look where it was started, but its user means that place.
    # It stays on the path: worker processes of the environment inherit that.
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        sys.path.remove(here)
        raise SeadsError(
            f"environment {name!r}: no module {error.name!r} is installed or in {here}"
        ) from error
