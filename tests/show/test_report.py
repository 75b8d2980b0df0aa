"""Reports: every part is drawn from files alone, and bad input is one sentence."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.show.sample_runs import tasks_result, write_result, write_run

from seads import __version__, cli
from seads.errors import SeadsError
from seads.show.report import write_report
from seads.show.report.learning import draw_curves
from seads.show.report.reading import group_runs, read_run
from seads.show.report.report import missing_parts, summary_section
from seads.show.report.style import steps_text
from seads.show.report.tasks import (
    draw_success_by_depth,
)

SMALL = "lightsout-cursor-2x2"
NEXT = re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), __version__)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    home = tmp_path_factory.mktemp("runs")
    return [
        write_run(home / "seed0", env=SMALL, seed=0, top=3.0),
        write_run(home / "seed1", env=SMALL, seed=1, top=3.5),
        write_run(home / "swap", env="tileswap-cursor", top=11.0, status="running"),
    ]


def test_a_page_of_many_runs_shows_everything(runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "pages" / "report.html"
    found, files = write_report([str(run) for run in runs], out)
    assert files == [out]
    assert [run.name for run in found] == ["seed0", "seed1", "swap"]
    page = out.read_text()
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings[:9] == [
        "Results", "Coverage", "Boards solved", "Success by depth", "Solution length",
        "Skill length", "Why boards were not solved", "Planning", "Wall-clock time",
    ]  # fmt: skip
    for part in (f"Skill map: {SMALL}", "Operators: tileswap-cursor", "Settings"):
        assert part in headings
    assert "swap is unfinished (running): 40,000 of 100,000 env steps" in page
    # mean, lowest and highest seed of the evaluation, which beats the run's own measurement
    assert "3.75 (3.50 to 4.00) at 100k<" in page
    assert ">11.99 ± 0.02<" in page
    # it fetches nothing
    assert not re.search(r'(src|href)="(?!#)', page.replace("xlink:href", "href"))
    assert "<script" not in page
    assert "@import" not in page


def test_figures_are_files(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", evaluated=False)
    _, files = write_report([str(run)], tmp_path / "one.html", tmp_path / "figures")
    assert {file.stem for file in files[1:]} == {"coverage", "wall-clock", f"operators-{SMALL}"}
    assert (tmp_path / "one.html").read_text().count("<svg") == 3
    assert {file.suffix for file in files[1:]} == {".pdf", ".png", ".svg"}
    assert all(file.stat().st_size > 1000 for file in files)


def test_what_was_not_measured_is_left_out_and_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "fresh", evaluated=False)
    write_report([str(run)], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<h2>Coverage</h2>" in page
    assert "Why boards were not solved" not in page
    for what in ("tasks", "tasks --no-replan", "coverage", "skills"):
        assert f"seads evaluate {run} --what {what}<" in page
    checkpoint = run / "checkpoints" / "step_000010" / "agent"
    checkpoint.mkdir(parents=True)
    (checkpoint / "card.json").write_text("{}")
    write_report([str(run)], tmp_path / "report.html")
    assert "--what coverage --checkpoints<" in (tmp_path / "report.html").read_text()


def test_a_resumed_clock_goes_on(runs: list[Path]) -> None:
    clock = read_run(runs[0]).wall_clock
    assert clock[4:7] == [(50_000, 100.0), (60_000, 120.0), (70_000, 140.0)]


def test_seeds_are_grouped_by_settings(runs: list[Path], tmp_path: Path) -> None:
    other = write_run(tmp_path / "paper", preset="paper", evaluated=False)
    groups = group_runs([read_run(run) for run in [*runs, other]])
    assert {key: len(members) for key, members in groups.items()} == {
        (SMALL, "default"): 2,
        ("tileswap-cursor", "default"): 1,
        (SMALL, "paper"): 1,
    }


def test_runs_with_another_budget_are_another_group(runs: list[Path], tmp_path: Path) -> None:
    other = write_run(tmp_path / "longer", evaluated=False)
    _change(other / "config.json", env_steps=5_000_000)
    groups = group_runs([read_run(run) for run in [*runs[:2], other]])
    assert {label: len(members) for (_, label), members in groups.items()} == {
        "default, budget=100000": 2,
        "default, budget=5000000": 1,
    }


def test_runs_with_other_settings_have_a_line_of_their_own(
    runs: list[Path], tmp_path: Path
) -> None:
    other = write_run(tmp_path / "other", evaluated=False)
    config = json.loads((other / "config.json").read_text())
    usual = "hidden={},{}, n_step={}".format(*config["agent"]["hidden"], config["agent"]["n_step"])
    config["agent"] |= {"n_step": 7, "hidden": [64, 64]}
    (other / "config.json").write_text(json.dumps(config))
    groups = group_runs([read_run(run) for run in [*runs[:2], other]])
    assert {label: len(members) for (_, label), members in groups.items()} == {
        f"default, {usual}": 2,
        "default, hidden=64,64, n_step=7": 1,
    }


def test_an_agent_without_its_run_can_be_reported(runs: list[Path], tmp_path: Path) -> None:
    found, _ = write_report([str(runs[0] / "agent")], tmp_path / "agent.html")
    assert found[0].name == "seed0"
    assert f"<h2>Operators: {SMALL}</h2>" in (tmp_path / "agent.html").read_text()


def test_a_packaged_agent_shows_its_card_and_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, out, results = "lightsout-jaco", tmp_path / "agent.html", tmp_path / "results"
    assert cli.main(["report", name, "--out", str(out), "--results", str(results)]) == 0
    capsys.readouterr()
    card, page = read_run(name, results).card, out.read_text()
    for value in (f"{card['coverage']:.2f}", f"{card['success_without_replanning']:.1%}"):
        assert f">{value} at {steps_text(card['env_steps'])}<" in page
    for what in ("tasks", "tasks --no-replan", "coverage", "skills"):
        assert f"<code>seads evaluate {name} --what {what}</code>" in page
    assert read_run(name, results).curves("coverage") == {
        "test boards, 100 starts": [(card["env_steps"], card["coverage"])]
    }
    (results / name).mkdir(parents=True)
    write_result(results / name, "coverage", {"coverage": {"mean": 21.5, "starts": 100}})
    run = read_run(name, results)
    assert run.final("coverage") == (21.5, 100_000, False)
    assert "--what coverage" not in missing_parts([run])
    assert "--what skills" in missing_parts([run])
    (results / name / "config.json").write_text("{}")  # now it is another run of that name
    assert not read_run(name, results).results


def test_a_run_without_weights_is_reported_without_operators(tmp_path: Path) -> None:
    run = write_run(tmp_path / "bare", env=SMALL)
    assert read_run(run).has_weights
    (run / "agent" / "weights.safetensors").unlink()
    write_report([str(run)], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Operators" not in page
    assert f"<h2>Skill map: {SMALL}</h2>" in page


def test_the_command_prints_json(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    assert cli.main(["report", str(runs[2]), "--out", str(out), "--json"]) == 0
    captured = capsys.readouterr()
    (one,) = json.loads(captured.out)["runs"]
    assert (one["env"], one["finished"], one["coverage"]) == ("tileswap-cursor", False, 11.5)
    assert (one["coverage_env_steps"], one["success_env_steps"]) == (100_000, 100_000)
    assert "unfinished" in captured.err
    assert f"next: seads play {runs[2]}" in captured.err


def _change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_bad_input_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer = write_run(tmp_path / "newer", evaluated=False)
    _change(newer / "meta.json", seads=NEXT)
    broken = write_run(tmp_path / "broken", evaluated=False)
    (broken / "config.json").write_text("{")
    empty = write_run(tmp_path / "empty", evaluated=False)
    (empty / "metrics.jsonl").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text('{"learner": "ppo"}')
    (tmp_path / "nothing").mkdir()
    good = write_run(tmp_path / "good", evaluated=False)
    for arguments, sentence in (
        ([], "a report of no runs: name at least one"),
        ([str(tmp_path / "missing")], "unknown run or agent"),
        ([str(tmp_path / "nothing")], "is no run: there is no config.json in it"),
        ([str(newer)], f"was made by seads {NEXT}, which is newer than this"),
        ([str(broken)], "config.json is not a run's configuration"),
        ([str(empty)], "has nothing to report yet"),
        ([str(tmp_path / "other")], "config.json is not a run's configuration: object missing"),
        ([str(good), "--out", "report.pdf"], "its name must end in .html"),
    ):
        assert cli.main(["report", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("seads: ")
        assert sentence in error
        assert error.count("\n") == 1


def as_of(run: Path, algorithm: str) -> Path:
    """The run, with a configuration that names another algorithm."""
    config = json.loads((run / "config.json").read_text())
    config["agent"]["algorithm"] = algorithm
    (run / "config.json").write_text(json.dumps(config))
    return run


def test_another_algorithm_is_reported_without_plans(tmp_path: Path) -> None:
    run = as_of(write_run(tmp_path / "vic", evaluated=False), "vic")
    write_report([str(run)], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Operators" not in page
    assert "--what tasks" not in page


def test_a_baseline_is_reported_beside_ours(runs: list[Path], tmp_path: Path) -> None:
    flat = as_of(write_run(tmp_path / "sac", env=SMALL, evaluated=False), "sac")
    shares = {str(d): {"boards": 20, "success": 0.5, "solution_length": None} for d in (1, 2, 3)}
    tasks = {"success": 0.5, "boards": 60, "depths": shares}
    write_result(flat, "tasks", {"tasks": tasks, "curve": [{"env_steps": 9, "success": 0.2}]})
    with (flat / "metrics.jsonl").open("a") as file:  # the training's own boards are others
        file.write(json.dumps({"epoch": 500, "env_steps": 50_000, "success": 0.9}) + "\n")
    assert read_run(flat).curves("tasks") == {"test boards": [(9, 0.2), (100_000, 0.5)]}
    assert read_run(flat).curves("tasks", replan=False) == {}
    write_report([str(runs[0]), str(flat)], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<td>sac</td>" in page
    assert ">50.0% at 100k<" in page
    assert f"seads evaluate {flat}" not in page
    assert "<h2>Planning</h2>" in page
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_report([str(flat)], tmp_path / "report.html")
    assert "<h2>Planning" not in (tmp_path / "report.html").read_text()  # it does not plan


def test_the_papers_numbers_stand_beside_ours_only(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", env="tileswap-cursor"))
    ours = {("tileswap-cursor", "default"): [run]}
    baseline = {("tileswap-cursor", "sac"): [replace(run, algorithm="sac")]}
    assert "11.99" in summary_section(ours).body
    assert "11.99" not in summary_section(baseline).body
    ablation = {("tileswap-cursor", "no-relabelling"): [replace(run, preset="no-relabelling")]}
    assert ">12.0 ± 0.02<" in summary_section(ablation).body
    for draw in (
        partial(draw_curves, part="coverage"),
        partial(draw_curves, part="tasks"),
        draw_success_by_depth,
    ):
        for groups, marked in ((ours, True), (baseline, False)):
            drawn = draw(groups)
            assert drawn is not None
            _, labels = drawn.axes[0].get_legend_handles_labels()
            assert any("paper" in str(label) for label in labels) == marked, labels


def test_success_of_both_algorithms_in_one_figure(runs: list[Path], tmp_path: Path) -> None:
    flat = as_of(write_run(tmp_path / "sac", env=SMALL, evaluated=False), "sac")
    tasks = {"success": 0.5, "boards": 20, "depths": {"1": {"boards": 20, "success": 0.5}}}
    write_result(flat, "tasks", {"tasks": tasks, "curve": [{"env_steps": 9, "success": 0.2}]})
    drawn = draw_curves(group_runs([read_run(run) for run in [*runs, flat]]), "tasks")
    assert drawn is not None
    (axes,) = (one for one in drawn.axes if one.get_title(loc="left") == SMALL)
    _, labels = axes.get_legend_handles_labels()
    assert "sac, test boards" in labels, labels
    assert any(str(label).startswith("seads, replanning") for label in labels), labels
    assert sum("sac" in str(label) for label in labels) == 1  # it has no plan to make again


def test_other_depths_are_added_to_the_papers(runs: list[Path], tmp_path: Path) -> None:
    run = write_run(tmp_path / "deep", env=SMALL)
    deep = {"tasks": tasks_result({6: 0.1, 7: 0.0}, replan=True), "made": "2026-02-01"}
    write_result(run, "tasks-deep", deep)
    found = read_run(run).tasks(replan=True)
    assert found is not None
    assert list(found["depths"]) == ["6", "7", "1", "2", "3"]
    assert found["success"] == pytest.approx(0.95)
    ((env_steps, success),) = read_run(run).curves("tasks")["test boards"]
    assert env_steps == 100_000
    assert success == pytest.approx(0.95)
    write_result(run, "tasks-deep", {**deep, "env_steps": 50_000})  # another agent's boards
    found = read_run(run).tasks(replan=True)
    assert found is not None
    assert list(found["depths"]) == ["1", "2", "3"]


def test_damaged_lines_cost_themselves_and_are_counted(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", evaluated=False)
    path = run / "metrics.jsonl"
    lines = path.read_text().splitlines()
    lines[1] = "\x00\x00"
    lines[2] = "[3]"
    lines[3] = '{"epoch": 40, "env_steps": "many", "coverage": 1.0}'
    lines[5] = '{"epoch": 60, "env_steps": 60000, "coverage": "<b>"}'
    path.write_text("\n".join(lines) + '\n{"epoch": 110, "env_st')
    found, _ = write_report([str(run)], tmp_path / "report.html")
    assert [line["epoch"] for line in found[0].metrics] == [10, 50, 70, 80, 90, 100]
    assert [steps for steps, _ in found[0].curves("coverage").popitem()[1]] == [80_000, 100_000]
    assert "run: damaged lines left out of its metrics: 5" in (tmp_path / "report.html").read_text()


def test_nothing_from_a_file_reaches_the_page_as_html(tmp_path: Path) -> None:
    bad = "<b>$x_$\"'&"
    run = write_run(tmp_path / "<b>&", env=SMALL)
    _change(run / "config.json", preset=bad, env_options={bad: bad})
    _change(run / "meta.json", status="failed", machine=bad, commit=bad, started=bad, budget=5)
    for name in ("tasks-True", "tasks-False"):
        tasks = json.loads((run / "eval" / f"{name}.json").read_text())["tasks"]
        _change(run / "eval" / f"{name}.json", tasks={**tasks, "planner": bad})
    write_report([str(run)], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<b>" not in page
    assert page.count("&lt;b&gt;$x_$&quot;&#x27;&amp;") > 8
    names = re.findall(r'<section id="([^>]*)">', page)  # which are file names, too
    assert len(names) > 10
    assert all(re.fullmatch(r"[\w.=-]+", name) for name in names), names


def test_missing_run_raises_for_programs(tmp_path: Path) -> None:
    with pytest.raises(SeadsError, match="unknown run or agent"):
        read_run(tmp_path / "missing")
