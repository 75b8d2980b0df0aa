"""Files that the package writes: whole or not there, and in UTF-8 everywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seads.files import write_text_aside

SOURCE = Path(__file__).parents[1] / "src" / "seads"
WRITE = """
import sys
from pathlib import Path
from seads.files import write_text_aside
write_text_aside(Path(sys.argv[1]), "5\\u00d75")
"""


def test_text_is_the_same_in_every_locale(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    path = tmp_path / "report.html"
    subprocess.run([sys.executable, "-c", WRITE, path], env=os.environ | plain, check=True)
    assert path.read_bytes() == "5×5".encode()


def test_what_a_link_leads_to_is_written_and_a_pipe_written_to(tmp_path: Path) -> None:
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    beside = tmp_path / "target.tmp"
    beside.write_text("mine")
    target.write_text("old")
    link.symlink_to(target)
    write_text_aside(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert beside.read_text() == "mine"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text_aside(pipe, "through")
        assert os.read(reader, 100) == b"through"
        assert pipe.is_fifo()
    finally:
        os.close(reader)


def test_a_file_takes_its_place_once_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int | str] = []
    fsync, rename = os.fsync, Path.rename

    def fsync_seen(handle: int) -> None:
        done.append(os.fstat(handle).st_size)
        fsync(handle)

    def rename_seen(aside: Path, target: Path) -> Path:
        done.append("renamed")
        return rename(aside, target)

    monkeypatch.setattr(os, "fsync", fsync_seen)
    monkeypatch.setattr(Path, "rename", rename_seen)
    write_text_aside(tmp_path / "file", "new")
    assert done == [3, "renamed"]


def test_two_who_write_one_file_each_write_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rename = tmp_path / "file", Path.rename

    def rename_late(aside: Path, target: Path) -> Path:
        monkeypatch.undo()
        write_text_aside(path, "another's")
        assert path.read_text() == "another's"
        return rename(aside, target)

    monkeypatch.setattr(Path, "rename", rename_late)
    write_text_aside(path, "ours")
    assert path.read_text() == "ours"
    assert list(tmp_path.iterdir()) == [path]


def test_what_does_not_fit_on_the_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2, 2))"
    done = subprocess.run(
        [sys.executable, "-c", limited + WRITE, path], capture_output=True, text=True, check=False
    )
    assert "File too large" in done.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_writes_text_by_itself() -> None:
    alone = re.compile(r"""\.write_text\(|open\((?:[^()]*, )?"[wax]\+?"(?![^()]*encoding)""")
    assert alone.search('path.open("a") as f')
    found = [path for path in SOURCE.rglob("*.py") if alone.search(path.read_text())]
    assert found == []
