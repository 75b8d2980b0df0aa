"""Answers that arrive in pieces, with garbage before them, or after an old one."""

from __future__ import annotations

import random

MANGLED = ("torn-line", "half-line", "garbage", "out-of-order")


def mangled(fault: str, number: int, line: str, source: random.Random) -> list[tuple[float, bytes]]:
    """What comes in place of an answer: seconds after it was due, and the bytes."""
    data = f"{line}\r\n".encode()
    match fault:
        case "torn-line":
            return [(0.0, data[:3])]
        case "half-line":
            return [(0.0, data[:3]), (0.02, data[3:])]
        case "garbage":
            noise = source.randbytes(30).replace(b"\n", b"!")
            return [(0.0, noise + b"\n\xff\xfe\n"), (0.001, data)]
    return [(0.0, f"${max(number - 1, 0)} ok\r\n".encode()), (0.001, data)]
