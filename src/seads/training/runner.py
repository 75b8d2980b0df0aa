"""A run and its directory: start or go on, log, checkpoint on schedule and on signals, finish."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from seads.agent.arrays import from_arrays, read_arrays, to_arrays
from seads.agent.card import CARD, WEIGHTS, read_facts
from seads.checkpoints import checkpoints
from seads.envs.gymnasium_rows import RowFailed
from seads.errors import SeadsError, WorldFault
from seads.files import write_aside
from seads.training.algorithms import AnyProgress, AnyTrainer, make_trainer
from seads.training.checkpoint import disk_full, newest_checkpoint, write_checkpoint
from seads.training.config import (
    TrainConfig,
    fingerprint,
    read_config,
    read_config_and_fingerprint,
)
from seads.training.lock import LOCK, RunLock, locked
from seads.training.metrics import MetricLog
from seads.training.provenance import Status, card, write_meta
from seads.training.pushes import Pushes

Report = Callable[[str, dict[str, Any]], None]
"""Called with an event and what there is to say of it.

Events are 'begin' (the environments are there), 'start' (and where), 'epoch', 'checkpoint',
'warning', 'stopping' (a signal asked for it, and the epoch goes on until its end) and 'end'.
"""


def quiet(event: str, facts: dict[str, Any]) -> None:
    """A report to nobody."""


def start(config: TrainConfig, out: Path, report: Report = quiet, wandb: bool = False) -> str:
    """Train into a new directory; returns how it ended: 'finished' or 'stopped'."""
    check_new(out)
    check_wandb(wandb)
    with failed_rows_in_words(out), closing(make_trainer(config)) as trainer:
        report("begin", {})
        # collects already: an environment that does not work says so before anything is written
        progress = trainer.begin()
        with full_disk_in_words(out), locked(out) as lock:
            check_empty(out)  # nobody was faster
            config.write(out / "config.json")
            made_with = fingerprint(out / "config.json")
            return _run(config, made_with, trainer, progress, out, lock, report, wandb)


def check_new(out: Path) -> None:
    """Raises SeadsError if there is something in the place of a new run directory."""
    if out.exists() and not out.is_dir():
        raise SeadsError(f"{out} is a file; choose another --out")
    if (out / LOCK).is_file():
        RunLock(out).release()  # says who has it, if somebody has
    check_empty(out)


def check_empty(out: Path) -> None:
    """Raises SeadsError if a directory holds anything but its lock."""
    if out.is_dir() and any(path.name != LOCK for path in out.iterdir()):
        on = f", or continue with --resume {out}" if (out / "config.json").is_file() else ""
        raise SeadsError(f"{out} exists and is not empty; choose another --out{on}")


def check_wandb(wanted: bool) -> None:
    """What is missing is found before anything is written."""
    if wanted:
        import wandb  # noqa: F401


def check_run(out: Path) -> TrainConfig:
    """The configuration of the run in a directory; raises SeadsError if there is none."""
    if not (out / "config.json").is_file():
        raise SeadsError(f"{out} is no run directory: there is no config.json in it")
    return read_config(out / "config.json")


def go_on(out: Path, report: Report = quiet, wandb: bool = False) -> str:
    """Continue a run from its newest good checkpoint, bit for bit as if it had never stopped."""
    check_run(out)
    check_wandb(wandb)
    with full_disk_in_words(out), RunLock(out) as lock:
        return go_on_locked(out, lock, report, wandb)


def go_on_locked(out: Path, lock: RunLock, report: Report = quiet, wandb: bool = False) -> str:
    """`go_on` for who holds the run's lock already; it is not let go of here."""
    # read once, under the lock: what is stored is stamped with what the run was really made with
    config, made_with = read_config_and_fingerprint(out / "config.json")
    with failed_rows_in_words(out), closing(make_trainer(config)) as trainer:
        settings = [*config.earlier_configs, made_with]
        report("begin", {})
        progress = trainer.blank()

        def take(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> AnyProgress:
            if facts.get("config", settings[0]) not in settings:
                raise SeadsError("it was made with another config.json")
            try:
                return from_arrays(progress, arrays, take=True)
            except SeadsError as error:
                raise SeadsError(
                    "another version of seads or of the environment wrote it, and only that one "
                    f"can continue this run; its agents still load: {error}"
                ) from None

        found = newest_checkpoint(out / "checkpoints", take)
        if found is not None:
            progress, step, complaints = found
            for complaint in complaints:
                report("warning", {"message": f"{complaint}; using the one before"})
            mend_agents(config, trainer, progress, out, step)
        else:
            report("warning", {"message": "nothing is stored yet; the run begins anew"})
            progress = trainer.begin()
        return _run(config, made_with, trainer, progress, out, lock, report, wandb)


def _run(
    config: TrainConfig,
    made_with: str,
    trainer: AnyTrainer,
    progress: AnyProgress,
    out: Path,
    lock: RunLock,
    report: Report,
    wandb: bool,
) -> str:
    started = time.monotonic()
    with stop_signals(report) as stopping:
        first_steps = stored = progress.env_steps  # a run begins with what is stored, or nothing
        status: Status = "finished" if first_steps >= config.env_steps else "running"
        log = MetricLog(
            out, progress.epoch, first_steps, _wandb_run(config, out) if wandb else None
        )
        write_meta(out, config, progress, status, 0.0)
        report("start", {"epoch": progress.epoch, "env_steps": first_steps})
        try:
            while status == "running":
                before = progress.env_steps
                progress, metrics = trainer.epoch(progress)
                require_finite(metrics, progress)
                finished = progress.env_steps >= config.env_steps
                status = "finished" if finished else "stopped" if stopping else "running"
                seconds = time.monotonic() - started
                speed = {
                    "seconds": seconds,
                    "env_steps_per_second": (progress.env_steps - first_steps) / seconds,
                }
                counters = {"epoch": progress.epoch, "env_steps": progress.env_steps}
                # an extended run has the line with which it once ended
                ends = any(before < budget <= progress.env_steps for budget in config.budgets)
                if progress.epoch % config.log_every == 0 or ends or "coverage" in metrics:
                    log.write({**counters, **metrics}, speed)
                report("epoch", {**counters, **metrics, **speed})
                if progress.epoch % config.checkpoint_every == 0 or status != "running":
                    lock.check()
                    save(config, made_with, trainer, progress, out)
                    stored = progress.env_steps
                    write_meta(out, config, progress, status, seconds)
                    report("checkpoint", counters)
        except WorldFault as fault:
            # what was learned so far is good, and the world may be mended
            lock.check()
            if progress.env_steps != stored:  # the one good copy is not written over
                save(config, made_with, trainer, progress, out)
            write_meta(out, config, progress, "stopped", time.monotonic() - started)
            raise type(fault)(f"{fault}; continue with: seads train --resume {out}") from fault
        except BaseException as error:
            ended: Status = "stopped" if isinstance(error, KeyboardInterrupt) else "failed"
            with suppress(OSError, SeadsError):  # the failure itself is what the user must hear of
                lock.check()
                write_meta(out, config, progress, ended, time.monotonic() - started)
            raise
        finally:
            log.close()
    report("end", {"status": status, "env_steps": progress.env_steps, "out": str(out)})
    return status


def save(
    config: TrainConfig, made_with: str, trainer: AnyTrainer, progress: AnyProgress, out: Path
) -> None:
    """Checkpoint, the agent beside it (kept for curves), and the run's newest agent.

    `made_with` is the fingerprint of the configuration. Raises if the learner holds a NaN that
    no loss has shown yet.
    """
    learner = {f"learner{name}": value for name, value in to_arrays(progress.learner).items()}
    require_finite({name: float(value.sum()) for name, value in learner.items()}, progress)
    step = write_checkpoint(
        out / "checkpoints",
        progress.env_steps,
        to_arrays(progress),
        {"epoch": progress.epoch, "config": made_with},
        config.keep_checkpoints,
    )
    save_agents(config, trainer, progress, out, step)


def save_agents(
    config: TrainConfig, trainer: AnyTrainer, progress: AnyProgress, out: Path, step: Path
) -> None:
    """The agent of a checkpoint, beside it and as the run's newest, and where the run pushed."""
    counters = {"env_steps": progress.env_steps, "epoch": progress.epoch}
    agent = trainer.agent(progress, counters | card(config))
    agent.save(step / "agent")
    agent.save(out / "agent")
    _write_pushes(progress, out)


def mend_agents(
    config: TrainConfig, trainer: AnyTrainer, progress: AnyProgress, out: Path, step: Path
) -> None:
    """What is missing after a kill between a checkpoint and its agents.

    Agents that are there stay as they are: a card names the code, the budgets and the command that
    made its agent, which are not those of who resumes the run.
    """
    if not _whole(step / "agent", progress):
        save_agents(config, trainer, progress, out, step)
        return
    for name in (WEIGHTS, CARD):
        ours, newest = step / "agent" / name, out / "agent" / name
        if not (newest.is_file() and newest.read_bytes() == ours.read_bytes()):
            newest.parent.mkdir(exist_ok=True)
            write_aside(newest, ours.read_bytes())
    _write_pushes(progress, out)


def _whole(agent: Path, progress: AnyProgress) -> bool:
    """Whether an agent is there that can be read, and is of that progress."""
    try:
        read_arrays(agent / WEIGHTS)
        facts = read_facts(agent)
    except (OSError, SeadsError):
        return False
    return (facts.get("env_steps"), facts.get("epoch")) == (progress.env_steps, progress.epoch)


def _write_pushes(progress: AnyProgress, out: Path) -> None:
    # only a run in an environment that is never reset has any
    pushes: Pushes | None = getattr(progress, "pushes", None)
    if pushes is not None:
        pushes.write(out)


def require_finite(values: dict[str, float], progress: AnyProgress) -> None:
    """Raise where something is no longer a number: learning has gone wrong."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise SeadsError(
                f"{name} became {value} in epoch {progress.epoch} after {progress.env_steps} env "
                "steps; the run is stopped and its last checkpoint is from before that. Lower "
                "learning_rate in a new run"
            )


@contextmanager
def full_disk_in_words(
    out: Path, on: str = "", intact: str = "; earlier checkpoints are intact"
) -> Iterator[None]:
    """Turns the many errors of a full disk into one sentence, which says how to go on."""
    try:
        yield
    except Exception as error:
        if not disk_full(error):
            raise
        file = getattr(error, "filename", None)
        elsewhere = isinstance(file, str) and out not in Path(file).parents
        raise SeadsError(
            f"no space left on the disk of {file if elsewhere else out}{intact}: make room and "
            f"{on or f'continue with --resume {out}'}"
        ) from None


@contextmanager
def failed_rows_in_words(out: Path) -> Iterator[None]:
    """Says how to go on once rows that failed do not."""
    try:
        yield
    except RowFailed as error:
        on = ""
        if checkpoints(out / "checkpoints"):
            on = f"; checkpoints are intact: continue with --resume {out}"
        elif (out / "config.json").is_file():
            on = f"; nothing is stored yet: begin anew with --resume {out}"
        raise SeadsError(f"{error}{on}") from error


@contextmanager
def stop_signals(report: Report = quiet) -> Iterator[list[int]]:
    """Within it SIGTERM and SIGINT are noted, not obeyed; a second SIGINT interrupts at once."""
    received: list[int] = []

    def note(number: int, _: Any) -> None:
        if received and number == signal.SIGINT:
            raise KeyboardInterrupt
        received.append(number)
        if len(received) == 1:
            report("stopping", {})

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


def _wandb_run(config: TrainConfig, out: Path) -> Any:
    import wandb

    # offline unless the user is set up for more: a run must not wait for a network
    mode = os.environ.get("WANDB_MODE", "offline")
    return wandb.init(project="seads", dir=out, mode=mode, config=config.as_json())
