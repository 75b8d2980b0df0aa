"""The arm's serial protocol, pure: requests to bytes, lines to answers and events.

A request is `#n COMMAND`, its answer `$n ok …`. Two firmwares answer differently (`Dialect`);
both forms of every answer are read whichever firmware sent them. Reading never raises: what is
no answer and no event is `Noise`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from enum import Enum

from seads.errors import SeadsError
from seads.robot.faults import (
    BufferFull,
    Detached,
    EncoderFault,
    NotUnderstood,
    OutOfReach,
    PowerLost,
    RobotFault,
    UnknownFirmware,
)

LONGEST_LINE = 79
"""Characters of a request; the firmware's buffer holds 80 with the end."""
LAST_NUMBER = 999_999
"""Requests are numbered 1 to this, then from 1 again: an old answer is never taken for a new."""

HOLD = b"!"
"""Stops FW4 at once, wherever it comes in a line; FW3 does not know it."""
RESET = b"\x18"
"""Empties FW4's queue and ends its hold. While the arm moves it loses the steppers: hold first."""
STOP_ALWAYS = b"\n!\n#0 M2000\n"
"""Stops either firmware, also one not yet known: FW4 heeds the first, FW3 the second."""


class Dialect(Enum):
    """Whose habits: the Grbl-based 4.x firmware or the Marlin-based 3.x one."""

    FW3 = "3"
    FW4 = "4"


def dialect_of(version: str) -> Dialect:
    """The dialect of what P2203 answers, such as `V4.9.0`; any other version is refused."""
    found = re.fullmatch(r"V?(\d+)\.\d+(\.\d+)*", version.strip())
    for dialect in Dialect:
        if found and found[1] == dialect.value:
            return dialect
    raise UnknownFirmware(
        f"the arm's firmware says {version.strip()[:40]!r}; only versions 3.x and 4.x are known: "
        "nothing was moved; flash one of those, as the maker describes"
    )


_COMMAND = re.compile(r"[GMP]\d{1,4}( [A-Z]-?\d{1,6}(\.\d{1,4})?)*")


def encode(number: int, command: str) -> bytes:
    """The bytes of one request; raises where a command could be taken for anything else.

    A stray `!`, `~`, `?` or control character would act at once, outside any line.
    """
    line = f"#{number} {command}"
    if not 1 <= number <= LAST_NUMBER:
        raise SeadsError(f"request number {number}; allowed: 1 to {LAST_NUMBER}")
    if not _COMMAND.fullmatch(command) or len(line) > LONGEST_LINE:
        raise SeadsError(
            f"command {command[:90]!r}; allowed: a letter G, M or P, its number and parameters "
            f"such as X1.25, {LONGEST_LINE} characters with the request's number"
        )
    return f"{line}\n".encode("ascii")


def move(x: float, y: float, z: float, feed: float) -> str:
    """Go to a point in mm, all joints at once (G0: G1 skips points out of reach and says ok).

    FW4 answers ok without moving when the feed is missing or 0, so it must be positive.
    """
    if not all(map(math.isfinite, (x, y, z, feed))) or feed < 0.01:
        raise SeadsError(f"move to ({x}, {y}, {z}) at {feed}; allowed: numbers, a feed from 0.01")
    return f"G0 X{x:.2f} Y{y:.2f} Z{z:.2f} F{feed:.2f}"


ATTACH, DETACH = "M17", "M2019"
VERSION, POSITION, POWER, ENCODERS = "P2203", "P2220", "P2234", "P2244"
MOVING, REPORT_STOPS, QUICK_STOP = "M2200", "M2122 V1", "M2000"


def configure(dialect: Dialect, acceleration: float, front: float, height: float) -> list[str]:
    """What makes a freshly started arm ready: the pen's length, the acceleration, stop reports.

    FW4's touch-pen mode brings the lengths with it. FW3 has no such mode and its pen mode is
    four times slower, so it is given the lengths in its normal mode.
    """
    if dialect is Dialect.FW4:
        return ["M2400 S6", f"M204 A{acceleration:.2f}", REPORT_STOPS]
    return ["M2400 S0", f"M2410 S{height:.1f}", f"M2411 S{front:.1f}", REPORT_STOPS]


@dataclass(frozen=True)
class Reply:
    """An answer: to which request, whether it was done, and the values that came with it."""

    number: int
    ok: bool
    error: int | None = None
    """The firmware's code (E22 is 22); None beside `ok=False` is a bare number: not parsed."""
    values: dict[str, float] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Ready:
    """`@1`: the firmware has started."""


@dataclass(frozen=True)
class Power:
    """`@5`: the power supply was switched on or off."""

    on: bool


@dataclass(frozen=True)
class LimitSwitch:
    """`@6`: the switch at the tip."""

    pressed: bool


@dataclass(frozen=True)
class Report:
    """`@3`: where the arm is, sent at an interval."""

    x: float
    y: float
    z: float


@dataclass(frozen=True)
class Standstill:
    """`@9 V0`: the arm has come to a stop."""


@dataclass(frozen=True)
class Full:
    """`E23` without a number: a request was dropped because the queue is full."""


@dataclass(frozen=True)
class Noise:
    """A line that is no answer and no event: the greeting, half a line, garbage."""

    text: str


Event = Ready | Power | LimitSwitch | Report | Standstill
Line = Reply | Event | Full | Noise

_REPLY = re.compile(r"\$(\d{1,9})(?:\s+(.*))?")
_VALUE = re.compile(r"([A-Z])(-?\d{1,9}(?:\.\d{1,9})?)")


def parse(line: bytes) -> Line:
    """What a line says, without its end; never raises."""
    text = line.decode("ascii", "replace").strip()
    reply = _REPLY.fullmatch(text)
    if reply:
        return _reply(int(reply[1]), (reply[2] or "").strip())
    # Some builds put "ok" before the report of a stop that `!` brought about.
    event = _event(text.removeprefix("ok").strip().split())
    if event is not None:
        return event
    return Full() if text.split()[:1] == ["E23"] else Noise(text)


def _reply(number: int, rest: str) -> Reply:
    words = rest.split()
    # FW3 says "ok E22 …" where FW4 says "E22": a code anywhere at the front is a refusal.
    ok = bool(words) and words[0].lower() == "ok"
    told = words[1:] if ok else words
    code = re.fullmatch(r"E(\d{1,3})", told[0]) if told else None
    if code:
        return Reply(number, False, int(code[1]), {}, " ".join(told))
    if not ok:
        return Reply(number, False, None, {}, rest)
    return Reply(number, True, None, _values(told), " ".join(told))


def _values(words: list[str]) -> dict[str, float]:
    found = (_VALUE.fullmatch(word) for word in words)
    return {one[1]: float(one[2]) for one in found if one}


def _event(words: list[str]) -> Event | None:
    values = _values(words[1:])
    match words[:1]:
        case ["@1"] if len(words) == 1:
            return Ready()
        case ["@3"] if {"X", "Y", "Z"} <= values.keys():
            return Report(values["X"], values["Y"], values["Z"])
        case ["@5"] if values.get("V") in (0.0, 1.0):
            return Power(values["V"] == 1.0)
        case ["@6"] if values.get("V") in (0.0, 1.0):
            return LimitSwitch(values["V"] == 1.0)
        case ["@9"] if values == {"V": 0.0}:
            return Standstill()
    return None


_FAULTS: dict[int, tuple[type[RobotFault], str]] = {
    22: (OutOfReach, "the arm cannot reach that point; nothing moved"),
    23: (BufferFull, "the arm's queue was full and dropped it; nothing moved"),
    24: (PowerLost, "the arm has no power: switch it on and start again"),
    26: (EncoderFault, "an encoder does not answer: have the arm repaired; nothing moved"),
    27: (Detached, "the motors were off; nothing moved"),
}


def refusal(command: str, reply: Reply) -> RobotFault:
    """The fault that a reply which is not ok stands for."""
    kind, sentence = _FAULTS.get(
        reply.error or 0, (NotUnderstood, "the arm did not understand it; nothing moved")
    )
    code = "a bare number" if reply.error is None else f"E{reply.error}"
    return kind(f"{command}: answered {code}; {sentence}")
