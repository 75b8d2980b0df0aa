"""The report's figures: what is drawn is what the files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from tests.show.sample_runs import tasks_result, write_result, write_run

from seads.evaluation.statistics import summary
from seads.games import LightsOut, make_game
from seads.show.report.learning import draw_curves, mean_over_seeds
from seads.show.report.paper import paper_result
from seads.show.report.reading import group_runs, read_run
from seads.show.report.report import summary_section
from seads.show.report.skills import draw_operators, draw_paths, draw_touches
from seads.show.report.style import colour, marker
from seads.show.report.tasks import (
    draw_planning,
    draw_skill_lengths,
    draw_solution_lengths,
)


def test_mean_lowest_and_highest_over_seeds() -> None:
    found = mean_over_seeds([[(0, 0.0), (100, 10.0)], [(50, 9.0), (100, 12.0), (200, 20.0)]])
    assert found is not None
    steps, values = found
    assert steps.tolist() == [50, 100]
    np.testing.assert_allclose(values, [[7.0, 11.0], [5.0, 10.0], [9.0, 12.0]])
    assert mean_over_seeds([[(0, 1.0), (1, 1.0)], [(5, 1.0)]]) is None
    found = mean_over_seeds([[(90, 1.0)], [(110, 2.0)]])  # final values, at nearly the same steps
    assert found is not None
    assert found[0].tolist() == [100]
    assert found[1].ravel().tolist() == [1.5, 1.0, 2.0]


def test_the_papers_larger_boards_have_no_gaps() -> None:
    for size, moves in ((5, 24.9), (7, 48.6), (9, 76.8), (13, 119.3)):
        env = f"lightsout-cursor-{size}x{size}"
        assert paper_result(env, "default") == ("SEADS", (moves, str(moves), 1_500_000), None)
        assert paper_result(f"{env}-spaced", "default") is None
        assert paper_result(env, "no-novelty") is None
    found = paper_result("lightsout-jaco", "no-novelty")
    assert found == ("no-novelty", (20.24, "20.24 ± 1.46", 9_890_000), None)
    found = paper_result("lightsout3d-jaco", "paper")
    assert found == ("SEADS", None, (0.963, "96.3%", 9_340_000))


def test_looks_at_training_boards_and_evaluations_are_never_joined(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", top=3.0)
    curves = read_run(run).curves("coverage")
    assert list(curves) == ["test boards, 100 starts", "training boards, 10 starts"]
    assert curves["test boards, 100 starts"] == [(100_000, 3.5)]
    assert len(curves["training boards, 10 starts"]) == 5
    tested = {
        "coverage": {"mean": 3.5, "starts": 100},
        "curve": [{"env_steps": 9, "coverage": 1.0}],
    }
    write_result(run, "coverage", tested)
    other = {"coverage": {"mean": 9.0, "starts": 100}, "made": "2027"}
    write_result(run, "coverage-train-seed0", other)
    found = read_run(run).curves("coverage")
    assert found == {"test boards, 100 starts": [(9, 1.0), (100_000, 3.5)]}
    drawn = draw_curves(group_runs([read_run(run)]), "coverage")
    assert drawn is not None
    (line,) = drawn.axes[0].get_lines()
    assert line.get_label() == "seads, test boards, 100 starts"


def test_each_number_says_of_which_agent_it_is(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / str(seed), seed=seed) for seed in (0, 1)]
    late = {"made": "2027", "coverage": {"mean": 2.0, "starts": 100}}
    for run, steps in zip(runs, (40_000, 45_000), strict=True):
        write_result(run, "coverage-at", {**late, "env_steps": steps})
    body = summary_section(group_runs([read_run(run) for run in runs])).body
    assert ">2.00 (2.00 to 2.00) at 40k to 45k<" in body
    (fresh,) = group_runs([read_run(write_run(tmp_path / "fresh", evaluated=False))]).items()
    assert " at 100k, training boards<" in summary_section(dict([fresh])).body


def points(line: Any) -> list[list[float]]:
    """What a line was drawn through."""
    return np.asarray(line.get_xydata()).tolist()


def test_boxes_pool_the_solved_boards_of_all_seeds(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / str(seed), seed=seed) for seed in (0, 1)]
    for run, steps in zip(runs, (range(1, 11), range(11, 21)), strict=True):
        tasks = tasks_result({1: 1.0}, replan=True)
        listed = [{"depth": 1, "solved": True, "env_steps": s, "skill_steps": [s]} for s in steps]
        listed += [{"depth": 1, "solved": False, "env_steps": 99, "skill_steps": [99]}]
        listed += [{"depth": 1, "solved": True, "env_steps": 60, "skill_steps": [60]}]
        write_result(run, "tasks-True", {"tasks": {**tasks, "tasks": listed}})
    groups = group_runs([read_run(run) for run in runs])
    for draw in (draw_solution_lengths, draw_skill_lengths):
        drawn = draw(groups)
        assert drawn is not None
        (axes,) = drawn.axes
        _, labels = axes.get_legend_handles_labels()
        assert labels == ["seads, replanning (2 seeds)", "seads, no replanning (2 seeds)"]
        # box, two whiskers, two caps, median, outliers: of 1 to 20, and 60 twice
        heights = [[y for _, y in points(line)] for line in axes.get_lines()[:6]]
        assert (heights[0][1], heights[1][1]) == (1.0, 20.0)
        assert heights[4:] == [[11.5, 11.5], [60, 60]]


def test_boxes_of_older_files_are_their_summaries(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    old = tasks_result({1: 1.0}, replan=True, listed=False)
    write_result(run, "tasks-True", {"tasks": old})
    for draw, box in (
        (draw_solution_lengths, old["depths"]["1"]["solution_length"]),
        (draw_skill_lengths, old["skill_length"]),
    ):
        drawn = draw(group_runs([read_run(run)]))
        assert drawn is not None
        ends = [points(line)[1][1] for line in drawn.axes[0].get_lines()[:2]]
        assert ends == [box["min"], box["max"]]


def test_planning_shows_plans_that_were_found(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / str(seed), seed=seed) for seed in (0, 1)]
    for run, seconds in zip(runs, (1.0, 3.0), strict=True):
        tasks = tasks_result({1: 1.0, 2: 0.5, 3: 0.0}, replan=True)
        for facts, mean in zip(tasks["depths"].values(), (seconds, seconds, None), strict=True):
            facts["first_plan_seconds"] = None if mean is None else summary([mean])
        write_result(run, "tasks-True", {"tasks": tasks, "made": "2027"})
    drawn = draw_planning(group_runs([read_run(run) for run in runs]))
    assert drawn is not None
    shares, times = (axes.get_lines()[0] for axes in drawn.axes)
    assert points(shares) == [[1, 1.0], [2, 0.5], [3, 0.0]]
    assert points(times) == [[1, 2000], [2, 2000]], "no plan was found at depth 3"
    low, high = drawn.axes[1].collections[0].get_datalim(drawn.axes[1].transData).intervaly
    assert (round(low), round(high)) == (1000, 3000)
    write_result(runs[0], "tasks-True", {"tasks": tasks_result({1: 1.0}, True, listed=False)})
    write_result(runs[0], "tasks-False", {"tasks": tasks_result({1: 1.0}, False, listed=False)})
    drawn = draw_planning(group_runs([read_run(runs[0])]))
    assert drawn is not None
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["Planning time"]


def test_every_skill_has_a_look_of_its_own_and_pushes_are_drawn() -> None:
    assert len({(colour(k), marker(k)) for k in range(169)}) == 169
    pushed: dict[str, Any] = {"path": [[0.1, 0.1], [0.4, 0.4]], "touch": [0.7, 0.7], "move": 3}
    older = {"skill": 0, "move": 3, "share": 1.0, "runs": [pushed]}
    newer = {**older, "skill": 1, "runs": [{**pushed, "pushes": [[0.2, 0.3]]}]}
    found = {"starts": 1, "skills": [older, newer]}
    game = LightsOut(2)
    contacts = [points(line) for line in draw_touches(found, game, "").axes[0].lines]
    assert contacts == [[[0.4, 0.4]], [[0.7, 0.7]]], "an older file knows the field alone"
    drawn = draw_paths(found, game, "")
    assert drawn is not None
    marks = {line.get_color(): points(line) for line in drawn.axes[1].lines[2:]}
    assert marks == {"black": [[0.2, 0.3]], "#1A9C3E": [[0.7, 0.7]]}


def test_operators_show_the_fields_that_change() -> None:
    game = make_game("tileswap", size=2)
    after = np.repeat(game.to_bits(game.goal[None]), 3, axis=0)
    swapped = game.goal.copy()
    swapped[[1, 3]] = swapped[[3, 1]]
    after[1], after[2] = game.to_bits(swapped[None])[0], False
    drawn = draw_operators(["nothing", "exchanges", "opaque"], after, game, "")
    assert drawn is not None
    empty = to_hex(drawn.axes[0].patches[0].get_facecolor())
    for axes, title, filled in zip(
        drawn.axes, ("skill 0", "skill 1", "skill 2  no board"), ([], [1, 3], []), strict=False
    ):
        assert axes.get_title(loc="left") == title
        faces = [to_hex(patch.get_facecolor()) for patch in axes.patches[:4]]
        assert [field for field, face in enumerate(faces) if face != empty] == filled
