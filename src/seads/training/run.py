"""Training from Python: `train` and `resume`, and the run that they return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seads.agent.settings import skills_by_bits
from seads.agent.skill_costs import successes
from seads.checkpoints import checkpoints
from seads.envs.own import is_own
from seads.errors import SeadsError
from seads.jax_setup import prepare_jax
from seads.solving import Agent, load
from seads.terminal import next_command, tell
from seads.training.config import TrainConfig, read_config
from seads.training.configure import configure, default_name, named_value
from seads.training.extending import extend
from seads.training.lock import RunLock
from seads.training.metrics import read_metrics
from seads.training.progress import TrainingProgress
from seads.training.provenance import read_meta
from seads.training.runner import (
    Report,
    check_new,
    check_run,
    check_wandb,
    full_disk_in_words,
    go_on_locked,
    start,
)
from seads.training.runner import quiet as no_report
from seads.trust import refusal


@dataclass(frozen=True)
class Run:
    """A run as it has ended for now, finished or stopped; everything of it is in its directory."""

    directory: Path
    status: str
    env: str
    seed: int
    env_steps: int

    @property
    def config(self) -> TrainConfig:
        """Every setting."""
        return read_config(self.directory / "config.json")

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl; what the seed decides, an epoch each."""
        return read_metrics(self.directory / "metrics.jsonl")

    @cached_property
    def agent(self) -> Agent:
        """The newest agent; of a baseline there is none with skills, and `evaluate` measures it."""
        return load(self.directory)

    @property
    def effects(self) -> int | None:
        """How many effects were found: skills that do what no other does. None without a model."""
        own = self._skills_with_effects
        return None if own is None else len(own)

    @cached_property
    def _skills_with_effects(self) -> list[dict[str, Any]] | None:
        """What the agent's card says of the skills that have an effect of their own."""
        if not (self.directory / "agent").is_dir() or self.config.settings.algorithm != "seads":
            return None
        return [one for one in self.agent.card.get("skills", []) if one.get("own", True)]

    @property
    def learned(self) -> str:
        """What was found, as words for a terminal; empty of a run that learns no model."""
        own = self._skills_with_effects
        if own is None:
            return ""
        skills = self.agent.num_skills
        found = f"{self.effects} different effects, of {skills} skills"
        if shares := [successes(one) / one["episodes"] for one in own if one["episodes"]]:
            low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
            span = low if low == high else f"{low} to {high}"
            found += f", which did as the model says in {span} of their newest tries"
        if not self.effects and any(line.get("changed") for line in self.metrics):
            return f"{found}: bits change, but no skill is reliable yet; it takes more env steps"
        if not self.effects:
            given = [named_value(name, one) for name, one in self.config.env_options.items()]
            check = next_command("check", self.env, *(["--env-set", *given] if given else []))
            return f"{found}: does any bit ever change? look with: {check}"
        if self.effects == skills and self._skills_were_guessed:
            return (
                f"{found}: each has one of its own, so there may be more; a new run has more "
                f"skills with --set num_skills={2 * skills}"
            )
        return found

    @property
    def _skills_were_guessed(self) -> bool:
        """Whether neither the user nor the environment said how many effects there are."""
        if not is_own(self.env) or self.config.settings.num_skills:
            return False
        # an environment that knows its moves has their coverage measured as it learns
        knows_moves = any("coverage" in line for line in self.metrics)
        by_bits = skills_by_bits(self.agent.architecture.num_bits)
        return not knows_moves and self.agent.num_skills == by_bits

    @property
    def next_step(self) -> str:
        """What one does now, as words for a terminal."""
        if self.status != "finished":
            return f"stopped; continue with: {next_command('train', '--resume', self.directory)}"
        # an environment of one's own has no known moves: see what was learned instead
        if is_own(self.env) and self.config.settings.algorithm == "seads":
            return f"next: {next_command('plan', self.directory, '--operators')}"
        return f"next: {next_command('evaluate', self.directory)}"

    def __str__(self) -> str:
        measured = [line["coverage"] for line in self.metrics if "coverage" in line]
        coverage = f", coverage {measured[-1]:.1f}" if measured else ""
        return (
            f"{self.env}, seed {self.seed}: {self.status} after {self.env_steps:,} env steps"
            f"{coverage}, in {self.directory}\n"
            + "\n".join(line for line in (self.learned, self.next_step) if line)
        )


def train(
    env: str,
    *,
    seed: int = 0,
    env_steps: int | None = None,
    out: str | Path | None = None,
    algo: str = "seads",
    preset: str | None = None,
    settings: dict[str, Any] | None = None,
    env_options: dict[str, Any] | None = None,
    report: Report | None = None,
    quiet: bool = False,
    wandb: bool = False,
) -> Run:
    """Train in an environment until the budget is used up or a signal asks to stop.

    `settings` change those of the preset, `env_options` those of the environment; see
    `configure`. The run's directory is `out`, by default runs/ENV-ALGO-PRESET-seedN. How it goes
    is shown on stderr, or told to `report`, or to nobody if `quiet`.
    """
    prepare_jax()
    config = configure(
        env,
        algo=algo,
        preset=preset,
        seed=seed,
        env_steps=env_steps,
        settings=settings,
        env_options=env_options,
    )
    directory = Path("runs", default_name(config)) if out is None else Path(out)
    check_new(directory)
    with _says_how_to_go_on(directory), _shown(config, report, quiet) as progress:
        status = start(config, directory, progress, wandb)
    return _ended(directory, config, status)


def resume(
    out: str | Path,
    *,
    env_steps: int | None = None,
    allow: str | None = None,
    report: Report | None = None,
    quiet: bool = False,
    wandb: bool = False,
) -> Run:
    """Continue a run from its newest good checkpoint, bit for bit as if it had never stopped.

    `env_steps` is a larger budget than it had, for more of the same run, or less than the last one
    while nothing has been learned by it: see `TrainConfig` and `extend`.
    Where its environment is code of its own, `module:factory`, it is imported only if the run was
    trained here or `allow` names that factory.
    """
    prepare_jax()
    directory = Path(out)
    config = check_run(directory)
    if is_own(config.env):
        sealed = read_meta(directory / "meta.json").get("seal")
        untrusted = refusal(out, config.env, config.env_options, sealed, allow)
        if untrusted is not None:
            raise SeadsError(untrusted)
    check_wandb(wandb)
    # one lock for both: nobody else goes on with a budget that has just been added
    with _says_how_to_go_on(directory), full_disk_in_words(directory), RunLock(directory) as lock:
        if env_steps is not None:
            config = extend(directory / "config.json", env_steps)
        with _shown(config, report, quiet) as progress:
            status = go_on_locked(directory, lock, progress, wandb)
    return _ended(directory, config, status)


@contextmanager
def _says_how_to_go_on(directory: Path) -> Iterator[None]:
    """Also where a second Ctrl-C lets nothing more be saved."""
    try:
        yield
    except KeyboardInterrupt:
        if (directory / "config.json").is_file():
            command = next_command("train", "--resume", directory)
            on = "continue from the last checkpoint"
            if not checkpoints(directory / "checkpoints"):
                on = "nothing is stored yet; begin anew"
            tell(f"stopped at once; {on} with: {command}")
        raise


def _shown(
    config: TrainConfig, report: Report | None, quiet: bool
) -> AbstractContextManager[Report]:
    if report is None and not quiet:
        return TrainingProgress(config)
    return nullcontext(report or no_report)


def _ended(directory: Path, config: TrainConfig, status: str) -> Run:
    meta = read_meta(directory / "meta.json")
    return Run(directory, status, config.env, config.seed, meta["env_steps"])
