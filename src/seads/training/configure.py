"""From what a user asks for to a complete configuration: preset, schedule, and changes to them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

from seads.agent.presets import preset as skill_preset
from seads.agent.settings import as_typed, changes
from seads.baselines.settings import KINDS
from seads.baselines.settings import preset as baseline_preset
from seads.envs.own import find_factory, is_own
from seads.envs.registry import ENVIRONMENTS, lookup
from seads.errors import SeadsError, unknown
from seads.reading import as_kind
from seads.training.algorithms import ALGORITHMS
from seads.training.config import TrainConfig


def configure(
    env: str,
    *,
    algo: str = "seads",
    preset: str | None = None,
    seed: int = 0,
    env_steps: int | None = None,
    settings: dict[str, Any] | None = None,
    env_options: dict[str, Any] | None = None,
) -> TrainConfig:
    """A run's configuration: a preset for this environment, and what is given besides.

    Without a preset skills are learned with `default`, VIC's with `vic`, baselines with `paper`.
    Every preset but `default` is the paper's, on the paper's environments: raw observations and,
    on the arm, reference physics, which takes 2.7 times as long as fast. `env_options` win.
    """
    if not env:
        raise SeadsError(f"which environment? choose from {', '.join(ENVIRONMENTS)}")
    if algo not in ALGORITHMS:
        raise unknown("algorithm", algo, ALGORITHMS)
    row = None if is_own(env) else lookup(env)
    name = preset or {"seads": "default", "vic": "vic"}.get(algo, "paper")
    options = {**preset_options(env, name), **(env_options or {})}
    if row is None:
        find_factory(env, options)  # which says what is wrong with it before anything is built
    schedule: dict[str, int] = {}
    chosen: Any
    if algo in KINDS:
        chosen = baseline_preset(algo, name, row)
        schedule = {"coverage_every": 0}
        schedule |= row.manipulator_row.baseline_schedule.get(algo, {}) if row else {}
    else:
        # nothing is built for it: of a user's own only its rows will know
        num_moves = row.make_game().num_moves if row else None
        chosen = skill_preset(name, row, num_moves)
        schedule |= row.manipulator_row.schedule if row else {}
    changed = changes(settings or {}, type(chosen))
    chosen = dataclasses.replace(chosen, **changed)
    if algo == "vic" and chosen.algorithm != "vic":
        raise SeadsError(f"--algo vic contradicts --preset {name}; choose a preset vic…")
    if env_steps is not None:
        schedule["env_steps"] = env_steps
    return TrainConfig(
        env=env,
        settings=chosen,
        env_options=options,
        preset=name,
        changed=list(changed),
        seed=seed,
        **schedule,
    )


def preset_options(env: str, preset: str) -> dict[str, Any]:
    """The options of a preset's environment: the paper's, but for default and for one's own."""
    if is_own(env) or preset == "default":
        return {}
    return dict(lookup(env).manipulator_row.paper_options)


def default_name(config: TrainConfig) -> str:
    """The run directory's name where the user gives none."""
    env = config.env.replace(":", "-")
    words = dict.fromkeys([env, config.settings.algorithm, config.preset])  # vic is both
    return "-".join([*words, f"seed{config.seed}"])


def named_values(texts: Iterable[str]) -> dict[str, Any]:
    """NAME=VALUE texts as values: JSON where it is JSON, lists by commas, else text."""
    result: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SeadsError(f"{text!r} is not of the form NAME=VALUE")
        result[name.strip().replace("-", "_")] = _value(value.strip())
    return result


def named_value(name: str, value: Any) -> str:
    """A value as NAME=VALUE, which `named_values` reads as it was: JSON where plain text is not."""
    plain = list(value) if isinstance(value, tuple) else value
    meant, typed = json.dumps(plain), as_typed(plain)
    # as JSON, in which 1, 1.0 and true are not the same
    read_as = json.dumps(_value(typed.strip()))
    return f"{name}={typed if read_as == meant else meant}"


def _value(text: str) -> Any:
    plain = text.lower() if text in ("True", "False") else text
    try:
        return as_kind(plain.encode(errors="surrogateescape"), Any, "")
    except SeadsError:
        return [_value(part) for part in text.split(",")] if "," in text else text
