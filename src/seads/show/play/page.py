"""The page of `seads play`: buttons, a scene and a thread for one browser tab and its session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from seads.errors import SeadsError, WorldFault
from seads.planning import PLANNERS
from seads.show.play.scene import PlayScene
from seads.show.play.session import PlaySession, Status
from seads.show.play.text import help_html, log_html, plan_html, session_html, status_html
from seads.solving.agent import Agent

SPEEDS = ("0.25×", "0.5×", "1×", "2×", "5×", "as fast as possible")
SWITCH, PRESS = "switches one field", "presses, as the game does"
CLICKS = (SWITCH, PRESS)
LATE = 0.25
"""Seconds behind which a slow machine stops trying to catch up."""
PATIENCE = 5.0
"""Seconds that a closing page waits for a step under way."""
SOLVE_COLOUR = (0, 121, 90)
NEXT, PAUSE, GO_ON, DISTURB = "Next skill", "Pause", "Go on", "Disturb"
RUN_BUTTONS = (NEXT, PAUSE, DISTURB)
RUN_HINT = "Run one skill of the plan and stop; pause; a random move on the board, while it works"
NEW, RESET = "New", "Reset"
BOARD_HINT = (
    "A random board of this depth; the solved board, to set up your own; the last one again"
)
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
        self._closed = self._paused = self._given_up = False
        self.speed = 1.0
        """Multiple of normal speed; zero is as fast as possible."""
        self._picked: int | None = None
        self._session: PlaySession | None = None
        self._scene: PlayScene | None = None
        self._last_pose: Any = None
        self._due = 0.0
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
        self._free()

    def _free(self) -> None:
        # a step at an arm may wait for its screen for long: then the thread does this afterwards
        if not self._lock.acquire(timeout=PATIENCE):
            return
        try:
            if self._session is not None:
                self._session.close()
                self._session = self._scene = None
        finally:
            self._lock.release()

    # The controls ------------------------------------------------------------------------

    def _build(self, agents: list[str]) -> None:
        gui = self._client.gui
        gui.configure_theme(
            show_logo=False,
            show_share_button=False,
            brand_color=(0, 114, 178),
        )
        gui.main_panel.dock_right()
        self._help = gui.add_html("")
        self._told = gui.add_html(status_html(Status.READY, "loading the agent …"))
        solve = gui.add_button("Solve", color=SOLVE_COLOUR, hint="Plan, and run the plan")
        self._run = gui.add_button_group("Run", RUN_BUTTONS, hint=RUN_HINT)
        self._plan = gui.add_html(plan_html([]))
        with gui.add_folder("Board"):
            self._depth = gui.add_slider("Depth", 1, 5, 1, 5, hint="Moves that a solution needs")
            self._boards = gui.add_button_group("Set up", (NEW, RESET), hint=BOARD_HINT)
            self._click = gui.add_dropdown("A click", CLICKS, initial_value=SWITCH)
            self._text = gui.add_text("Type", "", hint="Rows such as .#... or 102; Enter to use it")
        with gui.add_folder("Agent and planner"):
            self._agent = gui.add_dropdown("Agent", agents, initial_value=agents[0])
            self._planner_choice = gui.add_dropdown(
                "Planner", list(PLANNERS), initial_value=self._planner
            )
            self._replan = gui.add_checkbox("Plan again", True, hint="When a skill misses")
            speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1×")
        with gui.add_folder("One skill by hand"):
            self._skill = gui.add_slider("Skill", 0, 24, 1, 0)
            by_hand = gui.add_button_group("Run", ("Run this skill",))
        with gui.add_folder("What happened"):
            self._log = gui.add_html(log_html([]))

        solve.on_click(lambda _: self._go(lambda s: s.solve()))
        self._run.on_click(lambda event: self._pressed_run(event.target.value))
        self._boards.on_click(lambda event: self._pressed_board(event.target.value))
        by_hand.on_click(lambda _: self._go(lambda s: s.run_skill(int(self._skill.value))))
        self._agent.on_update(lambda _: self._change_agent())
        self._planner_choice.on_update(lambda _: self._choose_planner())
        self._replan.on_update(
            lambda _: self._do(lambda s: setattr(s, "replan", self._replan.value))
        )
        speed.on_update(lambda _: self._set_speed(speed.value))
        self._text.on_update(lambda _: self._type_board())

    def _pressed_run(self, button: str) -> None:
        if button == NEXT:
            self._go(lambda s: s.step_one_skill())
        elif button == DISTURB:
            self._do(lambda s: s.disturb())
        else:
            self._set_paused(not self._paused)

    def _pressed_board(self, button: str) -> None:
        if button == NEW:
            self._do(lambda s: s.draw(int(self._depth.value)))
        elif button == RESET:
            self._do(lambda s: s.reset())
        else:
            self._do(lambda s: s.clear())

    def _go(self, action: Callable[[PlaySession], None]) -> None:
        """Do something that makes the agent move, so a pause is over."""
        self._set_paused(False)
        self._do(action)

    def _do(self, action: Callable[[PlaySession], None]) -> None:
        """Act on the session between two ticks; what a person got wrong is told, not raised."""
        with self._lock:
            session = self._session
            if session is None:
                self._wake.set()  # an agent that could not be opened may be now
                return
            try:
                action(session)
                if not session.busy and session.status is Status.READY and not session.plan_left:
                    self._told.content = status_html(Status.WORKING, "planning …")
                    session.make_plan()
            except WorldFault as fault:
                self._give_up(fault)
                return
            except SeadsError as error:
                session.message = str(error)
            self._draw()
        self._wake.set()

    def _set_paused(self, paused: bool) -> None:
        if paused is not self._paused:
            self._paused = paused
            self._run.options = (NEXT, GO_ON if paused else PAUSE, DISTURB)
            with self._lock:
                self._tell()
        self._wake.set()

    def _choose_planner(self) -> None:
        self._do(lambda s: s.choose_planner(self._planner_choice.value))
        with self._lock:
            if self._session is not None:  # what the page names is what plans
                self._planner_choice.value = self._session.planner

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
        if session.board.game.fields_per_edit == 1:
            press = self._click.value == PRESS
            self._do(lambda s: s.press_field(field) if press else s.touch_field(field))
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
            self._free()
        except Exception as error:
            # a thread's error reaches nobody else: neither the viewer nor the terminal
            self._told.content = status_html(Status.FAILED, f"defect: {error}")
            raise

    def _loop(self) -> None:
        while not self._closed:
            try:
                self._turn()
            except WorldFault as fault:
                self._give_up(fault)

    def _turn(self) -> None:
        """One environment step, or a rest until something is to be done."""
        if self._given_up:
            if self._wake.wait(timeout=0.5):
                self._wake.clear()
                self._given_up = False
            return
        if self._session is None:
            self._open(self._agent.value)
        with self._lock:
            session = self._session
            active = session is not None and session.busy and not self._paused
            if active and session is not None:
                session.tick()
        if active and session is not None:
            self._show_step(session)
        elif not self._given_up:
            self._wake.wait(timeout=0.5)
            with self._lock:
                if not self._given_up:  # else it is the click that opens the game anew
                    self._wake.clear()

    def _give_up(self, error: SeadsError) -> None:
        """Tell why there is no game, or none any more, such as a lost arm; a click opens it anew.

        Never by itself: at an arm a person must look first.
        """
        with self._lock:
            if self._session is not None:
                self._session.close()
            self._session = self._scene = None
            self._given_up = True
            self._wake.clear()
            then = "; then press Solve" if isinstance(error, WorldFault) else ""
            self._told.content = status_html(Status.FAILED, f"{error}{then}")

    def _open(self, name: str) -> None:
        """Load an agent and build its scene; what goes wrong is told on the page."""
        self._told.content = status_html(Status.READY, f"loading {name} …")
        try:
            session = PlaySession(self._get_agent(name), self._seed, self._planner_choice.value)
        except SeadsError as error:
            with self._lock:
                if self._wants(name):
                    self._give_up(error)
            return
        client = self._client
        with self._lock:
            if not self._wants(name):
                session.close()
                return
            session.replan = self._replan.value
            self._picked = None
            client.scene.reset()
            client.scene.configure_default_lights(cast_shadow=False)
            scene = PlayScene(client.scene, session.env, self._clicked)
            client.camera.up_direction = (0.0, 0.0, 1.0)
            # moves look_at along, so that comes after it
            client.camera.position = session.env.manipulator.camera
            client.camera.look_at = session.env.manipulator.look_at
            self._depth.max, self._depth.value = session.board.deepest, session.board.depths[1]
            self._skill.max, self._skill.value = session.agent.num_skills - 1, 0
            game = session.board.game
            self._click.visible = game.fields_per_edit == 1
            self._boards.options = (NEW, game.solved_word, RESET)
            self._help.content = help_html(game.edit_words)
            self._last_pose = None
            self._session, self._scene = session, scene
        self._do(lambda s: None)

    def _wants(self, name: str) -> bool:
        """Whether this agent is still to be shown: loading takes a while."""
        return not self._closed and name == self._agent.value

    def _show_step(self, session: PlaySession) -> None:
        """Draw what a tick did, slowly enough to be seen."""
        manipulator = session.env.manipulator
        if self.speed == 0.0:
            with self._lock:
                self._draw()
            return
        with self._lock:
            if session is not self._session:
                return
            touching = bool(np.isfinite(session.env.touch[0]).all())
            now, frames = manipulator.pose(0), manipulator.frames_per_step
            poses = manipulator.way(self._last_pose, now, frames, touching)
        seconds = 1 / (manipulator.steps_per_second * self.speed * len(poses))
        for pose in poses:
            with self._lock:
                self._draw(pose)
            if self._closed or session is not self._session:
                return
            self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        """Sleep for what drawing and physics have left of a frame's time."""
        now = time.monotonic()
        self._due = max(self._due, now - LATE) + seconds
        time.sleep(max(0.0, self._due - now))

    def _draw(self, pose: Any = None) -> None:
        session, scene = self._session, self._scene
        if session is None or scene is None:
            return
        with self._client.atomic():
            scene.update(pose, self._picked)
            scene.show_plan(session.plan_left)
        self._last_pose = session.env.manipulator.pose(0)
        self._tell()

    def _tell(self) -> None:
        """Bring the words up to date."""
        session = self._session
        if session is None:
            return
        for element, text in (
            (self._told, session_html(session, self._paused)),
            (self._plan, plan_html(session.plan_left)),
            (self._log, log_html(session.log)),
        ):
            if element.content != text:
                element.content = text
