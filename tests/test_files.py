"""Files that the package writes: whole or not there, and in UTF-8 everywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

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


def test_nothing_writes_text_by_itself() -> None:
    alone = re.compile(r"""\.write_text\(|open\((?:[^()]*, )?"[wax]\+?"(?![^()]*encoding)""")
    assert alone.search('path.open("a") as f')
    found = [path for path in SOURCE.rglob("*.py") if alone.search(path.read_text())]
    assert found == []
