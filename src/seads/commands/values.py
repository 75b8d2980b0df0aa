"""How a word of the command line becomes an option's value, and what is said when it cannot."""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Any

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


KINDS: dict[Any, tuple[str, Any]] = {
    int: ("INT", whole_number),
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
