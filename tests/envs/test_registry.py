"""The table of environments: names, descriptions, and the door for a user's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seads import streams
from seads.envs import ENVIRONMENTS, describe, make_env
from seads.envs.registry import gym_id


def run(code: str, *, cwd: Path | None = None) -> str:
    """A fresh Python without the tests' type checks, as a user's would be."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, check=True
    )
    return done.stdout


def test_the_table_can_be_read_without_physics_or_jax() -> None:
    code = (
        "import json, sys, seads.envs as e\n"
        "facts = [e.describe(name) for name in e.ENVIRONMENTS]\n"
        "heavy = {'mujoco', 'jax', 'dm_control', 'scipy'} & set(sys.modules)\n"
        "print(json.dumps([sorted(heavy), facts]))"
    )
    heavy, facts = json.loads(run(code))
    assert heavy == []
    assert [fact["name"] for fact in facts] == list(ENVIRONMENTS)
    assert facts[0] == {
        "name": "lightsout-cursor",
        "gym_id": "seads/LightsOutCursor-v0",
        "game": "lightsout",
        "size": 5,
        "shape": [5, 5],
        "manipulator": "cursor",
        "moves": 25,
        "bits": 25,
        "observation_size": 28,
        "action_size": 3,
        "step_limit": 10,
    }


def test_gymnasium_ids_are_distinct_and_read_well() -> None:
    assert len({gym_id(name) for name in ENVIRONMENTS}) == len(ENVIRONMENTS)
    assert gym_id("lightsout3d-jaco") == "seads/LightsOut3DJaco-v0"
    assert gym_id("lightsout-cursor-13x13-spaced") == "seads/LightsOutCursor13x13Spaced-v0"


def test_paper_sizes() -> None:
    moves = {name: describe(name)["moves"] for name in ENVIRONMENTS}
    assert moves["lightsout-cursor-13x13"] == 169
    assert moves["tileswap-jaco"] == 12
    assert describe("tileswap-reacher")["bits"] == 81
    assert [
        describe(f"lightsout-{body}")["step_limit"] for body in ("cursor", "reacher", "jaco")
    ] == [
        10,
        50,
        50,
    ]


BAD = {
    'make_env("lightsout-curser")': "did you mean 'lightsout-cursor'? choose from",
    'make_env("lightsout-cursor", 0)': "num_envs is 0",
    'make_env("lightsout-cursor", wheels=3)': "has no option 'wheels'; choose from observation",
    'make_env("lightsout-jaco", board="tileswap")': "has no option 'board'",
    'make_env("lightsout-cursor", observation="rgb")': "unknown observation 'rgb'",
    'make_env("lightsout-reacher", observation="rgb")': "unknown observation 'rgb'",
    'make_env("lightsout-reacher", threads=-1)': "threads is -1",
    'make_env("lightsout-cursor", mode="play")': "unknown mode 'play'; choose from skill, task",
    'make_env("lightsout-cursor", split="dev")': "unknown split 'dev'; choose from train, test",
    'make_env("lightsout-cursor", depths=(3, 2))': "depths (3, 2) must be",
    'make_env("lightsout-cursor", depths=(0, 2))': "depths (0, 2) must be",
    'make_env("nowhere:make")': "no module 'nowhere'",
    'make_env("json:make")': "json/__init__.py) has no function 'make'",
}


def test_wrong_requests_say_what_is_allowed() -> None:
    code = (
        "from seads.envs import make_env\nimport json\nsays = {}\n"
        f"for request in {list(BAD)!r}:\n"
        "    try:\n        eval(request)\n        says[request] = 'accepted'\n"
        "    except Exception as error:\n"
        "        says[request] = f'{type(error).__name__}: {error}'\n"
        "print(json.dumps(says))"
    )
    says = json.loads(run(code))
    for request, message in BAD.items():
        assert says[request].startswith(("ValueError", "SeadsError")), says[request]
        assert message in says[request], request


OWN = """
from seads.envs import make_env
def factory(num_envs, split="train", colour="red"):
    env = make_env("lightsout-cursor-2x2", num_envs, split=split)
    env.colour = colour
    return env
def nothing(num_envs):
    return object()
"""


def test_a_users_factory_gets_what_it_asks_for(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    code = (
        "from seads.envs import make_env\n"
        "env = make_env('mine:factory', 3, split='test', colour='blue')\n"
        "print(env.num_envs, env.split, env.colour)\n"
        "for request in (dict(name='mine:factory', mode='task'), dict(name='mine:nothing')):\n"
        "    try:\n        make_env(**request)\n"
        "    except ValueError as error:\n        print(error)\n"
    )
    first, second, third = run(code, cwd=tmp_path).strip().splitlines()
    assert first == "3 test blue"
    assert "has no task mode" in second
    assert "lacks spec, num_envs, reset, resume, step, symbols, close; wrap a Gymnasium" in third


@pytest.mark.parametrize(
    ("name", "fits"), [("lightsout-cursor-5x5", 5), ("lightsout-cursor-13x13", 13)]
)
def test_tiles_are_a_thirteenth_wide_whatever_the_board(name: str, fits: int) -> None:
    env = make_env(name, 1)
    middle = np.array([[0.5, 0.5]])
    edge = np.array([[0.5 + (fits / 2 - 0.01) / 13, 0.5]])
    beyond = np.array([[0.5 + (fits / 2 + 0.01) / 13, 0.5]])
    board = env.boards[:1]  # type: ignore[attr-defined]
    moves = [int(env.game.move_at(point, board)[0]) for point in (middle, edge, beyond)]  # type: ignore[attr-defined]
    row = fits // 2 * fits
    assert moves == [row + fits // 2, row + fits - 1, -1]
    env.reset(streams.row_seeds(0, 1))
    env.close()
