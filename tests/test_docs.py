"""The documentation: every link leads somewhere, and every page is in the site's contents."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors that headings of a page make."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
        found.add(re.sub(r"[\s]+", "-", plain.strip()))
    return found


def broken_links(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere in the repository."""
    broken = []
    for link in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text()) == []


def test_broken_links_are_really_found() -> None:
    page = ROOT / "docs" / "index.md"
    text = "[a](missing.md) [b](../src/none.py) [c](design.md#no-such-part) [d](design.md#one-idea)"
    assert broken_links(page, text) == ["missing.md", "../src/none.py", "design.md#no-such-part"]


def test_every_page_is_in_the_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert f": {page.name}\n" in contents


def test_the_examples_of_the_python_page_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    page = str(ROOT / "docs" / "python.md")
    failed, tried = doctest.testfile(page, module_relative=False, optionflags=flags)
    assert (failed, tried > 30) == (0, True)


def called(path: str) -> Any:
    """What a dotted name means; a module, or something in one."""
    home, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(home), name)
    except AttributeError:
        return importlib.import_module(path)


def listed() -> list[str]:
    """The names of the API reference."""
    return re.findall(r"^::: (\S+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", listed())
def test_what_the_reference_lists_is_described(path: str) -> None:
    said = inspect.getdoc(called(path)) or ""
    # a dataclass without a docstring is given its signature as one
    assert said
    assert not said.startswith(path.rpartition(".")[2] + "(")


def test_the_reference_lists_what_the_python_page_uses() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    used = set(re.findall(r"\bseads(?:\.\w+)+", page))
    for home, names in re.findall(r"from (seads[\w.]*) import (.+)", page):
        used |= {f"{home}.{name}" for name in names.split(", ")}
    public = [called(path) for path in listed()]
    things = {path: found for path in used if not inspect.ismodule(found := called(path))}
    assert len(things) > 20
    assert sorted(path for path, found in things.items() if found not in public) == []


def test_the_snippet_of_the_readme_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands, but for how much is measured and trained."""
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    code = code.replace('"lightsout-jaco"', '"lightsout-cursor"')
    code = code.replace("evaluate(agent)", "evaluate(agent, starts=1, episodes_per_depth=1)")
    asked, less = (
        '"lightsout-cursor", seed=0, env_steps=100_000',
        '"lightsout-cursor-2x2", env_steps=300',
    )
    assert asked in code
    code = code.replace(asked, less)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "solved with " in printed
    assert "coverage 25.00 of 25 moves" in printed


def test_the_tables_of_results_are_those_of_the_committed_results() -> None:
    command = [sys.executable, str(ROOT / "tools" / "results_in_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
