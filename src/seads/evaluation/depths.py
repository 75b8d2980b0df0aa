"""Solution depths as people write them."""

from __future__ import annotations

from seads.errors import SeadsError

MOST_DIGITS = 4
"""Of a depth: no game here has deeper boards."""


def parse_depths(text: str) -> tuple[int, ...]:
    """'1-5', '3' or '1,3,15' as depths in ascending order."""
    depths: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise SeadsError(f"depths {text!r} cannot be read; write 1-5, 3 or 1,3,15")
        if max(len(low), len(high)) > MOST_DIGITS:
            raise SeadsError(f"depths {text[:40]!r} are not possible; allowed: up to 9999")
        first, last = int(low), int(high) if dash else int(low)
        if not 1 <= first <= last:
            raise SeadsError(f"depths {part.strip()!r} are not possible; they go up, from 1 on")
        depths |= set(range(first, last + 1))
    return tuple(sorted(depths))
