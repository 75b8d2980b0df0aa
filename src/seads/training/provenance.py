"""What a run says of itself: meta.json, an agent's card, and the command that makes it again."""

from __future__ import annotations

import datetime
import functools
import json
import os
import platform
import re
import shlex
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypedDict

from seads import __version__
from seads.envs.own import is_own
from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.reading import Count, Name, read_json
from seads.training.algorithms import AnyProgress
from seads.training.config import TrainConfig
from seads.training.configure import default_name, named_value
from seads.trust import seal

Status = Literal["running", "finished", "stopped", "failed"]


class RunMeta(TypedDict, total=False):
    """What is read back of meta.json; the rest of it is for people."""

    seads: Name
    commit: Name | None
    machine: Name
    started: Name
    status: Status
    epoch: Count
    env_steps: Count
    budget: Count
    seal: Name | None


def read_meta(path: Path) -> RunMeta:
    """What a run says of itself; nothing where it has not said anything yet."""
    return read_json(path, RunMeta, "what a run says of itself") if path.exists() else {}


def refuse_newer(path: Path, made_by: object) -> None:
    """Refuse what a newer version than this has made."""
    ours, theirs = (
        [int(part) for part in re.findall(r"\d+", str(version))[:3]]
        for version in (__version__, made_by)
    )
    if theirs > ours:
        raise SeadsError(
            f"{path} was made by seads {made_by}, which is newer than this {__version__}; upgrade"
        )


def card(config: TrainConfig) -> dict[str, Any]:
    """What an agent's card says of its making."""
    return {
        "command": command_of(config),
        "budgets": config.budgets,
        "preset": config.preset,
        "seed": config.seed,
        "commit": commit(),
        "version": __version__,
        **_sealed(config),
    }


def _sealed(config: TrainConfig) -> dict[str, str | None]:
    """What lets the code of one's own environment be imported again (see `seads.trust`)."""
    return {"seal": seal(config.env, config.env_options)} if is_own(config.env) else {}


def command_of(config: TrainConfig) -> str:
    """The command line that makes such a run; one more for each budget that was added to it."""
    algorithm = config.settings.algorithm
    words = ["seads", "train", config.env, *(["--algo", algorithm] * (algorithm != "seads"))]
    words += ["--preset", config.preset, "--seed", str(config.seed)]
    words += ["--env-steps", str(config.budgets[0])]
    settings = {name: getattr(config.settings, name) for name in config.changed}
    for option, values in (("--set", settings), ("--env-set", config.env_options)):
        given = [named_value(name, value) for name, value in values.items()]
        words += [option, *given] if given else []
    more = ["seads", "train", "--resume", f"runs/{default_name(config)}", "--env-steps"]
    commands = [words, *([*more, str(budget)] for budget in config.budgets[1:])]
    return " && ".join(map(shlex.join, commands))


def write_meta(
    out: Path,
    config: TrainConfig,
    progress: AnyProgress,
    status: Status,
    seconds: float,
) -> None:
    """Write meta.json; `seconds` is the time since the start or the last resume."""
    path = out / "meta.json"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    meta = {
        "seads": __version__,
        "versions": {name: version(name) for name in ("jax", "mujoco", "numpy", "equinox")},
        "commit": commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "started": read_meta(path).get("started", now),
        "updated": now,
        "seconds_since_start_or_resume": round(seconds, 1),
        "status": status,
        "epoch": progress.epoch,
        "env_steps": progress.env_steps,
        "budget": config.env_steps,
        "earlier_budgets": config.earlier_budgets,
        **_sealed(config),
    }
    write_text_aside(path, json.dumps(meta, indent=2) + "\n")


@functools.cache
def commit() -> str | None:
    """The commit of the source tree when first asked for, where the package runs from one.

    With "-dirty" where the tree has changes of its own. An installed package may lie within the
    repository of somebody else's project, which does not track it.
    """
    if _git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    return _git("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")


def _git(*words: str) -> str | None:
    here = Path(__file__).parent
    try:
        answer = subprocess.run(
            ["git", *words], cwd=here, capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
