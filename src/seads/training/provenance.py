"""What a run says of itself: meta.json, an agent's card, and the command that makes it again."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seads import __version__
from seads.agent.settings import as_typed
from seads.files import write_text_aside
from seads.training.algorithms import AnyProgress
from seads.training.config import TrainConfig
from seads.training.configure import default_name


def card(config: TrainConfig) -> dict[str, Any]:
    """What an agent's card says of its making."""
    return {
        "command": command_of(config),
        "budgets": config.budgets,
        "preset": config.preset,
        "seed": config.seed,
        "commit": _commit(),
        "version": __version__,
    }


def command_of(config: TrainConfig) -> str:
    """The command line that makes such a run; one more for each budget that was added to it."""
    algorithm = config.settings.algorithm
    words = ["seads", "train", config.env, *(["--algo", algorithm] * (algorithm != "seads"))]
    words += ["--preset", config.preset, "--seed", str(config.seed)]
    words += ["--env-steps", str(config.budgets[0])]
    settings = {name: getattr(config.settings, name) for name in config.changed}
    for option, values in (("--set", settings), ("--env-set", config.env_options)):
        given = [f"{name}={as_typed(value)}" for name, value in values.items()]
        words += [option, *given] if given else []
    more = ["seads", "train", "--resume", f"runs/{default_name(config)}", "--env-steps"]
    commands = [words, *([*more, str(budget)] for budget in config.budgets[1:])]
    return " && ".join(map(shlex.join, commands))


def write_meta(
    out: Path,
    config: TrainConfig,
    progress: AnyProgress,
    status: str,
    seconds: float,
) -> None:
    """Write meta.json; `seconds` is the time since the start or the last resume."""
    path = out / "meta.json"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    old = json.loads(path.read_text()) if path.exists() else {}
    meta = {
        "seads": __version__,
        "versions": {name: version(name) for name in ("jax", "mujoco", "numpy", "equinox")},
        "commit": _commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "started": old.get("started", now),
        "updated": now,
        "seconds_since_start_or_resume": round(seconds, 1),
        "status": status,
        "epoch": progress.epoch,
        "env_steps": progress.env_steps,
        "budget": config.env_steps,
        "earlier_budgets": config.earlier_budgets,
    }
    write_text_aside(path, json.dumps(meta, indent=2) + "\n")


def _commit() -> str | None:
    """The commit of the source tree, where the package runs from one."""
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
