"""The arm's protocol: what is sent, what is read, and that nothing read can raise."""

from __future__ import annotations

import random
import string

import pytest

from seads.errors import SeadsError
from seads.robot import faults, protocol
from seads.robot.protocol import (
    Dialect,
    Full,
    LimitSwitch,
    Noise,
    Power,
    Ready,
    Reply,
    Report,
    Standstill,
    parse,
)


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        (b"$3 ok", Reply(3, True)),
        (b"$3 ok\r", Reply(3, True)),
        (
            b"$12 ok X154.71 Y-0.25 Z10.2\r",
            Reply(12, True, None, {"X": 154.71, "Y": -0.25, "Z": 10.2}, "X154.71 Y-0.25 Z10.2"),
        ),
        (b"$4 ok V4.9.0", Reply(4, True, None, {}, "V4.9.0")),
        (b"$5 E22", Reply(5, False, 22, {}, "E22")),  # FW4: out of reach
        (b"$5 ok E22 not reachable", Reply(5, False, 22, {}, "E22 not reachable")),  # FW3
        (b"$6", Reply(6, False)),  # FW4: a parse error
        (b"@1", Ready()),
        (b"@5 V0", Power(False)),
        (b"@5 V1\r", Power(True)),
        (b"@6 N0 V1", LimitSwitch(True)),
        (b"@3 X1.5 Y2 Z-3 R90", Report(1.5, 2.0, -3.0)),
        (b"@9 V0", Standstill()),
        (b"ok @9 V0", Standstill()),
        (b"E23 buffer full\r", Full()),
        (b"soft ver : V4.9.0", Noise("soft ver : V4.9.0")),
        (b"$x ok", Noise("$x ok")),
        (b"ok", Noise("ok")),
        (b"", Noise("")),
        (b"@5 V7", Noise("@5 V7")),
        (b"\x80$5 ok", Noise("\ufffd$5 ok")),  # a torn line is no answer: the deadline decides
    ],
)
def test_lines_are_read(line: bytes, meaning: protocol.Line) -> None:
    assert parse(line) == meaning


def random_line(source: random.Random) -> bytes:
    """Bytes of three kinds: any, the protocol's letters, and true lines with a few bytes wrong."""
    kind = source.randrange(3)
    if kind == 0:
        return source.randbytes(source.randrange(60))
    if kind == 1:
        letters = "$@#E0123456789 okVXYZN.-\r\t"
        return "".join(source.choices(letters, k=source.randrange(60))).encode()
    line = bytearray(
        source.choice([b"$17 ok X1.0 Y-2.5 Z3", b"@3 X1 Y2 Z3 R4", b"$9 ok E22", b"@6 N0 V1"])
    )
    for _ in range(source.randrange(4)):
        line[source.randrange(len(line))] = source.randrange(256)
    return bytes(line[: source.randrange(len(line) + 1)])


def test_reading_a_hundred_thousand_random_lines_never_raises() -> None:
    source = random.Random(15)
    seen: dict[str, int] = {}
    for _ in range(100_000):
        read = parse(random_line(source))
        seen[type(read).__name__] = seen.get(type(read).__name__, 0) + 1
        if isinstance(read, Reply):
            assert read.number >= 0
            assert not (read.ok and read.error is not None)
            if not read.ok:
                assert isinstance(protocol.refusal("G0", read), faults.RobotFault)
    assert {"Reply", "Noise", "Report", "LimitSwitch"} <= seen.keys()


def test_commands_are_encoded() -> None:
    assert protocol.encode(7, protocol.move(150, -20.5, 3.456, 60)) == (
        b"#7 G0 X150.00 Y-20.50 Z3.46 F60.00\n"
    )
    assert protocol.encode(1, protocol.POSITION) == b"#1 P2220\n"


@pytest.mark.parametrize(
    "command",
    [
        "G0 X1!",
        "G0\nG0",
        "G0 X1~",
        "G0 X1?",
        "G0 X1\x18",
        "g0 X1",
        "G0  X1",
        "",
        "$H",
        "G0 Xnan",
        "G0 X1e5",
        "G0 " + "X1 " * 40 + "Y1",
        "G0 Ẋ1",
    ],
)
def test_what_could_act_outside_its_line_is_never_sent(command: str) -> None:
    with pytest.raises(SeadsError, match="allowed"):
        protocol.encode(1, command)


def test_random_text_is_never_encoded_into_realtime_characters() -> None:
    source = random.Random(3)
    passed = 0
    for _ in range(20_000):
        letters = list("G0 X1.25 Y-3")
        for _ in range(source.randrange(3)):
            letters[source.randrange(len(letters))] = source.choice(string.printable + "\x18")
        try:
            sent = protocol.encode(source.randrange(1, 10**6), "".join(letters))
        except SeadsError:
            continue
        passed += 1
        assert sent.count(b"\n") == 1
        assert not set(b"!~?\x18$") & set(sent)
        assert len(sent) <= 80
    assert passed > 10


@pytest.mark.parametrize("dialect", Dialect)
def test_what_configures_the_arm_can_be_sent(dialect: Dialect) -> None:
    commands = protocol.configure(dialect, 1.3, 54.5, 77.2)
    assert all(protocol.encode(1, one) for one in commands)
    assert protocol.REPORT_STOPS in commands


@pytest.mark.parametrize("number", [0, -1, 10**6])
def test_numbers_of_requests_are_bounded(number: int) -> None:
    with pytest.raises(SeadsError, match="request number"):
        protocol.encode(number, "P2220")


@pytest.mark.parametrize(
    "point", [(float("nan"), 0, 0, 1), (0, float("inf"), 0, 1), (0, 0, 0, 0), (0, 0, 0, -1)]
)
def test_a_move_needs_numbers_and_a_feed(point: tuple[float, ...]) -> None:
    with pytest.raises(SeadsError, match="allowed"):
        protocol.move(*point)


@pytest.mark.parametrize(
    ("version", "dialect"),
    [("V4.9.0", Dialect.FW4), ("4.10.0", Dialect.FW4), ("V3.2.0\r", Dialect.FW3)],
)
def test_firmware_is_known_by_its_version(version: str, dialect: Dialect) -> None:
    assert protocol.dialect_of(version) is dialect


@pytest.mark.parametrize("version", ["", "V2.2.1", "5.0.0", "40.1.0", "four", "V4", "V4.x", "ok"])
def test_unknown_firmware_is_refused(version: str) -> None:
    with pytest.raises(faults.UnknownFirmware, match=r"3\.x and 4\.x"):
        protocol.dialect_of(version)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (20, faults.NotUnderstood),
        (22, faults.OutOfReach),
        (23, faults.BufferFull),
        (24, faults.PowerLost),
        (26, faults.EncoderFault),
        (27, faults.Detached),
        (None, faults.NotUnderstood),
    ],
)
def test_refusals_have_their_types(code: int | None, kind: type[faults.RobotFault]) -> None:
    fault = protocol.refusal("G0 X1", Reply(1, False, code))
    assert type(fault) is kind
    assert "G0 X1" in str(fault)
    again = faults.named(type(fault).__name__, str(fault))
    assert type(again) is kind
    assert str(again) == str(fault)
