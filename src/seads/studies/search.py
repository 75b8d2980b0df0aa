"""Searches: a trial is the mean over seeds of boards solved on the training split.

Trials are told to Optuna, whose journal lies beside the runs; but a trial's value is what its
runs' directories say, and its runs' names are its settings, so the journal can be made again.
"""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from seads.agent.settings import as_typed
from seads.errors import SeadsError, told
from seads.reading import MOST_RESULT_BYTES, Share, read_json
from seads.studies.directory import damage, is_trained
from seads.studies.estimate import seconds_of
from seads.studies.measuring import check_depths, evaluations
from seads.studies.place import Place
from seads.studies.runs import StudyRun, check_distinct, check_names, group_runs, runs_of
from seads.studies.space import (
    AS_LISTED,
    alike,
    distribution_of,
    in_words,
    middle_of,
    settings_of,
    suggest,
)
from seads.studies.study import Evaluating, Group, Search, Study
from seads.studies.sweep import Sweep

MEASURED = Evaluating(coverage=False, tasks=("replan",), along=(), splits=("train", "test"))
"""By the training boards a search goes; those of the test split are for the heat maps."""
PROPOSALS = 20
"""How often something new is asked for before a space counts as used up."""


@dataclass(frozen=True)
class Trial:
    """Settings, and a run with them for each seed."""

    settings: Mapping[str, Any]
    runs: tuple[StudyRun, ...]


def trial_of(search: Search, settings: Mapping[str, Any], place: Place) -> Trial:
    """The runs that try some settings; their names tell them."""
    tried = "-".join(f"{name}={as_typed(value)}" for name, value in settings.items())
    group = Group(
        envs=(search.env,),
        seeds=search.seeds,
        budget=search.budget,
        name=f"{search.name}-{tried}",
        algo=search.algo,
        presets=(search.preset,) if search.preset else (),
        settings={**search.settings, **settings},
        env_options=search.env_options,
        schedule=search.schedule,
        evaluate=MEASURED,
    )
    return Trial(settings, tuple(group_runs(group, place)))


def grid(search: Search) -> Iterator[dict[str, Any]]:
    """Every combination of the values."""
    for values in itertools.product(*search.space.values()):
        yield dict(zip(search.space, values, strict=True))


class Searches:
    """All searches of a study under way."""

    def __init__(self, study: Study) -> None:
        places = study.places[len(study.groups) :]
        self._all = [_Search(one, place) for one, place in zip(study.searches, places, strict=True)]

    @property
    def runs(self) -> list[StudyRun]:
        """The runs that are known before anything has been tried: those of grids."""
        return [run for one in self._all for run in one.runs]

    def with_groups(self, study: Study) -> list[StudyRun]:
        """The runs of the study's groups, then those of its grids; any that cannot be raise.

        Two searches may try the same: each has its own heat map.
        """
        groups = runs_of(study)
        check_names([*groups, *self.runs])
        for runs in ([], *(one.runs for one in self._all)):
            check_distinct([*groups, *runs])
        check_depths(groups, study)
        return [*groups, *self.runs]

    def ahead(self, home: Path, cores: int) -> list[dict[str, Any]]:
        """Of each search by tpe how many runs are left to do, and about how long they take."""
        return [one.ahead(home, cores) for one in self._all if one.search.sampler == "tpe"]

    def begin(self, home: Path) -> list[StudyRun]:
        """Open the journals in a directory; the runs of trials that they tell of."""
        return [run for one in self._all for run in one.begin(home)]

    def more(self, sweep: Sweep, free: int) -> list[StudyRun]:
        """Tell what has ended, and ask for as many new trials as workers would stand idle."""
        found: list[StudyRun] = []
        for one in self._all:
            one.tell(sweep)
            while len(found) < free and (trial := one.ask()) is not None:
                found += trial.runs
        sweep.runs += found
        return found

    def to_json(self) -> list[dict[str, Any]]:
        """The best of each search."""
        return [one.to_json() for one in self._all]


class _Search:
    """One search, its trials and its journal."""

    def __init__(self, search: Search, place: Place) -> None:
        self.search, self._place = search, place
        by_grid = grid(search) if search.sampler == "grid" else ()
        self.trials = [trial_of(search, one, place) for one in by_grid]
        self._values: dict[int, float] = {}
        self._asked: dict[int, Any] = {}
        self._study: Any = None

    @property
    def runs(self) -> list[StudyRun]:
        """Those of all its trials as far as they are known."""
        return [run for trial in self.trials for run in trial.runs]

    def ahead(self, home: Path, cores: int) -> dict[str, Any]:
        """What trials are proposed nobody knows: all count as long as one amid the space."""
        search = self.search
        amid = {name: middle_of(values) for name, values in search.space.items()}
        [run, *_] = trial_of(search, amid, self._place).runs
        tried = home.glob(f"{glob.escape(run.name.partition('=')[0])}=*")
        trained = sum(damage(one) is None and is_trained(one) for one in tried)
        left = max(0, search.trials * len(search.seeds) - trained)
        seconds = left * seconds_of(run, cores)
        return {"search": search.name, "env": search.env, "runs": left, "seconds": round(seconds)}

    def begin(self, home: Path) -> list[StudyRun]:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        path = home / f"search-{self.search.title}.journal"
        try:
            self._study = optuna.create_study(
                study_name=self.search.title,
                storage=JournalStorage(JournalFileBackend(str(path))),
                direction="maximize",
                load_if_exists=True,
            )
            made = self._study.get_trials(deepcopy=False)
        except OSError:
            raise
        except Exception as error:  # whatever Optuna makes of a damaged file
            raise SeadsError(
                f"{path} is no journal of this search: {told(error)}; the runs are intact: "
                "move it aside"
            ) from None
        if self.search.sampler == "grid":
            return []
        self._check_space(made, path)
        # a seed of its own for each start: else it would propose once more what it began with
        self._study.sampler = optuna.samplers.TPESampler(seed=len(made), constant_liar=True)
        for old in made:
            whole = old.params.keys() == self.search.space.keys()  # else killed while asked for
            if whole and old.state != optuna.trial.TrialState.FAIL:
                self._asked[len(self.trials)] = None if old.state.is_finished() else old.number
                self.trials.append(trial_of(self.search, settings_of(old), self._place))
        return self.runs

    def _check_space(self, made: list[Any], path: Path) -> None:
        """Refuse a space whose proposals Optuna could not write beside those of the journal."""
        for name, values in self.search.space.items():
            now = distribution_of(values)
            for was in (one.distributions.get(name, now) for one in made):
                if not alike(was, now):
                    raise self._place.wrong(
                        f"{name} is {in_words(now)}, and {in_words(was)} in {path}; give the "
                        "search another name, or move the journal aside",
                        name,
                    )

    def ask(self) -> Trial | None:
        """The next trial; None once there are enough, or where all proposals are old ones."""
        import optuna

        if self.search.sampler == "grid" or len(self.trials) >= self.search.trials:
            return None
        for _ in range(PROPOSALS):
            asked = self._study.ask()
            asked.set_user_attr(AS_LISTED, True)  # first: a trial with all values has its mark
            for name, values in self.search.space.items():
                suggest(asked, name, distribution_of(values))
            settings = settings_of(asked)
            if all(settings != trial.settings for trial in self.trials):
                self._asked[len(self.trials)] = asked.number
                self.trials.append(trial_of(self.search, settings, self._place))
                return self.trials[-1]
            self._study.tell(asked, state=optuna.trial.TrialState.FAIL)
        return None

    def tell(self, sweep: Sweep) -> None:
        """Take the values of trials whose runs have all ended, and tell the journal of them."""
        for index, trial in enumerate(self.trials):
            if index in self._values:
                continue
            known = [sweep.standings.get(run.name) for run in trial.runs]
            failed = any(run.name in sweep.failed for run in trial.runs)
            if failed or not all(one is not None and one.done for one in known):
                continue
            value = trial_value(trial, sweep)
            if value is None:
                continue
            self._values[index] = value
            if self.search.sampler == "grid":
                self._add(trial, value)
            elif self._asked.get(index) is not None:
                self._study.tell(self._asked[index], value)
                self._asked[index] = None

    def _add(self, trial: Trial, value: float) -> None:
        import optuna

        params = dict(trial.settings)
        if any(one.params == params for one in self._study.get_trials(deepcopy=False)):
            return
        spaces = {name: distribution_of(values) for name, values in self.search.space.items()}
        made = optuna.trial.create_trial(params=params, distributions=spaces, value=value)
        self._study.add_trial(made)

    def to_json(self) -> dict[str, Any]:
        facts = {"search": self.search.name, "env": self.search.env, "trials": len(self.trials)}
        if not self._values:
            return {**facts, "finished": 0, "best": None}
        best = max(self._values, key=lambda index: self._values[index])
        return {
            **facts,
            "finished": len(self._values),
            "best": dict(self.trials[best].settings),
            "success_on_training_boards": self._values[best],
        }


class _Success(Struct):
    success: Share


class _Solved(Struct):
    """What of an evaluation a search goes by."""

    tasks: _Success


def trial_value(trial: Trial, sweep: Sweep) -> float | None:
    """The mean over its runs of boards solved on the training split.

    None where the results of one are damaged, which is then a run that failed.
    """
    found = []
    for run in trial.runs:
        [one] = [one for one in evaluations(run) if one.split == "train" and one.part == "tasks"]
        path = sweep.home / run.name / "eval" / f"{one.name}.json"
        try:
            solved = read_json(path, _Solved, "an evaluation of boards solved", MOST_RESULT_BYTES)
        except (SeadsError, OSError) as error:
            sweep.failed[run.name] = str(error)
            return None
        found.append(solved.tasks.success)
    return float(np.mean(found))
