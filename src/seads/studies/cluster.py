"""A running Ray cluster at an address: whether one answers there, and what its nodes can hold."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from seads.errors import SeadsError

CONNECT_SECONDS = 30.0
"""How long a cluster may take to answer."""

# Ray's own client waits for minutes where something listens that is no Ray, writes to the terminal
# meanwhile, and cannot be interrupted: so it is tried in a process that can be ended.
PROBE = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="CRITICAL")
except Exception as error:
    print(" ".join(str(error).split())[:300])
    sys.exit(1)
"""


def connect(ray: Any, address: str) -> list[int]:
    """Connect to the cluster; the cores of each of its nodes. Raises a sentence if none answers."""
    check_answers(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SeadsError(f"no Ray cluster answers at {address}: {error}") from None
    alive = (node["Resources"] for node in ray.nodes() if node["Alive"])
    nodes = [int(resources.get("CPU", 0)) for resources in alive]
    if not any(nodes):
        raise SeadsError(f"the cluster at {address} has no cores; add a node to it")
    return nodes


def check_answers(address: str) -> None:
    """Raise a sentence unless a cluster answers at an address."""
    host, _, port = address.rpartition(":")
    # a larger number would be taken for another port
    if not host or not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 2**16:
        raise SeadsError(f"--address {address!r}; write HOST:PORT, as `ray start --head` prints it")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise SeadsError(f"no Ray cluster can be reached at {address}: {error}") from None
    try:
        probe = subprocess.run(
            [sys.executable, "-c", PROBE, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=CONNECT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise SeadsError(
            f"no Ray cluster answers at {address}: something listens there, but has said nothing "
            f"that Ray understands in {CONNECT_SECONDS:g} seconds"
        ) from None
    if probe.returncode:
        why = probe.stdout.strip() or "what listens there is none of this version"
        raise SeadsError(f"no Ray cluster answers at {address}: {why}")


def shares(nodes: Sequence[int], workers: int | None, where: str) -> tuple[int, int]:
    """How many runs at once, and the cores of each, so that all of them find room.

    A run is on one node: the share is the largest of which the nodes, each by itself, hold as many
    as there are workers. Without a number of workers a run has one core.
    """
    total = sum(nodes)
    count = total if workers is None else workers
    if count > total:
        raise SeadsError(f"--workers {count} is more than the {total} cores of {where}")
    fitting = (
        cores for cores in range(max(nodes), 0, -1) if sum(node // cores for node in nodes) >= count
    )
    return count, next(fitting)
