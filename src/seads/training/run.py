"""A run and its directory: start or resume, log, checkpoint on schedule and on signals, finish."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from seads import __version__
from seads.agent.settings import as_typed
from seads.errors import SeadsError
from seads.training.algorithms import AnyProgress, AnyTrainer, make_trainer
from seads.training.checkpoint import disk_full, newest_checkpoint, write_checkpoint
from seads.training.config import TrainConfig, read_config
from seads.training.metrics import MetricLog

Report = Callable[[str, dict[str, Any]], None]
"""Called with an event ('epoch', 'checkpoint', 'warning', 'end') and what there is to say of it."""


def train(config: TrainConfig, out: Path, report: Report | None = None, wandb: bool = False) -> str:
    """Train into a new directory; returns how it ended: 'finished' or 'stopped'."""
    check_new(out)
    with closing(make_trainer(config)) as trainer:
        # collects already: an environment that does not work says so before anything is written
        progress = trainer.begin()
        with full_disk_in_words(out):
            out.mkdir(parents=True, exist_ok=True)
            config.write(out / "config.json")
            return _run(trainer, progress, out, report or _quiet, wandb)


def check_new(out: Path) -> None:
    """Raises SeadsError if there is something in the place of a new run directory."""
    if out.exists() and not out.is_dir():
        raise SeadsError(f"{out} is a file; choose another --out")
    if out.is_dir() and any(out.iterdir()):
        on = f", or continue with --resume {out}" if (out / "config.json").is_file() else ""
        raise SeadsError(f"{out} exists and is not empty; choose another --out{on}")


def resume(out: Path, report: Report | None = None, wandb: bool = False) -> str:
    """Continue a run from its newest good checkpoint, bit for bit as if it had never stopped."""
    if not (out / "config.json").is_file():
        raise SeadsError(f"{out} is no run directory: there is no config.json in it")
    report = report or _quiet
    settings = fingerprint(out)
    with (
        closing(make_trainer(read_config(out / "config.json"))) as trainer,
        full_disk_in_words(out),
    ):

        def take(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> AnyProgress:
            if facts.get("config", settings) != settings:
                raise SeadsError("it was made with another config.json")
            return trainer.restore(arrays)

        found = newest_checkpoint(out / "checkpoints", take)
        if found is None:
            return _run(trainer, trainer.begin(), out, report, wandb)
        progress, step, complaints = found
        for complaint in complaints:
            report("warning", {"message": f"{complaint}; using the one before"})
        # the run may have been killed between the checkpoint and its agent
        save_agents(trainer, progress, out, step)
        return _run(trainer, progress, out, report, wandb)


def _run(trainer: AnyTrainer, progress: AnyProgress, out: Path, report: Report, wandb: bool) -> str:
    config = trainer.config
    started = time.monotonic()
    with stop_signals() as stopping:
        first_steps = progress.env_steps
        status = "finished" if first_steps >= config.env_steps else "running"
        log = MetricLog(
            out, progress.epoch, first_steps, _wandb_run(config, out) if wandb else None
        )
        _write_meta(out, config, progress, status, 0.0)
        try:
            while status == "running":
                progress, metrics = trainer.epoch(progress)
                finished = progress.env_steps >= config.env_steps
                status = "finished" if finished else "stopped" if stopping else "running"
                seconds = time.monotonic() - started
                speed = {
                    "seconds": seconds,
                    "env_steps_per_second": (progress.env_steps - first_steps) / seconds,
                }
                counters = {"epoch": progress.epoch, "env_steps": progress.env_steps}
                if progress.epoch % config.log_every == 0 or finished or "coverage" in metrics:
                    log.write({**counters, **metrics}, speed)
                report("epoch", {**counters, **metrics, **speed})
                if progress.epoch % config.checkpoint_every == 0 or status != "running":
                    save(trainer, progress, out)
                    _write_meta(out, config, progress, status, seconds)
                    report("checkpoint", counters)
        except BaseException:
            with suppress(OSError):  # the failure itself is what the user must hear of
                _write_meta(out, config, progress, "failed", time.monotonic() - started)
            raise
        finally:
            log.close()
    report("end", {"status": status, "env_steps": progress.env_steps, "out": str(out)})
    return status


def save(trainer: AnyTrainer, progress: AnyProgress, out: Path) -> None:
    """Checkpoint, the agent beside it (kept for curves), and the run's newest agent."""
    step = write_checkpoint(
        out / "checkpoints",
        progress.env_steps,
        trainer.arrays(progress),
        {"epoch": progress.epoch, "config": fingerprint(out)},
        trainer.config.keep_checkpoints,
    )
    save_agents(trainer, progress, out, step)


def save_agents(trainer: AnyTrainer, progress: AnyProgress, out: Path, step: Path) -> None:
    """The agent of a checkpoint, beside it and as the run's newest."""
    agent = trainer.agent(progress, card(trainer.config))
    agent.save(step / "agent")
    agent.save(out / "agent")


def fingerprint(out: Path) -> str:
    """What ties a checkpoint to the settings of its run."""
    return hashlib.sha256((out / "config.json").read_bytes()).hexdigest()


def card(config: TrainConfig) -> dict[str, Any]:
    """What an agent's card says of its making."""
    return {
        "command": command_of(config),
        "preset": config.preset,
        "seed": config.seed,
        "commit": _commit(),
        "version": __version__,
    }


def command_of(config: TrainConfig) -> str:
    """The command line that makes such a run."""
    algorithm = config.agent.algorithm
    words = ["seads", "train", config.env, *(["--algo", algorithm] * (algorithm != "seads"))]
    words += ["--preset", config.preset, "--seed", str(config.seed)]
    words += ["--env-steps", str(config.env_steps)]
    settings = {name: getattr(config.agent, name) for name in config.changed}
    for option, values in (("--set", settings), ("--env-set", config.env_options)):
        given = [f"{name}={as_typed(value)}" for name, value in values.items()]
        words += [option, *given] if given else []
    return shlex.join(words)


@contextmanager
def full_disk_in_words(out: Path) -> Iterator[None]:
    """Turns the many errors of a full disk into one sentence."""
    try:
        yield
    except Exception as error:
        if not disk_full(error):
            raise
        raise SeadsError(
            f"no space left on the disk of {out}; earlier checkpoints are intact: make room and "
            f"continue with --resume {out}"
        ) from None


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Within it SIGTERM and SIGINT are noted, not obeyed; a second SIGINT interrupts at once."""
    received: list[int] = []

    def note(number: int, _: Any) -> None:
        if received and number == signal.SIGINT:
            raise KeyboardInterrupt
        received.append(number)

    previous = {}
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            previous[number] = signal.signal(number, note)
    except ValueError:  # not in the main thread: signals are someone else's affair
        pass
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _write_meta(
    out: Path,
    config: TrainConfig,
    progress: AnyProgress,
    status: str,
    seconds: float,
) -> None:
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
    }
    aside = path.with_suffix(".tmp")
    aside.write_text(json.dumps(meta, indent=2) + "\n")
    aside.rename(path)


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


def _wandb_run(config: TrainConfig, out: Path) -> Any:
    import dataclasses

    import wandb

    # offline unless the user is set up for more: a run must not wait for a network
    mode = os.environ.get("WANDB_MODE", "offline")
    return wandb.init(project="seads", dir=out, mode=mode, config=dataclasses.asdict(config))


def _quiet(event: str, facts: dict[str, Any]) -> None:
    pass
