"""The arm's firmware as its twin runs it: both dialects with their traps, in virtual time.

`receive` takes bytes, `advance` goes to a time and gives the bytes that were sent until then,
`next_time` says when something would happen by itself. Nothing here knows a real clock.
"""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from seads.robot import kinematics
from seads.robot.kinematics import PEN, Speed, Tool
from seads.robot.protocol import HOLD, RESET, Dialect
from seads.robot.screen import PenScreen
from seads.robot.tablet import Tablet
from seads.robot.twin.body import Body, Pen
from seads.robot.twin.mangling import MANGLED, mangled
from seads.robot.twin.schedule import TOUCH_FAULTS, Schedule

QUEUE, LINE, RING = 20, 80, 128
BYTE_SECONDS = 10 / 115200
BOOT_SECONDS = 1.5
VERSIONS = {Dialect.FW3: "V3.2.0", Dialect.FW4: "V4.9.0"}
FW3_ACCELERATION = 1.25
"""Turns of a motor/s²: its 100 degrees/s² of a joint."""
NORMAL = Tool(front=56.5, height=74.55)
"""What the firmwares take for the tool in their normal mode."""
RESUME = b"~"

_REQUEST = re.compile(r"(?:#(\d+))?([GMP])(\d{1,4})((?:[A-Z][-+]?\d*\.?\d+)*)")
_PARAMETER = re.compile(r"([A-Z])([-+]?\d*\.?\d+)")


def _no_log(_kind: str, _when: float, **_rest: object) -> None:
    pass


class Twin:
    """One arm over one tablet."""

    def __init__(
        self,
        screen: PenScreen,
        dialect: Dialect = Dialect.FW4,
        tablet: Tablet | None = None,
        schedule: Schedule | None = None,
        version: str | None = None,
        log: Callable[..., None] = _no_log,
    ) -> None:
        self.dialect, self.schedule = dialect, schedule or Schedule()
        self.version = VERSIONS[dialect] if version is None else version
        self.log = log
        self.pen = Pen(tablet or Tablet.lying(), screen, self.schedule)
        self.body = Body(self.pen, log)
        self.moves = 0
        """Moves that were asked for since the twin began."""
        self.cut = False
        """Whether the cable is cut."""
        self.power, self.encoders = True, True
        self._line: bytes = b""
        self._random = random.Random(self.schedule.seed)
        self._reset()

    def boot(self, now: float) -> None:
        """Start anew, as whenever somebody opens the line; a move under way ends there."""
        self.body.advance(now)
        self.body.queue.clear()
        self.body.stop(now, braking=False)
        self._reset()
        self._awake = now + BOOT_SECONDS
        name = "SwiftPro" if self.dialect is Dialect.FW4 else "uArmSwift"
        self._say(self._awake, f"device name : {name}")
        self._say(self._awake, "@1")
        self.log("boot", now)

    def hand(self, joints: np.ndarray) -> None:
        """A hand leads the arm; it only goes while the motors are off."""
        if not self._attached and not self.body.moving:
            self.body.rest = joints

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes; what does not fit into the receive ring is lost and nobody is told."""
        if now < self._awake:
            return  # the boot loader swallows it
        self._forward(now)
        for byte in (bytes([one]) for one in data[: RING - 1]):
            if self.dialect is Dialect.FW4 and byte in (HOLD, RESET, RESUME):
                self._realtime(byte, now)
            elif byte in (b"\n", b"\r"):
                line = self._line.decode("ascii", "replace")
                self._line = b""
                if line:
                    self._receive_line(line, now)
            elif len(self._line) >= LINE - 1:
                self._line = b""
                self._say(now, "error: Line overflow")
            elif byte > b" ":
                self._line += byte.upper()

    def advance(self, now: float) -> bytes:
        """Go to a time; what was sent until then."""
        self._forward(now)
        sent = b""
        while self._out and self._out[0][0] <= now:
            sent += heapq.heappop(self._out)[2]
        return sent

    def next_time(self) -> float | None:
        """When something happens by itself: the pen moves, or bytes are sent."""
        times = [self._out[0][0]] if self._out else []
        times += [one for one in (self.body.next_time(), self._struck[0]) if one is not None]
        return min(times, default=None)

    def _reset(self) -> None:
        self._line = b""
        self._attached, self._held = True, False
        self._report_stops = False
        self._tool = NORMAL
        self._acceleration = 1.3 if self.dialect is Dialect.FW4 else FW3_ACCELERATION
        self._commanded = kinematics.forward(self.body.rest[None], self._tool)[0]
        self._withheld: list[tuple[float, str]] = []
        self._late: list[tuple[int, str]] = []
        self._out: list[tuple[float, int, bytes]] = []
        self._sent, self._free, self._awake = 0, 0.0, 0.0
        self._struck: tuple[float | None, str] = (None, "")

    def _say(self, when: float, text: str | bytes, end: str = "\r\n") -> None:
        data = text if isinstance(text, bytes) else f"{text}{end}".encode()
        self._sent += 1
        self._free = max(when, self._free) + BYTE_SECONDS * len(data)  # one byte after the other
        heapq.heappush(self._out, (self._free, self._sent, data))

    def _forward(self, now: float) -> None:
        """Let everything happen that happens by itself until now."""
        when, kind = self._struck
        if when is not None and when <= now:
            self._struck = (None, "")
            self._strike(kind, when)
        for stood in self.body.advance(now):
            if self._report_stops and not self._held:
                self._say(stood, "@9 V0")
            self._answer_withheld(stood)

    def _strike(self, kind: str, when: float) -> None:
        """The power goes, or the firmware starts anew, in the middle of a move."""
        self.log(kind, when)
        if kind == "reboot":
            self.boot(when)
            return
        self.power = False
        self.body.advance(when)
        self.body.queue.clear()
        self.body.stop(when, braking=False)
        self._withheld = []
        self._say(when, "@5 V0")

    def _realtime(self, byte: bytes, now: float) -> None:
        if byte == HOLD:
            self.log("stop", now)
            self.body.stop(now, braking=True)
            self._held = True
        elif byte == RESET:
            if self.body.moving:  # steps are lost: nobody knows where the arm is now
                self.log("steps-lost", now)
                self.body.stop(now, braking=False)
                self.body.advance(now)
                self.body.rest = self.body.rest + np.array([4.0, 0.0, 0.0])
            self.body.queue.clear()
            self._held = False
            self._say(now, "ok")
            self._answer_withheld(now)
        elif self._held and not self.body.moving:
            self._held = False
            self.log("resumed", now)  # the old move goes on: no host should ever want that

    def _receive_line(self, text: str, now: float) -> None:
        self.log("line", now, text=text)
        now += BYTE_SECONDS * len(text)
        read = _REQUEST.fullmatch(text)
        number = f"${read[1]}" if read and read[1] else ""
        waiting, self._late = (
            self._late,
            [(left - 1, told) for left, told in self._late if left > 1],
        )
        for left, told in waiting:
            if left <= 1:
                self._say(now, told)
        if read is None:
            head = re.match(r"#(\d+)", text)
            if head:
                refused = f"${head[1]}" if self.dialect is Dialect.FW4 else f"${head[1]} E21"
                self._say(now, refused)
            return
        name = f"{read[2]}{int(read[3])}"
        values = {key: float(value) for key, value in _PARAMETER.findall(read[4])}
        if name in ("G0", "G1"):
            self._move(number, values, now)
            return
        self._answer(number, self._command(name, values, now), name, now)

    def _answer(self, number: str, told: str, name: str, now: float) -> None:
        """FW4 withholds the answers to all but questions until the arm stands."""
        line = f"{number} {told}".strip()
        if self.dialect is Dialect.FW4 and name[0] != "P" and (self.body.moving or self._held):
            if len(self._withheld) >= QUEUE:
                self._say(now, "E23 buffer full")
            else:
                self._withheld.append((now, line))
        else:
            self._say(now, line)

    def _answer_withheld(self, now: float) -> None:
        if self._held or self.body.moving:
            return
        told, self._withheld = self._withheld, []
        for _, line in told:
            self._say(now, line)

    def _command(self, name: str, values: dict[str, float], now: float) -> str:
        v4 = self.dialect is Dialect.FW4
        match name:
            case "P2203":
                return f"ok {self.version}"
            case "P2220":
                return "ok X{:.4f} Y{:.4f} Z{:.4f}".format(*self._position(now))
            case "P2234":
                return f"ok V{int(self.power)}"
            case "P2244" if v4:
                return "ok" if self.encoders else "E26"
            case "M2200" if not v4:
                return f"ok V{int(self.body.moving)}"
            case "M2000" if not v4:
                self.log("stop", now)
                self.body.queue.clear()
                self.body.stop(now, braking=False)
                self.body.advance(now)
                self._commanded = self._seen(now)
                return "ok"
            case "M17":
                self._attached = True
                self._commanded = self._seen(now)
                return "ok"
            case "M2019":
                self._attached = False
                return "ok"
            case "M2122":
                self._report_stops = values.get("V") == 1.0
                return "ok"
            case "M2222":
                point = np.array([[values.get(axis, np.nan) for axis in "XYZ"]])
                return f"ok V{int(kinematics.reachable(point, self._tool)[0])}"
            case "M2400":
                self._tool = PEN if v4 and values.get("S") == 6.0 else NORMAL
                return "ok"
            case "M2410" | "M2411" if not v4:
                length = {"M2410": "height", "M2411": "front"}[name]
                self._tool = replace(self._tool, **{length: values.get("S", 0.0)})
                self._commanded = self._seen(now)
                return "ok"
            case "M204" if v4:
                self._acceleration = values.get("A", self._acceleration)
                return "ok"
            case "M2120":
                return "ok"
        return "E20"

    def _seen(self, now: float) -> np.ndarray:
        """The position by the encoders."""
        seen = kinematics.read_back(self.body.joints(now)[None])
        return kinematics.forward(seen, self._tool)[0]

    def _position(self, now: float) -> np.ndarray:
        return self._seen(now) if self.dialect is Dialect.FW4 else self._commanded

    def _move(self, number: str, values: dict[str, float], now: float) -> None:
        v4 = self.dialect is Dialect.FW4
        self.moves += 1
        fault = self.schedule.by_move.get(self.moves)
        if fault is not None:
            self.log("fault", now, fault=fault)
        here = self._commanded
        target = np.array([values.get(axis, here[i]) for i, axis in enumerate("XYZ")])
        joints = kinematics.inverse(target[None], self._tool)
        told = self._refusal(fault, joints)
        if fault == "cable":
            self.cut = True
            return
        if fault == "buffer-full" or len(self._withheld) >= QUEUE:
            self._say(now, "E23 buffer full")
            return
        feed = values.get("F", 0.0)
        if told == "ok" and feed > 0.0 and fault != "unmoved" and not self._held:
            self._commanded = target
            self._go(joints[0], feed, here, target, fault, now)
        if fault in ("lost-reply", "power", "reboot"):
            return
        line = f"{number} {'ok ' if told == 'E22' and not v4 else ''}{told}"
        if fault == "late-reply":
            self._late.append((3, line))
        elif fault in MANGLED:
            standing = self.body.current.finished if v4 and self.body.current else now
            for delay, data in mangled(fault, int(number[1:] or 1), line, self._random):
                self._say(standing + delay, data)
        else:
            self._answer(number, line[len(number) :].strip(), "G0", now)

    def _refusal(self, fault: str | None, joints: np.ndarray) -> str:
        if fault == "detached":
            self._attached = False
        if fault == "encoder":
            self.encoders = False
        if not self.encoders:
            return "E26"
        if not self._attached:
            return "E27"
        legal = bool(kinematics.legal(joints)[0]) and fault != "out-of-reach"
        return "ok" if legal else "E22"

    def _go(
        self,
        joints: np.ndarray,
        feed: float,
        here: np.ndarray,
        target: np.ndarray,
        fault: str | None,
        now: float,
    ) -> None:
        if fault in TOUCH_FAULTS:
            self.pen.next_fault = fault
        if fault == "slipped":
            joints = joints + np.array([3.0, 0.0, 0.0])
        if self.dialect is Dialect.FW3:  # its feed is in mm/min
            one = kinematics.millimetre_feed(here[None], target[None], Speed(feed=1.0), self._tool)
            feed = feed / max(float(one[0]), 1e-9)
        speed = Speed(self._acceleration, min(max(feed, 0.1), 200.0))
        self.body.go(joints, speed, now)
        if fault in ("power", "reboot") and (move := self.body.current) is not None:
            self._struck = (0.5 * (move.begun + move.finished), fault)
