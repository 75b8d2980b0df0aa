"""A user's environment that does what it must not: one sentence, with its name and the row."""

from __future__ import annotations

import importlib
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.own_point import POINT

from seads import cli, streams
from seads.envs import make_env, wrap
from seads.errors import SeadsError

FAULTS = (
    POINT
    + """
import sys

class Late(Point):
    steps = 0

    def step(self, action):
        self.steps += 1
        seen, *rest = super().step(action)
        if self.steps == 3:
            seen = self.fall(seen)
        return seen, *rest

class Leaves(Late):
    def fall(self, seen):
        sys.exit(0)

class Longer(Late):
    def fall(self, seen):
        return np.r_[seen, 0]

class NotANumber(Late):
    def fall(self, seen):
        return seen * np.nan

class Farther(Late):
    def fall(self, seen):
        return seen * 0 + np.float32(1e25)

class Keys(Late):
    observation_space = gymnasium.spaces.Dict(
        a=Point.observation_space, b=Point.observation_space
    )
    def reset(self, **more):
        return {"a": super().reset(**more)[0], "b": self.x}, {}
    def step(self, action):
        seen, *rest = super().step(action)
        return (seen if isinstance(seen, dict) else {"a": seen, "b": seen}), *rest
    def fall(self, seen):
        return {"a": seen}

class Clings(Point):
    def close(self):
        raise RuntimeError("the door is stuck")

class Arrives(Late):
    def fall(self, seen):
        return seen * 0 + np.float32(0.95)

class Many(Point):
    observation_space = gymnasium.spaces.Sequence(Point.observation_space)

class LongFromTheStart(Point):
    def reset(self, **more):
        return np.zeros(2, np.float32), {}

class OldStep(Point):
    def step(self, action):
        return super().step(action)[:4]

class OldReset(Point):
    def reset(self, **more):
        return super().reset(**more)[0]

class ForgetsInfo(OldReset):
    resets = 0

    def reset(self, **more):
        self.resets += 1
        return Point.reset(self, **more) if self.resets == 1 else super().reset(**more)

def Three():
    return 3

def phi_of_one(seen):
    assert seen.shape == (1,)
    return phi(seen)

def phi_ragged(seen):
    return [[1, 0], 1] if seen[0] == np.float32(0.95) else [0, 1]

def phi_leaves(seen):
    return sys.exit("no phi") if seen[0] == np.float32(0.95) else [0, 1]

def factory(num_envs, kind="Point", of="phi", vectorise="none"):
    seen = globals()[of]
    return wrap(
        globals()[kind],
        (lambda both: seen(both["a"])) if kind == "Keys" else seen,
        num_envs,
        step_limit=9,
        vectorise=vectorise,
    )

SHARED = Point()

def make_shared():
    return gymnasium.Wrapper(SHARED)

def shared(num_envs, vectorise="none"):
    return wrap(make_shared, phi, num_envs, step_limit=9, vectorise=vectorise)

def leaves(num_envs):
    sys.exit("cannot go on")
"""
)


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_faults.py").write_text(FAULTS)
    (tmp_path / "own_leaves.py").write_text('raise SystemExit("not today")')
    sys.modules.pop("own_faults", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()


def third_step(**options: Any) -> None:
    """Step three times, the last of which brings the fault."""
    env = make_env("own_faults:factory", 2, **options)
    try:
        env.reset(streams.row_seeds(0, 2))
        for _ in range(3):
            env.step(np.zeros((2, 1)))
    finally:
        env.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "Leaves"}, r"row 0 failed in step: SystemExit: 0 \(own_faults.py, line \d+\)"),
        ({"kind": "Leaves", "vectorise": "threads"}, "row 0 failed in step: SystemExit: 0 "),
        (
            {"kind": "Longer"},
            r"row 0: an observation has 2 numbers; its space Box\(.*\) has 1",
        ),
        ({"kind": "Longer", "of": "phi_of_one"}, "row 0: an observation has 2 numbers"),
        ({"kind": "Many"}, r"observations of Sequence\(.*\) cannot be flattened$"),
        ({"kind": "LongFromTheStart", "of": "phi_of_one"}, "an observation has 2 numbers"),
        (
            {"kind": "OldStep"},
            "row 0: step returned 4 values; Gymnasium's returns observation, reward, terminated, ",
        ),
        (
            {"kind": "OldReset"},
            "row 0: reset returned ndarray; Gymnasium's returns observation, info$",
        ),
        ({"kind": "ForgetsInfo"}, "row 0: reset returned ndarray; Gymnasium's"),
        (
            {"kind": "Three"},
            "row 0: make returned 3, which lacks reset, step, .*; allowed: a gymnasium.Env$",
        ),
        ({"kind": "Keys"}, "row 0: an observation does not fit the space Dict.*KeyError: 'b'"),
        (
            {"kind": "NotANumber"},
            r"row 0: observation\[0\] is nan; allowed: finite numbers, of 1e\+15 at most",
        ),
        ({"kind": "Farther"}, r"row 0: observation\[0\] is 1e\+25; allowed"),
        (
            {"kind": "Arrives", "of": "phi_ragged"},
            r"row 0: phi must return a vector of bits, not \[\[1, 0\], 1\]: ValueError",
        ),
        ({"kind": "Arrives", "of": "phi_leaves"}, "row 0: phi failed: SystemExit: no phi"),
    ],
)
def test_a_row_that_goes_wrong_is_named(options: dict[str, str], words: str) -> None:
    with pytest.raises(SeadsError, match=f"^environment 'own_faults:factory': {words}"):
        third_step(**options)


@pytest.mark.parametrize("command", ["check", "train"])
@pytest.mark.parametrize("env", ["own_faults:factory", "lightsout-cursor"])
@pytest.mark.parametrize("option", ["num_envs=3", "name=x", "split=test"])
def test_options_do_not_have_the_names_by_which_rows_are_made(
    command: str, env: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([command, env, "--env-set", option]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("seads: ")
    assert f"{option.split('=')[0]!r} is no option of an environment" in said


@pytest.mark.parametrize("name", [":factory", "own_faults:"])
def test_half_a_name_is_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", name]) == 2
    assert f"environment {name!r}; allowed: module:factory" in capsys.readouterr().err


@pytest.mark.parametrize("vectorise", ["none", "threads"])
def test_one_environment_for_all_rows_is_refused(vectorise: str) -> None:
    with pytest.raises(SeadsError, match="rows 0 and 1 are one and the same environment"):
        make_env("own_faults:shared", 3, vectorise=vectorise)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own_faults:leaves", "its factory failed: SystemExit: cannot go on"),
        ("own_leaves:factory", "own_leaves cannot be imported: SystemExit: not today"),
    ],
)
def test_a_factory_that_leaves_is_an_error(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["check", name]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"seads: environment {name!r}: {words}")


def test_an_error_in_closing_is_told_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    make_env("own_faults:factory", 3, kind="Clings").close()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: row 0 failed in close: RuntimeError: the door is stuck (own_")
    assert line.endswith(", and 2 more rows")


def test_what_is_no_environment_is_closed_and_lists_are_as_good_as_tuples() -> None:
    closed = []

    class Half:
        def close(self) -> None:
            closed.append(self)

    with pytest.raises(SeadsError, match="which lacks reset, step, observation_space"):
        make_batch(Half)
    assert len(closed) == 1
    point: Any = importlib.import_module("own_faults").Point

    class Lists(point):
        def step(self, action: Any) -> Any:
            return list(super().step(action))

    with closing(make_batch(Lists)) as env:
        env.reset(streams.row_seeds(0, 1))
        env.step(np.zeros((1, 1)))


def make_batch(make: Any) -> Any:
    """One row of it."""
    return wrap(make, importlib.import_module("own_faults").phi, 1, step_limit=9)
