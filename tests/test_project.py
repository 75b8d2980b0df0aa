"""The project's own rules: who may import whom, what stays light, and what is never loaded."""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import seads
from seads import cli
from seads.envs.registry import MANIPULATORS
from seads.games import GAMES

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "seads"

# Top to bottom; a module imports only from its own layer's package and from layers above it.
LAYERS: list[set[str]] = [
    {"errors"},
    {"checkpoints", "cores", "files", "jax_setup", "reading", "streams", "tables", "terminal"}
    | {"threads", "trust"},
    {"games"},
    {"envs"},
    {"robot"},
    {"agent"},
    {"planning"},
    {"solving"},
    {"baselines"},
    {"evaluation"},
    {"training"},
    {"studies"},
    {"show"},
    {"commands"},
    {"cli", "__init__"},
    {"__main__"},
]
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}

PHYSICS = {"mujoco", "dm_control", "gymnasium"}
LEARNING = {"jax", "jaxlib", "equinox", "optax"}
# What a package may not import although its layer would allow it.
FORBIDDEN = {
    "errors": {"numpy", "tyro", "rich"} | PHYSICS | LEARNING,
    "streams": PHYSICS | LEARNING,
    "games": PHYSICS | LEARNING,
    "planning": {"seads.envs"} | PHYSICS,
    "robot": PHYSICS | LEARNING,
    "agent": PHYSICS,
}
RUNS_CODE_ON_LOADING = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}

MODULES = sorted(SOURCE.rglob("*.py"))


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    """Every module an import statement anywhere in the tree can reach, by its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parts, base] if base else parts)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    """The name in `LAYERS` that a module of the package belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def offences(path: Path, source: str) -> list[str]:
    """The imports of one module that break the order of packages."""
    module = module_name(path)
    own = layer_of(module)
    if own not in DEPTH:
        return [f"{own} has no place in LAYERS"]
    found = []
    for target in imports(ast.parse(source), module, path.name == "__init__.py"):
        banned = FORBIDDEN.get(own, set())
        if any(target == name or target.startswith(f"{name}.") for name in banned):
            found.append(f"{own} must not import {target}")
        if target == "seads" or target == "seads.__version__":
            continue  # the name of the package alone; what is taken from it comes next
        if not target.startswith("seads."):
            continue
        other = layer_of(target)
        if other not in DEPTH:
            found.append(f"{target} is not a module in LAYERS")
        elif other != own and DEPTH[other] >= DEPTH[own]:
            found.append(f"{own} is above {other}, but imports {target}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_packages_import_only_from_above(path: Path) -> None:
    assert offences(path, path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("games/chess.py", "import mujoco"),
        ("games/chess.py", "def f():\n    from jax import numpy"),
        ("games/chess.py", "from seads.envs.interface import Step"),
        ("games/chess.py", "from ..envs import interface"),
        ("games/__init__.py", "from ..envs import interface"),
        ("planning/bfs.py", "from seads import envs"),
        ("planning/bfs.py", "import seads.envs.registry as r"),
        ("planning/bfs.py", "from dm_control import mjcf"),
        ("envs/cursor.py", "from seads import make_env"),
        ("envs/cursor.py", "from seads.agent import networks"),
        ("training/loop.py", "import seads.cli"),
        ("toolbox.py", "import math"),
    ],
)
def test_the_order_is_really_checked(module: str, line: str) -> None:
    assert offences(SOURCE / module, line)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("games/chess.py", "from seads.streams import fork\nfrom . import game\nimport jaxtyping"),
        ("envs/cursor.py", "from seads.games import game\nfrom .interface import Step"),
        ("training/loop.py", "from seads import __version__, envs"),
    ],
)
def test_the_order_allows_what_it_should(module: str, line: str) -> None:
    assert offences(SOURCE / module, line) == []


def asks_which(path: Path, source: str) -> list[str]:
    """Where a module names a game's class, or a manipulator, that is not its own affair.

    The command line's table may, and the command itself: it may have a manipulator's name.
    """
    package = layer_of(module_name(path))
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name | ast.alias) and package != "games":
            name = node.id if isinstance(node, ast.Name) else node.name
            found += [name] if name in {game.__name__ for game in GAMES.values()} else []
        elif isinstance(node, ast.Constant) and node.value in MANIPULATORS:
            home = str(MANIPULATORS[node.value].home)
            own = package in ("envs", "cli") or home.startswith(f"{module_name(path)}:")
            own |= module_name(path) == f"seads.commands.{node.value}"
            found += [] if own else [node.value]
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_nobody_asks_which_game_or_manipulator_it_is(path: Path) -> None:
    assert asks_which(path, path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("show/figure.py", "from seads.games import LightsOut"),
        ("show/figure.py", "isinstance(game, TileSwap)"),
        ("show/figure.py", "SPEED = {'jaco': 10}"),
        ("games/chess.py", "SPEED = {'cursor': 1}"),
        ("robot/pens.py", "name = 'robot'"),
    ],
)
def test_asking_is_really_looked_for(module: str, line: str) -> None:
    assert asks_which(SOURCE / module, line)


def code_loaders(source: str) -> list[str]:
    """What in a module could run code from a data file."""
    tree = ast.parse(source)
    found = [name for name in imports(tree, "seads", False) if name in RUNS_CODE_ON_LOADING]
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                found.append("allow_pickle")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id] if node.func.id in ("eval", "exec") else []
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_nothing_loads_code_from_data(path: Path) -> None:
    assert code_loaders(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from cloudpickle import loads", "np.load(f, allow_pickle=True)", "eval(x)"],
)
def test_loading_code_is_really_looked_for(line: str) -> None:
    assert code_loaders(line)


JSON_READERS = re.compile(r"\bjson\.(load|loads|decode|Decoder)\b|\bfrom (msgspec\.)?json import\b")


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_json_is_read_by_the_one_reader(path: Path) -> None:
    """Files and wires alike: typed, bounded, and a sentence (see `seads.reading`)."""
    assert (module_name(path) == "seads.reading") == bool(JSON_READERS.search(path.read_text()))


HEAVY = PHYSICS | LEARNING | {"numpy", "scipy", "tyro", "rich", "matplotlib"}


def loaded(statement: str) -> set[str]:
    """The heavy libraries that a fresh interpreter has imported after a statement."""
    probe = f"{statement}\nimport sys; print('loaded', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    return HEAVY & set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "statement", ["import seads", "from seads.cli import main; main(['--help'])"]
)
def test_help_and_import_load_nothing_heavy(statement: str) -> None:
    assert loaded(statement) == set()


def test_the_public_surface_is_there() -> None:
    assert {"make_env", "train", "load", "plan", "solve", "evaluate"} <= set(dir(seads))
    for name in seads.__all__:
        assert getattr(seads, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        seads.trian  # type: ignore[attr-defined]  # noqa: B018


def test_heavy_libraries_are_really_seen() -> None:
    assert "numpy" in loaded("import numpy")


@pytest.mark.parametrize("package", ["games", "planning"])
def test_pure_packages_load_no_physics(package: str) -> None:
    assert loaded(f"import seads.{package}") & PHYSICS == set()


def test_help_answers_at_once() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "seads.cli", "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time, so that a busy machine does not fail the test.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_command_has_a_module_and_a_page(name: str) -> None:
    module, _, function = cli.COMMANDS[name][0].partition(":")
    assert find_spec(module) is not None
    assert function
    assert f"## seads {name}\n" in (ROOT / "docs" / "command-line.md").read_text()


def test_ci_runs_the_tests() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    commands = [line.strip() for line in script.read_text().splitlines()]
    assert commands[-1] == "make test"
    assert "set -euo pipefail" in commands
    makefile = (ROOT / "Makefile").read_text()
    for target in ("install", "train", "test", "test-slow", "lint", "bench"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    wanted += [
        one for extra in ("dev", "video", "plots", "robot", "sweep") for one in extras[extra]
    ]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines)  # anything but name==version fails here

    def plain(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    pinned = {plain(name) for name in pins}
    assert {plain(re.split(r"[<>=]", one)[0]) for one in wanted} <= pinned


SHAPE = re.compile(r'\b(?:Bool|U?Int\d*|Integer|Float\d*|Shaped)\[[^"]*"[^"]*$')
"""What stands before a word of a shape in the text of an array's type."""


def undefined(*paths: Path) -> list[str]:
    """Names that nothing defines; the linter takes shapes, which are texts, for names too."""
    words = ["ruff", "check", "--isolated", "--select", "F821", "--output-format", "json"]
    answer = subprocess.run(
        [sys.executable, "-m", *words, *map(str, paths)], capture_output=True, text=True
    )
    found = []
    for one in json.loads(answer.stdout):
        place = one["location"]
        line = Path(one["filename"]).read_text().splitlines()[place["row"] - 1]
        if not SHAPE.search(line[: place["column"] - 1]):
            found.append(f"{one['filename']}:{place['row']}: {one['message']}")
    return found


def test_every_name_is_defined(tmp_path: Path) -> None:
    wrong = 'missing += 1\ndef f(x: Int[np.ndarray, "rows"], z: "Nobody"):\n    return y\n'
    (tmp_path / "wrong.py").write_text(wrong)
    words = [one.rpartition(" ")[2] for one in undefined(tmp_path)]
    assert words == ["`missing`", "`Int`", "`np`", "`Nobody`", "`y`"]
    folders = ("src", "tests", "benchmarks", "tools", "examples")
    assert undefined(*(ROOT / folder for folder in folders)) == []


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "tools", "examples", "studies"])
def test_a_file_is_read_in_one_go(folder: str) -> None:
    long = {
        path.name: lines
        for kind in ("*.py", "*.html", "*.toml")
        for path in (ROOT / folder).rglob(kind)
        if (lines := _lines(path)) > 350
    }
    assert long == {}


def _lines(path: Path) -> int:
    return path.read_text().count("\n")
