"""One run directory, one process: the second is told who has it; what a kill leaves is dead."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from seads import cli
from seads.errors import SeadsError
from seads.training import lock as locks
from seads.training import resume
from seads.training.config import TrainConfig
from seads.training.lock import LOCK, Holder, RunLock, locked
from seads.training.runner import go_on

ELSEWHERE = Holder("elsewhere", "another-boot", 7, 1234, "token")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "BEAT", 0.05)
    monkeypatch.setattr(locks, "WATCHED", 0.5)


def write(directory: Path, holder: Holder) -> None:
    (directory / LOCK).write_bytes(msgspec.json.encode(holder))


def test_the_second_is_told_who_has_it(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "run"),
        pytest.raises(SeadsError, match=rf"run is being trained into by process {os.getpid()} on "),
    ):
        RunLock(tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == []
    RunLock(tmp_path / "run").release()


def test_what_a_kill_leaves_behind_is_dead(tmp_path: Path) -> None:
    holder = "import time, sys; from pathlib import Path; from seads.training.lock import RunLock\n"
    holder += f"RunLock(Path({str(tmp_path)!r})); print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(SeadsError, match=f"by process {process.pid} on "):
            RunLock(tmp_path)
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / LOCK).is_file()
    RunLock(tmp_path).release()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"pid": "x"}'])
def test_a_lock_that_cannot_be_read_is_nobodys(content: bytes, tmp_path: Path) -> None:
    (tmp_path / LOCK).write_bytes(content)
    RunLock(tmp_path).release()


def test_from_another_machine_a_count_that_stands_still_is_dead(tmp_path: Path) -> None:
    write(tmp_path, ELSEWHERE)
    RunLock(tmp_path).release()
    assert not (tmp_path / LOCK).exists()


def test_from_another_machine_a_count_that_moves_is_alive(tmp_path: Path) -> None:
    write(tmp_path, ELSEWHERE)
    ended = threading.Event()

    def beat() -> None:
        count = 0
        while not ended.wait(0.02):
            count += 1
            write(tmp_path, msgspec.structs.replace(ELSEWHERE, beat=count))

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        with pytest.raises(SeadsError, match="by process 7 on elsewhere"):
            RunLock(tmp_path)
    finally:
        ended.set()
        beating.join()


def test_from_another_machine_one_that_is_let_go_of_is_free(tmp_path: Path) -> None:
    write(tmp_path, ELSEWHERE)
    threading.Timer(0.1, (tmp_path / LOCK).unlink).start()
    with RunLock(tmp_path) as lock:
        lock.check()
        assert (tmp_path / LOCK).is_file()


def test_where_there_are_no_locks_the_process_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", none)
    ours = Holder.here()
    write(tmp_path, ours)
    with pytest.raises(SeadsError, match=f"by process {os.getpid()} "):
        RunLock(tmp_path)
    write(tmp_path, msgspec.structs.replace(ours, started=ours.started + 1))  # a number used again
    RunLock(tmp_path).release()


def test_who_was_thought_dead_ends(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    lock.check()
    (tmp_path / LOCK).unlink()
    write(tmp_path, ELSEWHERE)
    with pytest.raises(SeadsError, match="has been taken over"):
        lock.check()
    lock.release()
    assert b"elsewhere" in (tmp_path / LOCK).read_bytes()


def wait_for_a_beat(directory: Path) -> None:
    first = (directory / LOCK).read_bytes()
    for _ in range(200):
        time.sleep(0.05)
        if (directory / LOCK).read_bytes() != first:
            return
    pytest.fail("no beat")


def test_the_holder_counts(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        wait_for_a_beat(tmp_path)


def test_who_has_counted_does_not_take_itself_for_the_taker(tmp_path: Path) -> None:
    with RunLock(tmp_path) as lock:
        wait_for_a_beat(tmp_path)
        (tmp_path / LOCK).unlink()
        write(tmp_path, ELSEWHERE)
        with pytest.raises(SeadsError, match="taken over by another process, since"):
            lock.check()


def test_on_a_full_disk_nobody_holds_it(
    tiny_run: Callable[..., TrainConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: RunLock, holder: Holder) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    tiny_run(env_steps=1).write(tmp_path / "config.json")
    monkeypatch.setattr(RunLock, "_write", full)
    for _ in range(2):  # the second is not told that the first has it
        with pytest.raises(OSError, match="No space left"):
            RunLock(tmp_path)
    for again in (go_on, resume):
        with pytest.raises(SeadsError, match=r"no space left on the disk of .*make room and"):
            again(tmp_path)
    monkeypatch.undo()
    RunLock(tmp_path).release()


def test_a_run_that_is_alive_is_neither_resumed_nor_replaced(
    tiny_run: Callable[..., TrainConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    tiny_run(env_steps=10**7).write(out / "config.json")
    command = [sys.executable, "-m", "seads", "train", "--resume", str(out)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as first:
        while not (out / "metrics.jsonl").exists():
            assert first.poll() is None
            time.sleep(0.05)
        before = (out / "config.json").read_bytes()
        for words in (["--resume", str(out)], ["lightsout-cursor", "--out", str(out)]):
            assert cli.main(["train", *words]) == 2
            said = capsys.readouterr().err
            assert f"is being trained into by process {first.pid} on " in said
            assert said.count("\n") <= 2  # "compiling", and the sentence
        assert first.poll() is None
        assert (out / "config.json").read_bytes() == before
        first.send_signal(signal.SIGKILL)
    assert (out / LOCK).is_file()
    with locked(out):
        pass
