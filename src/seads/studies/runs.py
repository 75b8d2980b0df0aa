"""From a study to its runs: each with a name, a complete configuration, and what is measured."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from seads.envs import make_env
from seads.envs.interface import EnvSpec
from seads.envs.own import is_own
from seads.errors import SeadsError, unknown
from seads.studies.place import Place, holds
from seads.studies.study import Evaluating, Group, Study
from seads.training.config import TrainConfig
from seads.training.configure import configure
from seads.trust import study_refusal

SCHEDULE = (
    "checkpoint_every",
    "log_every",
    "keep_checkpoints",
    "coverage_every",
    "coverage_starts",
)


@dataclass(frozen=True)
class StudyRun:
    """One run of a study."""

    name: str
    """The name of its directory: environment, group and seed."""
    group: str
    """What it shares with the runs that differ by their seed, and environment, alone."""
    config: TrainConfig
    budget: int
    evaluate: Evaluating
    place: Place = dataclasses.field(repr=False, compare=False)
    """Where in the study's file it stands."""

    @property
    def kind(self) -> tuple[str, str]:
        """Runs of one kind differ by their seed alone."""
        return self.config.env, self.group


def check_code(study: Study, allow: Collection[str]) -> None:
    """Refuse a study that names code, `module:factory`, which its user has not named as well."""
    named = [*(one.envs for one in study.groups), *((one.env,) for one in study.searches)]
    for envs, place in zip(named, study.places, strict=True):
        for env in filter(is_own, envs):
            untrusted = study_refusal(env, allow)
            if untrusted is not None:
                raise place.wrong(untrusted, env)


def runs_of(study: Study) -> list[StudyRun]:
    """Every run of the groups, in the file's order, the seeds of a kind one after the other."""
    found: list[StudyRun] = []
    for group, place in zip(study.groups, study.places, strict=False):
        found += group_runs(group, place)
    return found


def group_runs(group: Group, place: Place) -> Iterator[StudyRun]:
    """The runs of one group."""
    for env in group.envs:
        for preset in group.presets or ("",):
            one = _configured(group, env, preset, place)
            label = group.name or preset or (one.preset if group.algo == "seads" else group.algo)
            if group.name and len(group.presets) > 1:
                label = f"{group.name}-{preset}"
            for seed in group.seeds:
                name = f"{env.replace(':', '-')}-{label}-seed{seed}"
                config = dataclasses.replace(one, seed=seed)
                yield StudyRun(name, label, config, group.budget, group.evaluate, place)


def _configured(group: Group, env: str, preset: str, place: Place) -> TrainConfig:
    """The configuration of a kind of run, with seed 0."""
    schedule: dict[str, Any] = dict(group.schedule)
    for name in schedule:
        if name not in SCHEDULE:
            raise place.wrong(unknown("key of schedule", name, SCHEDULE), name)
    try:
        config = configure(
            env,
            algo=group.algo,
            preset=preset or None,
            env_steps=group.budget,
            settings=dict(group.settings),
            env_options=dict(group.env_options),
        )
        # so the last checkpoint, for which the learning rate has fallen, is the last one below the
        # budget, which is the one that the paper uses (S.8.1)
        steps = group.budget - config.settings.longest_epoch(spec_of(config))
        if steps < 1:
            raise SeadsError(f"budget={group.budget} is less than one epoch may take")
        return dataclasses.replace(config, env_steps=steps, **schedule)
    except SeadsError as error:
        keys = [*group.settings, *group.env_options, *schedule, "budget"]
        raise place.wrong(error, _named(error, [*keys, preset, group.algo, env])) from None


def _named(error: SeadsError, words: list[str]) -> str:
    """The word of a group that an error is about: what it begins with, else what it mentions.

    Of an option also its environment is told, and of a wrong name all those that are allowed.
    """
    told = str(error)
    for part in (told.partition(";")[0], told):
        for word in words:
            if word and holds(part, word):
                return word
    return "envs"


_SPECS: dict[str, EnvSpec] = {}
"""By environment and options, which may be lists."""


def spec_of(config: TrainConfig) -> EnvSpec:
    """The environment's, which is built once for all runs that share it."""
    key = json.dumps([config.env, config.env_options], sort_keys=True)
    if key not in _SPECS:
        with closing(make_env(config.env, 1, **config.env_options)) as made:
            _SPECS[key] = made.spec
    return _SPECS[key]


def picked(runs: list[StudyRun], patterns: Collection[str]) -> list[StudyRun]:
    """The runs whose names fit one of some patterns, as of file names; all if there are none."""
    for pattern in patterns:
        if not any(fnmatchcase(run.name, pattern) for run in runs):
            names = ", ".join(dict.fromkeys((runs[0].name, runs[-1].name))) if runs else "none"
            raise SeadsError(f"--only {pattern!r} fits no run of the groups; there are {names} …")
    return [
        run
        for run in runs
        if not patterns or any(fnmatchcase(run.name, pattern) for pattern in patterns)
    ]


def check_names(runs: Iterable[StudyRun]) -> None:
    """Names are directories: no two runs may share one."""
    names: set[str] = set()
    for run in runs:
        if run.name in names:
            raise run.place.wrong(
                f"runs overlap, two are named {run.name}; give a group another name"
            )
        names.add(run.name)


def check_distinct(runs: Iterable[StudyRun]) -> None:
    """Equal configurations in two groups, or in one and a search, would be counted twice."""
    configs: dict[str, str] = {}
    for run in runs:
        learned = run.config.as_json() | {"preset": "", "changed": []}
        twin = configs.setdefault(json.dumps(learned, sort_keys=True), run.name)
        if twin != run.name:
            raise run.place.wrong(f"runs overlap, {twin} and {run.name} are the same run")


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], under: str = "") -> list[str]:
    """Where two configurations differ, in words."""
    found = []
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        one, other = ours.get(name), theirs.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += differences(one, other, f"{under}{name}.")
        elif json.dumps(one) != json.dumps(other):
            found.append(f"{under}{name} is {other!r} there and {one!r} in the study")
    return found
