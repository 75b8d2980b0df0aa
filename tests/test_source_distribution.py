"""The source distribution: `make test` finds in it all that it reads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = {"/pyproject.toml", "/README.md"}
"""What the build puts in by itself."""
MADE = {"/.cache", "/.venv"}
"""What the tests make for themselves."""


def named() -> set[str]:
    """Files and folders at the top of the repository that its tests or its Makefile name."""
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    found = set(re.findall(r'(?:ROOT|parents\[\d\]\)?) / "([^"]+)"', tests))
    for folders in re.findall(r'\["src", ([^]]+)\]|\("src", ([^)]+)\)', tests):
        found |= set(re.findall(r'"(\w+)"', "".join(folders)))
    found |= set(re.findall(r"\b(tools|benchmarks)/", (ROOT / "Makefile").read_text()))
    return {f"/{name}" for name in found}


def test_it_holds_all_that_its_tests_read() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = set(build["targets"]["sdist"]["include"])
    needed = named() - MADE
    assert {"/results", "/tools", "/mkdocs.yml", "/.ci", "/benchmarks"} <= needed
    assert sorted(needed - included - ALWAYS) == []
