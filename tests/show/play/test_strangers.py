"""The page of `seads play` against strangers: other websites, other names, nonsense, and crowds."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import viser
from tests.exact_agent import exact_agent
from tests.show.play.play_process import MEGABYTE, resident
from tests.show.play.thin_viewer import CAMERA, ThinViewer
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from seads.show.play.server import PlayServer, give_memory_back

SPOKEN = [Subprotocol(f"viser-v{viser.__version__}")]
PATIENCE = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("taught") / "taught-cursor"
    exact_agent("lightsout-cursor-2x2").save(place)
    return str(place)


@pytest.fixture(scope="module")
def server(home: str) -> Iterator[PlayServer]:
    served = PlayServer(home, port=18700)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def guarded(home: str) -> Iterator[PlayServer]:
    """Open to the network, and so with a code."""
    served = PlayServer(home, host="0.0.0.0", port=18750)
    yield served
    served.stop()


def get(port: int, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    line.request("GET", path, headers=headers)
    answer = line.getresponse()
    answer.read()
    line.close()
    return answer


def tab(port: int, **more: Any) -> ClientConnection:
    own = Origin(f"http://127.0.0.1:{port}")
    address = f"ws://127.0.0.1:{port}"
    return connect(address, subprotocols=SPOKEN, max_size=None, **{"origin": own, **more})


def wait(condition: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE} s in vain for {what}"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "foreign",
    [None, "null", "http://evil.example", "https://127.0.0.1:{port}", "http://localhost:{port}",
     "http://127.0.0.1:1", "http://127.0.0.1:{port}.evil.example"],
)  # fmt: skip
def test_a_websocket_of_another_website_is_refused(server: PlayServer, foreign: str | None) -> None:
    named = None if foreign is None else Origin(foreign.format(port=server.port))
    with pytest.raises(InvalidStatus) as refused:
        tab(server.port, origin=named)
    assert refused.value.response.status_code == 403
    assert b"own page" in refused.value.response.body
    tab(server.port).close()


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.nip.io", "0.0.0.0", "", "a b"])
def test_a_foreign_name_is_refused(server: PlayServer, name: str) -> None:
    assert get(server.port, Host=name).status == 403
    assert get(server.port, Host=f"127.0.0.1:{server.port}").status == 200
    assert get(server.port, Host=f"localhost:{server.port}").status == 200


def test_beyond_this_machine_the_address_holds_a_code(guarded: PlayServer) -> None:
    code = re.fullmatch(r"http://[\d.]+:\d+/\?code=(\w{10})", guarded.address)
    assert code is not None
    for path in ("/", "/?code=wrong", f"/?code={code[1]}&code={code[1]}", "/?code="):
        assert get(guarded.port, path).status == 403
    with pytest.raises(InvalidStatus):
        tab(guarded.port)
    opened = get(guarded.port, f"/?code={code[1]}")
    assert opened.status == 200
    cookie = opened.headers["Set-Cookie"]
    assert "SameSite=Strict" in cookie
    assert "HttpOnly" in cookie
    tab(guarded.port, additional_headers={"Cookie": cookie.partition(";")[0]}).close()
    with pytest.raises(InvalidStatus):
        tab(guarded.port, additional_headers={"Cookie": cookie.partition("=")[0] + "=wrong"})


pack = msgspec.msgpack.encode
NONSENSE: dict[str, Any] = {
    "text": "hello",
    "no bytes": b"",
    "noise": os.urandom(500),
    "a number": pack(3),
    "no type": pack({}),
    "a type that is none": pack({"type": "OpenThePodBayDoors"}),
    "a type that is a list": pack({"type": [1]}),
    "a camera without its place": pack({"type": "ViewerCameraMessage"}),
    "a camera of words": pack({**CAMERA, "position": "here", "fov": "wide"}),
    "nested deeply": b"\x91" * 5000 + b"\x00",
    "an update of nothing": pack({"type": "GuiUpdateMessage", "uuid": "x", "updates": {"a": 1}}),
    "an update of words": pack({"type": "GuiUpdateMessage", "uuid": 7, "updates": "all"}),
    "giant": b"\x00" * 10**6,
}


def test_nonsense_is_a_line_in_the_log_and_disturbs_nobody(
    server: PlayServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with ThinViewer(server.address) as viewer:
        wait(lambda: len(server.pages) == 1, "a page")
        (page,) = server.pages.values()
        wait(lambda: page.session is not None and page.session.plan_left, "a first plan")
        for message in NONSENSE.values():
            with contextlib.suppress(ConnectionClosed), tab(server.port) as stranger:
                stranger.send(message)
                stranger.send(pack(CAMERA))
                with contextlib.suppress(TimeoutError):
                    stranger.recv(timeout=0.2)
        for _ in range(200):
            socket.create_connection(("127.0.0.1", server.port)).close()
        slow = socket.create_connection(("127.0.0.1", server.port))
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")  # and then no more
        deaf = tab(server.port, max_queue=1)
        deaf.send(pack(CAMERA))  # and never reads
        received = viewer.received
        page._do(lambda session: session.draw(1))
        wait(lambda: viewer.received > received, "the board that was drawn")
        deaf.close()
        slow.close()
        wait(lambda: len(server.pages) == 1, "the strangers to be gone")
        assert list(server.pages.values()) == [page]
    wait(lambda: not server.pages, "the page to be closed")
    said = capfd.readouterr().err + caplog.text
    assert "Traceback" not in said
    assert "Error" in said or "refused" in said or "connection" in said
    assert len(said.splitlines()) < 40


def test_a_crowd_leaves_no_memory_behind(server: PlayServer) -> None:
    def crowd() -> None:
        tabs = []
        with contextlib.suppress(InvalidStatus):
            for _ in range(60):
                tabs.append(tab(server.port))
        assert len(tabs) < 60
        for one in tabs:
            one.close()
        wait(lambda: not server.pages, "all to be gone")
        give_memory_back()

    crowd()
    held = resident()
    for _ in range(3):
        crowd()
    assert resident() - held < 40 * MEGABYTE
