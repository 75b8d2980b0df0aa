"""The server against friends and strangers, without a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest
from tests.robot.board.thin_page import ThinPage, closed, origin, socket_address, wait
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import OP_TEXT, Frame
from websockets.sync.client import connect
from websockets.typing import Origin

from seads.errors import SeadsError
from seads.robot.board import server as server_module
from seads.robot.board.access import page
from seads.robot.board.server import BoardServer
from seads.robot.board.touches import Counters


@pytest.fixture
def server() -> Iterator[BoardServer]:
    with BoardServer(port=0) as server:
        yield server


@pytest.fixture
def guarded() -> Iterator[BoardServer]:
    """Open to the network, and so with a code."""
    with BoardServer(host="0.0.0.0", port=0) as server:
        yield server


def get(server: BoardServer, path: str = "/", **headers: str) -> tuple[int, str, str]:
    """Status, body and security policy of an answer."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        policy = answer.headers.get("Content-Security-Policy", "")
        return answer.status, answer.read().decode(), policy
    finally:
        line.close()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged; a traceback or a line of another library's is not wanted."""
    for record in caplog.records:
        assert record.name == "seads.robot.board"
        assert record.exc_info is None
        assert "\n" not in record.getMessage()
    return [record.getMessage() for record in caplog.records]


def plays(server: BoardServer) -> None:
    """A page can join and play, whatever went on before."""
    before = server.counters.touches
    with ThinPage(server) as page:
        page.send(1)
        page.until(lambda state: state["acknowledged"] == 1)
    assert server.counters.touches == before + 1


def test_the_page_is_served_and_asks_nobody_else(server: BoardServer) -> None:
    status, body, policy = get(server)
    assert status == 200
    assert body.encode() == page()
    assert "default-src 'none'" in policy
    assert re.findall(r"//[^/\s]+", body) == ["//${location.host}"]  # nobody but its own host
    assert server.address == f"http://127.0.0.1:{server.port}/"
    assert get(server, "/../pyproject.toml")[0] == 404


def test_a_touch_is_played_acknowledged_and_shown_to_all(server: BoardServer) -> None:
    with ThinPage(server) as player, ThinPage(server, watching=True) as watcher:
        player.send(1, x=0.1, y=0.1)
        for viewer, acknowledged in ((player, 1), (watcher, 0)):
            state = viewer.until(lambda state: state["touches"] == 1)
            assert np.flatnonzero(state["board"]).tolist() == [0, 1, 5]
            assert state["acknowledged"] == acknowledged
            assert not state["solved"]
        server.set_board(np.zeros(25, np.uint8))
        assert watcher.until(lambda state: not any(state["board"]))["solved"]
        touch = server.wait_for_touch(0)
        assert touch is not None
        assert (touch.field, touch.page) == (0, player.page)
        assert server.visible
        player.report(visible=False)
        wait(lambda: not server.visible, "the hidden page")
    wait(lambda: not server.pages, "the pages to leave")
    assert server.counters == Counters(touches=1)


def test_a_touch_whose_acknowledgement_was_lost_counts_once(server: BoardServer) -> None:
    lost = ThinPage(server)
    lost.send(1)
    wait(lambda: server.counters.touches == 1, "the touch")
    lost.drop()
    with ThinPage(server, lost.page) as again:
        assert again.state["acknowledged"] == 1
        assert any(again.state["board"])
        again.send(1)
        again.send(2, "up")
        again.until(lambda state: state["acknowledged"] == 2)
    assert server.counters == Counters(touches=1, duplicates=1, reconnects=1)


def test_a_page_that_comes_back_takes_the_place_of_its_dead_connection(
    server: BoardServer,
) -> None:
    dead = ThinPage(server)
    with ThinPage(server, dead.page) as alive:
        dead.closed()
        alive.send(1)
        alive.until(lambda state: state["acknowledged"] == 1)
        assert len(server.pages) == 1
    assert server.counters.reconnects == 1


@pytest.mark.parametrize(
    "foreign",
    [None, "null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1",
     "http://127.0.0.1", "http://localhost:{port}", "http://127.0.0.1:{port}.evil.example"],
)  # fmt: skip
def test_a_foreign_origin_is_refused(server: BoardServer, foreign: str | None) -> None:
    named = foreign and foreign.format(port=server.port)
    with pytest.raises(InvalidStatus) as refused:
        connect(socket_address(server), origin=None if named is None else Origin(named))
    assert refused.value.response.status_code == 403
    assert b"own page" in refused.value.response.body


@pytest.mark.parametrize(
    "foreign",
    ["evil.example", "127.0.0.1.nip.io", "127.0.0.1@evil.example", "0.0.0.0", "[::1]", "", "a b"],
)
def test_a_foreign_host_is_refused(server: BoardServer, foreign: str) -> None:
    assert get(server, Host=foreign)[0] == 403
    assert get(server, "/socket", Host=foreign, Origin=f"http://{foreign}")[0] == 403


def test_two_hosts_are_refused(server: BoardServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 20) as line:
        own = f"Host: 127.0.0.1:{server.port}\r\n"
        line.sendall(f"GET / HTTP/1.1\r\n{own}{own}\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 403")


def test_names_of_this_machine_and_forwarded_ports_are_not_foreign(server: BoardServer) -> None:
    assert get(server, Host="localhost:1234")[0] == 200
    assert get(server, Host="127.0.0.1:1234")[0] == 200


def test_in_the_network_nothing_is_answered_without_the_code(guarded: BoardServer) -> None:
    code = str(guarded.code)
    query = urlsplit(guarded.address).query
    assert query == f"code={code}"
    assert len(code) == 10
    with urlopen(guarded.address, timeout=20) as answer:  # by the address that others see
        assert answer.read() == page()
    plays(guarded)
    for wrong in ("", f"code={code[:-1]}", f"code={code.upper()}", f"code={code}&code=a", "code="):
        assert get(guarded, f"/?{wrong}")[0] == 403
        with pytest.raises(InvalidStatus) as refused:
            connect(socket_address(guarded, f"?{wrong}"), origin=origin(guarded))
        assert refused.value.response.status_code == 403
    with BoardServer(host="0.0.0.0", port=0) as other:
        assert other.code != code
    assert get(guarded, f"/?{query}", Host="evil.example")[0] == 403


def test_garbage_closes_its_page_only(
    server: BoardServer, caplog: pytest.LogCaptureFixture
) -> None:
    with ThinPage(server) as player:
        for garbage in ("{", b"\x00\xff", "[" * 1000, '{"number": 7}', "9" * 1000):
            for opened in (False, True):
                line = (
                    ThinPage(server).socket
                    if opened
                    else connect(socket_address(server), origin=origin(server))
                )
                line.send(garbage)
                said = closed(line).rcvd
                assert said is not None
                assert said.code == 1008
        for ahead in (ThinPage(server), ThinPage(server, watching=True)):
            ahead.send(2)
            ahead.closed()
        player.send(1)
        player.until(lambda state: state["acknowledged"] == 1)
    assert server.counters == Counters(touches=1)
    assert len(lines(caplog)) == 1


def test_a_message_of_10_mb_closes_its_page_only(
    server: BoardServer, caplog: pytest.LogCaptureFixture
) -> None:
    with ThinPage(server) as player:
        big = ThinPage(server)
        with contextlib.suppress(ConnectionClosed):
            big.socket.send("9" * 10_000_000)
        big.closed()
        player.send(1)
        player.until(lambda state: state["acknowledged"] == 1)
    wait(lambda: lines(caplog), "the line in the log")
    assert len(lines(caplog)) == 1
    assert "1009" in lines(caplog)[0]


def test_200_connections_opened_and_dropped_disturb_nobody(
    server: BoardServer, caplog: pytest.LogCaptureFixture
) -> None:
    request = f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode()
    with ThinPage(server) as player:
        for number in range(1, 201):
            line = socket.create_connection(("127.0.0.1", server.port), 20)
            line.sendall((b"", request[:7], request, b"\x00\xff\n\n")[number % 4])
            if number % 2:  # a reset instead of an end
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            line.close()
            player.send(number)
        player.until(lambda state: state["acknowledged"] == 200)
        for _ in range(20):
            ThinPage(server).drop()
        wait(lambda: len(server.pages) == 1, "the dropped pages to be noticed")
    assert server.counters.touches == 200
    server.stop()
    assert 1 <= len(lines(caplog)) <= 6  # one for each way to be dropped, and how many there were


def test_more_pages_than_anybody_has_are_refused(server: BoardServer) -> None:
    opened = [ThinPage(server) for _ in range(32)]
    late = connect(socket_address(server), origin=origin(server))
    late.send(json.dumps({**vars(server.pages[0]), "page": "f" * 32}))
    closed(late)
    opened[0].socket.close()
    wait(lambda: len(server.pages) == 31, "a free place")
    plays(server)
    for other in opened[1:]:
        other.drop()


def test_a_reader_that_never_reads_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_module, "_PATIENCE", 0.5)
    with BoardServer(24, port=0) as server, ThinPage(server) as player:
        lazy = lazy_page(server)
        wait(lambda: len(server.pages) == 2, "the reader that does not read")
        boards = np.random.default_rng(0).integers(0, 2, (5000, 24 * 24), dtype=np.uint8)
        end = time.monotonic() + 20
        for board in boards:
            server.set_board(board)
            player.until(lambda state, board=board: state["board"] == board.tolist())  # type: ignore[misc]
            if len(server.pages) == 1 or time.monotonic() > end:
                break
        assert [page.page for page in server.pages] == [player.page]
        lazy.close()
    assert 1 <= len(lines(caplog)) <= 2


def lazy_page(server: BoardServer) -> socket.socket:
    """Says who it is, and reads nothing, not even pings."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", server.port))
    line.sendall(
        f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nOrigin: {origin(server)}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    report = json.dumps({**vars(server.pages[0]), "page": "f" * 32}).encode()
    line.sendall(Frame(OP_TEXT, report).serialize(mask=True))
    return line


def test_who_does_not_say_who_it_is_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_module, "_PATIENCE", 0.1)
    with BoardServer(port=0) as server:
        silent = connect(socket_address(server), origin=origin(server))
        closed(silent)
        assert server.pages == []
    assert len(lines(caplog)) == 1


def test_pages_hear_from_the_host_though_nothing_changes(
    server: BoardServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_HEARTBEAT", 0.01)
    with ThinPage(server) as page:
        for _ in range(3):
            assert json.loads(page.socket.recv(20)) == page.state


def test_a_taken_port_gives_the_next_free_one(server: BoardServer) -> None:
    with BoardServer(port=server.port) as second:
        assert second.port > server.port
        plays(second)


def test_stopping_closes_pages_and_frees_the_port(server: BoardServer) -> None:
    page = ThinPage(server)
    server.stop()
    server.stop()
    server.set_board([1] * 25)  # nobody is left to see it
    page.closed()
    with BoardServer(port=server.port) as again:
        assert again.port == server.port


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (dict(host="203.0.113.7"), "no address of this machine"),
        (dict(game_size=1), "board size 1"),
    ],
)
def test_what_cannot_be_served_is_said(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(SeadsError, match=sentence):
        BoardServer(**wrong)


def test_tracebacks_would_be_noticed(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("websockets.server").error("opening handshake failed")
    with pytest.raises(AssertionError):
        lines(caplog)
