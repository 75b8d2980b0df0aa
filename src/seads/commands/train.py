"""`seads train`: start or resume a run, or list the settings that one could change."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from seads.commands.real_arm import env_options
from seads.errors import Interrupted, SeadsError
from seads.terminal import tell


@dataclass(frozen=True)
class Options:
    """What to train, for how long, and where to."""

    env: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[ENV]")] = ""
    """Environment: a name that `seads envs` lists, or module:factory for your own."""
    algo: Literal["seads", "vic", "sac", "hac"] = "seads"
    """Skills and a symbolic forward model; VIC's discriminator; or a baseline without skills."""
    preset: str | None = None
    """Named settings: default, paper (its loop on its environments), its ablations, vic, ..."""
    seed: int | None = None
    """One seed makes a run reproducible bit for bit on one machine; 0 by default."""
    env_steps: int | None = None
    """Budget of environment steps; by default what the environment needs. Resumed: a larger one."""
    out: Path | None = None
    """Run directory; runs/ENV-ALGO-PRESET-seedN by default."""
    resume: Path | None = None
    """Continue the run in this directory, with its settings; --env-steps N: beyond its budget."""
    allow: Annotated[str | None, tyro.conf.arg(metavar="MODULE:FACTORY")] = None
    """With --resume: import this environment, which a run that was not trained here names."""
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Settings of the learner, such as alpha=0.05 hidden=512,512; --settings lists them."""
    env_set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Options of the environment, such as physics=reference."""
    port: str | None = None
    """Serial line of a real arm, or of its twin (see `seads robot`); by default it is simulated."""
    calibration: Path | None = None
    """Where the tablet lies under that arm: a file of `seads robot calibrate`."""
    settings: bool = False
    """Train nothing: list every setting, its value in such a run, and what it does."""
    wandb: bool = False
    """Log to wandb too (offline unless WANDB_MODE says otherwise)."""
    json: bool = False
    """Print one JSON object at the end."""


def run(options: Options) -> Any:
    """Train until the budget is used up or a signal asks to stop."""
    from seads.training import resume, train
    from seads.training.configure import named_values

    if options.resume is not None:
        _refuse_with_resume(options)
        ended = resume(
            options.resume, env_steps=options.env_steps, allow=options.allow, wandb=options.wandb
        )
    else:
        asked: dict[str, Any] = dict(
            algo=options.algo,
            preset=options.preset,
            seed=options.seed or 0,
            env_steps=options.env_steps,
            settings=named_values(options.set),
            env_options=env_options(options.env_set, options.port, options.calibration),
        )
        if options.allow is not None:
            raise SeadsError("--allow is for --resume: a new run names its environment itself")
        if options.settings:
            return _list_settings(options.env or "lightsout-cursor", asked, options.json)
        ended = train(options.env, out=options.out, wandb=options.wandb, **asked)
    for line in filter(None, (ended.learned, ended.next_step)):
        tell(line)
    result = {
        "out": str(ended.directory),
        "status": ended.status,
        "env": ended.env,
        "env_steps": ended.env_steps,
        "effects": ended.effects,
    }
    if ended.status == "stopped":  # so that a shell's loop stops, too
        raise Interrupted(result)
    return result


def _list_settings(env: str, asked: dict[str, Any], as_json: bool) -> list[dict[str, Any]]:
    from seads.agent.presets import PRESETS
    from seads.agent.settings import as_typed, described
    from seads.baselines import settings as baselines
    from seads.tables import table_text
    from seads.training import configure

    config = configure(env, **asked)
    says = described(type(config.settings))
    found = [
        {"name": name, "value": value, "help": says[name]}
        for name, value in dataclasses.asdict(config.settings).items()
    ]
    if not as_json:
        rows = [(one["name"], as_typed(one["value"]), one["help"]) for one in found]
        titles = ("setting", "value", "what it does")
        print(f"{env}, --algo {config.settings.algorithm} --preset {config.preset}\n")
        print(table_text(titles, rows, left=(titles[0], titles[2])))
        presets = baselines.PRESETS if asked["algo"] in baselines.KINDS else PRESETS
        print(f"\npresets: {', '.join(presets)}")
        print("change a setting with: seads train ENV --set NAME=VALUE ...")
    return found


def _refuse_with_resume(options: Options) -> None:
    fresh = Options()
    new_run = "env algo preset seed out set env_set port calibration settings"
    for name in new_run.split():
        if getattr(options, name) != getattr(fresh, name):
            raise SeadsError(
                f"--resume continues {options.resume} with its own settings; "
                f"{name.replace('_', '-')}={getattr(options, name)!r} belongs to a new run"
            )
