"""`seads play` as a process: how to start it, where its page is, what memory it holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path

MEGABYTE = 1 << 20


def play_command(*arguments: str) -> list[str]:
    """What starts it, heeding Ctrl-C: a shell's background jobs, and all they start, do not."""
    heeding = ["env", "--default-signal=INT"]
    return [*heeding, sys.executable, "-m", "seads.cli", "play", *arguments]


def addresses(printed: str) -> list[str]:
    """The addresses of pages in what it printed."""
    return re.findall(r"(http://127\.0\.0\.1:\d+) \(Ctrl", printed)


def resident(process: int | str = "self") -> int:
    """Bytes of memory that a process holds."""
    (line,) = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(line) * 1024
