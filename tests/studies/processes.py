"""What runs below a process of ours, and on which addresses it listens, as the kernel has it."""

from __future__ import annotations

import os
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

LISTENING = "0A"


def descendants(pid: int) -> dict[int, str]:
    """The processes below one, at any depth, with their command lines."""
    below: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            below.setdefault(parent, []).append(int(path.parent.name))
    found, left = {}, [pid]
    while left:
        for one in below.get(left.pop(), []):
            left.append(one)
            with suppress(OSError):
                words = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ")
                found[one] = words.decode(errors="replace").strip()
    return found


def listeners(pids: list[int]) -> list[IPv4Address | IPv6Address]:
    """The address of each socket on which these processes wait for connections."""
    sockets = set()
    for pid in pids:
        with suppress(OSError):
            for handle in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    sockets.add(os.readlink(handle))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENING and f"socket:[{words[9]}]" in sockets:
                found.append(_address(words[1].partition(":")[0]))
    return found


def _address(text: str) -> IPv4Address | IPv6Address:
    """An address as the kernel writes it: words of four bytes, each in the machine's order."""
    raw = bytes.fromhex(text)
    words = [raw[n : n + 4][::-1] for n in range(0, len(raw), 4)]
    address = ip_address(b"".join(words))
    return getattr(address, "ipv4_mapped", None) or address
