"""Skill coverage: how many distinct game moves the K skills make from one and the same start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from seads.agent.buffer import Episodes
from seads.agent.needs import Needs
from seads.agent.networks import SkillPolicy
from seads.agent.rollout import run_skills
from seads.agent.skill_model import ForwardModel
from seads.envs.interface import BatchedEnv
from seads.envs.own import is_own
from seads.envs.registry import most_rows
from seads.errors import SeadsError
from seads.evaluation.partly import keeping
from seads.games.game import NO_MOVE, Split
from seads.solving.agent import Agent
from seads.solving.symbolic_model import skill_needs
from seads.streams import Purpose, row_seeds
from seads.tables import least, table_text

ROWS = 512
"""Environments that run side by side in an evaluation."""
OWN_ROWS = 8
"""The same of a user's own, of which each may take seconds to build and much memory."""


@dataclass(frozen=True)
class SkillRuns:
    """Every skill from every start."""

    moves: Int[np.ndarray, "starts skills"]
    """What each skill did; where the environment names no moves, each effect has a number."""
    lengths: Int[np.ndarray, "starts skills"]
    before: Bool[np.ndarray, "starts skills bits"]
    after: Bool[np.ndarray, "starts skills bits"]

    @property
    def distinct(self) -> Int[np.ndarray, "starts"]:
        """How many different moves, not counting none, are made from each start."""
        ordered = np.sort(self.moves, 1)
        fresh = np.ones_like(ordered, bool)
        fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        return (fresh & (ordered != NO_MOVE)).sum(1)

    def skill(self, skill: int) -> SkillSummary:
        """What one of the skills does."""
        moves, lengths = self.moves[:, skill], self.lengths[:, skill]
        made = moves[moves != NO_MOVE]
        move = int(np.bincount(made).argmax()) if len(made) else None
        share = float((moves == move).mean()) if move is not None else 0.0
        idle = float((moves == NO_MOVE).mean())
        return SkillSummary(skill, move, share, idle, float(lengths.mean()))

    @property
    def skills(self) -> list[SkillSummary]:
        """What each skill does."""
        return [self.skill(k) for k in range(self.moves.shape[1])]


@dataclass(frozen=True)
class SkillSummary:
    """What a skill does from many starts."""

    skill: int
    move: int | None
    """The move that it makes most often."""
    share: float
    """How often it does."""
    no_move: float
    """How often it makes no move at all."""
    steps: float
    """Environment steps it takes, on average."""


@dataclass(frozen=True)
class Coverage:
    """The paper's measure (section 4): distinct moves, mean over start states."""

    runs: SkillRuns
    of: int
    """How many moves there are."""
    seed: int
    model_accuracy: float | None
    """How often the mode of q(z_T | z_0, k) is what happened when skill k ran."""
    move_names: tuple[str, ...] = ()
    """The game's words for its moves, where there is a game."""

    @property
    def mean(self) -> float:
        """Distinct moves, mean over the starts."""
        return float(self.runs.distinct.mean())

    @property
    def starts(self) -> int:
        """How many start states there were."""
        return len(self.runs.moves)

    def to_json(self) -> dict[str, Any]:
        """As `seads evaluate --json` prints it."""
        distinct, skills = self.runs.distinct, self.runs.skills
        result: dict[str, Any] = {
            "mean": self.mean,
            "of": self.of,
            "starts": self.starts,
            "seed": self.seed,
            "std": float(distinct.std()),
            "lowest": int(distinct.min()),
            "no_move": float((self.runs.moves == NO_MOVE).mean()),
            "skills": [asdict(skill) for skill in skills],
            "distinct_favourites": len({skill.move for skill in skills} - {None}),
        }
        if self.model_accuracy is not None:
            result["model_accuracy"] = self.model_accuracy
        return result

    def point(self) -> dict[str, Any]:
        """What a curve along a run keeps, the value first."""
        return {"coverage": self.mean}

    def _move_name(self, move: int | None) -> str:
        if move is None:
            return "none"
        return self.move_names[move] if self.move_names else f"effect {move}"

    def __str__(self) -> str:
        skills = self.runs.skills
        shown, rest = least([one.share for one in skills])
        rows = [
            (
                str(one.skill),
                self._move_name(one.move),
                f"{one.share:.0%}",
                f"{one.no_move:.0%}",
                f"{one.steps:.1f}",
            )
            for one in (skills[row] for row in shown)
        ]
        titles = ("skill", "is the move", "makes it", "no move", "steps")
        table = table_text(titles, rows, left=titles[1:2]) + rest
        line = f"coverage {self.mean:.2f} of {self.of} moves, mean of {self.starts} starts"
        if self.model_accuracy is not None:
            line += f"; the forward model is right in {self.model_accuracy:.1%}"
        if self.mean > self.of:
            line += (
                f"\nmore effects than the {self.of} moves that the environment says it has: "
                "each set of bits that changes counts as one; give `wrap` another num_moves"
            )
        return f"{table}\n{line}"


def _names(agent: Agent) -> tuple[str, ...]:
    game = getattr(agent.boards, "game", None)
    return () if game is None else tuple(map(game.move_name, range(game.num_moves)))


def measure_coverage(
    agent: Agent, starts: int = 100, split: Split = "test", seed: int = 0
) -> Coverage:
    """Run every skill from the same starts, without exploration."""
    with env_for_skills(agent, starts, split) as env:
        if env.spec.num_moves is None:
            raise SeadsError(
                f"coverage needs to know the moves of {agent.env!r}, which does not tell them; "
                "`seads plan RUN --operators` shows what its skills do"
            )
        of = env.spec.num_moves

        done = SkillsDone(agent.num_skills)

        def so_far() -> Coverage:
            runs = done.runs()
            known = isinstance(agent.model, ForwardModel)
            right = model_accuracy(agent.model, skill_needs(agent), runs) if known else None
            return Coverage(runs, of, seed, right, _names(agent))

        with keeping(starts, "starts", lambda: done.starts, so_far):
            run_all_skills(env, agent.policy, agent.num_skills, starts, seed, done=done)
        return so_far()


class SkillsDone:
    """Skills that were run from one start after the other, so far."""

    def __init__(self, num_skills: int) -> None:
        self._num_skills = num_skills
        self._parts: list[tuple[np.ndarray, ...]] = []

    def add(self, episodes: Episodes, count: int) -> None:
        """The first rows of some episodes, the next in order."""
        found = (episodes.moves, episodes.lengths, episodes.before, episodes.after)
        self._parts.append(tuple(values[:count] for values in found))

    @property
    def starts(self) -> int:
        """From how many starts all skills were run."""
        return sum(len(moves) for moves, *_ in self._parts) // self._num_skills

    def runs(self) -> SkillRuns:
        """What they did from those; there must be one."""
        starts, skills = self.starts, self._num_skills
        moves, lengths, before, after = (
            np.concatenate(values)[: starts * skills].reshape(starts, skills, *values[0].shape[1:])
            for values in zip(*self._parts, strict=True)
        )
        return SkillRuns(name_effects(moves, before ^ after), lengths, before, after)


@contextmanager
def env_for_skills(agent: Agent, starts: int, split: Split) -> Iterator[BatchedEnv]:
    """An environment with rows enough for every skill from every start, or as many as it may."""
    if starts < 1:
        raise SeadsError(f"starts={starts}; allowed: 1 or more")
    rows = min(agent.num_skills * starts, OWN_ROWS if is_own(agent.env) else ROWS)
    rows = most_rows(agent.env, agent.env_options, rows)
    with closing(agent.make_env(rows, split=split)) as env:
        yield env


def run_all_skills(
    env: BatchedEnv,
    policy: SkillPolicy,
    num_skills: int,
    starts: int,
    seed: int,
    purpose: Purpose = Purpose.COVERAGE_STARTS,
    done: SkillsDone | None = None,
) -> SkillRuns:
    """Every skill from every start, deterministically, in whatever rows the batch has.

    Each run begins with a reset from its start's own seed, so the rows may be those that
    training collects in: neither sees what the other did there. `done` has meanwhile what
    there is already.
    """
    seeds = np.repeat(row_seeds(seed, starts, purpose), num_skills)
    skills = np.tile(np.arange(num_skills), starts)
    done = SkillsDone(num_skills) if done is None else done
    for first in range(0, len(seeds), env.num_envs):
        count = min(env.num_envs, len(seeds) - first)
        rows, part = np.arange(count), slice(first, first + count)
        observations = env.reset(seeds[part], rows)
        chosen = np.resize(skills[part], env.num_envs)
        active = np.arange(env.num_envs) < count
        episodes = run_skills(env, policy, observations, chosen, num_skills, active=active)
        done.add(episodes, count)
    return done.runs()


def name_effects(
    moves: Int[np.ndarray, "starts skills"], flips: Bool[np.ndarray, "starts skills bits"]
) -> Int[np.ndarray, "starts skills"]:
    """The moves; a change that no move explains is numbered by the bits that flipped in it.

    Only a user's own environment has such changes: it knows of no moves.
    """
    unnamed = (moves == NO_MOVE) & flips.any(-1)
    if not unnamed.any():
        return moves
    named = moves.copy()
    named[unnamed] = np.unique(flips[unnamed], axis=0, return_inverse=True)[1].ravel()
    return named


def model_accuracy(model: ForwardModel, needs: Needs, runs: SkillRuns) -> float:
    """How often the mode of q(z_T | z_0, k) is what happened when skill k ran.

    Nothing is expected of a skill that lacks what it needs.
    """
    starts, num_skills, bits = runs.before.shape
    before = runs.before.reshape(-1, bits)
    skills = np.tile(np.arange(num_skills), starts)
    flips = np.asarray(model.flip_logits(before, skills)) > 0
    predicted = before ^ (flips & needs.met(before, skills)[:, None])
    return float((predicted == runs.after.reshape(-1, bits)).all(1).mean())
