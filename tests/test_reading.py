"""Files are a boundary: whatever they hold, a sentence names the file, and nothing is built of it.

Each of these ended a command in a traceback, or was built, or cost more than itself.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.show.sample_runs import untrained_agent, write_run

from seads import cli
from seads.agent.arrays import read_arrays, write_arrays
from seads.agent.presets import preset
from seads.errors import SeadsError
from seads.reading import LONGEST_LINE, MOST_BYTES
from seads.show.report.reading import read_run
from seads.training.checkpoint import newest_checkpoint, write_checkpoint
from seads.training.config import read_config
from seads.training.metrics import keep_until, read_metrics

ENV = "lightsout-cursor-2x2"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("agent")
    untrained_agent(ENV).save(home)
    return home


def damaged(whole: Any, place: tuple[str | int, ...], value: Any) -> bytes:
    """JSON with another value in one place; `...` takes the place away."""
    content = copy.deepcopy(whole)
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return json.dumps(content).encode()


RAW: dict[str, bytes] = {
    "nothing": b"",
    "half": b'{"format": 1, "env": "lights',
    "no object": b"[]",
    "a number": b"3",
    "no UTF-8": b'{"format": 1, "env": "\xff\xfe"}',
    "nested deeply": b'{"a":' * 100_000,
    "lists nested deeply": b"[" * 100_000,
    "too large": b" " * (MOST_BYTES + 1),
    "zeros": bytes(1000),
}
CARDS: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "no environment": (("env",), ...),
    "an environment of 7": (("env",), 7),
    "an environment without a name": (("env",), ""),
    "an endless name": (("env",), "x" * 10_000),
    "options in a list": (("env_options",), []),
    "options of options": (("env_options",), {"physics": {"deep": 1}}),
    "how one is made among the options": (("env_options",), {"num_envs": 5}),
    "depths among the options": (("env_options",), {"depths": [1]}),
    "another word": (("moon",), "full"),
    "another word inside": (("architecture", "moon"), "full"),
    "another game": (("env",), "tileswap-cursor"),
    "a game that is none": (("env",), "chess-cursor"),
    "no architecture": (("architecture",), ...),
    "an architecture of nothing": (("architecture",), None),
    "no skills": (("architecture", "num_skills"), ...),
    "a billion skills": (("architecture", "num_skills"), 10**9),
    "minus three skills": (("architecture", "num_skills"), -3),
    "half a skill": (("architecture", "num_skills"), 0.5),
    "skills in words": (("architecture", "num_skills"), "four"),
    "true skills": (("architecture", "num_skills"), True),
    "a billion bits": (("architecture", "num_bits"), 10**9),
    "a wide layer": (("architecture", "hidden"), [10**9]),
    "wide layers that are allowed": (("architecture", "hidden"), [65_536] * 60),
    "a million layers": (("architecture", "hidden"), [1] * 1_000_000),
    "no layers": (("architecture", "hidden"), []),
    "layers in words": (("architecture", "hidden"), ["a"]),
    "an unknown model": (("architecture", "model"), "quantum"),
    "more bits than are seen": (("architecture", "num_bits"), 60_000),
    "another algorithm": (("architecture", "algorithm"), "magic"),
    "statistics of nobody": (("skills",), [{"skill": 1}]),
    "statistics in words": (("skills",), "good"),
    "coverage in words": (("coverage",), "<b>all</b>"),
    "steps before the start": (("env_steps",), -1),
    "another format": (("format",), 2),
    "a format in words": (("format",), "one"),
}


OWN_WORDS = {
    "another algorithm": "unknown algorithm with skills 'magic'",
    "a game that is none": "unknown environment 'chess-cursor'",
}


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """A command line ends with status 2 and one sentence, which is returned."""
    assert cli.main(list(words)) == 2
    said = capsys.readouterr().err
    assert said.startswith("seads: ")
    assert said.count("\n") == 1
    assert len(said) < 1000
    return said


@pytest.mark.parametrize("name", [*RAW, *CARDS])
def test_a_broken_card(
    name: str, agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = json.loads((agent / "card.json").read_bytes())
    os.link(agent / "weights.safetensors", tmp_path / "weights.safetensors")
    broken = RAW[name] if name in RAW else damaged(card, *CARDS[name])
    (tmp_path / "card.json").write_bytes(broken)
    said = refused(capsys, "plan", str(tmp_path), "--board", "#...")
    if name in OWN_WORDS:
        assert OWN_WORDS[name] in said
    else:
        # the networks of wide layers are not built to find that the weights are others
        assert ("weights.safetensors" if name.startswith("wide") else "card.json") in said


def test_a_card_that_is_a_pipe_is_not_waited_for(
    agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "card.json")
    refused(capsys, "plan", str(tmp_path), "--board", "#...")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def other_shape(path: Path) -> None:
    arrays = read_arrays(path)
    name = next(iter(arrays))
    write_arrays(path, arrays | {name: arrays[name][..., :1]})


def other_type(path: Path) -> None:
    write_arrays(path, {name: one.astype(np.float64) for name, one in read_arrays(path).items()})


def not_finite(path: Path) -> None:
    write_arrays(path, {name: one * np.nan for name, one in read_arrays(path).items()})


def huge_header(path: Path) -> None:
    path.write_bytes((2**62).to_bytes(8, "little") + path.read_bytes()[8:])


@pytest.mark.parametrize("harm", [cut, other_shape, other_type, not_finite, huge_header])
def test_broken_weights(
    harm: Callable[[Path], None], agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in agent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    harm(tmp_path / "weights.safetensors")
    assert "weights.safetensors" in refused(capsys, "plan", str(tmp_path), "--board", "#...")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "run", ENV)


@pytest.fixture
def copied(run: Path, tmp_path: Path) -> Path:
    for file in run.rglob("*"):
        if file.is_file():
            place = tmp_path / file.relative_to(run)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    return tmp_path


PLACES: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("config.json", ("env",), 7),
    ("config.json", ("env",), ...),
    ("config.json", ("seed",), "zero"),
    ("config.json", ("seed",), -1),
    ("config.json", ("seed",), 10**30),
    ("config.json", ("moon",), 1),
    ("config.json", ("agent",), []),
    ("config.json", ("agent",), ...),
    ("config.json", ("agent", "alpha"), "high"),
    ("config.json", ("agent", "hidden"), [10**9]),
    ("config.json", ("agent", "hidden"), 256),
    ("config.json", ("agent", "num_skills"), 10**9),
    ("config.json", ("agent", "buffer_episodes"), 10**15),
    ("config.json", ("agent", "moon"), 1),
    ("config.json", ("agent", "algorithm"), "magic"),
    ("config.json", ("agent", "algorithm"), ["seads"]),
    ("config.json", ("preset",), None),
    ("config.json", ("changed",), "alpha"),
    ("config.json", ("coverage_starts",), 10**12),
    ("config.json", ("env_options",), {"a": {"b": {}}}),
    ("config.json", ("env_options",), {"name": "x"}),
    ("meta.json", ("status",), 3),
    ("meta.json", ("status",), "dancing"),
    ("meta.json", ("env_steps",), "many"),
    ("meta.json", ("budget",), None),
    ("meta.json", ("seads",), 7),
    ("agent/card.json", ("env_steps",), "many"),
    ("eval/coverage.json", ("coverage",), 3),
    ("eval/coverage.json", ("coverage", "mean"), "all"),
    ("eval/coverage.json", ("env_steps",), "many"),
    ("eval/coverage.json", ("curve",), [{"coverage": 1.0}]),
    ("eval/tasks-True.json", ("tasks",), []),
    ("eval/tasks-True.json", ("tasks", "depths"), [1, 2]),
    ("eval/tasks-True.json", ("tasks", "depths"), {"one": {}}),
    ("eval/tasks-True.json", ("tasks", "depths", "1", "boards"), 0),
    ("eval/tasks-True.json", ("tasks", "depths", "1", "success"), 7.0),
    ("eval/tasks-True.json", ("tasks", "depths", "1", "solution_length"), {"mean": 1.0}),
    ("eval/tasks-True.json", ("tasks", "boards"), 0),
    ("eval/tasks-True.json", ("tasks", "failures"), {"no_plan": "all"}),
    ("eval/tasks-True.json", ("tasks", "tasks", 0, "solved"), "yes"),
    ("eval/tasks-True.json", ("tasks", "tasks", 0, "skill_steps"), [[1]]),
    ("eval/skill_maps.json", ("skill_maps", "skills"), []),
    ("eval/skill_maps.json", ("skill_maps", "skills", 0, "runs", 0, "path"), []),
    ("eval/skill_maps.json", ("skill_maps", "skills", 0, "runs", 0, "path"), [[1]]),
    ("eval/skill_maps.json", ("skill_maps", "skills", 0, "skill"), 10**9),
]


REPORTED = [("env", 7), ("env", ...), ("seed", "zero"), ("agent", []), ("preset", None)]


@pytest.mark.parametrize(("file", "place", "value"), PLACES, ids=str)
def test_a_broken_file_of_a_run(file: str, place: tuple, value: Any, copied: Path) -> None:
    path = copied / file
    path.write_bytes(damaged(json.loads(path.read_bytes()), place, value))
    # a report also shows runs of other versions, with other settings
    only_to_continue = file == "config.json" and (place[-1], value) not in REPORTED
    with pytest.raises(SeadsError) as error:
        read_config(path) if only_to_continue else read_run(copied)
    says = str(error.value)
    assert str(path) in says or "algorithm" in says
    assert "\n" not in says
    assert len(says) < 1500


@pytest.mark.parametrize(
    "file", ["config.json", "meta.json", "agent/card.json", "eval/coverage.json"]
)
@pytest.mark.parametrize("raw", [name for name in RAW if name != "too large"])
def test_a_file_of_a_run_that_is_no_json(file: str, raw: str, copied: Path) -> None:
    (copied / file).write_bytes(RAW[raw])
    with pytest.raises(SeadsError, match=file):
        read_run(copied)


NOT_A_NUMBER = b'{"epoch": 1, "env_steps": 2, "reward": NaN}'
LINES = [
    b"",
    b"\xff\xfe",
    b"[3]",
    NOT_A_NUMBER,
    b'{"epoch": "one", "env_steps": 2}',
    b'{"epoch": 1e999, "env_steps": 2}',
    b'{"epoch": -1, "env_steps": 2}',
    b'{"epoch": 1, "env_steps": 2, "coverage": [1]}',
    b'{"epoch": 1}',
    b'{"a":' * 50_000,
    b'{"epoch": 1, "env_steps": 2, "x": "' + b"y" * 3 * LONGEST_LINE + b'"}',
]


@pytest.mark.parametrize("file", ["metrics.jsonl", "timing.jsonl"])
def test_a_damaged_line_costs_itself_alone(file: str, copied: Path) -> None:
    path = copied / file
    good = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([good[0], *LINES, *good[1:], b'{"epoch": 110, "env_st']))
    found = read_run(copied)
    assert len(found.metrics) == len(found.timing) == len(good)
    assert found.damaged == len(LINES) + 1
    keep_until(path, 50)
    assert [line["epoch"] for line in read_metrics(path)][-1] == 50
    assert len([line for line in read_metrics(path) if line["epoch"] > 1]) == 5


@pytest.mark.parametrize("harm", [b"", b"{}", b"[]", b'{"sha256": 3}', b"\xff", b'{"a":' * 9999])
def test_a_broken_manifest(harm: bytes, tmp_path: Path) -> None:
    written = write_checkpoint(tmp_path, 7, {"a": np.zeros(3)}, {"epoch": 1}, keep=2)
    (written / "manifest.json").write_bytes(harm)
    with pytest.raises(SeadsError, match=r"no good checkpoint in .*manifest\.json"):
        newest_checkpoint(tmp_path, lambda arrays, facts: facts)


def test_a_config_comes_back_as_it_was(run: Path) -> None:
    config = read_config(run / "config.json")
    assert config.env == ENV
    assert config.settings == preset()
