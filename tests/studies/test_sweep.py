"""Sweeps with real parts, Ray, its workers and nodes, and signals; only the runs are tiny."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import pytest
from tests.studies.processes import descendants, listeners
from tests.tiny_settings import TINY

from seads import cli
from seads.agent.arrays import read_arrays
from seads.studies.collecting import collect
from seads.studies.engine import started
from seads.studies.sweep import LOCK, only_driver

SETTINGS = ", ".join(
    f"{name} = {list(v) if isinstance(v, tuple) else v}" for name, v in TINY.items()
)
STUDY = f"""
[evaluate]
starts = 2
episodes_per_depth = 1

[[groups]]
envs = ["lightsout-cursor-2x2"]
presets = ["default"]
seeds = "0-1"
budget = 2000
schedule = {{ checkpoint_every = 5, log_every = 1, coverage_every = 0 }}
settings = {{ {SETTINGS} }}
"""
# its learning rate makes the losses infinite: it fails in the middle
FAILING = f"""
[[groups]]
name = "failing"
envs = ["lightsout-cursor-2x2"]
presets = ["default"]
seeds = [0]
budget = 2000
schedule = {{ coverage_every = 0 }}
settings = {{ {SETTINGS}, learning_rate = 1e30 }}
"""


def launch(study: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    """The driver, in a process group of its own, as a shell starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "seads.cli", "sweep", str(study), "--out", str(out), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def workers(driver: subprocess.Popen[str]) -> list[int]:
    """The processes in which a driver's runs are learned."""
    below = descendants(driver.pid).items()
    return [pid for pid, words in below if words.startswith("ray::lightsout-cursor-2x2")]


def wait_until(there: Callable[[], Any], process: subprocess.Popen[str]) -> bool:
    """Wait for something to be true; False if the driver ended before."""
    while process.poll() is None:
        if there():
            return True
        time.sleep(0.02)
    return False


def metric_lines(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in out.glob("*/metrics.jsonl"))


def moments() -> random.Random:
    """Other ones each time; SEADS_TEST_SEED takes those of a run that failed, which tells them."""
    seed = int(os.environ.get("SEADS_TEST_SEED") or random.randrange(2**32))
    print(f"random moments: SEADS_TEST_SEED={seed}")
    return random.Random(seed)


def timeless(found: Any) -> Any:
    """Results without what a clock says."""
    if isinstance(found, dict):
        kept = {
            k: v for k, v in found.items() if "seconds" not in k and k not in ("made", "command")
        }
        return {name: timeless(value) for name, value in kept.items()}
    return [timeless(one) for one in found] if isinstance(found, list) else found


def same_sweeps(one: Path, other: Path) -> None:
    """Every run's arrays, metrics and results are equal."""
    runs = sorted(path.parent.name for path in one.glob("*/config.json"))
    assert runs == sorted(path.parent.name for path in other.glob("*/config.json"))
    for run in runs:
        ours, theirs = one / run, other / run
        assert (ours / "metrics.jsonl").read_text() == (theirs / "metrics.jsonl").read_text()
        last = [max(run.glob("checkpoints/step_*/learner.safetensors")) for run in (ours, theirs)]
        assert last[0].parent.name == last[1].parent.name
        arrays = [read_arrays(path) for path in last]
        for name, array in arrays[0].items():
            assert array.tobytes() == arrays[1][name].tobytes(), name
        results = sorted(path.name for path in ours.glob("eval/*.json"))
        assert results == sorted(path.name for path in theirs.glob("eval/*.json"))
        for name in results:
            found = [
                timeless(json.loads((run / "eval" / name).read_text())) for run in (ours, theirs)
            ]
            assert found[0] == found[1]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "tiny.toml"
    path.write_text(STUDY)
    return path


@dataclass(frozen=True)
class Undisturbed:
    """A sweep that nobody disturbs, and what was seen of it meanwhile."""

    home: Path
    said: Any
    driver: int
    listening: list[IPv4Address | IPv6Address]
    """On what its processes waited for connections, once its runs were being learned."""
    second: subprocess.CompletedProcess[str]
    """Another driver, sent into the same directory."""


@pytest.fixture(scope="module")
def undisturbed(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """With a run that fails beside those that do not."""
    both = study.with_name("both.toml")
    both.write_text(STUDY + FAILING)
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    process = launch(both, out, "--workers", "2", "--json")
    assert wait_until(lambda: (out / LOCK).is_file() and (out / LOCK).read_text(), process)
    other = launch(both, out, "--workers", "2")
    assert wait_until(lambda: workers(process) and metric_lines(out), process)
    listening = listeners([process.pid, *descendants(process.pid)])
    second = subprocess.CompletedProcess("", 0, *other.communicate(timeout=60))
    second.returncode = other.returncode
    said, errors = process.communicate(timeout=600)
    assert process.returncode == 1, errors
    return Undisturbed(out, json.loads(said), process.pid, listening, second)


def test_a_failed_run_costs_itself_alone(undisturbed: Undisturbed) -> None:
    out, said = undisturbed.home, undisturbed.said
    assert (said["runs"], said["finished"], said["unfinished"]) == (3, 2, [])
    [failure] = said["failed"]
    assert failure["run"] == "lightsout-cursor-2x2-failing-seed0"
    assert "Lower learning_rate" in failure["why"]
    for seed in (0, 1):
        run = out / f"lightsout-cursor-2x2-default-seed{seed}"
        assert json.loads((run / "meta.json").read_text())["status"] == "finished"
        names = {path.stem for path in run.glob("eval/*.json")}
        assert {"coverage-test-at2000-seed0", "tasks-replan-auto-length-test-at2000-seed0"} <= names
        [curve] = [json.loads(path.read_text())["curve"] for path in run.glob("eval/coverage-*")]
        steps = [point["env_steps"] for point in curve]
        assert steps == sorted(steps)
        assert 1900 < steps[-1] <= 2000


def test_success_is_of_the_last_common_checkpoint(undisturbed: Undisturbed) -> None:
    runs = [undisturbed.home / f"lightsout-cursor-2x2-default-seed{seed}" for seed in (0, 1)]
    steps = [sorted(int(p.name[5:]) for p in run.glob("checkpoints/step_*")) for run in runs]
    common = min(one[-1] for one in steps)
    for run, own in zip(runs, steps, strict=True):
        used = max(step for step in own if step <= common)
        found = [
            json.loads(path.read_text())["env_steps"] for path in run.glob("eval/tasks-replan*")
        ]
        assert used in found


def test_its_runs_are_lines_of_results(undisturbed: Undisturbed) -> None:
    results = collect([undisturbed.home])
    lines = {one.run: one for one in results.runs}
    assert len(lines) == 3
    one, other = (lines[f"lightsout-cursor-2x2-default-seed{seed}"] for seed in (0, 1))
    assert (one.group, one.budget, one.status, one.moves) == ("default", 2000, "finished", 4)
    assert one.configuration == other.configuration
    assert max(one.success_env_steps or 0, other.success_env_steps or 0) <= min(
        one.coverage_env_steps or 0, other.coverage_env_steps or 0
    )
    assert one.success_by_depth.startswith("1=")
    assert lines["lightsout-cursor-2x2-failing-seed0"].status == "failed"
    covered = [p for p in results.points if p.run == one.run and p.measure == "coverage"]
    assert covered[-1].env_steps == one.coverage_env_steps
    assert covered[-1].value == one.coverage
    assert {board.replan for board in results.boards} == {True, False}


def test_what_is_finished_is_left_alone_and_starts_nothing(
    study: Path, undisturbed: Undisturbed, capsys: pytest.CaptureFixture[str]
) -> None:
    out = undisturbed.home
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.json*")}
    assert cli.main(["sweep", str(study), "--out", str(out)]) == 0
    assert "2 runs: 2 done" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.json*")} == before


def test_a_second_driver_is_told_and_ends(undisturbed: Undisturbed) -> None:
    second, home = undisturbed.second, undisturbed.home
    assert second.returncode == 2
    told = f"seads: another sweep is at work in {home} (process {undisturbed.driver} on "
    assert second.stderr.startswith(told)
    assert len(second.stderr.splitlines()) == 1
    assert not second.stdout


def test_without_locks_a_sweep_works_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", none)
    with only_driver(tmp_path):
        assert (tmp_path / LOCK).read_text().startswith(f"process {os.getpid()} on ")


def test_nothing_listens_beyond_loopback(undisturbed: Undisturbed) -> None:
    found = undisturbed.listening
    assert len(found) >= 3  # Ray's store, its node and its workers: it was looked at the right ones
    assert all(address.is_loopback for address in found), found


@pytest.mark.slow
def test_interrupted_saves_and_the_same_command_goes_on(
    study: Path, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = launch(study, out, "--workers", "2")
    assert wait_until(lambda: metric_lines(out) > 20, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "go on with: seads sweep" in said
    stopped = [json.loads(path.read_text())["status"] for path in out.glob("*/meta.json")]
    assert "stopped" in stopped
    assert "running" not in stopped
    assert launch(study, out, "--workers", "2").wait(600) == 0
    _without_failing(undisturbed.home, out)


@pytest.mark.slow
def test_workers_and_the_driver_are_killed_at_random_moments(
    study: Path, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    out, rng, killed = tmp_path / "out", moments(), 0
    process = launch(study, out, "--workers", "2")
    for _ in range(3):
        lines = metric_lines(out) + rng.randint(5, 40)
        if wait_until(lambda lines=lines: workers(process) and metric_lines(out) > lines, process):  # type: ignore[misc]
            os.kill(rng.choice(workers(process)), signal.SIGKILL)
            killed += 1
    assert killed >= 2
    lines = metric_lines(out) + 10
    wait_until(lambda: metric_lines(out) > lines, process)
    process.kill()
    _, errors = process.communicate()
    assert "raylet" not in errors
    again = launch(study, out, "--workers", "2")
    _, errors = again.communicate(timeout=600)
    assert again.returncode == 0, errors
    _without_failing(undisturbed.home, out)


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        yield made
    finally:
        made.shutdown()


@pytest.mark.slow
def test_a_run_asks_for_no_more_cores_than_a_node_has(cluster: Any) -> None:
    cluster.add_node(num_cpus=1)
    with started(1, cluster.address) as engine:
        assert (engine.workers, engine.cores) == (1, 1)


@pytest.mark.slow
def test_a_node_is_killed_and_its_run_goes_on_elsewhere(
    study: Path, undisturbed: Undisturbed, cluster: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    node = cluster.add_node(num_cpus=1)
    process = launch(study, out, "--workers", "2", "--address", cluster.address)
    assert wait_until(lambda: len(list(out.glob("*/metrics.jsonl"))) == 2, process)
    begun = metric_lines(out)
    lines = moments().randint(begun, max(begun, metric_lines(undisturbed.home) * 3 // 4))
    assert wait_until(lambda: metric_lines(out) > lines, process)
    cluster.remove_node(node, allow_graceful=False)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    _without_failing(undisturbed.home, out)


def _without_failing(whole: Path, out: Path) -> None:
    """Compare with the undisturbed sweep, but for the run that fails there."""
    for path in whole.glob("*failing*/config.json"):
        path.rename(path.with_suffix(".aside"))
    same_sweeps(whole, out)
