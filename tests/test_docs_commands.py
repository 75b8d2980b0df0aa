"""The commands of the docs: every one is understood, and those of most pages work in their order.

They are run on an empty `runs/` as they stand, but for budgets: how long is trained, how much is
measured, how long is planned. What needs hours, hardware or a cluster is only parsed.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seads import cli
from seads.training.configure import configure, named_values

ROOT = Path(__file__).parents[1]
SMALL = {
    "train": (
        "--env-steps 100 --set hidden=8 model_hidden=8 episodes_per_epoch=8 recent_episodes=16 "
        "buffer_episodes=32 sampled_episodes=8 sac_steps=1 sac_batch=4 model_steps=1 model_batch=4"
    ),
    "evaluate": "--starts 2 --episodes-per-depth 1 --seconds 0.1",
    "plan": "--seconds 0.1",
    "solve": "--seconds 0.1",
    "play": "--export replay.html --depth 1",
    "check": "--seconds 1",
    "tables": "--no-figures",
}
"""What is added to a command, unless it says it itself."""
SMALL_BASELINES = {
    "sac": "num_envs=3 batch=8 warmup_transitions=40 replay_transitions=300 hidden=8",
    "hac": (
        "episodes_per_epoch=3 batch=8 updates=1 warmup_transitions=50 replay_transitions=300 "
        "hidden=8"
    ),
    "vic": "",
}
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted(f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py"))
"""Files whose docstrings have commands as the pages' blocks have them."""
RUN_IN_ORDER = {
    "docs/tutorial.md": 10,
    "docs/own-environment.md": 6,
    "docs/baselines.md": 4,
    "docs/reproducing.md": 5,
    "docs/settings.md": 2,
    "docs/studies.md": 2,
}
"""Pages whose commands are run, and how many of them."""
ONLY_PARSED = {
    "seads sweep studies/main.toml": "the whole study: hours; --dry-run of it is run",
    "seads sweep studies/paper.toml": "a cluster",
    "seads sweep theirs.toml": "somebody else's study; tests/studies has such a one",
    "seads tables runs/": "the runs of sweeps that take hours; `tables results` is run",
    "seads train lightsout-cursor --seed SEED": "the tutorial's with another setting: the time",
    "seads train lightsout-cursor --algo sac --seed": "as the first of the page: the time",
    "seads train lightsout-cursor --algo hac --seed": "as the second of the page: the time",
    "seads train lightsout-jaco --algo hac": "the arm's reference physics: minutes",
    "seads train lightsout-cursor --algo vic": "as the tutorial's: the time",
    "seads train lightsout-cursor --set alpha": "large layers: the time",
    "seads evaluate RUN --what tasks": "the tutorial solves boards: the time",
    "seads report RUN... --figures": "the tutorial draws a report: the time",
    "seads report RUN --figures": "the tutorial draws a report: the time",
    "seads train lightsout-robot": "the reckoned arm: tests/robot trains there",
}
"""Which commands of those pages are not run, and why; the pages left out are syntax, or robots."""
STANDS_FOR = {
    "RUN": "runs/lo-cursor-0", "RUN...": "runs/lo-cursor-0", "RUN…": "runs/lo-cursor-0",
    "SEED": "0", "N": "1", "S": "1", "ENV": "lightsout-cursor", "NAME": "paper",
    "DIR…": "runs", "NAME=VALUE": "size=2", "...": "", "|": "", "…": "x",
}  # fmt: skip
"""What a reader writes for the words of the docs that stand for others."""
UNREADY = ("play",)
"""Whose board an agent of a few steps may not solve."""
NO_PLAN = ("time budget reached", "knows no way to the goal")


def commands(page: str) -> Iterator[str]:
    """Every `seads` command line of a page's blocks or an example's docstring, a loop's once."""
    text = (ROOT / page).read_text()
    if page in EXAMPLES:
        words = textwrap.dedent(re.sub(r"^\S.*", "", docstring(page), flags=re.MULTILINE))
        text = f"```\n{words.strip()}\n```\n"
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        whole = re.sub(r"\n +", " ", block)  # of syntax that goes over several lines
        for line in () if language else whole.splitlines():
            looped = re.fullmatch(r"for (\w+) in (.*); do (.*); done", line)
            if looped:
                line = looped[3].replace(f"${looped[1]}", looped[2].split()[-1])
            if line.startswith("seads "):
                yield line.partition("  ")[0]


def docstring(page: str) -> str:
    return ast.get_docstring(ast.parse((ROOT / page).read_text())) or ""


def mentioned(page: str) -> Iterator[str]:
    """Every command in the text of a page, between backticks, that says more than its name."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for words in re.findall(r"`(?:\.venv/bin/)?(seads\s[^`]*)`", text):
        if len(words.split()) > 2:
            yield " ".join(words.split())


def filled(line: str) -> list[str]:
    """The words of a command as a reader writes them: without brackets, the first of several."""
    words = [word.strip("[]") for word in shlex.split(line)[1:]]
    words = [word if word == "|" else word.partition("|")[0] for word in words]
    return [word for word in (STANDS_FOR.get(word, word) for word in words) if word]


def shortened(line: str) -> list[str]:
    """The words of a command with a small budget, and names of files for patterns."""
    name, *words = filled(line)
    if "--resume" in words:
        if "--env-steps" in words:  # more of the same run
            words[words.index("--env-steps") + 1] = "200"
    else:
        extra = [] if "--settings" in words else shlex.split(SMALL.get(name, ""))
        if name == "evaluate" and any(baseline in words[0] for baseline in ("-sac-", "-hac-")):
            extra = ["--episodes-per-depth", "1"]
        if name == "train" and "--algo" in words:
            algo = SMALL_BASELINES[words[words.index("--algo") + 1]]
            extra = extra if not algo else ["--env-steps", "100", "--set", *algo.split()]
        for large in {"--env-steps", "--figures", "--at"} & set(words):
            at = words.index(large)
            del words[at : at + 2]
        if "--set" in words and "--set" in extra:
            extra.remove("--set")
            at = words.index("--set")
            words[at + 1 : at + 1] = [word for word in extra if "=" in word]
            extra = [word for word in extra if "=" not in word]
        words += extra
    found = [sorted(map(str, Path().glob(word))) if "*" in word else [word] for word in words]
    return [name, *(word for several in found for word in several)]


@pytest.mark.parametrize("page", RUN_IN_ORDER)
def test_the_commands_of_a_page_work_in_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "runs").mkdir()
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    (tmp_path / "results").symlink_to(ROOT / "results")
    for name, code in re.findall(
        r"[Ss]ave this as `(\w+\.py)`:\n\n```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL
    ):
        (tmp_path / name).write_text(code)
    done = 0
    for line in dict.fromkeys(commands(page)):
        if not line.endswith("--dry-run") and any(line.startswith(one) for one in ONLY_PARSED):
            continue
        status = cli.main(shortened(line))
        said = capsys.readouterr().err
        assert "Traceback" not in said
        unready = line.split()[1] in UNREADY and any(why in said for why in NO_PLAN)
        assert status == 0 or unready, f"{line}\n{said}"
        done += 1
    assert done >= RUN_IN_ORDER[page]
    sys.modules.pop("my_env", None)


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES])
def test_the_commands_of_a_page_are_understood(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in dict.fromkeys([*commands(page), *mentioned(page)]):
        name, *words = filled(line)
        if name not in cli.COMMANDS:
            assert name in ("help", "COMMAND", "--help", "--version", "--completion"), line
            continue
        # in the text a command may stand without what it is about
        ways = (words, ["RUN", *words], [*words, "RUN"])
        found = next(filter(None, (understood(name, way) for way in ways)), None)
        assert found is not None, f"{line}\n{capsys.readouterr().err}"
        options = found[1]
        if name == "train" and options.resume is None and ":" not in options.env:
            settings, env = named_values(options.set), options.env or "lightsout-cursor"
            configure(env, algo=options.algo, preset=options.preset, settings=settings)


def understood(name: str, words: list[str]) -> tuple[Any, Any] | None:
    try:
        return cli.parsed(name, words)
    except SystemExit:
        return None


@pytest.mark.parametrize(
    "line",
    ["seads evaluate RUN --episodes 3", "seads train ENV --algo sacs", "seads plan RUN --boards x"],
)
def test_a_misspelt_command_is_really_found(line: str) -> None:
    name, *words = filled(line)
    assert understood(name, words) is None


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES])
def test_runs_are_named_as_training_names_them(page: str) -> None:
    for name in re.findall(r"runs/([\w-]+-seed\d)", (ROOT / page).read_text()):
        assert re.search(r"-(seads-[a-z-]+|vic|sac-paper|hac-paper)-seed\d$", name), name


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_example_says_how_it_is_run_and_what_came_out(page: str) -> None:
    """Its commands are of the run that they make, and its numbers those of the docs."""
    name, said = Path(page).stem, docstring(page)
    lines = list(commands(page))
    assert any(line.startswith(f"seads train {name}:factory ") for line in lines)
    runs = re.findall(r"runs/[\w-]+", said)
    assert set(runs) == {f"runs/{name}-factory-seads-default-seed0"}
    docs = (ROOT / "docs" / "own-environment.md").read_text()
    numbers = re.findall(r"\d+\.\d+|\d+,\d+", said.partition("What came out")[2])
    assert len(numbers) >= 2
    assert all(number in docs for number in numbers)


def test_make_train_makes_the_run_of_the_tutorial() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (name,) = re.findall(r"^RUN := (.*)$", makefile, re.MULTILINE)
    (env,) = re.findall(r"^TRAIN_ENV \?= (.*)$", makefile, re.MULTILINE)
    tutorial = (ROOT / "docs" / "tutorial.md").read_text()
    assert f"seads evaluate {name.replace('$(TRAIN_ENV)', env)}\n" in tutorial
