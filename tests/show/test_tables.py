"""Tables of results made up for the purpose, and the command that writes them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.show.sample_results import ablations, run

from seads import cli
from seads.errors import SeadsError
from seads.show.report.paper import ENVIRONMENTS, RED_CELLS
from seads.show.tables.kinds import ablation_cells, compare, kinds_of
from seads.show.tables.tables import all_tables
from seads.studies.collecting import collect
from seads.studies.results import Board, Point, Results


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
    assert "*" not in "".join("".join(row) for row in table.rows[::2])  # the others are the paper's
    assert "With 4 seeds no difference can by itself reach p < 0.01" in " ".join(table.notes)


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
    assert rows["paper"][2:] == ("4 of 4", "99,900", "99,900", "49,900")
    assert rows["no-relabelling"][2:5] == ("0 of 4", "never", "never")


def test_tables_without_runs_are_the_papers() -> None:
    tables = {table.number: table for table in all_tables(Results())}
    sections = ("S.8.4", "S.9", "S.10-high", "S.10-low")
    assert set(tables) == {"S.2", "S.3", *(f"settings-{section}" for section in sections)}
    for number in tables:
        rows = tables[number].rows
        for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
            assert ours[0].removesuffix("here") == theirs[0].removesuffix("paper")
            assert list(ours[1:]) == list(theirs[1:])


def test_a_table_is_latex_too() -> None:
    [table] = [table for table in all_tables(ablations(10)) if table.number == "S.1"]
    latex = table.to_latex()
    assert r"$16.45" not in latex
    assert r"16.45 $\pm$ 0.30 *" in latex
    assert latex.count(r"\\") == len(table.rows) + 1
    assert r"\caption{Distinct moves of SEADS and its ablations. Here: " in latex


def test_the_command_draws_again_from_results_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ablations(3).write(tmp_path / "results")
    out = tmp_path / "tables"
    assert cli.main(["tables", str(tmp_path / "results"), "--out", str(out), "--no-figures"]) == 0
    assert "12 runs, 12 tables" in capsys.readouterr().out
    assert (out / "results.csv").read_text() == (tmp_path / "results" / "results.csv").read_text()
    assert "## Table S.1" in (out / "table-S.1.md").read_text()
    assert "# The paper's claims" in (out / "claims.md").read_text()


def test_what_cannot_be_tabled(tmp_path: Path) -> None:
    with pytest.raises(SeadsError, match="holds neither runs nor a"):
        collect([tmp_path])
    ablations(2).write(tmp_path)
    with pytest.raises(SeadsError, match=r"twice, in .* \(100,000 env steps\) and in .* apart"):
        collect([tmp_path, tmp_path])
    text = (tmp_path / "results.csv").read_text()
    (tmp_path / "results.csv").write_text(text.replace(",100000,", ",much,", 1))
    with pytest.raises(SeadsError, match=r"results\.csv, line 2 cannot be read"):
        collect([tmp_path])


def test_runs_that_never_arrive_count_in_the_median() -> None:
    env = "lightsout-cursor"
    runs = [run(env, "default", seed, 25.0) for seed in range(4)]
    runs[0] = dataclasses.replace(runs[0], coverage=None, moves=None)
    arrives = (20_000, 30_000, None, None)
    points = [Point(one.run, "coverage", 10_000, 1.0) for one in runs]
    points += [
        Point(one.run, "coverage", at or 99_000, 24.0 if at else 3.0)
        for one, at in zip(runs, arrives, strict=True)
    ]
    tables = {table.number: table for table in all_tables(Results(runs, points))}
    assert tables["steps"].rows == [(env, "default", "2 of 4", "never", "never", "54,500")]
    points[-2] = Point(runs[2].run, "coverage", 90_000, 24.0)
    tables = {table.number: table for table in all_tables(Results(runs, points))}
    assert tables["steps"].rows == [(env, "default", "3 of 4", "60,000", "never", "50,000")]
    # and the share of the moves is not of one move
    assert tables["overall"].rows[0][4] == "1.0000"
    # where a run was only looked at in the end nobody knows when it got there
    tables = {table.number: table for table in all_tables(Results(runs, points[-4:]))}
    assert tables["steps"].rows == []


def test_lengths_stand_beside_the_papers() -> None:
    env = "lightsout-cursor"
    runs = [run(env, "default", seed, 25.0) for seed in range(2)]
    boards = [
        Board(one.run, True, False, depth, solved, True, 0.01, 20 * depth, "20 " * depth)
        for one, solved in zip(runs, (True, False), strict=True)
        for depth in (4, 5)
    ]
    tables = {table.number: table for table in all_tables(Results(runs, [], boards))}
    assert tables["lengths"].rows == [(env, "default", "20", "3", "100", "15")]
    assert "lengths" not in {table.number for table in all_tables(Results(runs))}


def test_a_run_that_was_not_measured_keeps_none_from_being_compared() -> None:
    env = "lightsout-cursor"
    runs = [run(env, "default", seed, 25.0) for seed in range(3)]
    runs += [run(env, "wide", seed, 24.0, preset="default") for seed in range(3)]
    begun = run(env, "default", 3, None, success=None, budget=20_000)
    assert len(compare(kinds_of(Results([*runs, begun])))) == 1


def test_what_holm_rejects_is_not_called_too_few() -> None:
    """Seven seeds could not be the first of 36 tests to be rejected, but they may be the ninth."""
    names = [name for name in RED_CELLS if name != "more-skills"][:4]
    runs = []
    for env, seeds in ((ENVIRONMENTS[0], 10), (ENVIRONMENTS[1], 10), (ENVIRONMENTS[2], 7)):
        for seed in range(seeds):
            runs.append(run(env, "paper", seed, 25.0 + 0.01 * seed))
            runs += [run(env, name, seed, 16.0 + 0.01 * seed) for name in names]
    cells = ablation_cells(kinds_of(Results(runs)))
    assert [one.decidable for one in cells if one.env == ENVIRONMENTS[2]] == [False] * 4
    assert {one.verdict for one in cells} == {"worse"}
    [table] = [table for table in all_tables(Results(runs)) if table.number == "S.1"]
    assert "no difference can" not in " ".join(table.notes)


def test_runs_of_another_budget_are_no_reference() -> None:
    env = "lightsout-cursor"
    runs = [run(env, "default", seed, 25.0) for seed in range(3)]
    changed = [run(env, "wide", seed, 24.0, preset="default") for seed in range(3)]
    assert [one.reference for one in compare(kinds_of(Results(runs + changed)))] == ["default"]
    shorter = [dataclasses.replace(one, budget=20_000) for one in changed]
    assert compare(kinds_of(Results(runs + shorter))) == []


def test_the_family_is_all_of_the_papers_cells() -> None:
    """Seven seeds apart have p = 1/3432, 36 times that is above 0.01; eight are enough."""
    for seeds, marked in ((7, False), (8, True)):
        tables = {table.number: table for table in all_tables(ablations(seeds))}
        cell = next(row[1] for row in tables["S.1"].rows if row[0] == "no-relabelling, here")
        assert ("*" in cell) is marked


def test_few_runs_have_a_range_and_one_has_none() -> None:
    found = {}
    for count in (1, 3, 5):
        runs = [run("lightsout-cursor", "default", seed, 20.0 + seed) for seed in range(count)]
        [table, *_] = all_tables(Results(runs))
        found[count] = table.rows[0][6]
    assert found[1] == ""
    assert found[3] == "20.00 to 22.00 (range)"
    assert "range" not in found[5]


def test_a_comparison_takes_the_reference_that_was_measured() -> None:
    env = "lightsout-cursor"
    runs = [
        run(env, group, seed, 24.0, success=None if group == "paper" else 0.5, algorithm=algorithm)
        for group, algorithm in (("paper", "seads"), ("default", "seads"), ("sac", "sac"))
        for seed in range(3)
    ]
    kinds = kinds_of(Results(runs))
    pairs = {(one.group, one.reference) for one in compare(kinds, "success")}
    assert pairs == {("sac", "default")}
    assert ("sac", "paper") in {(one.group, one.reference) for one in compare(kinds)}


def test_no_comparison_is_no_table() -> None:
    runs = [run("lightsout-cursor", "default", seed, 24.0) for seed in range(3)]
    assert "comparisons" not in {table.number for table in all_tables(Results(runs))}


def test_trials_of_searches_are_in_the_results_alone() -> None:
    trial = [
        run("lightsout-cursor", "sac-alpha=0.1", seed, 1.0, algorithm="sac", settings="alpha=0.1")
        for seed in range(3)
    ]
    named = run("lightsout-cursor", "sac-alpha=0.1", 3, 1.0, settings="n_step=2")
    assert not named.is_trial  # of a study that happens to call it so
    results = ablations(3)
    tables = all_tables(Results([*results.runs, *trial], results.points))
    having = [one.number for one in tables if any("sac-alpha=0.1" in row for row in one.rows)]
    assert having == ["results"]


def test_environments_are_named_and_weigh_alike() -> None:
    shares = ((ENVIRONMENTS[0], 25.0, 9), (ENVIRONMENTS[2], 5.0, 3))
    runs = [run(env, "default", seed, value) for env, value, n in shares for seed in range(n)]
    tables = {table.number: table for table in all_tables(Results(runs))}
    row = tables["overall"].rows[0]
    assert row[2:5] == ("lightsout-cursor, lightsout-reacher", "9, 3", "0.6000")
    intervals = []
    for seeds in (4, 5):
        [*_, table] = [one for one in all_tables(ablations(seeds)) if one.number == "overall"]
        intervals.append({row[5] != "" for row in table.rows})
        assert "a single run, or all together have fewer than five" in table.notes[0]
    assert intervals == [{False}, {True}]  # as in the results, of fewer than five there is none


def test_budgets_and_settings_that_are_not_the_papers_stand_beside_its_numbers() -> None:
    changed = [
        dataclasses.replace(one, settings="hidden=[256,256]")
        for one in ablations(10).runs
        if one.algorithm == "seads"
    ]
    arm = [run("lightsout-robot", "default", seed, 25.0) for seed in range(2)]
    tables = {table.number: table for table in all_tables(Results([*changed, *arm]))}
    rows = {tuple(row[:3]): row for row in tables["results"].rows}
    env = "lightsout-cursor"
    assert rows[env, "paper", "moves"][-3:] == ("99,900", "24.94 ± 0.06", "495,000")
    assert rows[env, "paper", "boards solved"][-2:] == ("1.000", "476,000")
    assert rows[env, "paper", "first plan solves"][-2:] == ("", "")
    assert rows["lightsout-robot", "default", "boards solved"][-2:] == (
        "1.000 (real arm)", "165,000",
    )  # fmt: skip
    given = "hidden=[256,256] in paper, no-relabelling, more-skills."
    for number in ("results", "comparisons", "S.1"):
        assert any(note.endswith(given) for note in tables[number].notes), number
    steps = "Env steps: lightsout-cursor 100,000 here, 495,000 in the paper."
    assert steps in tables["S.1"].notes
    # of a group whose settings differ the environment is named
    other = [run("tileswap-cursor", "paper", 0, 12.0, settings="hidden=[64,64]")]
    [table, *_] = all_tables(Results([*changed, *other]))
    assert "hidden=[64,64] in paper on tileswap-cursor." in table.notes[-1]


def test_the_papers_red_cells_are_marked() -> None:
    results = Results([run("lightsout-jaco", "paper", seed, 20.0) for seed in range(2)])
    [table] = [table for table in all_tables(results) if table.number == "S.1"]
    marked = {row[0] for row in table.rows if row[1].endswith(" *")}
    assert marked == {f"{variant}, paper" for variant in RED_CELLS}  # all five, on Jaco's LightsOut


def test_settings_have_what_the_paper_found_best() -> None:
    tables = {table.number: table for table in all_tables(Results())}
    rows = {row[0]: row[1:] for row in tables["settings-S.9"].rows}
    assert rows["alpha, paper"] == ("0.1", "0.1", "0.001", "0.001", "0.0001", "0.0001")
    assert rows["updates, paper"] == ("1.0", "1.0", "0.5", "0.25", "0.5", "0.5")
    high = {row[0]: row[1:] for row in tables["settings-S.10-high"].rows}
    assert high["temperature, paper"] == ("0.1", "0.5", "0.1", "0.1", "0.1", "0.1")
    assert set(high["distribution over actions, here"]) == {"RelaxedBernoulli"}
    low = {row[0]: row[1:] for row in tables["settings-S.10-low"].rows}
    assert low["alpha_low, paper"] == ("0.1", "0.5", "0.0001", "0.0001", "0.001", "0.0001")
    assert tables["settings-S.8.4"].columns[-1] == "lightsout-robot"
    assert set(low["automatic entropy tuning, paper"]) == {"no"}
    assert len({table.heading for table in tables.values()}) == len(tables)


def test_runs_whose_planning_gave_up_are_named() -> None:
    env = "lightsout-cursor"
    runs = [
        run(env, group, seed, 25.0, gave_up=gave_up)
        for group, gave_ups in (
            ("default", ("", "deep")),  # which is no line of this table
            ("paper", ("success", "success success_no_replan", "")),
        )
        for seed, gave_up in enumerate(gave_ups)
    ]
    [table, *_] = all_tables(Results(runs))
    [note] = [note for note in table.notes if "gave up" in note]
    assert "in 2 of 3 of lightsout-cursor paper: " in note
    assert "default" not in note
    [table, *_] = all_tables(ablations(3))
    assert "gave up" not in " ".join(table.notes)
