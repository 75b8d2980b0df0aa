"""Executions in an environment: skills run one environment step at a time, boards side by side.

Evaluation, `seads solve`, `seads play` and films all drive this one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float32, Int, UInt64

from seads.agent.networks import SkillPolicy
from seads.agent.rollout import RunningSkills
from seads.envs.interface import BatchedEnv
from seads.solving.execution import Execution
from seads.streams import Purpose

PLANNING = 5.0
"""Seconds of planning after which boards that have a plan go on before others get theirs."""


class Watcher(Protocol):
    """Somebody who looks on, such as a film."""

    def skills_begin(self) -> None:
        """The boards stand as they are; the next skills are about to start."""
        ...

    def stepped(self) -> None:
        """The environment made a step."""
        ...


class Executor:
    """Executions side by side, one in each row of an environment that stands on their boards.

    Skills act deterministically, but one that is tried again on a board that looks as it did
    the last time samples its actions: what failed once would otherwise fail in the same
    way until the limit of skills is reached.
    """

    def __init__(
        self,
        env: BatchedEnv,
        policy: SkillPolicy,
        num_skills: int,
        executions: Sequence[Execution],
        seeds: UInt64[np.ndarray, "boards"],
    ) -> None:
        self._env, self._policy, self._num_skills = env, policy, num_skills
        self.executions, self._seeds = executions, seeds
        self.running: RunningSkills | None = None
        """The skills under way."""
        self._chosen: list[int | None] = []

    def begin(self, by_hand: int | None = None) -> bool:
        """Start the next skill of every board that goes on; False when all have ended.

        `by_hand` is a skill to run on all of them instead of what is planned.
        """
        if by_hand is None:
            self._chosen = self._next_skills()
        else:
            self._chosen = [one.by_hand(by_hand) for one in self.executions]
        active = np.array([skill is not None for skill in self._chosen], bool)
        if not active.any():
            return False
        # only a user's environment can end by itself
        ended = getattr(self._env, "ended", None)
        active = active if ended is None else active & ~ended
        skills = np.array([skill or 0 for skill in self._chosen], np.int64)
        noise = self._noise(active)  # by the boards that the skills were chosen on
        self.running = RunningSkills(
            self._env,
            self._policy,
            self._resume(np.flatnonzero(active)),
            skills,
            self._num_skills,
            noise,
            active=active,
        )
        return True

    def _resume(self, rows: Int[np.ndarray, "picked"]) -> Float32[np.ndarray, "rows obs"]:
        """Go on from the boards as they are: at a real screen they may have been touched."""
        observations = self._env.resume(rows)
        symbols = self._env.symbols
        for row in rows.tolist():
            self.executions[row].see(symbols[row])
        return observations

    def _next_skills(self) -> list[int | None]:
        """The skill to run in each row; None where the board has ended, or waits for a plan.

        Boards end one after the other where plans take long, not all of them after the last plan:
        whoever interrupts then has something to show. What happens on a board is the same.
        """
        until = time.monotonic() + PLANNING
        chosen: list[int | None] = []
        for one in self.executions:
            late = time.monotonic() > until and any(skill is not None for skill in chosen)
            chosen.append(None if late and not one.ahead else one.next_skill())
        return chosen

    def step(self) -> bool:
        """One step of the skills under way; False when all have ended, and are recorded."""
        if self.running is None:
            raise RuntimeError("no skills are under way: begin first")
        if self.running.active.any():
            self.running.step()
            if self.running.active.any():
                return True
        done, self.running = self.running.episodes(), None
        for row, skill in enumerate(self._chosen):
            if skill is not None:
                self.executions[row].record(done.after[row], int(done.lengths[row]))
        return False

    def run(self, watcher: Watcher | None = None) -> None:
        """Work until every board has ended."""
        while self.begin():
            if watcher is not None:
                watcher.skills_begin()
            going = True
            while going:
                going = self.step()
                if watcher is not None:
                    watcher.stepped()

    def _noise(self, active: Bool[np.ndarray, "boards"]) -> Float32[np.ndarray, "steps boards act"]:
        """The policy's noise: zero, but for skills that are tried again."""
        spec = self._env.spec
        noise = np.zeros((spec.step_limit, len(active), spec.action_size), np.float32)
        for row in np.flatnonzero(active).tolist():
            skill = self._chosen[row] or 0
            attempts = self.executions[row].attempts(skill)
            if attempts:
                rng = np.random.default_rng([int(self._seeds[row]), Purpose.RETRY, skill, attempts])
                noise[:, row] = rng.standard_normal(noise.shape[::2], np.float32)
        return noise
