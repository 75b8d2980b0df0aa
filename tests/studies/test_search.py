"""Searches with Optuna and its journal; what runs leave behind is written by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from seads import cli
from seads.studies.measuring import evaluations
from seads.studies.runs import StudyRun
from seads.studies.search import Searches
from seads.studies.space import middle_of
from seads.studies.study import Study, read_study
from seads.studies.sweep import Sweep

TPE = """
[[search]]
name = "tpe"
env = "lightsout-cursor-2x2"
seeds = [0, 1]
budget = 2000
sampler = "tpe"
trials = 5
space = { alpha = { low = 0.001, high = 0.1, log = true }, n_step = [1, 2] }
"""
GRID = """
[[search]]
name = "grid"
env = "lightsout-cursor-2x2"
seeds = [0, 1]
budget = 2000
space = { n_step = [1, 2, 3] }
"""


def study_of(text: str, tmp_path: Path) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read_study(path)


def success(run: StudyRun) -> float:
    """The more alike alpha is to 0.01 the better; n_step 2 is best; seeds differ a little."""
    settings = run.config.settings
    distance = abs(settings.alpha - 0.01) + 0.1 * abs(settings.n_step - 2)
    return 0.9 - distance - 0.01 * run.config.seed


def carry_out(run: StudyRun, home: Path) -> None:
    """What a run leaves behind once it is trained and measured."""
    directory = home / run.name
    (directory / "eval").mkdir(parents=True)
    (directory / "meta.json").write_text('{"status": "finished"}')
    for one in evaluations(run):
        share = success(run) if one.split == "train" else 0.0
        made = {"command": one.command(directory), "study": True}
        content = {**made, "env_steps": 1990, one.part: {"success": share}}
        (directory / "eval" / f"{one.name}.json").write_text(json.dumps(content))


def look_again(sweep: Sweep) -> None:
    """What a sweep does for the runs under way, for all."""
    for run in sweep.runs:
        sweep.look_at(run)


def test_tpe_asks_is_told_and_goes_on_from_its_journal(tmp_path: Path) -> None:
    study = study_of(TPE, tmp_path)
    searches = Searches(study)
    assert searches.begin(tmp_path) == []
    sweep = Sweep([], tmp_path)
    first = searches.more(sweep, 2)
    assert len(first) == 2  # one trial, two seeds
    for run in first:
        carry_out(run, tmp_path)
    look_again(sweep)
    second = searches.more(sweep, 1)
    assert searches.to_json()[0]["finished"] == 1
    carry_out(second[0], tmp_path)  # and then the machine goes down

    again = Searches(study)
    runs = again.begin(tmp_path)
    assert {run.name for run in runs} == {run.name for run in [*first, *second]}
    sweep = Sweep(list(runs), tmp_path)
    look_again(sweep)
    assert [sweep.standings[run.name].done for run in runs].count(False) == 1
    carry_out(second[1], tmp_path)
    while True:
        look_again(sweep)
        new = again.more(sweep, 1)
        if not new:
            break
        for run in new:
            carry_out(run, tmp_path)
    [told] = again.to_json()
    assert (told["trials"], told["finished"]) == (5, 5)
    means: dict[str, list[float]] = {}
    for run in sweep.runs:
        means.setdefault(run.group, []).append(success(run))
    best = max(sum(each) / 2 for each in means.values())
    assert told["success_on_training_boards"] == pytest.approx(best)
    assert len(sweep.runs) == 10


def test_a_grid_is_told_once_and_its_journal_can_be_made_again(tmp_path: Path) -> None:
    study = study_of(GRID, tmp_path)
    for attempt in range(3):
        searches = Searches(study)
        sweep = Sweep(searches.runs, tmp_path)
        for run in sweep.runs if attempt == 0 else ():
            carry_out(run, tmp_path)
        searches.begin(tmp_path)
        look_again(sweep)
        assert searches.more(sweep, 2) == []
        [told] = searches.to_json()
        assert (told["trials"], told["finished"], told["best"]) == (3, 3, {"n_step": 2})
        if attempt == 1:  # the runs are the only truth: without the journal nothing is lost
            (tmp_path / "search-grid-lightsout-cursor-2x2.journal").unlink()


@pytest.mark.parametrize("text", [GRID, TPE], ids=["grid", "tpe"])
def test_seeds_that_are_added_count(text: str, tmp_path: Path) -> None:
    """The journal knows what the first seeds gave; the best is what all runs say."""
    for seeds in ("[0, 1]", "[0, 1, 2, 3]"):
        searches = Searches(study_of(text.replace("[0, 1]", seeds), tmp_path))
        searches.begin(tmp_path)
        sweep = Sweep(searches.runs, tmp_path)
        while True:
            for run in sweep.runs:
                if not (tmp_path / run.name).is_dir():
                    carry_out(run, tmp_path)
            look_again(sweep)
            if not searches.more(sweep, 1):
                break
    [told] = searches.to_json()
    means: dict[str, list[float]] = {}
    for run in sweep.runs:
        means.setdefault(run.group, []).append(success(run))
    assert {len(each) for each in means.values()} == {4}
    best = max(sum(each) / 4 for each in means.values())
    assert told["success_on_training_boards"] == pytest.approx(best)


def test_a_trial_with_a_failed_run_is_not_told(tmp_path: Path) -> None:
    study = study_of(GRID, tmp_path)
    searches = Searches(study)
    sweep = Sweep(searches.runs, tmp_path)
    for run in sweep.runs:
        carry_out(run, tmp_path)
    sweep.failed[sweep.runs[0].name] = "no space left"
    searches.begin(tmp_path)
    look_again(sweep)
    searches.more(sweep, 1)
    assert searches.to_json()[0]["finished"] == 2


def test_a_space_that_is_used_up_ends_the_search(tmp_path: Path) -> None:
    text = TPE.replace("{ low = 0.001, high = 0.1, log = true }", "[0.1, 0.01]")
    searches = Searches(study_of(text, tmp_path))
    searches.begin(tmp_path)
    sweep = Sweep([], tmp_path)
    while new := searches.more(sweep, 1):
        for run in new:
            carry_out(run, tmp_path)
        look_again(sweep)
    assert len({run.name for run in sweep.runs}) == len(sweep.runs) == 8


def test_a_trial_of_a_newer_version_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its directory is known only once the journal has been read."""
    study = study_of(TPE, tmp_path)
    searches = Searches(study)
    searches.begin(tmp_path)
    [run, _] = searches.more(Sweep([], tmp_path), 1)
    (tmp_path / run.name).mkdir()
    (tmp_path / run.name / "meta.json").write_text('{"seads": "99.0"}')
    assert cli.main(["sweep", str(study.path), "--out", str(tmp_path)]) == 2
    assert f"{run.name} was made by seads 99.0, which is newer" in capsys.readouterr().err
    assert not list(tmp_path.glob("*/config.json"))


def test_a_dry_run_counts_what_is_not_known_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = study_of(TPE, tmp_path)
    words = ["sweep", str(study.path), "--out", str(tmp_path), "--dry-run", "--workers", "1"]

    def told() -> Any:
        assert cli.main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    fresh = told()
    [search] = fresh["searches"]
    assert (fresh["study"], fresh["runs"], fresh["dry_run"]) == (str(study.path), 10, [])
    assert (search["search"], search["runs"]) == ("tpe", 10)
    assert fresh["seconds"] == search["seconds"] > 10 * 30  # each is trained, then measured
    assert cli.main(words) == 0
    assert "10 runs, about " in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [study.path]

    searches = Searches(study)
    searches.begin(tmp_path)
    for run in searches.more(Sweep([], tmp_path), 1):
        carry_out(run, tmp_path)
    assert told()["runs"] == 8


def test_a_logarithmic_span_is_estimated_amid_its_powers() -> None:
    assert middle_of({"low": 1e-4, "high": 1.0, "log": True}) == pytest.approx(0.01)
    assert middle_of({"low": 1, "high": 100, "log": True}) == 10
    assert middle_of({"low": 1, "high": 4}) == 2


def settings_tried(text: str, home: Path) -> list[dict[str, Any]]:
    """The settings of all trials of a search whose runs end at once."""
    searches = Searches(study_of(text, home))
    sweep = Sweep(searches.begin(home), home)
    while new := searches.more(sweep, 1):
        for run in new:
            carry_out(run, home)
        look_again(sweep)
    return [
        {"gamma": run.config.settings.gamma, "alpha": run.config.settings.alpha}
        for run in sweep.runs
    ]


def test_values_of_a_list_are_tried_as_they_are(tmp_path: Path) -> None:
    text = TPE.replace("n_step = [1, 2]", "gamma = [0.9995, 0.99951]")
    tried = settings_tried(text, tmp_path)
    assert {one["gamma"] for one in tried} == {0.9995, 0.99951}
    assert all(float(f"{one['alpha']:.3g}") == one["alpha"] for one in tried)  # short in a name
    searches = Searches(study_of(text, tmp_path))
    again = [run.config.settings.gamma for run in searches.begin(tmp_path)]
    assert again == [one["gamma"] for one in tried]


def test_values_of_a_span_stay_within_it(tmp_path: Path) -> None:
    text = TPE.replace("n_step = [1, 2]", "gamma = { low = 0.99951, high = 0.99979 }")
    tried = settings_tried(text, tmp_path)
    assert {0.99951 <= one["gamma"] <= 0.99979 for one in tried} == {True}
    assert {len(str(one["gamma"])) for one in tried} <= {6, 7}  # and no longer than that asks


def test_a_journal_of_earlier_versions_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Its runs were trained with three digits, which their names tell."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    title = "tpe-lightsout-cursor-2x2"
    storage = JournalStorage(JournalFileBackend(str(tmp_path / f"search-{title}.journal")))
    old = optuna.create_study(study_name=title, storage=storage, direction="maximize")
    old.enqueue_trial({"alpha": 0.0123456, "gamma": 0.9995})
    asked = old.ask()
    asked.suggest_float("alpha", 0.0123456, 0.0123457)
    asked.suggest_categorical("gamma", [0.9995, 0.5])
    old.tell(asked, 0.7)
    space = "alpha = { low = 0.0123456, high = 0.0123457 }, gamma = [0.9995, 0.5]"
    text = TPE.replace("alpha = { low = 0.001, high = 0.1, log = true }, n_step = [1, 2]", space)
    names = [run.name for run in Searches(study_of(text, tmp_path)).begin(tmp_path)]
    name = "lightsout-cursor-2x2-tpe-alpha=0.0123-gamma=1.0"
    assert names == [f"{name}-seed0", f"{name}-seed1"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("[1, 2]", "[1, 2, 4]"), "line 9: n_step is a list, [1, 2, 4]"),
        (("[1, 2]", "{ low = 1, high = 4 }"), "line 9: n_step is a span, 1 to 4"),
        ((", log = true", ""), "line 9: alpha is a span, 0.001 to 0.1"),
        (("{ low = 0.001, high = 0.1, log = true }", "[0.1]"), "line 9: alpha is a list, [0.1]"),
    ],
)
def test_another_space_than_the_journals_is_refused(
    change: tuple[str, str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    searches = Searches(study_of(TPE, tmp_path))
    searches.begin(tmp_path)
    searches.more(Sweep([], tmp_path), 1)
    study = study_of(TPE.replace(*change), tmp_path)
    assert cli.main(["sweep", str(study.path), "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    was = {"n_step": "a list, [1, 2]", "alpha": "a span, 0.001 to 0.1, log"}
    told = was[sentence.split()[2]]
    journal = tmp_path / "search-tpe-lightsout-cursor-2x2.journal"
    assert f"{sentence}, and {told} in {journal}; give the search another name" in said
    assert len(said.splitlines()) == 1
    assert not list(tmp_path.glob("*/config.json"))


def test_a_span_may_be_widened(tmp_path: Path) -> None:
    searches = Searches(study_of(TPE, tmp_path))
    searches.begin(tmp_path)
    first = searches.more(Sweep([], tmp_path), 1)
    again = Searches(study_of(TPE.replace("high = 0.1", "high = 0.2"), tmp_path))
    assert [run.name for run in again.begin(tmp_path)] == [run.name for run in first]
    assert again.more(Sweep([], tmp_path), 1)


def test_a_grid_may_grow(tmp_path: Path) -> None:
    for values in ("[1, 2, 3]", "[1, 2, 3, 4]"):
        searches = Searches(study_of(GRID.replace("[1, 2, 3]", values), tmp_path))
        sweep = Sweep(searches.runs, tmp_path)
        for run in sweep.runs:
            if not (tmp_path / run.name).is_dir():
                carry_out(run, tmp_path)
        searches.begin(tmp_path)
        look_again(sweep)
        searches.more(sweep, 1)
    assert searches.to_json()[0]["finished"] == 4


def test_what_json_says_of_searches_is_documented(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    section = page.partition("## seads sweep")[2].partition("\n## ")[0]
    searches = Searches(study_of(GRID, tmp_path))
    sweep = Sweep(searches.runs, tmp_path)
    for run in sweep.runs:
        carry_out(run, tmp_path)
    searches.begin(tmp_path)
    look_again(sweep)
    searches.more(sweep, 1)
    [done] = searches.to_json()
    study = study_of(TPE, tmp_path)
    words = ["sweep", str(study.path), "--out", str(tmp_path / "out"), "--dry-run", "--json"]
    assert cli.main(words) == 0
    [ahead] = json.loads(capsys.readouterr().out)["searches"]
    for shape in (done, ahead):
        told = [set(re.findall(r'"(\w+)":', one)) for one in re.findall(r'"searches": .*', section)]
        assert any(set(shape) <= one for one in told), set(shape)
