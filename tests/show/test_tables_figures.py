"""Figures of results made up for the purpose: what is named, what is drawn, and where."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from tests.show.sample_results import ablations, run
from tests.show.sample_runs import skill_maps_result

from seads.errors import SeadsError
from seads.show.report import style
from seads.show.report.paper import ENVIRONMENTS
from seads.show.tables import skills
from seads.show.tables.figures import FIGURES, figure_kinds, write_figures
from seads.show.tables.heat_maps import heat_maps
from seads.studies.results import Point, Results, RunResult, read_results


@pytest.mark.parametrize(
    "number", ["3-moves", "3-success", "3-bars", "S.9", "S.10", "S.11", "S.19", "S.20"]
)
def test_figures_are_drawn(number: str) -> None:
    results = ablations(3)
    drawn = FIGURES[number](results, figure_kinds(results))
    assert drawn is not None
    assert len(drawn.axes) >= 1


def test_the_robots_have_their_curves() -> None:
    results = read_results(Path(__file__).parents[2] / "results" / "robot")
    drawn = FIGURES["S.17"](results, figure_kinds(results))
    assert drawn is not None
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["lightsout-robot", "lightsout-robot-absolute"]
    assert FIGURES["3-success"](results, figure_kinds(results)) is None


def test_figures_of_nothing_are_left_out() -> None:
    results = ablations(3)
    assert FIGURES["S.15"](results, figure_kinds(results)) is None


@pytest.mark.parametrize("number", ["S.13-moves", "S.13-success", "S.19", "S.20"])
def test_figures_without_what_they_are_about_are_left_out(number: str) -> None:
    results = curved([run(env, "paper", 0, 20.0) for env in ENVIRONMENTS])
    assert FIGURES[number](results, figure_kinds(results)) is None


def test_heat_maps_have_the_papers_numbers_and_the_best_in_bold() -> None:
    runs = [
        run("tileswap-cursor", f"sac-updates={n}-alpha={alpha}", seed, 0.0, algorithm="sac",
            settings=f"updates={n} alpha={alpha}",
            success=0.9 if (n, alpha) == (2.0, 0.01) else 0.2)
        for n in (1.0, 2.0) for alpha in (0.1, 0.01) for seed in (0, 1)
    ]  # fmt: skip
    [(number, drawn)] = heat_maps(Results(runs))
    assert number == "S.22"
    bold = [text.get_text() for text in drawn.axes[0].texts if text.get_fontweight() == "bold"]
    assert bold == ["90%\nn=2"]
    [framed] = [one.get_extents() for one in drawn.axes[0].patches if one.get_linewidth() == 3]
    column, row = drawn.axes[0].transData.inverted().transform(framed.get_points()).mean(0).round()
    assert (column, row) == (0, 1)  # updates 1, alpha 0.1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tried", [(1.0,), (1.0, 2.0)], ids=str)
def test_a_narrow_heat_map_has_room_for_its_title(tried: tuple[float, ...], tmp_path: Path) -> None:
    runs = [
        run("lightsout3d-jaco", f"hac-alpha_low={low}-alpha_high={n}-temperature=0.1", 0, 0.0,
            algorithm="hac", budget=10**7,
            settings=f"alpha_low={n} alpha_high={low} temperature={third}")
        for n in tried for low in (0.1, 0.01) for third in (0.1, 0.5)
    ]  # fmt: skip
    [(_, drawn)] = heat_maps(Results(runs))
    style.save(drawn, tmp_path, "map")
    boxes = [box for axes in drawn.axes if (box := axes.get_tightbbox()) is not None]
    assert len(boxes) == 2
    assert 0 <= boxes[0].x0 < boxes[0].x1 <= boxes[1].x0 < boxes[1].x1 <= drawn.bbox.x1
    assert min(axes.get_window_extent().width for axes in drawn.axes) > 0.7 * drawn.dpi


def test_cells_that_tie_are_all_in_bold() -> None:
    shares = {1.0: (0.3, 0.6, 0.9), 2.0: (0.9, 0.3, 0.6), 4.0: (0.1, 0.1, 0.1)}
    runs = [
        run("tileswap-cursor", f"sac-updates={n}-alpha=1", seed, 0.0, algorithm="sac",
            settings=f"updates={n} alpha=1", success=success)
        for n, found in shares.items() for seed, success in enumerate(found)
    ]  # fmt: skip
    [(_, drawn)] = heat_maps(Results(runs))
    bold = [text.get_text() for text in drawn.axes[0].texts if text.get_fontweight() == "bold"]
    assert bold == ["60%\nn=3"] * 2


def test_each_search_and_each_budget_has_its_own_heat_map() -> None:
    env = "lightsout-cursor"
    runs = [
        run(env, f"{name}-updates={n}-alpha=1", 0, None, algorithm="sac", budget=budget,
            settings=f"updates={n} alpha=1", success=success)
        for name, budget, success in (("sac", 100_000, 0.1), ("sac-search", 500_000, 0.9))
        for n in (2.0, 4.0)
    ]  # fmt: skip
    # the same settings, but nobody's trials
    runs += [dataclasses.replace(one, group="mine", run="mine") for one in runs[:1]]
    maps = dict(heat_maps(Results(runs)))
    assert list(maps) == ["S.21-sac-100000", "S.21-sac-search-500000"]
    for drawn, title, cell in zip(
        maps.values(),
        ("sac: sac on lightsout-cursor, 100,000", "sac-search: sac on lightsout-cursor, 500,000"),
        ("10%\nn=1", "90%\nn=1"),
        strict=True,
    ):
        [axes] = drawn.axes
        assert axes.get_title(loc="left") == f"{title} env steps"
        assert {text.get_text() for text in axes.texts} == {cell}


def test_a_best_cell_that_was_not_tried_is_said() -> None:
    runs = [
        run("tileswap-cursor", f"sac-updates={n}-alpha=1", 0, 0.0, algorithm="sac",
            settings=f"updates={n} alpha=1")
        for n in (2.0, 4.0)
    ]  # fmt: skip
    [(_, drawn)] = heat_maps(Results(runs))
    assert not [one for one in drawn.axes[0].patches if one.get_linewidth() == 3]
    assert drawn.get_supxlabel() == "the paper's best (not tried here): updates=1, alpha=0.1"


def curved(runs: list[RunResult]) -> Results:
    points = [
        Point(one.run, measure, steps, value)
        for one in runs
        for measure, value in (("coverage", one.coverage), ("success", one.success))
        for steps in (50_000, 99_900)
        if value is not None
    ]
    return Results(runs, points)


def test_the_papers_lines_have_names_and_the_colours_of_their_curves() -> None:
    results = ablations(3)
    drawn = FIGURES["S.19"](results, figure_kinds(results))
    assert drawn is not None
    [axes] = drawn.axes
    colours = {line.get_label(): line.get_color() for line in axes.get_lines()}
    assert colours == {
        "preset paper, here (3 seeds)": style.colour(0),
        "no-relabelling (3 seeds)": style.colour(1),
        "paper, SEADS: 24.94 ± 0.06 after 495k": style.colour(0),
        "paper, no-relabelling: 24.72 ± 0.39 after 495k": style.colour(1),
    }


def test_a_curve_at_the_ceiling_is_not_cut_off() -> None:
    envs = ("lightsout-jaco", "lightsout3d-jaco")
    results = curved([run(env, "default", 0, 25.0) for env in envs])
    for number in ("3-moves", "S.13-moves"):
        drawn = FIGURES[number](results, figure_kinds(results))
        assert drawn is not None
        assert drawn.axes[0].get_ylim() == (0, 1.05 * 25)
        assert drawn.axes[0].get_legend_handles_labels()[1][0] == "default (1 seed)"


def test_names_stand_below_the_axis() -> None:
    groups = ["paper", "no-relabelling", "no-model-relabelling", "no-sac-relabelling"]
    results = curved([run(env, group, 0, 20.0) for env in ENVIRONMENTS for group in groups])
    drawn = FIGURES["S.19"](results, figure_kinds(results))
    assert drawn is not None
    drawn.canvas.draw()
    for axes in drawn.axes:
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_window_extent().y1 < axes.xaxis.label.get_window_extent().y0
        assert axes.get_window_extent().height / drawn.dpi > 2  # and leave a panel its height


def test_the_papers_bar_is_with_replanning() -> None:
    runs = [run("lightsout-reacher", "default", seed, 24.0) for seed in (0, 1)]
    begun = dict(success=None, success_no_replan=None, success_env_steps=None, budget=10**7)
    runs.append(run("lightsout-reacher", "default", 2, None, **begun))
    results = curved(runs)
    drawn = FIGURES["3-bars"](results, figure_kinds(results))
    assert drawn is not None
    [line] = [one for one in drawn.axes[0].get_lines() if one.get_linestyle() == "--"]
    assert line.get_label() == "paper, with replanning: 95.8% after 9.34M"
    ours = drawn.axes[0].get_legend_handles_labels()[1][1:]
    assert ours == [f"default{how} (2 seeds, after 99.9k)" for how in ("", ", no replanning")]
    assert list(line.get_xdata()) == [-0.5, 0.5]  # over the first bar, not that of first plans


def test_trials_of_searches_are_in_no_figure_but_the_heat_maps() -> None:
    trial = run("lightsout-cursor", "sac-alpha=0.1", 0, None, algorithm="sac",
                settings="alpha=0.1")  # fmt: skip
    results = curved([trial, run("lightsout-cursor", "default", 0, 25.0)])
    assert list(figure_kinds(results)) == [("lightsout-cursor", "default")]


def test_larger_boards_go_by_size_with_gaps_beside_without() -> None:
    sizes = ("13x13", "5x5", "5x5-spaced", "7x7")
    results = curved([run(f"lightsout-cursor-{size}", "default", 0, 24.0) for size in sizes])
    drawn = FIGURES["S.15"](results, figure_kinds(results))
    assert drawn is not None
    titles = [axes.get_title(loc="left") for axes in drawn.axes[:3]]
    assert titles == [f"lightsout-cursor-{size}" for size in ("5x5", "7x7", "13x13")]
    labels = drawn.axes[0].get_legend_handles_labels()[1]
    assert labels[:2] == ["default (1 seed)", "default, with gaps (1 seed)"]


def test_large_depths_say_what_the_paper_says() -> None:
    results = ablations(3)
    drawn = FIGURES["S.11"](results, figure_kinds(results))
    assert drawn is not None
    labels = drawn.axes[1].get_legend_handles_labels()[1]
    assert "lightsout-cursor, preset paper, here (3 seeds)" in labels
    assert "paper, lightsout-cursor (5 seeds): ≥ 98 % up to depth 8" in labels


@pytest.mark.filterwarnings("error")
def test_depths_without_a_plan_are_left_out() -> None:
    """One group never plans, and the other not at depth 3, which one of its runs was not asked."""
    results = ablations(3)
    planless = {one.run for one in results.runs if one.group == "more-skills"}
    boards = [
        dataclasses.replace(board, planned=board.depth < 3 and board.run not in planless)
        for board in results.boards
        if board.depth < 3 or not board.run.endswith("paper-seed0")
    ]
    results = Results(results.runs, results.points, boards)
    drawn = FIGURES["S.11"](results, figure_kinds(results))
    assert drawn is not None
    lines = [
        {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}
        for axes in drawn.axes
    ]
    never, paper = (
        f"lightsout-cursor, {name} (3 seeds)" for name in ("more-skills", "preset paper, here")
    )
    assert list(lines[0][never]) == [0, 0, 0]
    assert never not in lines[2]
    np.testing.assert_allclose(lines[2][paper], [0.01, 0.02, np.nan])
    assert lines[0][paper][2] == 0


def test_runs_of_the_preset_are_not_taken_for_the_papers() -> None:
    results = ablations(3)
    for number in ("S.9", "S.10"):
        drawn = FIGURES[number](results, figure_kinds(results))
        assert drawn is not None
        labels = drawn.axes[0].get_legend_handles_labels()[1]
        assert {"preset paper, here", "preset paper, here, no replanning"} < set(labels)


def test_skills_have_the_papers_numbers_where_it_has_them(tmp_path: Path) -> None:
    for env in ("lightsout-cursor", "lightsout-jaco", "lightsout3d-jaco"):
        maps = {"env": env, "skill_maps": skill_maps_result(25, 5)}
        (tmp_path / f"skills-{env}.json").write_text(json.dumps(maps))
    remarks: list[str] = []
    home = tmp_path / "out"
    home.mkdir()
    Results([run("lightsout-cursor", "default", 0, 25.0)]).write(tmp_path)
    found = [number for number, _ in skills.skill_figures(Results(), [tmp_path], home, remarks)]
    assert remarks == []
    assert found == [
        "touches-lightsout-cursor", "S.6-lightsout-cursor", "S.5-lightsout-jaco",
        "S.8-lightsout-jaco", "touches-lightsout3d-jaco", "paths-lightsout3d-jaco",
    ]  # fmt: skip


def test_skills_are_of_the_papers_learner_or_of_ours(tmp_path: Path) -> None:
    groups = ("more-skills", "default", "paper")
    runs = [run("lightsout-cursor", group, 0, 25.0) for group in groups]
    for steps, one in enumerate((*runs, run("lightsout-cursor", "packaged", 0, 25.0, run="a"))):
        maps = {"env": one.env, "env_steps": steps, "skill_maps": skill_maps_result(25, 5)}
        there = tmp_path / one.run / "eval"
        there.mkdir(parents=True)
        (there / "skills-test-seed0.json").write_text(json.dumps(maps))
    home = tmp_path / "out"
    home.mkdir()
    for collected, shown in ((runs, "paper"), (runs[:2], "default"), (runs[:1], None)):
        drawn = list(skills.skill_figures(Results(collected), [tmp_path], home, []))
        assert bool(drawn) == (shown is not None)
        if shown is not None:
            kept = json.loads((home / "skills-lightsout-cursor.json").read_text())
            assert groups[kept["env_steps"]] == shown


def test_a_skill_is_shown_from_start_to_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skills, "FRAMES_OF", "lightsout-cursor")  # drawn without OpenGL
    drawn = skills.skill_frames(Results(), [])
    pictures = [np.asarray(axes.get_images()[0].get_array()) for axes in drawn.axes]
    times = [int(axes.get_title(loc="left").removeprefix("T = ")) for axes in drawn.axes]
    assert len(pictures) == 5
    assert times[0] == 0 < times[-1]
    assert (pictures[0] != pictures[-1]).any()
    assert "packaged agent lightsout-cursor" in drawn.get_suptitle()


def test_frames_are_drawn_only_beside_runs_of_what_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Results] = []

    def drawn(results: Results, sources: object) -> None:
        asked.append(results)
        raise SeadsError("not here")

    monkeypatch.setattr("seads.show.tables.figures.skill_frames", drawn)
    monkeypatch.setattr("seads.show.tables.figures.FIGURES", {})
    others = Results([run("lightsout-cursor", "default", 0, 25.0)])
    assert write_figures(others, [], tmp_path) == ({}, [])
    assert not asked
    shown = Results([run("lightsout3d-jaco", "default", 0, 25.0)])
    assert write_figures(shown, [], tmp_path) == ({}, ["figure S.12 is left out: not here"])


def test_frames_of_an_agent_that_is_not_there_are_a_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "lightsout3d-jaco-default-seed0"
    (tmp_path / name / "agent").mkdir(parents=True)
    results = Results([run("lightsout3d-jaco", "default", 0, 25.0)])
    with pytest.raises(SeadsError, match=name):
        skills.skill_frames(results, [tmp_path])
