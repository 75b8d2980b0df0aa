"""Numbers and the steps of a plan as a person would say them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 0.001:
        return "less than 1 ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def count(number: int, thing: str) -> str:
    """How many of a thing there are: 1 skill, 2 skills."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def move_words(move: str | None) -> str:
    """What a skill does to the board: a move of the game by its name, or none."""
    return "no move of the game" if move is None else move


def step_words(skill: int, does: str | None) -> str:
    """A skill and what it does, where that is known."""
    return f"skill {skill}: {does}" if does else f"skill {skill}"
