"""Another budget for a run that has one: a larger one, or less of one that was just added."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from seads.errors import SeadsError
from seads.training.checkpoint import manifests
from seads.training.config import TrainConfig, fingerprint, read_config


def extend(path: Path, env_steps: int) -> TrainConfig:
    """Give the run in whose config.json this is another budget, and write that down there.

    A larger one is added to those it has had. A smaller one takes the last one's place, as if it
    had been asked for at once, while nothing has been learned by the last one's schedule. The
    budget that it has already changes nothing: an interrupted extension is just resumed.
    """
    config = read_config(path)
    if env_steps == config.env_steps:
        return config
    if env_steps > config.env_steps:
        config = dataclasses.replace(
            config,
            earlier_budgets=config.budgets,
            earlier_configs=[*config.earlier_configs, fingerprint(path)],
            env_steps=env_steps,
        )
    else:
        config = dataclasses.replace(
            config,
            earlier_configs=[*config.earlier_configs, *_check_lower(path, config, env_steps)],
            env_steps=env_steps,
        )
    config.write(path)
    return config


def _check_lower(path: Path, config: TrainConfig, env_steps: int) -> list[str]:
    """Raise unless the last budget can become this one, which is less.

    Returns the present config.json's fingerprint if there are checkpoints made with it.
    """
    run, present = path.parent, fingerprint(path)
    less = f"env_steps={env_steps}; allowed: more than"
    more = f"{less} the budget of {config.env_steps} that {run} has"
    if not config.earlier_budgets:
        raise SeadsError(f"{more}, which its learning rate has followed from the start")
    stored = manifests(run / "checkpoints")
    before = config.earlier_budgets[-1]
    ours = [one for one in stored if one.config == present]
    if any(one.env_steps >= before for one in ours):
        raise SeadsError(
            f"{more}: epochs beyond {before} have been learned at the rates of that budget, which "
            "cannot be lowered any more"
        )
    least = max([before, *(one.env_steps for one in stored)])
    if env_steps <= least:
        raise SeadsError(
            f"{less} {least}, the steps that {run} had as its budget before or has made by now"
        )
    return [present] if ours else []
