"""The command line as a user meets it: exit statuses, streams, and errors in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tyro

from seads import __version__, cli
from seads.commands.values import registry, whole_number

SEADS = Path(sys.executable).parent / "seads"


def test_no_command_and_help_list_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["-h"], ["--help"]):
        assert cli.main(arguments) == 0
        printed = capsys.readouterr().out
        for name, (_, line) in cli.COMMANDS.items():
            assert f"  {name} " in printed
            assert line in printed


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"seads {__version__}\n"


def test_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["env"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("seads: unknown command 'env'; did you mean 'envs'?")
    assert captured.err.count("\n") == 1


def test_unknown_option_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["envs", "--colour"])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert "--colour" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("word", "number"), [("12", 12), ("500_000", 500_000), ("5e5", 500_000), ("-3", -3)]
)
def test_whole_numbers_as_people_write_them(word: str, number: int) -> None:
    assert whole_number(word) == number


@pytest.mark.parametrize("word", ["two", "1.5", "1e6x", "nan", "inf", ""])
def test_what_is_no_whole_number_is_named(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["solve", "lightsout-cursor", "--depth", word])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert f"--depth: {word!r} is no whole number" in error
    assert "NoneType" not in error


def test_an_option_that_may_be_left_out_takes_any_word() -> None:
    options = tyro.cli(Left, args=["--text", "None", "--many", "3e2"], registry=registry())
    assert options == Left("None", None, 300)
    assert tyro.cli(Left, args=[], registry=registry()) == Left()


@dataclass(frozen=True)
class Left:
    """Options that may be left out."""

    text: str | None = None
    path: Path | None = None
    many: int | None = None


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([name, "--help"])
    assert stop.value.code == 0
    assert f"usage: seads {name}" in capsys.readouterr().out


@dataclass(frozen=True)
class Options:
    """Options of a command made for a test."""

    json: bool = False
    """Print JSON."""


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes `seads probe` run a given body, as a module of the package would."""

    def install(body: str) -> None:
        module = ModuleType("seads.commands.probe")
        module.__dict__["Options"] = Options
        source = "def run(options: Options) -> object:\n    " + body.replace("\n", "\n    ")
        exec(compile(source, "probe.py", "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(cli.COMMANDS, "probe", ("seads.commands.probe:run", "a probe"))

    return install


def test_json_is_alone_on_stdout(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command("print('chatter')\nreturn {'solved': True}")
    assert cli.main(["probe", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"solved": True}
    assert captured.err == "chatter\n"
    assert cli.main(["probe"]) == 0
    assert capsys.readouterr().out == "chatter\n"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "from seads.errors import SeadsError\nraise SeadsError('depth is 9; choose 1 to 5')",
            "seads: depth is 9; choose 1 to 5\n",
        ),
        (
            "from seads.errors import unknown\nraise unknown('game', 'chess', ['lightsout'])",
            "seads: unknown game 'chess'; choose from lightsout\n",
        ),
        ("open('/no/such/file')", "seads: /no/such/file: No such file or directory\n"),
        ("open('/dev', 'w')", "seads: /dev: Is a directory\n"),
        ("with open('/dev/full', 'w') as f: f.write('a')", "seads: No space left on device\n"),
        (
            "raise ModuleNotFoundError('no viser', name='viser.scene')",
            "seads: viser.scene is missing; pip install 'seads[web]'\n",
        ),
    ],
)
def test_a_users_error_is_one_sentence(
    body: str, sentence: str, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command(body)
    assert cli.main(["probe"]) == 2
    assert capsys.readouterr().err == sentence


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("int('seven')", ValueError),
        ("raise ValueError('row 3 has no running episode')", ValueError),
        ("raise OSError(5, 'Input/output error')", OSError),
        ("import nonexistent_library", ModuleNotFoundError),
        ("raise BrokenPipeError", BrokenPipeError),
        ("[][0]", IndexError),
    ],
)
def test_a_defect_keeps_its_traceback(body: str, kind: type[Exception], command: Any) -> None:
    command(body)
    with pytest.raises(kind):
        cli.main(["probe"])


def test_interrupt_exits_130(command: Any) -> None:
    command("raise KeyboardInterrupt")
    assert cli.main(["probe"]) == 130


@pytest.mark.parametrize("arguments", [["--help"], ["envs"], ["envs", "--json"]])
def test_a_closed_pipe_is_quiet(arguments: list[str]) -> None:
    # Buffered, as for a user: what is left in the buffer meets the closed pipe only at the end.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        [SEADS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_envs_lists_the_papers_environments(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["envs", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    skills = {name: one["moves"] for name, one in listed.items()}
    bodies = ("cursor", "reacher", "jaco")
    paper = {f"lightsout-{body}": 25 for body in bodies} | {f"tileswap-{b}": 12 for b in bodies}
    paper |= {"lightsout3d-jaco": 25, "lightsout-cursor-13x13-spaced": 169}
    assert paper.items() <= skills.items()
    assert listed["lightsout-cursor"]["gym_id"] == "seads/LightsOutCursor-v0"
    assert [listed[f"lightsout-{b}"]["step_limit"] for b in bodies] == [10, 50, 50]

    assert cli.main(["envs"]) == 0
    captured = capsys.readouterr()
    _, *table = captured.out.splitlines()
    assert captured.err == "next: seads train lightsout-cursor\n"
    assert [line.split()[0] for line in table] == list(listed)
    assert all(one["gym_id"] in line for line, one in zip(table, listed.values(), strict=True))
