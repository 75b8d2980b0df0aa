"""Results made up for the tests of tables and figures."""

from __future__ import annotations

from seads.studies.results import Board, Point, Results, RunResult


def run(env: str, group: str, seed: int, coverage: float | None, **changes: object) -> RunResult:
    values = dict(
        run=f"{env}-{group}-seed{seed}",
        env=env,
        algorithm="seads",
        preset=group,
        group=group,
        seed=seed,
        configuration="c0ffee",
        commit="",
        status="finished",
        budget=100_000,
        env_steps=99_900,
        seconds=60.0,
        moves=25,
        coverage=coverage,
        coverage_env_steps=99_900,
        model_accuracy=1.0,
        success=1.0,
        success_env_steps=99_900,
        success_no_replan=0.9,
        success_by_depth="1=1 2=1",
        no_replan_by_depth="1=1 2=0.8",
        solution_length=12.0,
        skill_length=3.0,
        plan_seconds=0.01,
        settings="",
    )
    return RunResult(**values | changes)


def ablations(seeds: int) -> Results:
    """no-relabelling is far worse, more-skills is the same, on one environment."""
    env = "lightsout-cursor"
    runs = []
    for seed in range(seeds):
        runs.append(run(env, "paper", seed, 25 - 0.01 * (seed % 3)))
        runs.append(run(env, "no-relabelling", seed, 16 + 0.1 * seed))
        runs.append(run(env, "more-skills", seed, 25 - 0.01 * (seed % 3)))
        runs.append(run(env, "vic", seed, 10.0, algorithm="vic", success=None))
    points = [
        Point(one.run, measure, steps, value * steps / 99_900)
        for one in runs
        for measure, value in (("coverage", one.coverage or 0.0), ("success", 1.0))
        for steps in (50_000, 99_900)
    ]
    boards = [
        Board(one.run, replan, deep, depth, True, True, 0.01 * depth, 3 * depth, "3 " * depth)
        for one in runs
        for replan, deep in ((True, False), (False, False), (True, True))
        for depth in (1, 2, 3)
    ]
    return Results(runs, points, boards)
