"""`seads play` at an arm's twin, with a real page and a real pseudo-terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.exact_agent import exact_agent
from tests.robot.test_environment import free_port
from tests.show.play.browser import chromium, press, read, wait

from seads.robot.board.page_client import PageScreen
from seads.robot.simulated import erring_calibration
from seads.robot.tablet import Tablet
from seads.robot.twin.firmware import Twin
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES, TwinThread
from seads.show.play.server import PlayServer


@contextmanager
def playing_at_a_twin(folder: Path) -> Iterator[tuple[PlayServer, Twin]]:
    """The page's server with an agent whose arm is on a line, and that arm."""
    file, page, run = folder / "calibration.json", free_port(), folder / "run"
    erring_calibration(Tablet.lying(), 0.3).save(file)
    exact_agent("lightsout-robot").save(run / "agent")
    screen = PageScreen(f"http://127.0.0.1:{page}/")
    twin = Twin(screen)
    with TwinThread(twin, AS_FAST_AS_IT_GOES) as line:
        where = dict(port=line.port, calibration=str(file), board_port=page, pace=1e9)
        server = PlayServer(str(run), port=18760, env_options=where)
        try:
            yield server, twin
        finally:
            server.stop()
    screen.close()


@pytest.mark.slow  # browser, page, twin and keeper at once: on busy cores one may wait too long
def test_the_page_mirrors_the_arm_and_tells_its_faults(tmp_path: Path) -> None:
    with playing_at_a_twin(tmp_path) as (server, twin), chromium(tmp_path / "profile") as browser:
        browser.get(server.address)
        wait(lambda: "plan: 5 skills" in read(browser, "seads-message"), "the page and a plan")
        page: Any = next(iter(server.pages.values()))
        page.speed = 0.0
        before = twin.body.rest
        press(browser, "Solve")
        wait(lambda: read(browser, "seads-status") == "solved", "the solution")
        assert not page.session.env.manipulator.pens.board.board.any()
        assert twin.pen.touches >= 5
        # the arm that is drawn stands as the twin's does, to what its encoders can tell
        assert np.abs(twin.body.rest - before).max() > 1.0
        np.testing.assert_allclose(page._last_pose, twin.body.rest, atol=0.1)

        browser.switch_to.new_window("tab")
        browser.get(server.address)
        wait(lambda: "another program has it open" in read(browser, "seads-message"), "a refusal")
        browser.close()
        browser.switch_to.window(browser.window_handles[0])

        press(browser, "New")
        wait(lambda: "plan: 5 skills" in read(browser, "seads-message"), "another plan")
        twin.cut = True
        press(browser, "Solve")
        wait(lambda: "the line to the arm is lost" in read(browser, "seads-message"), "a sentence")
        assert read(browser, "seads-message").endswith("then press Solve")
        moves = twin.moves
        press(browser, "Solve")
        wait(lambda: "no such serial line" in read(browser, "seads-message"), "another sentence")
        assert twin.moves == moves
