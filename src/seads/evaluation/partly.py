"""Ctrl-C while something is measured: what was done by then is a result, with how much it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class PartlyMeasured(KeyboardInterrupt):
    """`result` is that of the first `done` of so many `units`, such as boards, that had ended."""

    def __init__(self, result: Any, done: int, of: int, units: str) -> None:
        super().__init__()
        self.result, self.done, self.of, self.units = result, done, of, units

    def to_json(self) -> dict[str, Any]:
        """The result, marked as one that is not whole."""
        return {**self.result.to_json(), "interrupted": {"done": self.done, "of": self.of}}

    def __str__(self) -> str:
        return f"{self.done} of {self.of} {self.units} were done"


@contextmanager
def keeping(
    of: int, units: str, count: Callable[[], int], so_far: Callable[[], Any]
) -> Iterator[None]:
    """Within it Ctrl-C raises `PartlyMeasured` with the result `so_far`, of the `count` done.

    Where nothing has been done yet Ctrl-C stays what it is.
    """
    try:
        yield
    except KeyboardInterrupt:
        done = count()
        if not done:
            raise
        raise PartlyMeasured(so_far(), done, of, units) from None
