"""Run directories as training and evaluation leave them, written in milliseconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np

from seads import __version__
from seads.agent.networks import make_policy
from seads.agent.presets import preset as settings_of
from seads.agent.skill_model import NetworkForwardModel
from seads.envs.registry import describe
from seads.evaluation.statistics import summary, wilson_interval
from seads.solving import Agent, Architecture
from seads.training.config import TrainConfig


def untrained_agent(env: str, hidden: tuple[int, ...] = (8, 8)) -> Agent:
    """An agent of the right sizes that has learned nothing."""
    facts = describe(env)
    shape = Architecture(
        "seads", facts["observation_size"], facts["action_size"], facts["bits"], facts["moves"],
        hidden, hidden,
    )  # fmt: skip
    sizes = (shape.observation_size + shape.num_skills, shape.action_size)
    policy = make_policy(*sizes, hidden, jax.random.key(0))
    model = NetworkForwardModel(shape.num_bits, shape.num_skills, hidden, jax.random.key(1))
    card = {"env_steps": 100_000, "preset": "default", "seed": 0, "version": __version__}
    return Agent(env, {}, shape, card, policy, model)


def tasks_result(success: dict[int, float], replan: bool, listed: bool = True) -> dict[str, Any]:
    """What `seads evaluate --what tasks` stores, as far as a report reads it.

    Files of earlier versions list no steps of skills and know nothing of first plans.
    """
    rng = np.random.default_rng(0)
    depths, tasks = {}, []
    for depth, share in success.items():
        times = summary((rng.random(20) * 0.001 * 2**depth).tolist())
        lengths = (4 * depth + rng.integers(0, 4, 20)).tolist()
        solved = round(20 * share)
        depths[str(depth)] = {
            "boards": 20, "success": share, "interval": list(wilson_interval(solved, 20)),
            "solution_length": summary(lengths[:solved]), "planning_seconds": times,
        }  # fmt: skip
        if listed:
            depths[str(depth)] |= {"plans_found": share, "first_plan_seconds": times}
            tasks += [
                {"depth": depth, "solved": board < solved, "env_steps": steps,
                 "skill_steps": [4] * (depth - 1) + [steps - 4 * (depth - 1)]}
                for board, steps in enumerate(lengths)
            ]  # fmt: skip
    failed = round(20 * sum(1 - share for share in success.values()))
    return {
        "replan": replan,
        "planner": "auto",
        "success": float(np.mean(list(success.values()))),
        "boards": 20 * len(success),
        "by_depth": {str(depth): share for depth, share in success.items()},
        "failures": {"no_plan": failed - failed // 3, "wrong_effect": failed // 3},
        "skill_length": summary(rng.integers(1, 9, 100).tolist()),
        "depths": depths,
        **({"tasks": tasks} if listed else {}),
    }


def skill_maps_result(moves: int, size: int) -> dict[str, Any]:
    """Skill k presses field k from three starts; the last skill pushes in vain."""
    skills = []
    for k in range(moves):
        end = [(k % size + 0.5) / size, (k // size % size + 0.5) / size]
        silent = k == moves - 1
        one: dict[str, Any] = {"path": [[0.5, 0.5], end], "touch": None if silent else end}
        one |= {"move": None if silent else k, "pushes": [end] if silent else []}
        skills.append(
            {"skill": k, "move": one["move"], "share": float(not silent), "runs": [one] * 3}
        )
    return {"starts": 3, "seed": 0, "skills": skills}


def write_run(
    path: Path,
    env: str = "lightsout-cursor-2x2",
    seed: int = 0,
    preset: str = "default",
    status: str = "finished",
    evaluated: bool = True,
    top: float = 24.0,
) -> Path:
    """A run whose coverage grows to `top` within 100,000 steps."""
    path.mkdir(parents=True)
    TrainConfig(env=env, settings=settings_of(), preset=preset, seed=seed).write(
        path / "config.json"
    )
    meta = {
        "seads": __version__, "commit": "abc", "status": status,
        "env_steps": 100_000 if status == "finished" else 40_000, "budget": 100_000,
    }  # fmt: skip
    (path / "meta.json").write_text(json.dumps(meta))
    with (path / "metrics.jsonl").open("w") as metrics, (path / "timing.jsonl").open("w") as timing:
        for epoch in range(10, 101, 10):
            line: dict[str, Any] = {"epoch": epoch, "env_steps": 1000 * epoch, "reward": 1.0}
            if epoch % 20 == 0:
                line["coverage"] = top * (1 - np.exp(-epoch / 20))
            metrics.write(json.dumps(line) + "\n")
            timing.write(json.dumps({"epoch": epoch, "seconds": 2.0 * epoch}) + "\n")
    untrained_agent(env).save(path / "agent")
    if evaluated:
        facts = describe(env)
        parts = {
            "coverage": {"mean": top + 0.5, "of": facts["moves"], "starts": 100},
            "skill_maps": skill_maps_result(facts["moves"], facts["size"]),
        }
        for name, part in parts.items():
            write_result(path, name, {name: part})
        for replan in (True, False):
            shares = {1: 1.0, 2: 0.95 if replan else 0.8, 3: 0.9 - 0.1 * seed}
            write_result(path, f"tasks-{replan}", {"tasks": tasks_result(shares, replan)})
    return path


def write_result(path: Path, name: str, part: dict[str, Any]) -> None:
    """A file as `seads.evaluation.results.write_result` writes it."""
    (path / "eval").mkdir(exist_ok=True)
    facts = {"command": "seads evaluate", "made": "2026-01-01", "env_steps": 100_000}
    (path / "eval" / f"{name}.json").write_text(json.dumps({**facts, **part}))
