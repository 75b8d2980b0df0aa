"""Which port is taken, and what is said where none can be."""

from __future__ import annotations

import errno
import os
import socket

import pytest

from seads.errors import SeadsError
from seads.robot.board.listening import listen

HERE = "127.0.0.1"


def test_a_taken_port_gives_the_next() -> None:
    with listen(HERE, 0) as taken:
        port = taken.getsockname()[1]
        with listen(HERE, port) as other:
            assert port < other.getsockname()[1] <= port + 100


@pytest.mark.parametrize(
    ("host", "port", "sentence"),
    [
        (HERE, -1, "port -1 is not possible; choose from 1 to 65535, or 0 for any"),
        (HERE, 70000, "port 70000 is not possible"),
        ("192.0.2.1", 8080, "'192.0.2.1' is no address of this machine"),
        ("no.such.host.invalid", 8080, "is no address of this machine"),
        ("no..host", 8080, "is no address of this machine"),
        ("2001:db8::1", 8080, "is no address of this machine"),
    ],
)
def test_impossible_addresses(host: str, port: int, sentence: str) -> None:
    with pytest.raises(SeadsError, match=sentence):
        listen(host, port)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EACCES, r"cannot listen: Permission denied .*\('127.0.0.1', 80\)"),
        (errno.EADDRINUSE, "no port from 80 to 179 is free; choose another with --port"),
    ],
)
def test_a_port_that_is_not_ours_is_no_taken_one(
    monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def refuse(_: socket.socket, address: tuple[str, int]) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(SeadsError, match=sentence):
        listen(HERE, 80)
