"""Serving and exporting: ports, addresses, replays, and everything a user can get wrong."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from tests.exact_agent import exact_agent
from tests.show.play.play_process import addresses, play_command
from tests.show.sample_runs import untrained_agent

from seads import cli
from seads.envs import make_env
from seads.envs.embedding import EmbeddedEnv
from seads.robot.board.access import is_loopback
from seads.show.play.board import PlannedMove
from seads.show.play.guard import Guard
from seads.show.play.scene import PlayScene
from seads.show.play.server import serving
from seads.streams import row_seeds


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("agents") / "taught"
    exact_agent().save(home)
    return str(home)


def test_the_command_serves_until_ctrl_c(agent: str, tmp_path: Path) -> None:
    shell = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    out = tmp_path / "out.txt"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "shown"}\n')
    browser.chmod(0o755)
    with socket.socket() as taken, out.open("w") as file:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = play_command(agent, "--port", str(port))
        for extra, last in (({}, "ssh -L"), ({"BROWSER": f"{browser} %s"}, "Ctrl-C ends it")):
            file.truncate(0)
            served = subprocess.Popen(command, stdout=file, stderr=file, env=shell | extra)
            until = time.monotonic() + 240
            while last not in out.read_text() or (extra and not (tmp_path / "shown").exists()):
                assert served.poll() is None, out.read_text()
                assert time.monotonic() < until, out.read_text()
                time.sleep(0.1)
            text = out.read_text().lstrip("\0")
            assert f"port {port} is in use; took " in text
            (address,) = addresses(text)
            assert b"<!doctype html>" in urllib.request.urlopen(address).read().lower()
            served.send_signal(signal.SIGINT)
            assert served.wait(timeout=60) == 0
            assert f"next: seads report {agent}" in out.read_text()
    assert (tmp_path / "shown").read_text().strip() == address


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.0.2.1", False), ("somewhere", False)],
)  # fmt: skip
def test_only_loopback_goes_without_a_warning(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_replay_needs_nothing_else(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "talks" / "replay.html"
    arguments = ["play", agent, "--export", str(out), "--depth", "2", "--json"]
    log = logging.getLogger("asyncio")
    handlers = list(log.handlers)
    assert cli.main(arguments) == 0
    assert (log.handlers, log.propagate) == (handlers, True)
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"replay": str(out), "status": "solved"}
    assert "open it in any browser" in captured.err
    page = out.read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert len(page) > 100_000


@pytest.mark.parametrize(
    "name",
    ["lightsout-cursor-9x9-spaced", "lightsout-reacher", "tileswap-reacher", "tileswap-jaco"],
)
def test_every_kind_of_scene_is_drawn(name: str) -> None:
    env = make_env(name)
    assert isinstance(env, EmbeddedEnv)
    with closing(env), serving(Guard("127.0.0.1", 0)) as server:
        for seed in (0, 1):
            env.reset(row_seeds(seed, 1))
            scene = PlayScene(server.scene, env, lambda field: None)
            scene.update()
            scene.update(env.manipulator.pose(0), picked=1)
            moves = [PlannedMove(0, 0, "a"), PlannedMove(1, 3, "b"), PlannedMove(0, 0, "a")]
            scene.show_plan([*moves, PlannedMove(2, None, "no move")])
        shown = server.scene.as_html()
        assert len(shown) > 100_000
        # the middle of the first field is on its upper left, seen from the front
        x, y = scene.world(env.game.point_of(0))
        assert x < 0 < y


def test_bad_input_is_one_sentence(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer, vic = tmp_path / "newer", tmp_path / "vic"
    for home in (newer, vic):
        untrained_agent("lightsout-cursor").save(home)
    card = json.loads((newer / "card.json").read_text())
    (newer / "card.json").write_text(json.dumps(card | {"format": 99}))
    other = card | {"architecture": card["architecture"] | {"algorithm": "ppo"}}
    (vic / "card.json").write_text(json.dumps(other))
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "config.json").write_text("{}")
    replay = ["--export", str(tmp_path / "replay.html")]
    for arguments, sentence in (
        ([str(tmp_path / "missing")], "unknown run or agent"),
        ([str(unfinished)], "holds no trained agent"),
        ([str(newer)], "has format 99; this version"),
        ([str(vic)], "'ppo'; choose from seads, vic"),
        ([agent, "--port", "-1"], "port -1 is not possible"),
        ([agent, "--planner", "magic"], "unknown planner 'magic'"),
        ([agent, "--json"], "--json needs --export"),
        ([agent, "--depth", "2"], "are for --export"),
        ([agent, "--export", "replay.mp4"], "its name must end in .html"),
        ([agent, *replay, "--depth", "99"], "depth 99 is not possible"),
        ([agent, *replay, "--board", ".#"], "board"),
        ([agent, *replay, "--board", "#.... ..... ..... ..... ....."], "has no solution"),
        ([agent, *replay, "--board", "#", "--depth", "1"], "contradict each other"),
    ):
        assert cli.main(["play", *arguments]) == 2, arguments
        error = capsys.readouterr().err
        assert error.startswith("seads: "), arguments
        assert sentence in error
        assert error.count("\n") == 1
    assert not (tmp_path / "replay.html").exists()
