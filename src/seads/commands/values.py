"""How a word of the command line becomes an option's value, and what is said when it cannot."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo


def whole_number(word: str) -> int:
    """A whole number as people write large ones: 500000, 500_000 or 5e5."""
    try:
        return int(word)
    except ValueError:
        pass
    try:
        number = float(word)
        if number.is_integer():
            return int(number)
    except ValueError:
        pass
    raise ValueError(f"{word!r} is no whole number, such as 12 or 5e5")


def registry() -> ConstructorRegistry:
    """Rules for whole numbers, and for options that may be left out: those take no word 'None'."""
    rules = ConstructorRegistry()
    rules.primitive_rule(_rule)
    return rules


def without_empty_defaults(options_type: Any) -> Any:
    """The same options, whose help leaves out a default that says nothing, such as None.

    What is done then the line of help says itself.
    """
    for kind in typing.get_args(options_type) or (options_type,):
        if not dataclasses.is_dataclass(kind):
            continue
        hints = typing.get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            if field.default in (None, "", ()):
                silent: Any = tyro.conf.arg(help_behavior_hint="")
                known = getattr(hints[field.name], "__metadata__", ())
                told: list[Any] = [one for one in known if isinstance(one, type(silent))]
                if told:
                    silent = dataclasses.replace(told[0], help_behavior_hint="")
                others = [one for one in known if one not in told]
                plain = typing.get_args(hints[field.name])[0] if known else hints[field.name]
                hints[field.name] = Annotated[plain, *others, silent]
        kind.__annotations__ = hints
    return options_type


def pairs_apart(arguments: Sequence[str]) -> list[str]:
    """The words with those that follow NAME=VALUE pairs, and are none, at the front.

    An option that takes any number of pairs would otherwise take the environment, too.
    """
    front: list[str] = []
    rest: list[str] = []
    taking = False
    for word in arguments:
        if word.startswith("-"):
            taking = word in TAKING_PAIRS
        alone = taking and not word.startswith("-") and "=" not in word and "=" in rest[-1]
        (front if alone else rest).append(word)
    return front + rest


TAKING_PAIRS = ("--set", "--env-set")
KINDS: dict[Any, tuple[str, Any]] = {
    int: ("INT", whole_number),
    float: ("FLOAT", float),
    str: ("STR", str),
    Path: ("PATH", Path),
}


def _rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    union = isinstance(info.type, types.UnionType) or typing.get_origin(info.type) is typing.Union
    parts = typing.get_args(info.type) if union else (info.type,)
    kinds = [part for part in parts if part is not type(None)]
    if len(kinds) != 1 or kinds[0] not in KINDS or (kinds[0] is not int and not union):
        return None
    kind = kinds[0]
    metavar, read = KINDS[kind]
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=lambda words: read(words[0]),
        is_instance=lambda value: value is None or isinstance(value, kind),
        str_from_instance=lambda value: [str(value)],
    )
