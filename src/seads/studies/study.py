"""A study's file: groups of runs, what is evaluated of them, and searches; read with its lines."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seads.errors import SeadsError, unknown

WAYS = ("replan", "no-replan")
ALLOWED = {"tasks": WAYS, "along": ("coverage", "tasks"), "splits": ("test", "train")}
SAMPLERS = ("grid", "tpe")


@dataclass(frozen=True)
class Evaluating:
    """What is measured of each run, at its last checkpoint below the budget."""

    coverage: bool = True
    """Distinct moves of the skills."""
    tasks: tuple[str, ...] = WAYS
    """Boards solved: with replanning, without, both, or neither."""
    along: tuple[str, ...] = ("coverage",)
    """Which of coverage and tasks are measured at every checkpoint too, for curves."""
    deep: str = ""
    """More solution depths, such as 1-15, solved with replanning."""
    skills: bool = False
    """Where each skill touches the board and how it gets there."""
    starts: int = 100
    """Start states from which every skill is run."""
    episodes_per_depth: int = 20
    """Boards of each depth."""
    splits: tuple[str, ...] = ("test",)
    """Boards to start from: test, train or both; a search goes by those of train."""
    seed: int = 0
    """Seed of the start states and boards."""


@dataclass(frozen=True)
class Group:
    """Runs of some environments with one or several presets, each with every seed."""

    envs: tuple[str, ...]
    """Names that `seads envs` lists, or module:factory."""
    seeds: tuple[int, ...]
    """A list, or text such as 0-9."""
    budget: int
    """Env steps that no agent used may exceed; training ends an epoch before."""
    name: str = ""
    """What the runs are called; by default their preset, or the baseline."""
    algo: str = "seads"
    """seads, vic, sac or hac."""
    presets: tuple[str, ...] = ()
    """Named settings; by default the algorithm's usual one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the learner that differ from the preset's."""
    env_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the environment."""
    schedule: Mapping[str, int] = field(default_factory=dict)
    """checkpoint_every, log_every, keep_checkpoints, coverage_every, coverage_starts."""
    evaluate: Evaluating = Evaluating()
    """What is measured, where it differs from the study's."""


@dataclass(frozen=True)
class Search:
    """Settings tried one after the other or side by side; a trial is the mean over seeds."""

    name: str
    """What the search and its runs are called."""
    env: str
    """The environment."""
    seeds: tuple[int, ...]
    """Seeds of each trial."""
    budget: int
    """Env steps of each run."""
    space: Mapping[str, Any]
    """By setting: a list of values, or {low, high, log} for tpe."""
    algo: str = "seads"
    """seads, vic, sac or hac."""
    preset: str = ""
    """Named settings that the trials start from."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that all trials share."""
    env_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the environment."""
    schedule: Mapping[str, int] = field(default_factory=dict)
    """As in a group."""
    sampler: str = "grid"
    """grid tries every combination, tpe what looks best so far."""
    trials: int = 0
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


@dataclass(frozen=True)
class Place:
    """A part of a study's file, to say where something is wrong."""

    path: Path
    lines: tuple[str, ...]
    first: int

    def wrong(self, error: object, word: str = "") -> SeadsError:
        """An error at the first line of the part that holds a word, else at its beginning."""
        pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        at = next((n for n, line in enumerate(self.lines) if word and pattern.search(line)), 0)
        return SeadsError(f"{self.path}, line {self.first + at}: {error}")


HEADER = re.compile(r"\s*\[")
TABLES = ("groups", "search", "evaluate")


def read_study(path: Path) -> Study:
    """Read a study; whatever is wrong raises a sentence with its line, before anything starts."""
    try:
        text = path.read_text()
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise SeadsError(f"there is no study {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SeadsError(f"{path} is no TOML: {error}") from None
    lines = tuple(text.splitlines())
    whole = Place(path, lines, 1)
    for key in content:
        if key not in TABLES:
            raise whole.wrong(unknown("key", key, TABLES), key)
    usual = _filled(Evaluating, _table(content.get("evaluate", {}), whole), whole)
    groups, searches = (_tables(content, name, whole) for name in TABLES[:2])
    places = [
        _place(whole, name, n) for name in TABLES[:2] for n in range(len(content.get(name, ())))
    ]
    found = [
        _filled(Group, {"evaluate": {}, **one}, place, usual)
        for one, place in zip(groups, places, strict=False)
    ]
    sought = [
        _checked(_filled(Search, one, place), place)
        for one, place in zip(searches, places[len(groups) :], strict=True)
    ]
    if not found and not sought:
        raise SeadsError(f"{path} has no runs: give it [[groups]] or [[search]]")
    return Study(path, tuple(found), tuple(sought), tuple(places))


def _tables(content: dict[str, Any], name: str, whole: Place) -> list[dict[str, Any]]:
    found = content.get(name, [])
    if not isinstance(found, list):
        raise whole.wrong(f"{name} is a list of tables; write [[{name}]]", name)
    return [_table(one, whole) for one in found]


def _table(value: Any, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.wrong(f"{value!r} is no table of names and values")
    return value


def _place(whole: Place, name: str, number: int) -> Place:
    """The lines of the n-th [[name]], up to the next part."""
    starts = [n for n, line in enumerate(whole.lines) if re.match(rf"\s*\[\[\s*{name}\s*]]", line)]
    if number >= len(starts):  # written as an inline list: the whole file is the place
        return whole
    own = re.compile(rf"\s*\[{name}\.")
    later = (
        n
        for n, line in enumerate(whole.lines)
        if n > starts[number] and HEADER.match(line) and not own.match(line)
    )
    end = next(later, len(whole.lines))
    return Place(whole.path, whole.lines[starts[number] : end], starts[number] + 1)


def _filled(
    kind: type, values: dict[str, Any], place: Place, usual: Evaluating | None = None
) -> Any:
    """A dataclass of the values; unknown, missing and wrong ones raise with their line."""
    fields = {one.name: one for one in dataclasses.fields(kind)}
    plural = {one.removesuffix("s"): one for one in ("envs", "presets", "seeds") if one in fields}
    found = {}
    for key, value in values.items():
        name = plural.get(key, key)
        if name not in fields:
            raise place.wrong(unknown("key", key, fields), key)
        if name == "evaluate":
            found[name] = (
                _filled(Evaluating, dataclasses.asdict(usual) | _table(value, place), place)
                if usual
                else value
            )
            continue
        found[name] = _value(name, value, str(fields[name].type), place)
    for name, one in fields.items():
        required = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        if required and name not in found:
            raise place.wrong(f"{name} is missing")
    return kind(**found)


def _value(name: str, value: Any, kind: str, place: Place) -> Any:
    """A value of the kind that a field has."""
    if name == "seeds":
        return _seeds(value, place)
    if kind == "tuple[str, ...]":
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
            raise place.wrong(f"{name}={value!r}; allowed: names in a list", name)
        allowed = ALLOWED.get(name)
        for one in texts:
            if allowed and one not in allowed:
                raise place.wrong(unknown(f"value of {name}", one, allowed), name)
            if texts.count(one) > 1:
                raise place.wrong(f"{name} names {one!r} twice", name)
        return tuple(texts)
    fits: type = {"int": int, "bool": bool, "str": str}.get(kind, dict)
    if type(value) is float and fits is int and value.is_integer():  # 1e5
        value = int(value)
    if type(value) is not fits:
        raise place.wrong(f"{name}={value!r}; allowed: {fits.__name__}", name)
    least = 0 if name in ("seed", "trials") else 1
    if fits is int and isinstance(value, int) and value < least:
        raise place.wrong(f"{name}={value}; allowed: {least} or more", name)
    return value


def _seeds(value: Any, place: Place) -> tuple[int, ...]:
    if isinstance(value, str):
        low, _, high = value.partition("-")
        if not low.isdecimal() or not high.isdecimal() or int(low) > int(high):
            raise place.wrong(f"seeds={value!r}; allowed: 0-9, or a list of numbers", "seeds")
        return tuple(range(int(low), int(high) + 1))
    numbers = [value] if type(value) is int else value
    if not isinstance(numbers, list) or not numbers or any(type(n) is not int for n in numbers):
        raise place.wrong(f"seeds={value!r}; allowed: 0-9, or a list of numbers", "seeds")
    for one in numbers:
        if numbers.count(one) > 1:
            raise place.wrong(f"seed {one} is given {numbers.count(one)} times", "seeds")
    return tuple(numbers)


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
        span = isinstance(values, dict) and {"low", "high"} <= set(values) <= {"low", "high", "log"}
        if not span and not (isinstance(values, list) and values):
            raise place.wrong(f"{name}={values!r}; allowed: a list, or {{ low, high, log }}", name)
        if span and search.sampler == "grid":
            raise place.wrong(f"{name} is a span, and a grid needs a list of values", name)
        if span and not values["low"] < values["high"]:
            raise place.wrong(f"{name}: low must be below high", name)
    return search
