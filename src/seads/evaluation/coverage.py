"""Skill coverage: how many distinct game moves the K skills make from one and the same start."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from seads.agent.networks import SkillPolicy
from seads.agent.rollout import run_skills
from seads.agent.skill_model import Discriminator, ForwardModel
from seads.envs.interface import BatchedEnv
from seads.games.game import NO_MOVE
from seads.streams import Purpose, row_seeds


def run_all_skills(
    env: BatchedEnv,
    policy: SkillPolicy,
    num_skills: int,
    starts: int,
    seed: int,
    purpose: Purpose = Purpose.COVERAGE_STARTS,
) -> dict[str, np.ndarray]:
    """Every skill from every start, deterministically; arrays of shape (starts, skills, ...).

    Where the environment does not name the moves, each effect counts as one. The rows of the
    batch are filled with as many starts as fit, so `env.num_envs` must be a multiple of the
    number of skills.
    """
    per_round = env.num_envs // num_skills
    seeds = row_seeds(seed, starts, purpose)
    skills = np.tile(np.arange(num_skills), per_round)
    parts: dict[str, list[np.ndarray]] = {k: [] for k in ("moves", "lengths", "before", "after")}
    for first in range(0, starts, per_round):
        # the last round may have fewer starts than rows: repeat some and drop them again
        picked = np.resize(seeds[first : first + per_round], per_round)
        observations = env.reset(np.repeat(picked, num_skills))
        episodes = run_skills(env, policy, observations, skills, num_skills)
        count = min(per_round, starts - first)
        for name, values in parts.items():
            array = getattr(episodes, name)
            shape = (per_round, num_skills, *array.shape[1:])
            values.append(array.reshape(shape)[:count])
    runs = {name: np.concatenate(values) for name, values in parts.items()}
    runs["moves"] = name_effects(runs["moves"], runs["before"] ^ runs["after"])
    return runs


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


def coverage(
    env: BatchedEnv,
    policy: SkillPolicy,
    model: ForwardModel | Discriminator,
    num_skills: int,
    starts: int = 100,
    seed: int = 0,
) -> dict[str, Any]:
    """The paper's protocol (S.3): the mean number of distinct moves, and each skill in detail."""
    runs = run_all_skills(env, policy, num_skills, starts, seed)
    moves = runs["moves"]
    distinct = distinct_moves(moves)
    result: dict[str, Any] = {
        "mean": float(distinct.mean()),
        "of": env.spec.num_moves,
        "starts": starts,
        "seed": seed,
        "std": float(distinct.std()),
        "lowest": int(distinct.min()),
        "no_move": float((moves == NO_MOVE).mean()),
        "skills": [
            describe_skill(k, moves[:, k], runs["lengths"][:, k]) for k in range(num_skills)
        ],
    }
    favourites = {skill["move"] for skill in result["skills"]} - {None}
    result["distinct_favourites"] = len(favourites)
    if isinstance(model, ForwardModel):
        result["model_accuracy"] = model_accuracy(model, runs)
    return result


def distinct_moves(moves: Int[np.ndarray, "starts skills"]) -> Int[np.ndarray, "starts"]:
    """How many different moves, not counting none, are in each row."""
    ordered = np.sort(moves, 1)
    fresh = np.ones_like(ordered, bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return (fresh & (ordered != NO_MOVE)).sum(1)


def describe_skill(
    skill: int, moves: Int[np.ndarray, "starts"], lengths: Int[np.ndarray, "starts"]
) -> dict[str, Any]:
    """The move a skill makes most, how often it does, and how many steps it takes."""
    made = moves[moves != NO_MOVE]
    move = int(np.bincount(made).argmax()) if len(made) else None
    return {
        "skill": skill,
        "move": move,
        "share": float((moves == move).mean()) if move is not None else 0.0,
        "no_move": float((moves == NO_MOVE).mean()),
        "steps": float(lengths.mean()),
    }


def model_accuracy(model: ForwardModel, runs: dict[str, np.ndarray]) -> float:
    """How often the mode of q(z_T | z_0, k) is what happened when skill k ran."""
    starts, num_skills, bits = runs["before"].shape
    before = runs["before"].reshape(-1, bits)
    logits = model.flip_logits(before, np.tile(np.arange(num_skills), starts))
    predicted = before ^ (np.asarray(logits) > 0)
    return float((predicted == runs["after"].reshape(-1, bits)).all(1).mean())
