"""What all tests share: one compilation cache, and property tests that repeat exactly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Compiled functions outlive the process, so a second run of the tests compiles nothing.
_CACHE = Path(__file__).parents[1] / ".cache"
os.environ.setdefault("SEADS_CACHE", str(_CACHE))
os.environ["SEADS_STATE"] = str(_CACHE / "state")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Importlib mode adds no folder: with this, tests share modules such as `tests.exact_agent`.
sys.path.insert(0, str(Path(__file__).parents[1]))

settings.register_profile("seads", deadline=None, derandomize=True)
settings.load_profile("seads")

MISSING = "not on this machine: "


def need(there: bool, what: str, packages: str) -> None:
    """Skip a test where the system lacks something; under CI=true that is a failure."""
    if there:
        return
    sentence = f"{MISSING}{what}; apt-get install {packages}"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with 8 MB, where the tests may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True
    )
    if made.returncode:
        pytest.skip("mounting needs more rights")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """A fixture that would draw an arm is skipped where nothing can."""
    return (yield from _where_opengl_is())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """So is a test."""
    return (yield from _where_opengl_is())


def _where_opengl_is() -> Iterator[None]:
    from seads.envs.render_gl import egl_works, osmesa_loads
    from seads.errors import SeadsError

    try:
        return (yield)
    except SeadsError as error:
        if "without OpenGL" in str(error) and "MUJOCO_GL" not in os.environ:
            need(egl_works() or osmesa_loads(), "OpenGL", "libegl1 libgl1-mesa-dri")
        raise


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The last lines say what was not tested for want of system packages, and how to mend it."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    told = [reason.partition(MISSING)[2] for reason in reasons if MISSING in reason]
    for sentence in dict.fromkeys(told):
        terminalreporter.write_line(f"{told.count(sentence)} tests were skipped: {sentence}")
