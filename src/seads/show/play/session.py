"""A game in progress: one board, one agent, one planner; everything of `play` but the page.

The session is advanced by `tick`, one environment step at a time, so that whoever draws it can
pause, look, and interfere at any moment. It knows nothing of browsers or threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from jaxtyping import Bool

from seads.envs.embedding import EmbeddedEnv
from seads.errors import SeadsError
from seads.planning.words import count, step_words
from seads.show.play.board import PlannedMove, PlayBoard
from seads.solving.agent import Agent
from seads.solving.execution import Effect, Execution, Reason
from seads.solving.executor import Executor
from seads.solving.solver import Solver, Solving
from seads.solving.tasks import draw_tasks
from seads.solving.words import skill_text, solved_with

HISTORY = 50
"""Lines of the log that are kept: a session may go on for hours."""
BOARDS_TO_COMPILE = 16
"""Boards of each depth from which the operators of the model are found."""
PLANNING_SECONDS = 10.0
"""Nobody waits longer before a page; good models take milliseconds."""


class Status(Enum):
    """What the session is doing; the value is what a person reads."""

    READY = "ready"
    WORKING = "working"
    SOLVED = "solved"
    UNSOLVABLE = "no solution"
    FAILED = "not solved"


class Pace(Enum):
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
        self.log: deque[str] = deque(maxlen=HISTORY)
        self._seed, self._replan = seed, replan
        self._solvers: dict[str, Solver] = {}
        self._plan: list[PlannedMove] = []
        self.skills_run = self.env_steps = 0
        self.pace, self.status, self.message = Pace.STOPPED, Status.READY, ""
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
        return self.pace is not Pace.STOPPED

    @property
    def plan_left(self) -> list[PlannedMove]:
        """The moves still to be made, first the one being made now."""
        left = len(self.execution.ahead) + (self._executor.running is not None)
        return self._plan[max(0, len(self._plan) - left) :]

    @property
    def replan(self) -> bool:
        """Whether to plan again when a skill did not do what the model said."""
        return self._replan

    @replan.setter
    def replan(self, replan: bool) -> None:
        self._replan = self.execution.replan = replan

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
        self.execution.planner = self._solver
        if not self.busy and self.status is not Status.SOLVED:
            self._forget()

    # Working ---------------------------------------------------------------------------

    def make_plan(self) -> bool:
        """Plan from the board as it is; False, with a status that says why, if there is no plan."""
        if self.solved:
            return self._stop(Status.SOLVED, "the board is solved")
        try:
            self.board.reader.check_reachable(self.symbol, self.board.goal)
        except SeadsError:
            return self._stop(Status.UNSOLVABLE, self.board.advice())
        made = len(self.execution.plans)
        if not self.execution.look_ahead():
            return self._end()
        if len(self.execution.plans) > made:
            self._tell_plan()
        self.status = Status.WORKING if self.busy else Status.READY
        return True

    def solve(self) -> None:
        """Work until the board is solved or it is clear that it will not be."""
        self._go(Pace.SOLVE, over=bool(self.execution.runs))

    def step_one_skill(self) -> None:
        """Run the next skill of the plan, and stop."""
        self._go(Pace.ONE_SKILL, over=self.execution.reason is not None)

    def run_skill(self, skill: int) -> None:
        """Run one skill by hand, whatever the plan says."""
        if not 0 <= skill < self.agent.num_skills:
            raise SeadsError(f"skill {skill} is not there; choose 0 to {self.agent.num_skills - 1}")
        if self._executor.running is not None:
            raise SeadsError("a skill is running; wait for its end or press reset")
        self.notice = ""
        self.pace, self.status = Pace.ONE_SKILL, Status.WORKING
        after = self._solver.network.successor(self.symbol[None], np.array([skill]))[0]
        self._plan = [self.board.planned(skill, self.symbol, after)]
        self._begin_skill(skill)

    def stop(self) -> None:
        """Leave everything as it is; a running skill is abandoned."""
        self.pace = Pace.STOPPED
        if self._executor.running is not None:
            self.env.resume()
            self._start_over()
        if self.status is Status.WORKING:
            self.status, self.message = Status.READY, "stopped"

    def tick(self) -> None:
        """One environment step of the running skill, or the decision which one runs next."""
        if not self.busy:
            return
        if self._executor.running is not None:
            self.env_steps += 1
            if not self._executor.step():
                self._finish_skill()
        elif self.make_plan():
            self._begin_skill()

    def run_to_end(self, look: Callable[[], None] | None = None) -> Status:
        """Tick until there is nothing to do; `look` is called after every tick."""
        while self.busy:
            self.tick()
            if look is not None:
                look()
        return self.status

    def close(self) -> None:
        """Free the physics; closing again does nothing."""
        self.pace = Pace.STOPPED
        self.board.close()

    @property
    def _solver(self) -> Solver:
        return self._solvers[self.planner]

    def _use_planner(self, planner: str) -> None:
        if planner not in self._solvers:
            low, high = self.board.depths
            depths = range(low, high + 1)
            boards = draw_tasks(self.board.game, depths, BOARDS_TO_COMPILE, "test", self._seed)
            solving = Solving(planner=planner, seconds=PLANNING_SECONDS)
            self._solvers[planner] = Solver(self.agent, boards.starts, solving)
        self.planner = planner

    def _begin(self) -> None:
        self.pace = Pace.STOPPED
        self.skills_run = self.env_steps = 0
        self._forget()
        self.log.clear()

    def _start_over(self) -> None:
        """A new execution from the board as it is: nothing planned, run or tried yet."""
        self.execution = Execution(self.symbol, self.board.goal, self._solver, self._replan)
        seeds = np.array([self._seed], np.uint64)
        agent, env = self.agent, self.env
        self._executor = Executor(env, agent.policy, agent.num_skills, [self.execution], seeds)
        self._plan = []

    def _forget(self) -> None:
        """The board is another one: no plan holds any more."""
        self._start_over()
        self.notice = ""
        solved = self.solved
        self.status = Status.SOLVED if solved else Status.READY
        self.message = "the board is solved" if solved else "a new board"

    def _changed(self, observation: Any, set_up: bool = True) -> None:
        """Someone changed the board; a running skill sees it at its next step."""
        if self._executor.running is not None:
            self._executor.running.observations = observation
        if not self.busy:
            if set_up:
                self.board.keep()
            self._forget()
            return
        self.execution.see(self.symbol)
        self.notice = "someone changed the board"
        self.log.append(self.notice)

    def _go(self, pace: Pace, over: bool) -> None:
        """Work at this pace, from an execution that has nothing behind it if the last is over."""
        if self.busy:
            self.pace = pace if pace is Pace.SOLVE else self.pace
            return
        if over:
            self._start_over()
        self.pace, self.status = pace, Status.WORKING
        if self.solved:
            self._stop(Status.SOLVED, "the board is solved")

    def _tell_plan(self) -> None:
        found = self.execution.plans[-1]
        self._plan = [self.board.planned(*step) for step in self.execution.ahead]
        self.message = found.heading
        if self.planner not in ("auto", found.planner):
            self.message += f" in place of {self.planner}"
        self.log.append(self.message)

    def _begin_skill(self, by_hand: int | None = None) -> None:
        self._executor.begin(by_hand)
        self.message = step_words(self.plan_left[0].skill, self.plan_left[0].name)

    def _finish_skill(self) -> None:
        run = self.execution.runs[-1]
        self.skills_run += 1
        as_planned = run.effect is Effect.AS_PREDICTED
        self.message = skill_text(run, self.board.reader)
        self.log.append(self.message)
        self.notice = "" if as_planned else f"skill {run.skill} missed: {run.effect.value}"
        if not as_planned and self.replan and self.pace is Pace.SOLVE and not self.solved:
            self.log.append("that was not the plan: planning again")
            self.notice += "; planned again"
        if run.plan < 0:  # by hand: it counts for nothing, and no plan holds any more
            self._start_over()
        if self.solved:
            self._stop(Status.SOLVED)
        elif self.pace is Pace.ONE_SKILL:
            self.pace, self.status = Pace.STOPPED, Status.READY

    def _end(self) -> bool:
        """The execution has ended by itself."""
        reason = self.execution.reason
        if reason is Reason.SOLVED:
            return self._stop(Status.SOLVED)
        if reason is Reason.BUDGET:
            return self._stop(Status.FAILED, self.execution.plans[-1].status.value)
        assert reason is not None
        return self._stop(Status.FAILED, reason.value)

    def _stop(self, status: Status, message: str = "") -> bool:
        spent = f"{count(self.skills_run, 'skill')} and {self.env_steps} environment steps"
        message = message or solved_with(spent)
        self.pace, self.status, self.message = Pace.STOPPED, status, message
        self._plan = []
        self.execution.drop_plan()
        self.log.append(message)
        if status is Status.SOLVED:
            self.notice = ""
        return False
