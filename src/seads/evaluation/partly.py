"""A measurement that was cut short, by Ctrl-C or by a fault of the world that it was made in: what
was done by then is a result, with how much it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from seads.errors import WorldFault


class _Partly:
    """`result` is that of the first `done` of so many `units`, such as boards, that had ended."""

    def __init__(self, result: Any, done: int, of: int, units: str) -> None:
        super().__init__()
        self.result, self.done, self.of, self.units = result, done, of, units

    def to_json(self) -> dict[str, Any]:
        """The result, marked as one that is not whole."""
        return {**self.result.to_json(), "interrupted": {"done": self.done, "of": self.of}}

    def __str__(self) -> str:
        return f"{self.done} of {self.of} {self.units} were done"


class PartlyMeasured(_Partly, KeyboardInterrupt):
    """Somebody asked to stop."""


class FailedMeasuring(_Partly, WorldFault):
    """Something outside failed, such as an arm's line: that is its cause."""

    def __str__(self) -> str:
        return f"{self.__cause__}; {super().__str__()} before that"


@contextmanager
def keeping(
    of: int, units: str, count: Callable[[], int], so_far: Callable[[], Any]
) -> Iterator[None]:
    """Within it Ctrl-C raises `PartlyMeasured` and a fault of the world `FailedMeasuring`, with the
    result `so_far`, of the `count` done.

    Where nothing has been done yet they stay what they are.
    """
    try:
        yield
    except KeyboardInterrupt:
        if not (done := count()):
            raise
        raise PartlyMeasured(so_far(), done, of, units) from None
    except WorldFault as fault:
        if not (done := count()):
            raise
        raise FailedMeasuring(so_far(), done, of, units) from fault
