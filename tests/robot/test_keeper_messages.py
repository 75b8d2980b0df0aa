"""What a program and the keeper of the line say to each other, where one of them is strange."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
from dataclasses import asdict

import numpy as np
import pytest
from tests.robot.arms import bench

from seads.robot import faults
from seads.robot.guard import Envelope
from seads.robot.guarded_arm import GuardedArm
from seads.robot.keeper import Mailbox
from seads.robot.keeper import main as keep

HOSTILE = [
    "not json",
    '"a string"',
    "[1, 2]",
    '{"do": "follow"}',
    '{"do": "follow", "to": []}',
    '{"do": "follow", "to": [[220, 0, 40]], "feed": "fast"}',
    '{"do": "follow", "to": [[220, 0, 40]], "feed": NaN}',
    '{"do": "follow", "to": [[220, 0, 40]], "feed": 1e9}',
    '{"do": "follow", "to": [[220, 0, NaN]]}',
    '{"do": "follow", "to": [[220, 0, 1e999]]}',
    '{"do": "follow", "to": "G0 X220"}',
    '{"do": "follow", "to": [[220, 0, -40]]}',
    '{"do": "connect"}',
    '{"do": "write", "bytes": "G0 X220 Y0 Z-40 F200"}',
    '{"do": ["follow"]}',
    '{"do": "follow", "to": [[220, 0, 40]], "probing": 1}',
    '{"do": "follow", "to": [[220, 0]]}',
    '{"do": "follow", "to": [[220, 0, 40]], "force": true}',
    '{"do": "follow", "to": ' + "[" * 5000 + "]" * 5000 + "}",
    '{"do": "position", "id": -1}',
]


def test_a_hostile_program_has_no_way_around_the_guard() -> None:
    """Raw bytes on the program's own socket, the only thing that it has: nothing moves."""
    with bench() as where:
        ours, theirs = socket.socketpair()
        heeds = signal.getsignal(signal.SIGINT)
        keeper = threading.Thread(target=keep_quietly, args=[theirs.detach()])
        keeper.start()
        settings = dict(envelope=asdict(Envelope.above(0.0)), pace=1e9, grace=2.0, deadman=5.0)
        ours.sendall(json.dumps({"port": where.port, **settings}).encode() + b"\n")
        replies = ours.makefile()
        assert "ok" in json.loads(replies.readline())
        for line in HOSTILE:
            ours.sendall(line.encode() + b"\n")
            assert "fault" in json.loads(replies.readline()), line
        ours.sendall(b'{"id": 7, "do": "fly"}\n')  # whoever waits for number 7 hears of it
        assert json.loads(replies.readline())["id"] == 7
        assert where.twin.moves == 0
        ours.sendall(b'{"do": "follow", "to": [[220, 0, 40]]}\n')
        assert "ok" in json.loads(replies.readline())
        ours.sendall(b"x" * 70000)
        keeper.join(5.0)
        assert not keeper.is_alive()
        assert signal.getsignal(signal.SIGINT) is heeds


@pytest.mark.parametrize(
    "line", [b"[]", b'{"id": 1, "ok": [1, 2', b'{"id": "1"}', b'{"id": 1, "position": [0, 0]}']
)
def test_a_keeper_that_talks_nonsense_is_taken_for_dead(line: bytes) -> None:
    """Whatever holds the line then, it is ended, and the arm stopped by the shortest way."""
    with bench() as where:
        arm = GuardedArm(where.port, Envelope.above(0.0))
        ours, theirs = socket.socketpair()
        with theirs, subprocess.Popen(["sleep", "60"]) as process:
            arm._mailbox, arm._process = Mailbox(ours), process
            theirs.sendall(line + b"\n")
            with pytest.raises(faults.KeeperGone, match=r"says what it should not: .*told to stop"):
                arm.get_observation()
            assert process.returncode == -signal.SIGKILL
        ours.close()


def keep_quietly(descriptor: int) -> None:
    """The keeper in a thread; there it may not touch signals, and need not."""
    before, signal.signal = signal.signal, lambda *_: None
    try:
        keep(descriptor)
    finally:
        signal.signal = before


def test_what_came_while_the_program_itself_stood_still_counts() -> None:
    """A laptop that slept, a program that was stopped: the answer has been there all the time."""
    arm = GuardedArm("/dev/nothing", Envelope.above(0.0), patience=0.0)
    ours, theirs = socket.socketpair()
    with theirs, subprocess.Popen(["sleep", "60"]) as process:
        arm._mailbox, arm._process = Mailbox(ours), process
        theirs.sendall(b'{"id": 1, "ok": [220, 0, 40], "position": [220, 0, 40]}\n')
        np.testing.assert_array_equal(arm.get_observation().position, [220.0, 0.0, 40.0])
        process.kill()
    ours.close()
