"""The page of `seads play`: buttons, a scene and a thread for one browser tab and its session."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from seads.agent.agent import Agent
from seads.errors import SeadsError
from seads.games import LightsOut
from seads.planning import PLANNERS
from seads.show.play_scene import CAMERAS, LOOK_AT, PlayScene
from seads.show.play_session import PlaySession, Status

STEPS_PER_SECOND = {"cursor": 4.0, "reacher": 25.0, "jaco": 10.0}
"""Environment steps a second at normal speed: real time where there is physics."""
FRAMES_PER_STEP = {"cursor": 3, "reacher": 1, "jaco": 3}
SPEEDS = ("0.25×", "0.5×", "1×", "2×", "5×", "as fast as possible")
STATUS_COLOURS = {
    Status.READY: "#5c6470",
    Status.WORKING: "#0072b2",
    Status.SOLVED: "#00795a",
    Status.UNSOLVABLE: "#b34700",
    Status.FAILED: "#b34700",
}
LOG_LINES = 8
QUIET = (92, 100, 112)
"""The colour of buttons that are not the main one."""
GetAgent = Callable[[str], Agent]


class Page:
    """Everything one browser tab has: closed with it, so that nothing is left behind."""

    def __init__(
        self, client: Any, agents: list[str], get_agent: GetAgent, seed: int, planner: str
    ) -> None:
        self._client, self._get_agent, self._seed = client, get_agent, seed
        self._planner = planner
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._closed = self._paused = False
        self.speed = 1.0
        """Multiple of normal speed; zero is as fast as possible."""
        self._picked: int | None = None
        self._session: PlaySession | None = None
        self._scene: PlayScene | None = None
        self._last_pose: Any = None
        self._build(agents)
        self._thread = threading.Thread(target=self._work, daemon=True, name="seads-play")
        self._thread.start()

    @property
    def session(self) -> PlaySession | None:
        """The game of this tab."""
        return self._session

    def close(self) -> None:
        """The tab is gone: end the thread, free the physics."""
        self._closed = True
        self._wake.set()
        self._thread.join(timeout=30)
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = self._scene = None

    # The controls ------------------------------------------------------------------------

    def _build(self, agents: list[str]) -> None:
        gui = self._client.gui
        gui.configure_theme(
            show_logo=False,
            show_share_button=False,
            brand_color=(0, 114, 178),
        )
        gui.main_panel.dock_right()
        self._told = gui.add_html(_status_html(Status.READY, "loading the agent …", ""))
        self._solve = gui.add_button("Solve", color=(0, 121, 90), hint="Plan, and run the plan")
        self._pause = gui.add_button("Pause", color=QUIET)
        step = gui.add_button("Next skill", color=QUIET, hint="Run one skill of the plan, and stop")
        disturb = gui.add_button(
            "Disturb", color=QUIET, hint="A random move on the board, even while it works"
        )
        self._log = gui.add_html(_log_html([]))
        with gui.add_folder("Board"):
            self._help = gui.add_html("")
            self._depth = gui.add_slider("Depth", 1, 5, 1, 5, hint="Moves the solution needs")
            new = gui.add_button("New board", color=QUIET)
            clear = gui.add_button(
                "Empty board", color=QUIET, hint="The solved board, to set up your own"
            )
            again = gui.add_button("Reset", color=QUIET, hint="The last board again")
            self._text = gui.add_text("Type", "", hint="Rows such as .#... or 102; Enter to use it")
        with gui.add_folder("Agent and planner"):
            self._agent = gui.add_dropdown("Agent", agents, initial_value=agents[0])
            self._planner_choice = gui.add_dropdown(
                "Planner", list(PLANNERS), initial_value=self._planner
            )
            self._replan = gui.add_checkbox("Plan again", True, hint="When a skill misses")
            speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1×")
        with gui.add_folder("One skill by hand", expand_by_default=False):
            self._skill = gui.add_slider("Skill", 0, 24, 1, 0)
            by_hand = gui.add_button("Run this skill", color=QUIET)

        self._on(self._solve, lambda s: s.solve(), unpause=True)
        self._on(step, lambda s: s.step_one_skill(), unpause=True)
        self._on(disturb, lambda s: s.disturb())
        self._on(new, lambda s: s.draw(int(self._depth.value)))
        self._on(clear, lambda s: s.clear())
        self._on(again, lambda s: s.reset())
        self._on(by_hand, lambda s: s.run_skill(int(self._skill.value)), unpause=True)
        self._pause.on_click(lambda _: self._toggle_pause())
        self._agent.on_update(lambda _: self._change_agent())
        self._planner_choice.on_update(
            lambda _: self._do(lambda s: s.choose_planner(self._planner_choice.value))
        )
        self._replan.on_update(
            lambda _: self._do(lambda s: setattr(s, "replan", self._replan.value))
        )
        speed.on_update(lambda _: self._set_speed(speed.value))
        self._text.on_update(lambda _: self._type_board())

    def _on(
        self, button: Any, action: Callable[[PlaySession], None], unpause: bool = False
    ) -> None:
        def pressed(_: Any) -> None:
            if unpause:
                self._unpause()
            self._do(action)

        button.on_click(pressed)

    def _do(self, action: Callable[[PlaySession], None]) -> None:
        """Act on the session between two ticks; what a person got wrong is told, not raised."""
        with self._lock:
            session = self._session
            if session is None:
                return
            try:
                action(session)
                if not session.busy and session.status is Status.READY and not session.plan_left:
                    self._told.content = _status_html(Status.WORKING, "planning …", "")
                    session.make_plan()
            except SeadsError as error:
                session.message = str(error)
            self._draw()
        self._wake.set()

    def _unpause(self) -> None:
        self._paused = False
        self._pause.label = "Pause"

    def _toggle_pause(self) -> None:
        self._paused = not self._paused
        self._pause.label = "Go on" if self._paused else "Pause"
        self._wake.set()

    def _set_speed(self, text: str) -> None:
        self.speed = float(text[:-1]) if text.endswith("×") else 0.0

    def _type_board(self) -> None:
        if self._text.value.strip():
            self._do(lambda s: s.set_board(self._text.value))

    def _change_agent(self) -> None:
        with self._lock:
            if self._session is not None:
                self._session.close()
            self._session = self._scene = None
        self._wake.set()

    def _clicked(self, field: int) -> None:
        session = self._session
        if session is None:
            return
        if isinstance(session.game, LightsOut):
            self._do(lambda s: s.touch_field(field))
        elif self._picked is None or self._picked == field:
            self._picked = field if self._picked is None else None
            self._do(lambda s: None)
        else:
            first, self._picked = self._picked, None
            self._do(lambda s: s.touch_field(first, field))

    # The worker --------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._loop()
        except Exception as error:
            # a thread's error reaches nobody else: neither the viewer nor the terminal
            self._told.content = _status_html(Status.FAILED, f"defect: {error}", "")
            raise

    def _loop(self) -> None:
        while not self._closed:
            if self._session is None:
                self._open(self._agent.value)
            with self._lock:
                session = self._session
                active = session is not None and session.busy and not self._paused
                if active and session is not None:
                    session.tick()
            if not active or session is None:
                self._wake.wait(timeout=0.5)
                self._wake.clear()
                continue
            self._show_step(session)

    def _open(self, name: str) -> None:
        """Load an agent and build its scene; what goes wrong is told on the page."""
        self._told.content = _status_html(Status.READY, f"loading {name} …", "")
        try:
            session = PlaySession(self._get_agent(name), self._seed, self._planner_choice.value)
        except SeadsError as error:
            self._told.content = _status_html(Status.FAILED, str(error), "")
            self._wake.wait()
            self._wake.clear()
            return
        client = self._client
        with self._lock:
            session.replan = self._replan.value
            self._picked = None
            client.scene.reset()
            client.scene.configure_default_lights(cast_shadow=False)
            scene = PlayScene(client.scene, session.env, self._clicked)
            client.camera.up_direction = (0.0, 0.0, 1.0)
            # moves look_at along, so that comes after it
            body = session.env.manipulator.name
            client.camera.position = CAMERAS[body]
            client.camera.look_at = LOOK_AT[body]
            low, high = session.depths
            self._depth.min, self._depth.max, self._depth.value = low, high, high
            self._skill.max, self._skill.value = session.agent.num_skills - 1, 0
            kind = "a field to switch it" if isinstance(session.game, LightsOut) else (
                "two chips to exchange them")  # fmt: skip
            self._help.content = (
                '<div style="padding:0 .7em;font-size:.85em">'
                f"Click {kind}, or draw a new board. Numbers on the board are the plan.</div>"
            )
            self._last_pose = None
            self._session, self._scene = session, scene
        self._do(lambda s: None)

    def _show_step(self, session: PlaySession) -> None:
        """Draw what a tick did, slowly enough to be seen."""
        body = session.env.manipulator.name
        if self.speed == 0.0:
            with self._lock:
                self._draw()
            return
        seconds = 1 / (STEPS_PER_SECOND[body] * self.speed)
        frames = FRAMES_PER_STEP[body]
        with self._lock:
            if session is not self._session:
                return
            poses = between(self._last_pose, session.env.manipulator.pose(0), frames)
        for pose in poses:
            with self._lock:
                self._draw(pose)
            if self._closed or session is not self._session:
                return
            threading.Event().wait(seconds / len(poses))

    def _draw(self, pose: Any = None) -> None:
        session, scene = self._session, self._scene
        if session is None or scene is None:
            return
        with self._client.atomic():
            scene.update(pose, self._picked)
            scene.show_plan(session.plan_left)
        self._last_pose = session.env.manipulator.pose(0)
        facts = f"{session.agent.env} · {session.skills_run} skills · {session.env_steps} steps"
        for element, text in (
            (self._told, _status_html(session.status, session.message, facts)),
            (self._log, _log_html(list(session.log)[-LOG_LINES:])),
        ):
            if element.content != text:
                element.content = text


def between(before: Any, after: np.ndarray, frames: int) -> list[np.ndarray]:
    """Poses on the way, the last one being `after`; no way is shown where the body was put anew."""
    if before is None or np.abs(after - before).max() > 0.5:
        return [after]
    return [before + (after - before) * (i + 1) / frames for i in range(frames)]


def _status_html(status: Status, message: str, facts: str) -> str:
    return (
        '<div style="padding:.6em .7em .2em">'
        f'<div id="seads-status" data-status="{status.name.lower()}" style="color:white;'
        f"background:{STATUS_COLOURS[status]};border-radius:.4em;padding:.3em .6em;"
        f'font-weight:600">{html.escape(status.value)}</div>'
        f'<div id="seads-message" style="margin:.5em 0 .2em">{html.escape(message)}</div>'
        f'<div style="font-size:.8em;opacity:.7">{html.escape(facts)}</div></div>'
    )


def _log_html(log: list[str]) -> str:
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in log)
    return (
        '<ol id="seads-log" style="font-size:.8em;margin:.2em .7em;padding:0;'
        f'list-style:none;min-height:1em">{lines}</ol>'
    )
