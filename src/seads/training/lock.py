"""One run directory, one process: who trains into it holds its lock until it ends, however it ends.

The lock is a file that its holder keeps locked (flock) and counts up in every two seconds. On one
machine the kernel lets go of it with the process, so what a kill leaves behind is known as dead at
once. From another machine, where the kernel may know nothing of it, the count decides: while it
moves the holder lives. Assumed is that a file written on one machine is seen on the other within
`WATCHED` seconds; a holder whose machine slept for longer finds its lock taken, and ends.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import msgspec
from msgspec import Struct

from seads.errors import SeadsError
from seads.reading import Count, Name, as_kind

LOCK = "lock.json"
BEAT = 2.0
"""Seconds between counts."""
WATCHED = 10.0
"""Seconds without a count after which a holder on another machine is dead."""
_MOST_BYTES = 4096
_NO_LOCKS_HERE = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


def lock_file(file: int) -> bool:
    """Lock an open file until it is closed; False where the file system has no locks.

    Raises BlockingIOError where another process has it.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise BlockingIOError(*error.args) from None
        if error.errno not in _NO_LOCKS_HERE:
            raise
        return False
    return True


class Holder(Struct, frozen=True):
    """Who holds a lock."""

    host: Name
    boot: Name
    """Of the machine's running system: the same only on one kernel."""
    pid: Count
    started: Count
    """When the process began, in the kernel's ticks: numbers of processes are used again."""
    token: Name
    beat: Count = 0

    @classmethod
    def here(cls) -> Holder:
        """This process."""
        pid = os.getpid()
        return cls(socket.gethostname(), _boot(), pid, _started(pid), secrets.token_hex(8))

    @property
    def runs_here(self) -> bool:
        """Whether the process is there, on this machine."""
        return self.started != 0 and _started(self.pid) == self.started

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


class Held(SeadsError):
    """Another process trains into the directory; it may end soon."""


class RunLock:
    """The lock of a directory, which must exist; raises Held where another process has it."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._path = directory, directory / LOCK
        self._take()
        try:
            self._own = Holder.here()
            self._write(self._own)
        except BaseException:
            os.close(self._file)  # else this very process would hold it against itself
            raise
        self._ended = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="run-lock", daemon=True)
        self._beating.start()

    def check(self) -> None:
        """Raise if another process, which thought this one dead, has taken the directory over."""
        found = self._read()
        if found is None or found.token != self._own.token or not self._is_the_file():
            # where the file is another one, what is open still tells of this process
            ours = found is None or found.token == self._own.token
            taker = "another process" if ours else str(found)
            raise SeadsError(
                f"{self._directory} has been taken over by {taker}, since this process was not "
                "heard of for a while; it ends without writing any more"
            )

    def release(self) -> None:
        """Let others have it; more than once does no harm."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._beating.join()
        with suppress(SeadsError, OSError):
            self.check()
            self._path.unlink()
        os.close(self._file)

    def __enter__(self) -> RunLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _take(self) -> None:
        """Open the file, once it is seen that nobody else lives who has it."""
        while True:
            kernel_says = self._open()
            other = self._read()
            if other is not None and self._lives(other, kernel_says):
                os.close(self._file)
                raise self._held(other)
            if self._is_the_file():
                return
            os.close(self._file)  # its holder let go of it while it was watched

    def _open(self) -> bool:
        """Open the file and lock it; whether this file system has locks at all."""
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                kernel_says = lock_file(self._file)
                if self._is_the_file():
                    return kernel_says
            except BlockingIOError:
                holder = self._read()
                os.close(self._file)
                raise self._held(holder) from None
            except OSError:
                os.close(self._file)
                raise
            os.close(self._file)  # its holder has just let go of it, and taken it away

    def _is_the_file(self) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        return False

    def _lives(self, other: Holder, kernel_says: bool) -> bool:
        if other.boot == _boot():
            return not kernel_says and other.runs_here
        until = time.monotonic() + WATCHED
        while time.monotonic() < until:
            time.sleep(BEAT / 4)
            try:  # opened anew: so a network's file system asks its server
                now = _holder(self._path.read_bytes()[:_MOST_BYTES])
            except FileNotFoundError:
                return False
            if now is not None and now != other:
                return True
        return False

    def _held(self, holder: Holder | None) -> Held:
        who = "another process" if holder is None else str(holder)
        return Held(
            f"{self._directory} is being trained into by {who}; wait until it ends, or stop it"
        )

    def _beat(self) -> None:
        count = 0
        while not self._ended.wait(BEAT):
            count += 1
            with suppress(SeadsError, OSError):  # a full disk; or lost, which `check` tells
                self.check()
                self._write(msgspec.structs.replace(self._own, beat=count))

    def _read(self) -> Holder | None:
        return _holder(os.pread(self._file, _MOST_BYTES, 0))

    def _write(self, holder: Holder) -> None:
        content = msgspec.json.encode(holder) + b"\n"
        os.pwrite(self._file, content.ljust(512), 0)  # of one length: never half an old one


@contextmanager
def locked(directory: Path) -> Iterator[RunLock]:
    """A directory, made if it is not there, that no other process trains into meanwhile."""
    directory.mkdir(parents=True, exist_ok=True)
    with RunLock(directory) as lock:
        yield lock


def _holder(content: bytes) -> Holder | None:
    """Who a lock's content says has it; None where that cannot be read."""
    with suppress(SeadsError):
        return as_kind(content, Holder, "")
    return None


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _started(pid: int) -> int:
    """When a process began, in ticks since the system did; 0 where there is none."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
        return int(after_name.split()[19])
    except (OSError, ValueError, IndexError):
        return 0
