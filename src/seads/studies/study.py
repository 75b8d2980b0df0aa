"""A study's file: groups of runs, what is evaluated of them, and searches; read with its lines."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, get_type_hints

from msgspec import Meta

from seads.errors import SeadsError, unknown
from seads.evaluation.depths import parse_depths
from seads.reading import Name, Options, Plain, as_kind, read_bytes
from seads.studies.place import Place

WAYS = ("replan", "no-replan")
ALLOWED = {"tasks": WAYS, "along": ("coverage", "tasks"), "splits": ("test", "train")}
SAMPLERS = ("grid", "tpe")
MOST_RUNS = 10_000

Names = Annotated[tuple[Name, ...], Meta(max_length=1000)]
SomeNames = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=1000)]
Label = Annotated[str, Meta(max_length=100, pattern=r"^[\w.,+-]*$")]
"""A part of a directory's name, and of no other directory's; = is what a search's trials have."""
Seed = Annotated[int, Meta(ge=0, lt=2**32)]
Seeds = Annotated[tuple[Seed, ...], Meta(min_length=1, max_length=MOST_RUNS)]
Budget = Annotated[int, Meta(ge=1, le=10**12)]
Number = Annotated[int, Meta(ge=1, le=100_000)]
Whole = Annotated[int, Meta(ge=0, le=10**12)]
Bound = Annotated[float, Meta(ge=-1e12, le=1e12)]


class Span(TypedDict):
    """Values between two, for tpe."""

    low: Bound
    high: Bound
    log: NotRequired[bool]


Values = Annotated[list[Plain | list[Plain]], Meta(min_length=1, max_length=1000)]


@dataclass(frozen=True)
class Evaluating:
    """What is measured of each run, at its last checkpoint below the budget."""

    coverage: bool = True
    """Distinct moves of the skills."""
    tasks: Names = WAYS
    """Boards solved: with replanning, without, both, or neither."""
    along: Names = ("coverage",)
    """Which of coverage and tasks are measured at every checkpoint too, for curves."""
    deep: Annotated[str, Meta(max_length=100)] = ""
    """More solution depths, such as 1-15, solved with replanning."""
    skills: bool = False
    """Where each skill touches the board and how it gets there."""
    starts: Number = 100
    """Start states from which every skill is run."""
    episodes_per_depth: Number = 20
    """Boards of each depth."""
    splits: Names = ("test",)
    """Boards to start from: test, train or both; a search goes by those of train."""
    seed: Seed = 0
    """Seed of the start states and boards."""


@dataclass(frozen=True)
class Group:
    """Runs of some environments with one or several presets, each with every seed."""

    envs: SomeNames
    """Names that `seads envs` lists, or module:factory."""
    seeds: Seeds
    """A list, or text such as 0-9."""
    budget: Budget
    """Env steps that no agent used may exceed; training ends an epoch before."""
    name: Label = ""
    """What the runs are called; by default their preset, or the baseline."""
    algo: Name = "seads"
    """seads, vic, sac or hac."""
    presets: Names = ()
    """Named settings; by default the algorithm's usual one."""
    settings: Options = field(default_factory=dict)
    """Settings of the learner that differ from the preset's."""
    env_options: Options = field(default_factory=dict)
    """Options of the environment."""
    schedule: dict[Name, Whole] = field(default_factory=dict)
    """checkpoint_every, log_every, keep_checkpoints, coverage_every, coverage_starts."""
    evaluate: Evaluating = Evaluating()
    """What is measured, where it differs from the study's."""


@dataclass(frozen=True)
class Search:
    """Settings tried one after the other or side by side; a trial is the mean over seeds."""

    name: Label
    """What the search and its runs are called."""
    env: Name
    """The environment."""
    seeds: Seeds
    """Seeds of each trial."""
    budget: Budget
    """Env steps of each run."""
    space: Annotated[dict[Name, Any], Meta(max_length=100)]
    """By setting: a list of values, or {low, high, log} for tpe."""
    algo: Name = "seads"
    """seads, vic, sac or hac."""
    preset: Label = ""
    """Named settings that the trials start from."""
    settings: Options = field(default_factory=dict)
    """Settings that all trials share."""
    env_options: Options = field(default_factory=dict)
    """Options of the environment."""
    schedule: dict[Name, Whole] = field(default_factory=dict)
    """As in a group."""
    sampler: Name = "grid"
    """grid tries every combination, tpe what looks best so far."""
    trials: Annotated[int, Meta(ge=0, le=MOST_RUNS)] = 0
    """How many trials tpe makes."""

    @property
    def title(self) -> str:
        """What it is called among the searches of a study."""
        return f"{self.name}-{self.env.replace(':', '-')}"


@dataclass(frozen=True)
class Study:
    """A study as its file says."""

    path: Path
    groups: tuple[Group, ...]
    searches: tuple[Search, ...]
    places: tuple[Place, ...]
    """Where in the file each group stands, then each search."""
    usual: Place
    """Where it stands what is measured of all groups."""

    @property
    def without_searches(self) -> Study:
        """Its groups alone."""
        return dataclasses.replace(self, searches=(), places=self.places[: len(self.groups)])


TABLES = ("groups", "search", "evaluate")


def read_study(path: Path) -> Study:
    """Read a study; whatever is wrong raises a sentence with its line, before anything starts."""
    try:
        text = read_bytes(path, "a study").decode()
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise SeadsError(f"there is no study {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SeadsError(f"{path} is no TOML: {error}") from None
    except RecursionError:
        raise SeadsError(f"{path} is no TOML: it is nested too deeply") from None
    lines = tuple(text.splitlines())
    whole = Place(path, lines, 1)
    for key in content:
        if key not in TABLES:
            raise whole.wrong(unknown("key", key, TABLES), key)
    there = whole.part("evaluate")
    usual = _filled(Evaluating, _table(content.get("evaluate", {}), there), there)
    groups, searches = (_tables(content, name, whole) for name in TABLES[:2])
    places = [whole.part(name, n) for name in TABLES[:2] for n in range(len(content.get(name, ())))]
    found = [_group(one, place, usual) for one, place in zip(groups, places, strict=False)]
    for one, place in zip(found, places, strict=False):
        _check_count(len(one.envs) * max(1, len(one.presets)) * len(one.seeds), place)
    sought = [
        _checked(_filled(Search, one, place), place)
        for one, place in zip(searches, places[len(groups) :], strict=True)
    ]
    _check_titles(sought, places[len(groups) :])
    if not found and not sought:
        raise SeadsError(f"{path} has no runs: give it [[groups]] or [[search]]")
    return Study(path, tuple(found), tuple(sought), tuple(places), there)


def _tables(content: dict[str, Any], name: str, whole: Place) -> list[dict[str, Any]]:
    found = content.get(name, [])
    if not isinstance(found, list):
        raise whole.wrong(f"{name} is a list of tables; write [[{name}]]", name)
    return [_table(one, whole) for one in found]


def _table(value: Any, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.wrong(f"{value!r} is no table of names and values")
    return value


def _group(values: dict[str, Any], place: Place, usual: Evaluating) -> Group:
    """A group, which measures what is usual unless it says otherwise."""
    own = _table(values.get("evaluate", {}), place)
    evaluate = _filled(Evaluating, dataclasses.asdict(usual) | own, place)
    rest = {key: value for key, value in values.items() if key != "evaluate"}
    return dataclasses.replace(_filled(Group, rest, place), evaluate=evaluate)


def _filled(kind: type, values: dict[str, Any], place: Place) -> Any:
    """A dataclass of the values; unknown, missing and wrong ones raise with their line."""
    fields = {one.name: one for one in dataclasses.fields(kind)}
    hints = get_type_hints(kind, include_extras=True)
    plural = {one.removesuffix("s"): one for one in ("envs", "presets", "seeds") if one in fields}
    found = {}
    for key, value in values.items():
        name = plural.get(key, key)
        if name not in fields:
            raise place.wrong(unknown("key", key, fields), key)
        try:
            found[name] = _value(name, value, hints[name])
        except SeadsError as error:
            raise place.wrong(error, key) from None
    for name, one in fields.items():
        required = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        if required and name not in found:
            raise place.wrong(f"{name} is missing")
    return kind(**found)


def _value(name: str, value: Any, kind: Any) -> Any:
    """A value of the kind that a field has."""
    if type(value) is float and value.is_integer():  # 1e5
        value = int(value)
    if name == "seeds":
        value = _seeds(value)
    elif kind in (Names, SomeNames) and isinstance(value, str):
        value = [value]
    found = as_kind(value, kind, f"{name}={value!r:.80}")
    if name == "deep" and found:
        parse_depths(found)
    if isinstance(found, tuple):
        for one in found:
            if name in ALLOWED and one not in ALLOWED[name]:
                raise unknown(f"value of {name}", one, ALLOWED[name])
        twice = next((one for one, count in Counter(found).items() if count > 1), None)
        if twice is not None:
            raise SeadsError(f"{name} has {twice!r} twice")
    return found


def _seeds(value: Any) -> Any:
    """0-9 as a list of seeds; else what was given."""
    if not isinstance(value, str):
        return [value] if type(value) is int else value
    span = re.fullmatch(r"([0-9]{1,10})-([0-9]{1,10})", value)
    low, high = (int(span[1]), int(span[2])) if span else (0, -1)
    if not low <= high < low + MOST_RUNS:
        raise SeadsError(f"seeds={value[:80]!r}; allowed: 0-9, or a list of numbers")
    return list(range(low, high + 1))


def _check_count(count: int, place: Place) -> None:
    if count > MOST_RUNS:
        raise place.wrong(f"{count} runs; allowed: up to {MOST_RUNS}")


def _check_titles(searches: Sequence[Search], places: Sequence[Place]) -> None:
    """Searches of one title would write into one journal."""
    titles: set[str] = set()
    for one, place in zip(searches, places, strict=True):
        if one.title in titles:
            raise place.wrong(
                f"searches overlap, two are named {one.name} on {one.env}; give one another name",
                "name",
            )
        titles.add(one.title)


def _checked(search: Search, place: Place) -> Search:
    """What the sampler asks of the space."""
    if search.sampler not in SAMPLERS:
        raise place.wrong(unknown("sampler", search.sampler, SAMPLERS), "sampler")
    if search.algo == "vic":
        raise place.wrong("VIC has no forward model to solve boards with: nothing to search by")
    if not search.space:
        raise place.wrong("space is empty: give settings with their values", "space")
    if (search.sampler == "tpe") != (search.trials > 0):
        raise place.wrong("trials is how many tpe makes; a grid has as many as values", "trials")
    for name, values in search.space.items():
        span = isinstance(values, dict)
        try:
            as_kind(values, Span if span else Values, "")
        except SeadsError as error:
            given = f"{name}={str(values)[:80]}"
            allowed = f"{given}; allowed: a list, or {{ low, high, log }}{error}"
            raise place.wrong(allowed, name) from None
        twice = None if span else next((v for n, v in enumerate(values) if v in values[:n]), None)
        if twice is not None:
            raise place.wrong(f"{name} has {twice!r} twice", name)
        if span and search.sampler == "grid":
            raise place.wrong(f"{name} is a span, and a grid needs a list of values", name)
        if span and not values["low"] < values["high"]:
            raise place.wrong(f"{name}: low must be below high", name)
        if span and values.get("log", False) and values["low"] <= 0:
            raise place.wrong(f"{name}: low must be above 0 where log = true", name)
    trials = search.trials or prod(map(len, search.space.values()))
    _check_count(trials * len(search.seeds), place)
    return search
