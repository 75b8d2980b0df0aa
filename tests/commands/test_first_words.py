"""The first ten minutes at the command line: help, completion, plain terminals, any order."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from seads import cli


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with contextlib.suppress(SystemExit):
        assert cli.main(list(words)) == 0
    return capsys.readouterr().out


def test_help_is_where_one_looks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "help") == said(capsys, "--help")
    assert said(capsys, "help", "train") == said(capsys, "train", "--help")
    assert cli.main(["help", "trian"]) == 2


def test_the_package_is_a_command() -> None:
    done = subprocess.run([sys.executable, "-m", "seads", "--version"], capture_output=True)
    assert done.stdout.startswith(b"seads ")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_no_default_that_says_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = " ".join(said(capsys, name, "--help").replace("│", " ").split())
    for empty in ("(default: None)", "(default: )", "(default: '')"):
        assert empty not in words


def test_options_may_come_before_what_they_are_of(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (
        "--settings --seed 3 lightsout-cursor",
        "--settings --set alpha=0.5 gamma=0.9 lightsout-cursor",
        "--settings --set alpha=0.5 lightsout-cursor --set gamma=0.9",
        "lightsout-cursor --settings --set alpha=0.5",
    ):
        assert said(capsys, "train", *line.split()).startswith("lightsout-cursor, --algo seads")
    assert cli.main(["train", "lightsout-cursor", "--set", "alpha"]) == 2
    assert "'alpha' is not of the form NAME=VALUE" in capsys.readouterr().err


def test_ctrl_c_is_heeded_in_a_shells_background_job() -> None:
    """There it is set to do nothing, and a film or a replay went on for minutes."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert cli.main(["--version"]) == 0
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


COMPLETE = """
source <({python} -m seads --completion bash)
COMP_WORDS=({words}) COMP_CWORD={last}
_seads
echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("seads ev", {"evaluate"}),
        ("seads train lightsout-re", {"lightsout-reacher"}),
        ("seads solve tileswap-j", {"tileswap-jaco"}),
        ("seads train --env-s", {"--env-steps", "--env-set"}),
        ("seads evaluate --no-r", {"--no-replan"}),
        ("seads help pla", {"plan", "play"}),
        ("seads robot cal", {"calibrate"}),
        ("seads robot lightsout", set()),
    ],
)
def test_a_shell_completes(words: str, wanted: set[str]) -> None:
    script = COMPLETE.format(python=sys.executable, words=words, last=len(words.split()) - 1)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == wanted


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "evaluate" in said(capsys, "--completion", shell)
    assert cli.main(["--completion", "tcsh"]) == 2
    assert "choose from bash, zsh, fish" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["envs --boards", "train --help", "plan lightsout-cursor"])
def test_a_terminal_that_knows_ascii_alone(words: str) -> None:
    shell = {**os.environ, "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"}
    board = ["--board", ".#... ###.. .#... ..... ....."]
    line = [*words.split(), *(board if words.startswith("plan") else [])]
    done = subprocess.run([sys.executable, "-m", "seads", *line], capture_output=True, env=shell)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    if words.startswith("envs"):
        assert b"lightsout, 5x5" in done.stdout
