"""`seads robot board` as a process."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys


def test_the_command_says_where_it_is_and_ends_with_ctrl_c() -> None:
    program = "from seads.robot.board.play import run_board; run_board(port=0, size=3, depth=2)"
    process = subprocess.Popen(
        # heeding Ctrl-C: a shell's background jobs, and all they start, do not
        ["env", "--default-signal=INT", sys.executable, "-c", program],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    found = re.search(r"http://127.0.0.1:(\d+)/", process.stdout.readline())
    assert found is not None
    line = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=20)
    line.request("GET", "/")
    assert line.getresponse().status == 200
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "0 touches" in said
    assert complained == ""
