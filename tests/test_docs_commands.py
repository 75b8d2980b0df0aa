"""The commands of the docs, in the order in which they are written, on an empty `runs/`: all work.

As they stand, but for budgets: how long is trained, how much is measured, how long is planned.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seads import cli

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
}
"""What is added to a command, unless it says it itself."""
UNREADY = ("play",)
"""Whose board an agent of a few steps may not solve."""
NO_PLAN = ("time budget reached", "knows no way to the goal")


def commands(page: str) -> Iterator[str]:
    """Every `seads` command line in the blocks of a page, a loop's once."""
    text = (ROOT / page).read_text()
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in () if language else block.splitlines():
            looped = re.fullmatch(r"for (\w+) in (.*); do (.*); done", line)
            if looped:
                line = looped[3].replace(f"${looped[1]}", looped[2].split()[-1])
            if line.startswith("seads "):
                yield line.partition("  #")[0]


def shortened(line: str) -> list[str]:
    """The words of a command with a small budget, and names of files for patterns."""
    _, name, *words = shlex.split(line)
    if "--resume" in words:
        if "--env-steps" in words:  # more of the same run
            words[words.index("--env-steps") + 1] = "200"
    else:
        extra = shlex.split(SMALL.get(name, ""))
        for large in {"--env-steps", "--figures"} & set(words):
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


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/own-environment.md"])
def test_the_commands_of_a_page_work_in_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "runs").mkdir()
    for name, code in re.findall(
        r"[Ss]ave this as `(\w+\.py)`:\n\n```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL
    ):
        (tmp_path / name).write_text(code)
    done = 0
    for line in commands(page):
        status = cli.main(shortened(line))
        said = capsys.readouterr().err
        assert "Traceback" not in said
        unready = line.split()[1] in UNREADY and any(why in said for why in NO_PLAN)
        assert status == 0 or unready, f"{line}\n{said}"
        done += 1
    assert done >= 4
    sys.modules.pop("my_env", None)


def test_make_train_makes_the_run_of_the_tutorial() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (name,) = re.findall(r"^RUN := (.*)$", makefile, re.MULTILINE)
    (env,) = re.findall(r"^TRAIN_ENV \?= (.*)$", makefile, re.MULTILINE)
    tutorial = (ROOT / "docs" / "tutorial.md").read_text()
    assert f"seads evaluate {name.replace('$(TRAIN_ENV)', env)}\n" in tutorial
