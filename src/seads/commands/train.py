"""`seads train`: start or resume a run, and show how it goes."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from seads.errors import SeadsError


@dataclass(frozen=True)
class Options:
    """What to train, for how long, and where to."""

    env: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[ENV]")] = ""
    """Environment: a name that `seads envs` lists, or module:factory for your own."""
    algo: Literal["seads", "vic", "sac", "hac"] = "seads"
    """Skills and a symbolic forward model; VIC's discriminator; or a baseline without skills."""
    preset: str | None = None
    """Named settings: default, paper, the paper's ablations (no-novelty, ...), vic, ..."""
    seed: int | None = None
    """One seed makes a run reproducible bit for bit on one machine; 0 by default."""
    env_steps: int | None = None
    """Budget of environment steps; by default what the environment needs."""
    out: Path | None = None
    """Run directory; runs/ENV-seedN by default."""
    resume: Path | None = None
    """Continue the run in this directory; takes all settings from there."""
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Settings of the learner, such as alpha=0.05 hidden=512,512; see docs/settings.md."""
    env_set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Options of the environment, such as physics=reference."""
    wandb: bool = False
    """Log to wandb too (offline unless WANDB_MODE says otherwise)."""
    json: bool = False
    """Print one JSON object at the end."""


def run(options: Options) -> dict[str, Any]:
    """Train until the budget is used up or a signal asks to stop."""
    from seads.commands.training_progress import TrainingProgress
    from seads.jax_setup import prepare_jax

    prepare_jax()
    from seads.training.config import read_config
    from seads.training.run import check_new, resume, train

    if options.resume is not None:
        _refuse_with_resume(options)
        out = options.resume
        if not (out / "config.json").is_file():
            raise SeadsError(f"{out} is no run directory: there is no config.json in it")
        config = read_config(out / "config.json")
        with TrainingProgress(config) as progress:
            status = resume(out, progress, options.wandb)
    else:
        config = make_config(options)
        out = options.out or Path("runs") / default_name(config)
        check_new(out)
        with TrainingProgress(config) as progress:
            status = train(config, out, progress, options.wandb)
    if status == "finished":
        # nobody knows the moves of an environment of one's own: look at what was learned instead
        own = ":" in config.env and config.agent.algorithm == "seads"
        print(f"next: seads plan {out} --operators" if own else f"next: seads evaluate {out}")
    else:
        print(f"stopped; continue with: seads train --resume {out}")
    meta = json.loads((out / "meta.json").read_text())
    return {"out": str(out), "status": status, "env": config.env, "env_steps": meta["env_steps"]}


def make_config(options: Options) -> Any:
    """The complete configuration that the options ask for."""
    from seads.agent import settings
    from seads.envs import make_env
    from seads.envs.registry import ENVIRONMENTS, lookup
    from seads.training.config import SCHEDULES, TrainConfig

    if not options.env:
        raise SeadsError(f"which environment? choose from {', '.join(ENVIRONMENTS)}")
    if options.algo in ("sac", "hac"):
        return make_baseline_config(options)
    entry = None if ":" in options.env else lookup(options.env)
    manipulator, game = (entry.body, entry.game) if entry else ("", "")
    name = options.preset or ("vic" if options.algo == "vic" else "default")
    env_options = pairs(options.env_set)
    env = make_env(options.env, 1, **env_options)
    num_moves = env.spec.num_moves
    env.close()
    agent = settings.preset(name, manipulator, game, num_moves)
    changed = settings.changes(pairs(options.set))
    agent = dataclasses.replace(agent, **changed)
    if options.algo == "vic" and agent.algorithm != "vic":
        raise SeadsError(f"--algo vic contradicts --preset {name}; choose a preset vic…")
    if agent.num_skills == 0 and num_moves is None:
        raise SeadsError(
            f"nobody knows how many moves {options.env!r} has; give --set num_skills=N"
        )
    schedule = dict(SCHEDULES.get(manipulator, {}))
    if options.env_steps is not None:
        schedule["env_steps"] = options.env_steps
    return TrainConfig(
        env=options.env,
        agent=agent,
        env_options=env_options,
        preset=name,
        changed=list(changed),
        seed=options.seed or 0,
        **schedule,
    )


def make_baseline_config(options: Options) -> Any:
    """The complete configuration of a baseline's run."""
    from seads.agent.settings import changes
    from seads.baselines.settings import preset
    from seads.envs.registry import lookup
    from seads.training.config import BASELINE_SCHEDULES, TrainConfig

    name = options.preset or "paper"
    agent = preset(options.algo, name, options.env)
    changed = changes(pairs(options.set), type(agent))
    agent = dataclasses.replace(agent, **changed)
    manipulator = "" if ":" in options.env else lookup(options.env).body
    schedule = {"coverage_every": 0, **BASELINE_SCHEDULES[options.algo].get(manipulator, {})}
    if options.env_steps is not None:
        schedule["env_steps"] = options.env_steps
    return TrainConfig(
        env=options.env,
        agent=agent,
        env_options=pairs(options.env_set),
        preset=name,
        changed=list(changed),
        seed=options.seed or 0,
        **schedule,
    )


def default_name(config: Any) -> str:
    """The run directory's name where the user gives none."""
    baseline = f"-{config.agent.algorithm}" if config.agent.algorithm in ("sac", "hac") else ""
    return f"{config.env.replace(':', '-')}{baseline}-seed{config.seed}"


def pairs(given: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE texts as values: JSON where it is JSON, lists by commas, else text."""
    result: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SeadsError(f"{text!r} is not of the form NAME=VALUE")
        result[name.strip().replace("-", "_")] = _value(value.strip())
    return result


def _value(text: str) -> Any:
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except json.JSONDecodeError:
        return [_value(part) for part in text.split(",")] if "," in text else text


def _refuse_with_resume(options: Options) -> None:
    fresh = Options()
    for name in ("env", "algo", "preset", "seed", "env_steps", "out", "set", "env_set"):
        if getattr(options, name) != getattr(fresh, name):
            raise SeadsError(
                f"--resume continues {options.resume} with its own settings; "
                f"{name.replace('_', '-')}={getattr(options, name)!r} belongs to a new run"
            )
