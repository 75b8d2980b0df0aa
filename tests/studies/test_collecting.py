"""What run directories and files of results say: which runs count, and which results of each."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.show.sample_results import ablations, run
from tests.show.sample_runs import tasks_result, write_result, write_run

from seads import cli
from seads.errors import SeadsError
from seads.show.report.paper import ENVIRONMENTS
from seads.show.tables.tables import all_tables
from seads.studies.collecting import collect
from seads.studies.results import Point, Results, read_results
from seads.training.config import read_config


def test_results_are_the_same_when_read_again(tmp_path: Path) -> None:
    results = ablations(2)
    unmeasured = dataclasses.replace(
        results.runs[0], run="x-y-seed7", seed=7, coverage=None, seconds=None
    )
    results = Results([*results.runs, unmeasured], results.points, results.boards)
    results.write(tmp_path)
    assert read_results(tmp_path) == results
    assert collect([tmp_path]) == results


def test_results_of_no_run_are_refused(tmp_path: Path) -> None:
    Results([]).write(tmp_path / "none")
    with pytest.raises(SeadsError, match=r"none/results\.csv holds no run"):
        collect([tmp_path / "none"])


def test_results_below_a_directory_are_found_once(tmp_path: Path) -> None:
    for number, env in enumerate(ENVIRONMENTS[:2]):
        Results([run(env, "default", seed, 12.0) for seed in (0, 1)]).write(tmp_path / str(number))
    assert [one.env for one in collect([tmp_path]).runs] == [
        *ENVIRONMENTS[:1] * 2,
        *ENVIRONMENTS[1:2] * 2,
    ]
    Results([run("lightsout-jaco", "default", 0, 12.0)]).write(tmp_path)
    assert len(collect([tmp_path]).runs) == 1  # a directory's own counts alone
    (tmp_path / "results.csv").unlink()
    Results([run(ENVIRONMENTS[0], "default", 0, 12.0)]).write(tmp_path / "again")
    with pytest.raises(SeadsError, match=r"is there twice, in .*/0 \(.*\) and in .*/again"):
        collect([tmp_path])
    assert len(collect([tmp_path], replace=True).runs) == 4


def test_a_run_made_again_replaces_what_was_there(tmp_path: Path) -> None:
    old, new = (
        Results(
            [run("lightsout-jaco", "default", seed, moves) for seed in seeds],
            [Point(f"lightsout-jaco-default-seed{seed}", "coverage", 9, moves) for seed in seeds],
        )
        for seeds, moves in (((0, 1), 11.0), ((1, 2), 12.0))
    )
    old.write(tmp_path / "old")
    new.write(tmp_path / "new")
    for order, moves in ((("new", "old"), [11, 12, 12]), (("old", "new"), [11, 11, 12])):
        found = collect([tmp_path / name for name in order], replace=True)
        for rows, value in ((found.runs, "coverage"), (found.points, "value")):
            assert [getattr(row, value) for row in sorted(rows, key=lambda row: row.run)] == moves


def test_what_is_measured_again_by_hand_does_not_count_beside_the_studys(tmp_path: Path) -> None:
    home = write_run(tmp_path / "lightsout-cursor-2x2-default-seed0", evaluated=False)
    studys = {"coverage": {"mean": 3.5, "of": 4, "starts": 100}}
    write_result(home, "coverage-test-seed0", {"coverage": {"mean": 3.8, "of": 4, "starts": 999}})
    assert [one.coverage for one in collect([tmp_path]).runs] == [3.8]
    write_result(home, "coverage-test-at100000-seed0", studys | {"study": True})
    write_result(home, "coverage-test-at100000-seed7", {"coverage": {"mean": 3.9, "of": 4}})
    found = collect([tmp_path])
    assert [one.coverage for one in found.runs] == [3.5]
    assert [one.value for one in found.points if one.measure == "coverage"] == [3.5]


def test_an_agent_beyond_the_budget_does_not_count(tmp_path: Path) -> None:
    home = write_run(tmp_path / "lightsout-cursor-2x2-default-seed0", evaluated=False)
    longer = {"coverage": {"mean": 4.0, "of": 4}, "env_steps": 150_000}
    write_result(home, "coverage-test-seed0", longer)
    [one] = collect([tmp_path]).runs
    assert one.coverage_env_steps == 150_000  # of no study: the last there is
    before = {"coverage": {"mean": 3.5, "of": 4}, "env_steps": 99_000, "study": True}
    write_result(home, "coverage-test-at100000-seed0", before)
    write_result(home, "coverage-test-at200000-seed0", longer)
    found = collect([tmp_path])
    [one] = found.runs
    assert (one.coverage, one.coverage_env_steps, one.budget) == (3.5, 99_000, 100_000)
    assert [point.env_steps for point in found.points if point.measure == "coverage"] == [99_000]


def test_agents_beyond_the_last_common_one_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, steps in enumerate((100_000, 120_000)):
        home = write_run(tmp_path / "runs" / f"lightsout-cursor-2x2-default-seed{seed}", seed=seed)
        for replan in (True, False):
            tasks = tasks_result({1: 1.0}, replan)
            write_result(home, f"tasks-{replan}", {"tasks": tasks, "env_steps": steps})
    late = "lightsout-cursor-2x2-default-seed1"
    assert collect([tmp_path / "runs"]).beyond_common() == [late]
    out = tmp_path / "out"
    assert cli.main(["tables", str(tmp_path / "runs"), "--out", str(out), "--no-figures"]) == 0
    assert f"in one directory solves them there): {late}\n" in capsys.readouterr().out
    told = "not solved there: 1 of 2 of lightsout-cursor-2x2 default."
    assert told in (out / "table-results.md").read_text()
    # read again, without the runs
    assert collect([out]).beyond_common() == [late]
    for name, replan in (("tasks-at100000-a", True), ("tasks-at100000-b", False)):
        before = tasks_result({1: 1.0}, replan)
        write_result(tmp_path / "runs" / late, name, {"tasks": before, "env_steps": 99_000})
    results = collect([tmp_path / "runs"])
    assert results.beyond_common() == []
    [table, *_] = all_tables(results)
    assert table.notes[0].endswith("the last common ones (paper S.8.1).")


def test_the_last_common_agent_without_replanning_alone(tmp_path: Path) -> None:
    for seed, all_steps in enumerate(((100_000,), (99_000, 120_000))):
        name = f"lightsout-cursor-2x2-default-seed{seed}"
        home = write_run(tmp_path / name, seed=seed, evaluated=False)
        for steps in all_steps:
            tasks = tasks_result({1: steps / 120_000}, replan=False)
            write_result(home, f"tasks-at{steps}-a", {"tasks": tasks, "env_steps": steps})
    results = collect([tmp_path])
    assert [one.success_no_replan for one in results.runs] == [100 / 120, 99 / 120]
    assert results.beyond_common() == []


def test_a_curve_ends_in_what_was_measured_with_patience(tmp_path: Path) -> None:
    home = write_run(tmp_path / "lightsout-cursor-2x2-default-seed0", evaluated=False)
    curve = [{"env_steps": steps, "success": 0.5} for steps in (50_000, 100_000)]
    write_result(home, "tasks", {"tasks": tasks_result({1: 1.0}, replan=True), "curve": curve})
    points = [(p.env_steps, p.value) for p in collect([tmp_path]).points if p.measure == "success"]
    assert points == [(50_000, 0.5), (100_000, 1.0)]


def test_a_run_twice_below_one_place(tmp_path: Path) -> None:
    for place, status in (("a", "finished"), ("b", "stopped")):
        write_run(tmp_path / place / "lightsout-cursor-2x2-default-seed0", status=status)
    with pytest.raises(SeadsError, match="is there twice"):
        collect([tmp_path])
    assert [one.status for one in collect([tmp_path], replace=True).runs] == ["finished"]


@pytest.mark.parametrize(
    "change",
    [{"budget": 20_000}, {"settings": "hidden=[8,8]"}, {"configuration": "deadbeef"}],
    ids=["budget", "settings", "configuration"],
)
def test_only_runs_that_differ_in_their_seed_alone_are_averaged(
    change: dict[str, Any], tmp_path: Path
) -> None:
    env = "lightsout-cursor"
    runs = [run(env, "default", 0, 25.0), run(env, "default", 1, 20.0, **change)]
    Results(runs).write(tmp_path)
    with pytest.raises(SeadsError, match=r"must differ in their seed alone, and .*seed0.*seed1"):
        collect([tmp_path])
    runs[1] = dataclasses.replace(runs[1], coverage=None, success=None)  # not measured yet
    Results(runs).write(tmp_path)
    assert len(collect([tmp_path]).runs) == 2
    runs[1] = run(env, "default", 1, 20.0, budget=99_680)  # ended an epoch before it
    Results(runs).write(tmp_path)
    assert len(collect([tmp_path]).runs) == 2


def test_one_seed_is_one_result(tmp_path: Path) -> None:
    env = "lightsout-cursor"
    Results([run(env, "default", 3, 25.0), run(env, "default", 3, 25.0, run="copy")]).write(
        tmp_path
    )
    with pytest.raises(SeadsError, match=r"default-seed3 and copy .* have the same seed, 3"):
        collect([tmp_path])


def test_options_of_the_environment_are_settings_too(tmp_path: Path) -> None:
    for seed in range(2):
        write_run(tmp_path / f"lightsout-cursor-2x2-default-seed{seed}", seed=seed)
    assert {one.settings for one in collect([tmp_path]).runs} == {""}
    path = tmp_path / "lightsout-cursor-2x2-default-seed1" / "config.json"
    changed = dataclasses.replace(read_config(path), env_options={"observation": "raw"})
    changed.write(path)
    with pytest.raises(SeadsError, match=r'alone, and .*seed0.*seed1 .*env\.observation="raw"'):
        collect([tmp_path])


def test_planning_that_gave_up_is_told_by_what_was_measured(tmp_path: Path) -> None:
    home = write_run(tmp_path / "lightsout-cursor-2x2-default-seed0", evaluated=False)
    why = "the model foresaw 10% of what its skills did in training: planning gives up after 0.25 s"
    for name, replan, gave_up in (
        ("tasks-replan", True, None),
        ("tasks-no-replan", False, why),
        ("tasks-replan-depths1-9", True, why),
    ):
        write_result(home, name, {"tasks": tasks_result({1: 1.0}, replan) | {"gave_up": gave_up}})
    [one] = collect([tmp_path]).runs
    assert one.gave_up == "success_no_replan deep"
    for name in ("tasks-no-replan", "tasks-replan-depths1-9"):  # as earlier versions wrote them
        write_result(home, name, {"tasks": tasks_result({1: 1.0}, replan="no" not in name)})
    assert [one.gave_up for one in collect([tmp_path]).runs] == [""]


def test_results_of_earlier_versions_are_read(tmp_path: Path) -> None:
    results = ablations(2)
    results.write(tmp_path)
    path = tmp_path / "results.csv"
    lines = path.read_text().splitlines()
    assert lines[0].endswith(",settings,gave_up")
    path.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    assert read_results(tmp_path) == results
    path.write_text("\n".join(line.rpartition(",")[0] for line in lines[1:]) + "\n")
    with pytest.raises(SeadsError, match="has other columns than run, env"):
        read_results(tmp_path)
