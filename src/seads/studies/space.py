"""Lists and spans of a search's space: as Optuna knows them, in words, and values from them."""

from __future__ import annotations

import math
from typing import Any

DIGITS = 3
"""Of a value from a span so many say enough, and a person can read them in a name."""
AS_LISTED = "as listed"
"""The mark of trials whose values were not rounded beyond what the study's file allows."""


def distribution_of(values: Any) -> Any:
    """A list or a span of the study's file as Optuna knows it."""
    from optuna import distributions

    if isinstance(values, list):
        return distributions.CategoricalDistribution(values)
    low, high, log = values["low"], values["high"], values.get("log", False)
    if type(low) is int and type(high) is int:
        return distributions.IntDistribution(low, high, log=log)
    return distributions.FloatDistribution(low, high, log=log)


def alike(one: Any, other: Any) -> bool:
    """Whether Optuna takes both for the same parameter: the ends of a span may differ."""
    if type(one) is not type(other):
        return False
    return bool(one == other if _is_list(one) else one.log == other.log)


def _is_list(distribution: Any) -> bool:
    return hasattr(distribution, "choices")


def in_words(distribution: Any) -> str:
    """A distribution as a study's file has it."""
    if _is_list(distribution):
        return f"a list, {str(list(distribution.choices))[:80]}"
    ends = f"a span, {distribution.low} to {distribution.high}"
    return f"{ends}, log" if distribution.log else ends


def suggest(asked: Any, name: str, distribution: Any) -> None:
    """Have a trial of Optuna's take a value."""
    if _is_list(distribution):
        asked.suggest_categorical(name, distribution.choices)
        return
    number = asked.suggest_float if type(distribution.low) is float else asked.suggest_int
    number(name, distribution.low, distribution.high, log=distribution.log)


def middle_of(values: Any) -> Any:
    """A value from amid a list or a span."""
    if isinstance(values, list):
        return values[len(values) // 2]
    low, high = values["low"], values["high"]
    whole = type(low) is int and type(high) is int
    middle = math.sqrt(low * high) if values.get("log") else (low + high) / 2
    return int(middle) if whole else middle


def settings_of(tried: Any) -> dict[str, Any]:
    """What a trial of Optuna's tries: values of a list as they are, those of a span rounded.

    A trial without a mark is of an earlier version, which rounded every number: so its runs are.
    """
    distributions = tried.distributions if AS_LISTED in tried.user_attrs else {}
    return {name: _rounded(v, distributions.get(name)) for name, v in tried.params.items()}


def _rounded(value: Any, distribution: Any) -> Any:
    """A number of few digits, so many that it stays within its span; all else as it is."""
    if not isinstance(value, float) or _is_list(distribution):
        return value
    low, high = -math.inf, math.inf
    if distribution is not None:
        low, high = distribution.low, distribution.high
    shorter = (float(f"{value:.{digits}g}") for digits in range(DIGITS, 17))
    return next((one for one in shorter if low <= one <= high), value)
