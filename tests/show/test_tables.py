"""Tables and figures of results made up for the purpose, and of a directory of real runs' files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from seads import cli
from seads.errors import SeadsError
from seads.show.tables.claims import claims
from seads.show.tables.figures import FIGURES
from seads.show.tables.heat_maps import heat_maps
from seads.show.tables.kinds import compare, kinds_of
from seads.show.tables.tables import all_tables
from seads.studies.collecting import collect
from seads.studies.results import Board, Point, Results, RunResult, read_results


def run(env: str, group: str, seed: int, coverage: float, **changes: object) -> RunResult:
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


def test_what_is_worse_is_marked_where_seeds_allow_it() -> None:
    found = {one.group: one for one in compare(kinds_of(ablations(10)))}
    assert found["no-relabelling"].verdict == "worse"
    assert found["no-relabelling"].family == 3
    assert found["more-skills"].verdict == "no difference shown"
    assert found["more-skills"].improvement == 0.5
    tables = {table.number: table.to_markdown() for table in all_tables(ablations(10))}
    assert "| no-relabelling, here | 16.45 ± 0.30 * |" in tables["S.1"]
    assert "| no-relabelling, paper | 24.72 ± 0.39 |" in tables["S.1"]
    assert "| more-skills, here | 24.99 ± 0.01 |" in tables["S.1"]


def test_few_seeds_get_no_star_but_a_sentence() -> None:
    assert {one.verdict for one in compare(kinds_of(ablations(4)))} == {"too few seeds"}
    [table] = [table for table in all_tables(ablations(4)) if table.number == "S.1"]
    assert "*" not in "".join("".join(row) for row in table.rows)
    assert "With 4 seeds no difference can reach p < 0.01" in " ".join(table.notes)


def test_changes_of_the_default_are_compared_with_the_default() -> None:
    env = "lightsout-cursor"
    runs = [
        run(env, group, seed, 24.0, preset="default")
        for group in ("default", "n1")
        for seed in range(3)
    ]
    [one] = compare(kinds_of(Results(runs)))
    assert (one.group, one.reference) == ("n1", "default")


def test_a_run_that_never_gets_there_is_told_as_such() -> None:
    tables = {table.number: table for table in all_tables(ablations(4))}
    rows = {row[1]: row for row in tables["steps"].rows}
    assert rows["paper"][2:] == ("4 of 4", "99,900", "99,900")
    assert rows["no-relabelling"][2:] == ("0 of 4", "never", "never")


def test_tables_without_runs_are_the_papers() -> None:
    tables = {table.number: table for table in all_tables(Results())}
    sections = ("S.8.4", "S.9", "S.10-high", "S.10-low")
    assert set(tables) == {"S.2", "S.3", *(f"settings-{section}" for section in sections)}
    for number in ("S.2", "S.3", "settings-S.8.4"):
        rows = tables[number].rows
        for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
            assert ours[0].removesuffix("here") == theirs[0].removesuffix("paper")
            assert list(ours[1:]) == list(theirs[1:])


def test_claims_hold_fail_or_stay_open() -> None:
    found = {one.says: one for one in claims(kinds_of(ablations(10)))}
    assert (
        found["no-relabelling is significantly worse on at least one environment"].verdict
        == "holds"
    )
    assert (
        found["no-novelty is significantly worse on at least one environment"].verdict
        == "not measured"
    )
    assert found["VIC and its variants find fewer moves on the cursors"].verdict == "holds"
    assert found["lightsout-cursor: 24.94 ± 0.06 moves"].verdict == "holds"


def test_what_the_twin_shows_is_not_said_of_a_real_arm() -> None:
    for success, verdict in ((1.0, "twin"), (0.99, "does not hold"), (None, "not measured")):
        runs = [run("lightsout-robot", "default", seed, 25.0, success=success) for seed in (0, 1)]
        [one] = [
            claim
            for claim in claims(kinds_of(Results(runs)))
            if claim.says.startswith("lightsout-robot: all of 25 boards")
        ]
        assert one.question == "R4"
        assert verdict in one.verdict


def test_a_table_is_latex_too() -> None:
    [table] = [table for table in all_tables(ablations(10)) if table.number == "S.1"]
    latex = table.to_latex()
    assert r"$16.45" not in latex
    assert r"16.45 $\pm$ 0.30 *" in latex
    assert latex.count(r"\\") == len(table.rows) + 1


@pytest.mark.parametrize(
    "number", ["3-moves", "3-success", "3-bars", "S.9", "S.10", "S.11", "S.19", "S.20"]
)
def test_figures_are_drawn(number: str) -> None:
    results = ablations(3)
    drawn = FIGURES[number](results, kinds_of(results))
    assert drawn is not None
    assert len(drawn.axes) >= 1


def test_the_robots_have_their_curves() -> None:
    results = read_results(Path(__file__).parents[2] / "results" / "robot")
    drawn = FIGURES["S.17"](results, kinds_of(results))
    assert drawn is not None
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["lightsout-robot", "lightsout-robot-absolute"]
    assert FIGURES["3-success"](results, kinds_of(results)) is None


def test_figures_of_nothing_are_left_out() -> None:
    results = ablations(3)
    assert FIGURES["S.15"](results, kinds_of(results)) is None


def test_heat_maps_have_the_papers_numbers_and_the_best_in_bold() -> None:
    runs = [
        run("tileswap-cursor", f"sac-{n}-{alpha}", seed, 0.0, algorithm="sac",
            settings=f"updates={n} alpha={alpha}",
            success=0.9 if (n, alpha) == (2.0, 0.01) else 0.2)
        for n in (1.0, 2.0) for alpha in (0.1, 0.01) for seed in (0, 1)
    ]  # fmt: skip
    [(number, drawn)] = heat_maps(Results(runs))
    assert number == "S.22"
    bold = [text.get_text() for text in drawn.axes[0].texts if text.get_fontweight() == "bold"]
    assert bold == ["90%\nn=2"]


def test_results_are_the_same_when_read_again(tmp_path: Path) -> None:
    results = ablations(2)
    unmeasured = dataclasses.replace(
        results.runs[0], run="x-y-seed7", seed=7, coverage=None, seconds=None
    )
    results = Results([*results.runs, unmeasured], results.points, results.boards)
    results.write(tmp_path)
    assert read_results(tmp_path) == results
    assert collect([tmp_path]) == results


def test_the_command_draws_again_from_results_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ablations(3).write(tmp_path / "results")
    out = tmp_path / "tables"
    assert cli.main(["tables", str(tmp_path / "results"), "--out", str(out), "--no-figures"]) == 0
    assert "12 runs, 11 tables" in capsys.readouterr().out
    assert (out / "results.csv").read_text() == (tmp_path / "results" / "results.csv").read_text()
    assert "## Table S.1" in (out / "table-S.1.md").read_text()
    assert "# The paper's claims" in (out / "claims.md").read_text()


def test_what_cannot_be_tabled(tmp_path: Path) -> None:
    with pytest.raises(SeadsError, match="holds neither runs nor a"):
        collect([tmp_path])
    ablations(2).write(tmp_path)
    with pytest.raises(SeadsError, match="is there twice"):
        collect([tmp_path, tmp_path])
    text = (tmp_path / "results.csv").read_text()
    (tmp_path / "results.csv").write_text(text.replace(",100000,", ",much,", 1))
    with pytest.raises(SeadsError, match=r"results\.csv, line 2 cannot be read"):
        collect([tmp_path])
