"""Study files: what they expand to, and what is said, with its line, of those that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seads import cli
from seads.errors import SeadsError
from seads.reading import MOST_BYTES
from seads.studies.directory import check_directories
from seads.studies.estimate import counted_speed
from seads.studies.runs import StudyRun
from seads.studies.search import Searches
from seads.studies.study import Study, read_study

STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.toml"))

GROUP = """
[[groups]]
envs = ["lightsout-cursor-2x2"]
presets = ["default"]
seeds = "0-1"
budget = 3000
"""


SEARCH = """
[[search]]
name = "rates"
env = "lightsout-cursor-2x2"
seeds = [0, 1]
budget = 2000
space = { n_step = [1, 2], alpha = [0.1, 0.01] }
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return path


def runs_of(study: Study) -> list[StudyRun]:
    """The runs of groups and grids, checked as the command does."""
    return Searches(study).with_groups(study)


def test_a_group_is_environments_by_presets_by_seeds(tmp_path: Path) -> None:
    text = GROUP.replace('"default"', '"paper", "no-novelty"') + "settings = { n_step = 2 }\n"
    runs = runs_of(read_study(written(tmp_path, text)))
    assert [run.name for run in runs] == [
        "lightsout-cursor-2x2-paper-seed0",
        "lightsout-cursor-2x2-paper-seed1",
        "lightsout-cursor-2x2-no-novelty-seed0",
        "lightsout-cursor-2x2-no-novelty-seed1",
    ]
    assert [run.config.seed for run in runs] == [0, 1, 0, 1]
    assert {run.config.settings.n_step for run in runs} == {2}
    assert [run.config.settings.novelty_bonus for run in runs] == [True, True, False, False]
    # an epoch is at most 32 episodes of 10 steps: the last checkpoint is below the budget
    assert {run.config.env_steps for run in runs} == {3000 - 320}


def test_a_group_may_measure_otherwise(tmp_path: Path) -> None:
    text = f"[evaluate]\nstarts = 7\n{GROUP}evaluate = {{ tasks = [] }}\n"
    [run, _] = runs_of(read_study(written(tmp_path, text)))
    assert run.evaluate.tasks == ()
    assert run.evaluate.starts == 7


@pytest.mark.parametrize(
    ("change", "line", "sentence"),
    [
        (("presets", "present"), 4, "unknown key 'present'; did you mean 'presets'?"),
        (('"default"', '"papr"'), 4, "unknown preset 'papr'; did you mean 'paper'?"),
        (("cursor-2x2", "curser"), 3, "did you mean 'lightsout-cursor'?"),
        (('"0-1"', "[3, 4, 3]"), 5, "seeds has 3 twice"),
        (('"0-1"', '"9-0"'), 5, "seeds='9-0'; allowed: 0-9, or a list"),
        (('"0-1"', "[]"), 5, "seeds=[]: expected array of length >= 1"),
        (("3000", "300"), 6, "budget=300 is less than one epoch may take"),
        (("3000", '"much"'), 6, "budget='much': expected int, got str"),
        (("budget = 3000", ""), 2, "budget is missing"),
        (("3000", "3000\nsettings = { n_setp = 1 }"), 7, "did you mean 'n_step'?"),
        (("3000", "3000\nschedule = { env_steps = 1 }"), 7, "unknown key of schedule 'env_steps'"),
        (("3000", '3000\nevaluate = { tasks = ["twice"] }'), 7, "unknown value of tasks 'twice'"),
        (('"0-1"', '"0-99999999999"'), 5, "allowed: 0-9, or a list"),
        (('"0-1"', "[1.5]"), 5, "expected int, got float"),
        (("3000", "nan"), 6, "budget=nan: expected int, got float"),
        (("3000", "1" + "0" * 40), 6, "expected int <= 1000000000000"),
        (("3000", "3000\nsettings = { alpha = nan }"), 7, "alpha=nan"),
        (("3000", "3000\nsettings = { alpha = inf }"), 7, "alpha=inf"),
        (("3000", "3000\nsettings = { alpha = { deep = 1 } }"), 7, "settings={'alpha'"),
        (("3000", "3000\nsettings = { num_skills = 1000000000 }"), 7, "num_skills=1000000000"),
        (("3000", "3000\nschedule = { log_every = nan }"), 7, "expected int, got float"),
        (("3000", "3000\nschedule = { log_every = 0 }"), 7, "log_every=0; allowed: 1 or more"),
        (("3000", '3000\nname = "../../home"'), 7, "name='../../home': expected str matching"),
        (
            ("3000", '3000\nname = "sac-alpha=0.1"'),
            7,
            "name='sac-alpha=0.1': expected str matching",
        ),
        (("3000", "3000\nevaluate = { starts = 1000000000 }"), 7, "expected int <= 100000"),
        (("3000", "3000\nevaluate = 3"), 2, "3 is no table of names and values"),
        (("[[groups]]", "[[group]]"), 2, "unknown key 'group'; did you mean 'groups'?"),
        (('["lightsout-cursor-2x2"]', "[]"), 3, "envs=[]: expected array of length >= 1"),
        (("envs = [", "env = [7, "), 3, "envs=[7, 'lightsout-cursor-2x2']: [0]: expected str"),
        (("3000", "3000\nenv_options = { observaton = [1, 2] }"), 7, "no option 'observaton'"),
        (
            ('presets = ["default"]', 'env_options = { observaton = 1 }\nalgo = "sac"'),
            4,
            "no option 'observaton'",
        ),
        (("3000", '3000\nevaluate = { deep = "1-x" }'), 7, "depths '1-x' cannot be read"),
        (
            ("3000", '3000\nevaluate = { deep = "1-99" }'),
            7,
            "deep='1-99' with lightsout-cursor-2x2: no board in split 'test' has solution depth 4; "
            "choose from 1, 2, 3",
        ),
        (("\n[[", "\n[evaluate]\ndeep = '1-4'\n[["), 3, "deep='1-4' with lightsout-cursor-2x2"),
        (("budget = 3000", "# budget: as alpha\nbudget = -1"), 7, "budget=-1: expected int >= 1"),
        (("budget = 3000", 'name = "budget"\nbudget = -1'), 7, "budget=-1: expected int >= 1"),
        (
            ("3000", "3000\n[groups.settings]\nalpha = 0.1 # n_setp\nn_setp = 1"),
            9,
            "unknown setting 'n_setp'",
        ),
        (
            ("3000", "3000\n[groups.settings]\ngamma = 0.9\nalpha = -1.0 # not gamma"),
            9,
            "alpha=-1.0; allowed: 0 or more",
        ),
        (("\n[[", "\n# [evaluate] deep\n[evaluate]\ndeep = '0-3'\n[["), 4, "depths '0-3'"),
        (('presets = ["default"]', "# papr\npresets = ['papr']"), 5, "unknown preset 'papr'"),
        (
            ("3000", "3000\nevaluate = { starts = 5 }\n[evaluate]\nstarts = 0"),
            9,
            "starts=0: expected int >= 1",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    change: tuple[str, str],
    line: int,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(tmp_path, GROUP.replace(*change))
    assert cli.main(["sweep", str(path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"{path}, line {line}: " in said
    assert sentence in said
    assert not (tmp_path / "out").exists()


def test_the_line_is_that_of_the_group_it_is_in(tmp_path: Path) -> None:
    second = GROUP.replace("2x2", "5x5").replace('"default"', '"papr"')
    study = read_study(written(tmp_path, GROUP + second))
    with pytest.raises(SeadsError, match=r"line 10: unknown preset 'papr'"):
        runs_of(study)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no runs"),
        ("budget = [", "is no TOML"),
        ("a = " + "[" * 100_000, "is no TOML: it is nested too deeply"),
        ("groups = [3]", "3 is no table of names and values"),
        (GROUP.replace("0-1", "0-9999").replace('"default"', '"default", "paper"'), "20000 runs"),
        (
            GROUP + GROUP,
            "line 8: runs overlap, two are named lightsout-cursor-2x2-default-seed0",
        ),
        (
            GROUP + GROUP + 'name = "other"\n',
            "line 8: runs overlap, lightsout-cursor-2x2-default-seed0 and "
            "lightsout-cursor-2x2-other-seed0 are the same",
        ),
        (
            # what the preset says, and what the space adds, is what the group says
            GROUP.replace("3000", "2000\nsettings = { n_step = 2, alpha = 0.1 }") + SEARCH,
            "line 9: runs overlap, lightsout-cursor-2x2-default-seed0 and "
            "lightsout-cursor-2x2-rates-n_step=2-alpha=0.1-seed0 are the same run",
        ),
    ],
)
def test_studies_that_make_no_sense(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(SeadsError, match=sentence):
        runs_of(read_study(written(tmp_path, text)))


@pytest.mark.parametrize("raw", [b"\xff\xfe", bytes(100), b" " * (MOST_BYTES + 1)], ids=len)
def test_a_study_that_is_no_text(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(raw)
    with pytest.raises(SeadsError, match=r"study\.toml is no"):
        read_study(path)


def test_directories_of_other_runs_are_refused(tmp_path: Path) -> None:
    runs = runs_of(read_study(written(tmp_path, GROUP)))
    directory = tmp_path / runs[0].name
    directory.mkdir()
    runs[0].config.write(directory / "config.json")
    check_directories(runs, tmp_path)
    others = runs_of(read_study(written(tmp_path, GROUP.replace("3000", "4000"))))
    with pytest.raises(SeadsError, match="env_steps is 2680 there and 3680 in the study"):
        check_directories(others, tmp_path)


@pytest.mark.parametrize(
    ("meta", "config"),
    [
        ('{"seads": "99.0"}', None),  # whose configuration this version could read
        ('{"seads": "99.0"}', '{"env": "lightsout-cursor-2x2", "novel": 1}'),
        ('{"seads": "99.0", "status": "paused"}', "{}"),
        ('{"seads": "99.0"}', ""),
    ],
)
@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["", "dry-run"])
def test_a_directory_of_a_newer_version_is_refused(
    meta: str,
    config: str | None,
    options: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, out = written(tmp_path, GROUP), tmp_path / "out"
    directory = out / runs_of(read_study(path))[1].name
    directory.mkdir(parents=True)
    runs_of(read_study(path))[1].config.write(directory / "config.json")
    if config is not None:
        (directory / "config.json").write_text(config)
    (directory / "meta.json").write_text(meta)
    before = sorted(out.rglob("*"))
    assert cli.main(["sweep", str(path), "--out", str(out), *options]) == 2
    assert f"{directory} was made by seads 99.0, which is newer" in capsys.readouterr().err
    assert sorted(out.rglob("*")) == before


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_our_own_studies_expand(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(path.parents[1] / "examples")
    assert len(runs_of(read_study(path))) >= 6


@pytest.mark.parametrize(
    ("env", "steps"),
    [
        ("lightsout-robot-absolute", 4 * 3),  # one row, which is never reset
        ("lightsout-cursor", 32 * 10),
        ("lightsout-cursor-7x7", 2 * 32 * 10),  # rows go round until each skill has its episode
    ],
)
def test_a_run_ends_an_epoch_before_its_budget(tmp_path: Path, env: str, steps: int) -> None:
    text = GROUP.replace("lightsout-cursor-2x2", env)
    [run, *_] = runs_of(read_study(written(tmp_path, text)))
    assert run.budget - run.config.env_steps == steps
    assert counted_speed(run.config) > 1.0


@pytest.mark.parametrize(("algo", "steps"), [("sac", 1 * 8), ("hac", 16 * 10 * 10)])
def test_a_baseline_ends_an_epoch_before_its_budget(tmp_path: Path, algo: str, steps: int) -> None:
    text = GROUP.replace('presets = ["default"]', f'algo = "{algo}"')
    [run, *_] = runs_of(read_study(written(tmp_path, text)))
    assert run.budget - run.config.env_steps == steps


def test_a_grid_is_every_combination(tmp_path: Path) -> None:
    runs = runs_of(read_study(written(tmp_path, SEARCH)))
    assert len(runs) == 8
    assert runs[2].name == "lightsout-cursor-2x2-rates-n_step=1-alpha=0.01-seed0"
    assert (runs[2].config.settings.n_step, runs[2].config.settings.alpha) == (1, 0.01)


def test_searches_of_one_name_and_environment_are_refused(tmp_path: Path) -> None:
    other = SEARCH.replace("[1, 2]", "[3, 4]")
    with pytest.raises(SeadsError, match="line 10: searches overlap, two are named rates on light"):
        read_study(written(tmp_path, SEARCH + other))
    for change in (("rates", "more"), ("2x2", "5x5")):
        read_study(written(tmp_path, SEARCH + other.replace(*change)))


def test_two_searches_may_try_the_same(tmp_path: Path) -> None:
    text = SEARCH + SEARCH.replace("rates", "more")
    assert len(runs_of(read_study(written(tmp_path, text)))) == 16


@pytest.mark.parametrize(
    ("change", "line", "sentence"),
    [
        (("[1, 2]", "[1, 2, 1]"), 7, "n_step has 1 twice"),
        (("n_step = [1, 2]", "hidden = [[8], [8]]"), 7, "hidden has [8] twice"),
        (("[1, 2]", "[]"), 7, "n_step=[]; allowed: a list, or { low, high, log }"),
        (("[1, 2]", "{ low = 1, high = 2 }"), 7, "n_step is a span, and a grid needs a list"),
        (("[1, 2]", "[[[1]]]"), 7, "allowed: a list, or { low, high, log }"),
        (("[1, 2]", '{ low = "a", high = 2 }'), 7, "low: expected float, got str"),
        (("[1, 2]", "{ low = 1, high = inf }"), 7, "high: expected float <= 1000000000000"),
        (("[1, 2]", "{ low = 1, high = nan }"), 7, "high: expected float"),
        (("[1, 2]", f"{list(range(9999))}"), 7, "length <= 1000"),
        (
            ("[1, 2], alpha", f"{list(range(1, 900))}, sac_batch = {list(range(1, 900))}, alpha"),
            2,
            "runs; allowed",
        ),
        (("space", 'sampler = "gird"\nspace'), 7, "unknown sampler 'gird'; did you mean 'grid'?"),
        (("space", 'sampler = "tpe"\nspace'), 2, "trials is how many tpe makes"),
        (("n_step", "n_setp"), 7, "did you mean 'n_step'?"),
        (("budget", 'algo = "vic"\nbudget'), 2, "VIC has no forward model"),
    ],
)
def test_searches_that_cannot_be(
    change: tuple[str, str], line: int, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(SeadsError) as error:
        runs_of(read_study(written(tmp_path, SEARCH.replace(*change))))
    assert f"line {line}: " in str(error.value)
    assert sentence in str(error.value)


def test_some_of_the_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, GROUP.replace('"0-1"', '"0-3"') + SEARCH)
    command = ["sweep", str(path), "--out", str(tmp_path / "runs"), "--dry-run", "--json"]

    def names(*only: str) -> list[str]:
        assert cli.main([*command, *(word for one in only for word in ("--only", one))]) == 0
        return [one["run"] for one in json.loads(capsys.readouterr().out)["dry_run"]]

    assert len(names()) == 4 + 8
    assert names("*-seed[02]", "*-seed3") == [
        f"lightsout-cursor-2x2-default-seed{seed}" for seed in (0, 2, 3)
    ]
    assert cli.main([*command, "--only", "seed*"]) == 2
    assert "--only 'seed*' fits no run of the groups; there are" in capsys.readouterr().err
