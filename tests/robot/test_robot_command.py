"""`seads robot` against the twin: sentences for people, JSON for programs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.robot.arms import GRACE, LEFT, bench, free_port

from seads.cli import main
from seads.errors import SeadsError
from seads.robot import faults, kinematics
from seads.robot.calibration import CORNERS, Calibration
from seads.robot.guard import Envelope
from seads.robot.guarded_arm import GuardedArm
from seads.robot.tablet import Tablet
from seads.robot.twin.program import TwinSettings


def result(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["robot", *words, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def start_twin(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The twin as a program, at folder/arm; in a session of its own, since an arm does not share
    its cores with whatever else a session keeps busy."""
    command = [sys.executable, "-m", *words, "--link", str(folder / "arm")]
    twin = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert twin.stdout is not None
    assert twin.stdout.readline().startswith("the twin's line: /dev/pts/")
    return twin


def test_from_a_twin_to_a_checked_calibration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, file, log = str(tmp_path / "arm"), tmp_path / "tablet.json", tmp_path / "log"
    page = free_port()
    address = f"http://127.0.0.1:{page}/"
    more = ("--pace", "inf", "--page", address, "--log", str(log), "--firmware", "fw3")
    twin = start_twin(tmp_path, "seads.cli", "robot", "twin", *more)
    try:
        checked = result(capsys, "check", "--port", port)
        assert checked["firmware"] == "V3.2.0"
        assert checked["verdict"] == "not calibrated"
        words = ["--by", "touches", "--board-port", str(page), "--out", str(file), "--wait", "0"]
        made = result(capsys, "calibrate", "--port", port, *words)
        assert len(made["touches"]) == 9
        assert made["residuals_mm"]["plane"] < 0.5
        true = Tablet.lying().points(np.array([[0.5, 0.5, 0.0]]))
        fitted = Calibration.load(file).points(np.array([[0.5, 0.5, 0.0]]))
        np.testing.assert_allclose(fitted, true, atol=0.5)
        checked = result(capsys, "check", "--port", port, "--calibration", str(file))
        assert checked["verdict"] == "ready"
        told = result(capsys, "stop", "--port", port)  # nobody holds the line: it is not seen
        assert (told["stopped"], told["position_mm"]) == (False, None)
    finally:
        twin.send_signal(signal.SIGTERM)
        assert "touches" in twin.communicate(timeout=5)[0]
    assert twin.returncode == 0
    assert not (tmp_path / "arm").is_symlink()
    kinds = {json.loads(line)["kind"] for line in log.read_text().splitlines()}
    assert {"boot", "line", "down", "up", "stood"} <= kinds


def test_a_fault_while_calibrating_says_to_start_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, file = free_port(), tmp_path / "tablet.json"
    more = ("--pace", "inf", "--page", f"http://127.0.0.1:{page}/", "--faults", "reboot@20")
    twin = start_twin(tmp_path, "seads.robot.twin", *more)
    try:
        words = ["--by", "touches", "--board-port", str(page), "--out", str(file), "--wait", "0"]
        assert main(["robot", "calibrate", "--port", str(tmp_path / "arm"), *words]) == 2
        told = capsys.readouterr().err
        assert "started anew" in told
        assert told.endswith("; no calibration was written, start it again\n")
        assert not file.exists()
    finally:
        twin.send_signal(signal.SIGTERM)
        twin.communicate(timeout=30)


def test_the_twins_pen_touches_the_page_in_a_real_browser(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], chromium: str
) -> None:
    """Which is opened before anybody serves the page, and finds it."""
    page, file = free_port(), tmp_path / "tablet.json"
    more = ("--pace", "inf", "--page", f"http://127.0.0.1:{page}/", "--browser", "hidden")
    twin = start_twin(tmp_path, "seads.robot.twin", *more)
    try:
        words = ["--by", "touches", "--board-port", str(page), "--out", str(file), "--wait", "0"]
        made = result(capsys, "calibrate", "--port", str(tmp_path / "arm"), *words)
    finally:
        twin.send_signal(signal.SIGTERM)
        twin.communicate(timeout=30)
    assert twin.returncode == 0
    assert made["residuals_mm"]["plane"] < 0.5
    true = Tablet.lying().points(np.array([[0.5, 0.5, 0.0]]))
    fitted = Calibration.load(file).points(np.array([[0.5, 0.5, 0.0]]))
    np.testing.assert_allclose(fitted, true, atol=0.5)


def test_the_twin_alone_is_a_program_too(tmp_path: Path) -> None:
    twin = start_twin(tmp_path, "seads.robot.twin", "--pace", "inf", "--faults", "cable@1")
    arm = GuardedArm(str(tmp_path / "arm"), Envelope.above(0.0), grace=GRACE)
    with arm, pytest.raises(faults.LineLost, match="the line to the arm is lost"):
        arm.send_action(LEFT)
    assert twin.wait(5) == 0  # its cable is cut


def test_corners_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with bench() as where:
        corners = iter(CORNERS)

        def hand(words: str) -> str:
            point = where.twin.pen.tablet.points(np.array([[*next(corners), 0.0]]))
            where.twin.hand(kinematics.inverse(point)[0])
            return words

        monkeypatch.setattr("builtins.input", hand)
        made = result(
            capsys, "calibrate", "--port", where.port, "--out", str(tmp_path / "tablet.json")
        )
        assert len(made["touches"]) == 4
        assert made["residuals_mm"]["map"] < 0.01
        assert where.twin.moves == 0


def test_without_a_terminal_the_arm_holds_itself_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_its_end(words: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", at_its_end)
    with bench() as where:
        words = ["calibrate", "--port", where.port, "--out", str(tmp_path / "tablet.json")]
        assert main(["robot", *words]) == 2
        assert "no terminal to press Enter at" in capsys.readouterr().err
        assert where.lines("M2019")
        assert where.twin._attached


def test_a_file_that_is_no_link_is_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("years")
    with pytest.raises(SeadsError, match="no link; name another"):
        TwinSettings(link=tmp_path / "thesis").check()
    (tmp_path / "arm").symlink_to(tmp_path / "thesis")  # such as the last twin's
    TwinSettings(link=tmp_path / "arm").check()


def wrong_calibration(folder: Path) -> str:
    (folder / "tablet.json").write_text("{}")
    return str(folder / "tablet.json")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["check", "--port", "/dev/nothing"], "is the arm plugged in"),
        (["stop", "--port", "/dev/nothing"], "is the arm plugged in"),
        (["twin", "--page", "127.0.0.1:8090"], "allowed: http://HOST:PORT"),
        (["check", "--calibration", "/nothing"], "/nothing cannot be read (No such file"),
        (["twin", "--faults", "rebot@1"], "did you mean 'reboot'"),
        (["twin", "--near", "5"], "near=5.0"),
        (["twin", "--browser", "hidden"], "--browser hidden needs --page"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["robot", *words]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


def test_an_unknown_firmware_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with bench(version="V7.0.0") as where:
        assert main(["robot", "check", "--port", where.port]) == 2
        assert "only versions 3.x and 4.x are known" in capsys.readouterr().err
        file = wrong_calibration(tmp_path)
        assert main(["robot", "check", "--port", where.port, "--calibration", file]) == 2
        assert "missing required field version" in capsys.readouterr().err
