"""Files that the package writes: whole or not there, and in UTF-8 everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def test_nothing_writes_text_by_itself() -> None:
    found = [path for path in SOURCE.rglob("*.py") if ".write_text(" in path.read_text()]
    assert found == []
