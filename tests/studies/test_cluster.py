"""Clusters: what a run may have of their nodes, and addresses at which none answers."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seads import cli
from seads.errors import SeadsError
from seads.studies.cluster import shares

STUDY = """
[[groups]]
envs = ["lightsout-cursor-2x2"]
presets = ["default"]
seeds = [0]
budget = 2000
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.mark.parametrize(
    ("nodes", "workers", "count", "cores"),
    [
        ([8], None, 8, 1),
        ([8], 1, 1, 8),
        ([8], 3, 3, 2),
        ([1, 1], 1, 1, 1),  # the cluster has two cores, but no node has
        ([1, 1], 2, 2, 1),
        ([8, 8, 8, 8], 3, 3, 8),  # not 32 // 3, for which no node has room
        ([8, 8, 8, 8], 5, 5, 4),
        ([8, 8, 8, 8], 9, 9, 2),
        ([16, 2, 0], 3, 3, 5),
        ([16, 2, 0], None, 18, 1),
    ],
)
def test_every_worker_finds_room_on_a_node(
    nodes: list[int], workers: int | None, count: int, cores: int
) -> None:
    assert shares(nodes, workers, "here") == (count, cores)
    assert sum(node // cores for node in nodes) >= count


def test_more_workers_than_cores_are_refused() -> None:
    with pytest.raises(SeadsError, match="--workers 3 is more than the 2 cores of the cluster"):
        shares([1, 1], 3, "the cluster at a:1")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:9", "no Ray cluster can be reached at 127.0.0.1:9"),
        ("127.0.0.1:99999", "write HOST:PORT"),
        (f"127.0.0.1:{10**30}", "write HOST:PORT"),
        ("somewhere", "write HOST:PORT"),
    ],
)
def test_a_cluster_that_cannot_be_reached(
    address: str, sentence: str, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["sweep", str(study), "--out", str(out), "--address", address]) == 2
    assert sentence in capsys.readouterr().err
    assert not out.exists()


def test_what_listens_but_is_no_ray_is_not_waited_for(study: Path, tmp_path: Path) -> None:
    words = (
        "import sys; from seads import cli; from seads.studies import cluster\n"
        "cluster.CONNECT_SECONDS = 1.0; sys.exit(cli.main(sys.argv[1:]))"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        sweep = ["sweep", str(study), "--out", str(tmp_path / "out"), "--address", address]
        began = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-c", words, *sweep],
            capture_output=True,
            text=True,
            timeout=40,
        )
    assert ended.returncode == 2
    [line] = ended.stderr.splitlines()  # and nothing of Ray's own
    assert line.startswith(f"seads: no Ray cluster answers at {address}: something listens there")
    assert time.monotonic() - began < 20
    assert not (tmp_path / "out").exists()
