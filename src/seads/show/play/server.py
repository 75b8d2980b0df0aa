"""The server behind `seads play`: a page for every tab, each with its own game; and replays."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import threading
import time
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from seads.agent.card import packaged
from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.robot.board.access import reachable_address
from seads.show.play.guard import Guard
from seads.show.play.page import Page
from seads.show.play.scene import PlayScene
from seads.show.play.session import PlaySession, Status
from seads.solving.agent import Agent, load

REPLAY_FRAMES = 3
"""Pictures of a replay for each step of the environment."""


@contextlib.contextmanager
def serving(guard: Guard) -> Iterator[Any]:
    """A viser server that says nothing: our own lines are what a user should read."""
    import viser

    # a tab may be closed while its game is drawn: viser says so, and it concerns nobody
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)
    with contextlib.ExitStack() as ending:
        ending.callback(guard.finish)
        with contextlib.redirect_stdout(io.StringIO()), guard.watching():
            server = viser.ViserServer(guard.host, guard.port, label="seads", verbose=False)
        ending.callback(_stop_silently, server)
        server.scene.world_axes.visible = False
        yield server


def _stop_silently(server: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


class PlayServer:
    """Serves pages until it is stopped; use `pages` to look at the games."""

    def __init__(
        self,
        run: str,
        host: str = "127.0.0.1",
        port: int = 8080,
        planner: str = "auto",
        seed: int = 0,
        env_options: dict[str, Any] | None = None,
    ) -> None:
        """`env_options` are of the run's environment, such as a real arm's line."""

        def get(name: str) -> Agent:
            return load(name).with_options((env_options or {}) if name == run else {})

        self._get_agent = lru_cache(maxsize=4)(get)
        # What is wrong with the run, the planner or the agent is said before anything is served.
        PlaySession(self._get_agent(run), seed, planner).close()
        self.host = host
        self.pages: dict[int, Page] = {}
        self._lock = threading.Lock()
        others = [name for name in packaged() if name != run]
        guard = Guard(host, port)
        self.port, self.code = guard.port, guard.code
        self._serving = contextlib.ExitStack()
        self._server = self._serving.enter_context(serving(guard))

        def opened(client: Any) -> None:
            page = Page(client, [run, *others], self._get_agent, seed, planner)
            with self._lock:
                self.pages[client.client_id] = page
            if client.client_id not in self._server.get_clients():
                gone(client)  # left while its page was built

        def gone(client: Any) -> None:
            with self._lock:
                page = self.pages.pop(client.client_id, None)
            if page is not None:
                page.close()
                del page
                give_memory_back()

        self._server.on_client_connect(opened)
        self._server.on_client_disconnect(gone)

    @property
    def address(self) -> str:
        """What to type into a browser; beyond this machine it holds a code, new for each server."""
        base = f"http://{reachable_address(self.host)}:{self.port}"
        return base if self.code is None else f"{base}/?code={self.code}"

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        # not one wait without end: a signal just before it begins would not be seen
        while True:
            time.sleep(0.5)

    def stop(self) -> None:
        """Close every page and the server."""
        with self._lock:
            pages = list(self.pages.values())
            self.pages.clear()
        for page in pages:
            page.close()
        self._serving.close()


def give_memory_back() -> None:
    """Return what a closed tab held to the system.

    Its objects refer to each other in circles, which Python looks for now and then only, and the
    C library keeps what was freed for the thread that is gone.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc only
    if trim is not None:
        trim(0)


def export_replay(
    run: str,
    out: Path,
    board: str | None = None,
    depth: int | None = None,
    planner: str = "auto",
    seed: int = 0,
    env_options: dict[str, Any] | None = None,
) -> Status:
    """Solve one board and write it as a page that plays it back, without Python or a network."""
    if out.suffix not in (".html", ".htm"):
        raise SeadsError(f"{out} is no page; its name must end in .html")
    session = PlaySession(load(run).with_options(env_options or {}), seed, planner)
    try:
        if board is not None:
            session.set_board(board)
        elif depth is not None:
            session.draw(depth)
        if not session.make_plan() and session.status is not Status.SOLVED:
            raise SeadsError(session.message)
        text = _record(session)
    finally:
        session.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text_aside(out, text)
    return session.status


def _record(session: PlaySession) -> str:
    with serving(Guard("127.0.0.1", 0)) as server:
        server.scene.configure_default_lights(cast_shadow=False)
        scene = PlayScene(server.scene, session.env)
        manipulator = session.env.manipulator
        server.initial_camera.position = manipulator.camera
        server.initial_camera.look_at = manipulator.look_at
        server.initial_camera.up = (0.0, 0.0, 1.0)
        pause = 1 / manipulator.steps_per_second
        scene.update()
        scene.show_plan(session.plan_left)
        recording = server.get_scene_serializer()
        recording.insert_sleep(1.0)
        last = manipulator.pose(0)

        def look() -> None:
            nonlocal last
            now = manipulator.pose(0)
            touching = bool(np.isfinite(session.env.touch[0]).all())
            frames = max(REPLAY_FRAMES, manipulator.frames_per_step)
            poses = manipulator.way(last, now, frames, touching)
            for pose in poses:
                scene.update(pose)
                scene.show_plan(session.plan_left)
                recording.insert_sleep(pause / len(poses))
            last = now

        session.solve()
        session.run_to_end(look)
        recording.insert_sleep(1.5)
        return recording.as_html()
