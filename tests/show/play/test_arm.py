"""`seads play` at an arm's twin, with a real page and a real pseudo-terminal."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.exact_agent import exact_agent
from tests.robot.arms import free_port
from tests.robot.test_robot_command import start_twin
from tests.show.play.browser import chromium, press, read, wait

from seads.robot import kinematics
from seads.robot.board.page_client import PageScreen
from seads.robot.simulated import erring_calibration
from seads.robot.tablet import Tablet
from seads.show.play.server import PlayServer


@dataclass
class TwinProgram:
    """The arm's twin in a process of its own, as its log tells of it."""

    process: subprocess.Popen[str]
    log: Path
    page: str

    def _told(self, kind: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["kind"] == kind]

    @property
    def touches(self) -> int:
        return len(self._told("down"))

    @property
    def moves(self) -> list[np.ndarray]:
        """Where it was sent."""
        texts = [line["text"] for line in self._told("line")]
        found = [re.search(r"G0X([-.\d]+)Y([-.\d]+)Z([-.\d]+)F", text) for text in texts]
        return [np.array(one.groups(), float) for one in found if one is not None]

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)

    @contextmanager
    def without_cable(self) -> Iterator[None]:
        """The arm is gone from its line, but its tablet still shows the page."""
        self.end()
        screen = PageScreen(self.page)
        yield
        screen.close()


@contextmanager
def playing_at_a_twin(folder: Path) -> Iterator[tuple[PlayServer, TwinProgram]]:
    """The page's server with an agent whose arm is on a line, and that arm."""
    file, page, run = folder / "calibration.json", free_port(), folder / "run"
    erring_calibration(Tablet.lying(), 0.3).save(file)
    exact_agent("lightsout-robot").save(run / "agent")
    log, address = folder / "log", f"http://127.0.0.1:{page}/"
    settings = ("--pace", "inf", "--page", address, "--log", str(log))
    twin = TwinProgram(start_twin(folder, "seads.robot.twin", *settings), log, address)
    where = dict(port=str(folder / "arm"), calibration=str(file), board_port=page, pace=1e9)
    try:
        server = PlayServer(str(run), port=18760, env_options=where)
        try:
            yield server, twin
        finally:
            server.stop()
    finally:
        twin.end()


@pytest.mark.slow  # a browser that draws in software takes its time
def test_the_page_mirrors_the_arm_and_tells_its_faults(tmp_path: Path) -> None:
    with playing_at_a_twin(tmp_path) as (server, twin), chromium(tmp_path / "profile") as browser:
        browser.get(server.address)
        wait(lambda: "plan: 5 skills" in read(browser, "seads-message"), "the page and a plan")
        page: Any = next(iter(server.pages.values()))
        page.speed = 0.0
        before = len(twin.moves)
        press(browser, "Solve")
        wait(lambda: read(browser, "seads-status") == "solved", "the solution")
        assert not page.session.env.manipulator.pens.board.board.any()
        assert twin.touches >= 5
        # the arm that is drawn stands where the twin was sent, to what its encoders can tell
        assert len(twin.moves) > before
        stands = kinematics.inverse(twin.moves[-1][None])[0]
        np.testing.assert_allclose(page._last_pose, stands, atol=0.1)

        browser.switch_to.new_window("tab")
        browser.get(server.address)
        wait(lambda: "another program has it open" in read(browser, "seads-message"), "a refusal")
        browser.close()
        browser.switch_to.window(browser.window_handles[0])

        press(browser, "New")
        wait(lambda: "plan: 5 skills" in read(browser, "seads-message"), "another plan")
        moves = len(twin.moves)
        with twin.without_cable():
            press(browser, "Solve")
            lost = "the line to the arm is lost"
            wait(lambda: lost in read(browser, "seads-message"), "a sentence")
            assert read(browser, "seads-message").endswith("then press Solve")
            press(browser, "Solve")
            lost = "no such serial line"
            wait(lambda: lost in read(browser, "seads-message"), "another sentence")
        assert len(twin.moves) == moves
