"""A game in progress: one board, one agent, one planner; everything of `play` but the page.

The session is advanced by `tick`, one environment step at a time, so that whoever draws it can
pause, look, and interfere at any moment. It knows nothing of browsers or threads.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.agent.agent import Agent
from seads.envs.embedding import EmbeddedEnv
from seads.errors import SeadsError
from seads.evaluation.tasks import Solver, Solving, draw_tasks
from seads.planning.executor import Effect, skill_limit
from seads.planning.model import SymbolicModel
from seads.planning.result import PlanStatus
from seads.show.play_board import PlayBoard
from seads.show.play_moves import PlannedMove, advice, planned_move, planned_moves
from seads.show.play_skill import RunningSkill, skill_noise

HISTORY = 50
"""Lines of the log that are kept: a session may go on for hours."""
BOARDS_TO_COMPILE = 16
"""Boards of each depth from which the operators of the model are found."""
DEFAULT_AGENT = "lightsout-jaco"


class Status(Enum):
    """What the session is doing; the value is what a person reads."""

    READY = "ready"
    WORKING = "working"
    SOLVED = "solved"
    UNSOLVABLE = "no solution"
    FAILED = "not solved"


class Mode(Enum):
    """How far `tick` goes on by itself."""

    STOPPED = "stopped"
    ONE_SKILL = "one skill"
    SOLVE = "solve"


class PlaySession:
    """One board with an agent that works on it. Close it to free the physics."""

    def __init__(
        self, agent: Agent, seed: int = 0, planner: str = "auto", replan: bool = True
    ) -> None:
        self.agent = agent
        self.replan = replan
        self.log: deque[str] = deque(maxlen=HISTORY)
        self._seed = seed
        self._solvers: dict[str, Solver] = {}
        self._running: RunningSkill | None = None
        self._pending: list[PlannedMove] = []
        self._tried: Counter[tuple[int, bytes]] = Counter()
        self._limit = self.skills_run = self.env_steps = 0
        self.mode, self.status, self.message = Mode.STOPPED, Status.READY, ""
        self.notice = ""
        """What went against the plan, until something goes as planned again."""
        self.board = PlayBoard(agent, seed)
        try:
            self._use_planner(planner)
        except BaseException:
            self.board.close()
            raise
        self._begin()

    # What a page shows -------------------------------------------------------------------

    @property
    def env(self) -> EmbeddedEnv:
        """The environment, of one row."""
        return self.board.env

    @property
    def symbol(self) -> Bool[np.ndarray, "bits"]:
        """The symbolic state now."""
        return self.board.symbol

    @property
    def solved(self) -> bool:
        """Whether the board is the goal now."""
        return self.board.solved

    @property
    def busy(self) -> bool:
        """Whether `tick` has something to do."""
        return self.mode is not Mode.STOPPED

    @property
    def plan_left(self) -> list[PlannedMove]:
        """The moves still to be made, first the one being made now."""
        return list(self._pending)

    # Setting up ------------------------------------------------------------------------

    def reset(self) -> None:
        """The last board that was set up again, the body in a new start pose."""
        self.board.begin_again()
        self._begin()

    def draw(self, depth: int) -> None:
        """A random board of this solution depth."""
        self.board.draw(depth)
        self._begin()

    def set_board(self, text: str) -> None:
        """The board a person typed."""
        self.board.begin(self.board.reader.read(text))
        self._begin()

    def clear(self) -> None:
        """The solved board, to set up another one field by field."""
        self.board.begin(self.board.goal)
        self._begin()

    def touch_field(self, field: int, other: int | None = None) -> None:
        """Change the board by hand: a light is switched, or two chips are exchanged.

        While the agent works this is a disturbance: the skill goes on and finds another board.
        """
        self._changed(self.board.touch(field, other))

    def press_field(self, field: int) -> None:
        """Change the board by hand as the game would: every board made so has a solution."""
        self._changed(self.board.press(field))

    def disturb(self) -> None:
        """Make a random move of the game on the board, as if someone had."""
        self._changed(self.board.press_any(), set_up=False)

    def choose_planner(self, planner: str) -> None:
        """Plan with another planner from now on; a plan that is being carried out is kept."""
        if planner == self.planner:
            return
        self._use_planner(planner)
        if not self.busy and self.status is not Status.SOLVED:
            self._forget()

    # Working ---------------------------------------------------------------------------

    def make_plan(self) -> bool:
        """Plan from the board as it is; False, with a status that says why, if there is no plan."""
        self._pending = []
        if self.solved:
            self.status = Status.SOLVED
            self.message = "the board is solved"
            return False
        try:
            self.board.reader.check_reachable(self.symbol, self.board.goal)
        except SeadsError:
            return self._stop(Status.UNSOLVABLE, advice(self.board.game, self.env.boards[0]))
        found = self._solvers[self.planner].plan(self.symbol, self.board.goal)
        if not found.solved:
            known = found.status is PlanStatus.UNSOLVABLE
            why = "the agent's model knows no way to the goal" if known else found.status.value
            return self._stop(Status.FAILED, why)
        self._pending = planned_moves(self.board.reader, found)
        self._limit = self._limit or self.skills_run + skill_limit(len(found))
        count = f"{len(found)} skill{'' if len(found) == 1 else 's'}"
        slow = found.seconds >= 1
        took = f"{found.seconds:.1f} s" if slow else f"{found.seconds * 1000:.0f} ms"
        self.message = f"plan: {count}, found in {took} by {found.planner}"
        if self.planner not in ("auto", found.planner):
            self.message += f" in place of {self.planner}"
        self.log.append(self.message)
        self.status = Status.READY if not self.busy else Status.WORKING
        return True

    def solve(self) -> None:
        """Work until the board is solved or it is clear that it will not be."""
        self._limit = 0
        self._tried.clear()
        self._go(Mode.SOLVE)

    def step_one_skill(self) -> None:
        """Run the next skill of the plan, and stop."""
        self._go(Mode.ONE_SKILL)

    def run_skill(self, skill: int) -> None:
        """Run one skill by hand, whatever the plan says."""
        if not 0 <= skill < self.agent.num_skills:
            raise SeadsError(f"skill {skill} is not there; choose 0 to {self.agent.num_skills - 1}")
        if self._running is not None:
            raise SeadsError("a skill is running; wait for its end or press reset")
        self._pending = []
        self.notice = ""
        self.mode, self.status = Mode.ONE_SKILL, Status.WORKING
        after = self._network.successor(self.symbol[None], np.array([skill]))[0]
        self._start_skill(planned_move(self.board.reader, skill, self.symbol, after))

    def stop(self) -> None:
        """Leave everything as it is; a running skill is abandoned."""
        self.mode = Mode.STOPPED
        if self._running is not None:
            self._running = None
            self.env.resume()
        if self.status is Status.WORKING:
            self.status, self.message = Status.READY, "stopped"

    def tick(self) -> None:
        """One environment step of the running skill, or the decision which one runs next."""
        if not self.busy:
            return
        if self._running is None:
            self._decide()
        else:
            self._step(self._running)

    def run_to_end(self, look: Callable[[], None] | None = None) -> Status:
        """Tick until there is nothing to do; `look` is called after every tick."""
        while self.busy:
            self.tick()
            if look is not None:
                look()
        return self.status

    def close(self) -> None:
        """Free the physics; closing again does nothing."""
        self.mode = Mode.STOPPED
        self.board.close()

    # ------------------------------------------------------------------------------------

    def _use_planner(self, planner: str) -> None:
        if planner not in self._solvers:
            low, high = self.board.depths
            depths = range(low, high + 1)
            boards = draw_tasks(self.board.game, depths, BOARDS_TO_COMPILE, "test", self._seed)[1]
            self._solvers[planner] = Solver(self.agent, boards, Solving(planner=planner))
        self.planner = planner

    def _begin(self) -> None:
        self.mode = Mode.STOPPED
        self._running = None
        self.skills_run = self.env_steps = 0
        self._forget()
        self.log.clear()

    def _changed(self, observation: Any, set_up: bool = True) -> None:
        """Someone changed the board; a running skill sees it at its next step."""
        if self._running is not None:
            self._running.see(observation)
        if self.busy:
            self.notice = "someone changed the board"
            self.log.append(self.notice)
            return
        if set_up:
            self.board.keep()
        self._forget()

    def _forget(self) -> None:
        """The board is another one: no plan holds any more."""
        self._pending = []
        self._limit = 0
        self._tried.clear()
        self.notice = ""
        solved = self.solved
        self.status = Status.SOLVED if solved else Status.READY
        self.message = "the board is solved" if solved else "a new board"

    def _go(self, mode: Mode) -> None:
        if self.mode is Mode.ONE_SKILL and mode is Mode.SOLVE:
            self.mode = mode
            return
        if self.busy:
            return
        self.mode, self.status = mode, Status.WORKING
        if self.solved:
            self._stop(Status.SOLVED, "the board is solved")

    def _decide(self) -> None:
        if self.solved:
            self._stop(Status.SOLVED, self._told())
        elif self.mode is Mode.SOLVE and self._limit and self.skills_run >= self._limit:
            self._stop(Status.FAILED, "gave up: too many skills for this board")
        elif self._pending or self.make_plan():
            self._start_skill(self._pending[0])

    def _start_skill(self, move: PlannedMove) -> None:
        predicted = self._network.successor(self.symbol[None], np.array([move.skill]))[0]
        attempt = (move.skill, self.symbol.tobytes())
        tried = self._tried[attempt] if self.replan else 0
        if self.mode is Mode.SOLVE:
            self._tried[attempt] += 1
        noise = skill_noise(self.env, move.skill, tried, self._seed)
        self._running = RunningSkill(self.agent, self.env, move, predicted, noise)
        self.message = f"skill {move.skill}: {move.name}"

    def _step(self, running: RunningSkill) -> None:
        ended = running.step()
        self.env_steps += 1
        if ended:
            self._finish_skill(running)

    def _finish_skill(self, running: RunningSkill) -> None:
        run = running.result()
        self.skills_run += 1
        self._running = None
        as_planned = run.effect is Effect.AS_PREDICTED
        steps = f"{run.steps} step{'' if run.steps == 1 else 's'}"
        told = f"skill {run.skill}: {running.planned.name} ({steps}, {run.effect.value})"
        self.message = told
        self.log.append(told)
        self.notice = "" if as_planned else f"skill {run.skill} missed: {run.effect.value}"
        planned = bool(self._pending) and self._pending[0] == running.planned
        if planned and (as_planned or not self.replan):
            self._pending.pop(0)
        elif self._pending or not as_planned:
            self._pending = []
            if self.mode is Mode.SOLVE and not self.solved:
                self.log.append("that was not the plan: planning again")
                self.notice += "; planned again"
        if self.solved:
            self._stop(Status.SOLVED, self._told())
        elif self.mode is Mode.ONE_SKILL:
            self.mode, self.status = Mode.STOPPED, Status.READY
        elif not self._pending and not self.replan:
            self._stop(Status.FAILED, "the plan is at its end and the board is not solved")

    def _told(self) -> str:
        count = self.skills_run
        skills = f"{count} skill{'' if count == 1 else 's'}"
        return f"solved with {skills} and {self.env_steps} environment steps"

    def _stop(self, status: Status, message: str) -> bool:
        self.mode, self.status, self.message = Mode.STOPPED, status, message
        self._pending = []
        self.log.append(message)
        if status is Status.SOLVED:
            self.notice = ""
        return False

    @property
    def _network(self) -> SymbolicModel:
        """The agent's forward model."""
        return self._solvers[self.planner].network
