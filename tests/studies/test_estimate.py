"""The estimate of a study's time against what its runs, and those of the paper's preset, took."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from seads.studies.estimate import counted_speed
from seads.training.configure import configure

RESULTS = Path(__file__).parents[2] / "results" / "main" / "results.csv"
ENVS = (
    "lightsout-cursor",
    "tileswap-cursor",
    "lightsout-reacher",
    "tileswap-reacher",
    "lightsout-jaco",
)


@pytest.mark.parametrize("env", ENVS)
def test_runs_of_the_main_study_took_about_as_long(env: str) -> None:
    """Its cores were shared with other work: the quickest seed tells most."""
    with RESULTS.open() as file:
        runs = [run for run in csv.DictReader(file) if run["env"] == env]
    quickest = min(runs, key=lambda run: float(run["seconds"]))
    counted = int(quickest["budget"]) / counted_speed(configure(env, preset=quickest["preset"]))
    assert 0.5 < counted / float(quickest["seconds"]) < 2.0


@pytest.mark.parametrize(
    ("env", "budget", "seconds", "asked"),
    [
        ("lightsout-cursor", 100_000, 130.0, {}),
        ("lightsout-reacher", 600_000, 480.0, {}),
        ("tileswap-reacher", 300_000, 300.0, {}),
        ("lightsout-jaco", 1_000_000, 1200.0, {}),
        # an epoch of 128 env steps takes 135 ms
        (
            "lightsout-cursor",
            100_000,
            105.0,
            {"preset": "paper", "settings": {"hidden": [256, 256]}},
        ),
        ("lightsout-cursor", 100_000, 325.0, {"preset": "paper"}),
        ("lightsout-cursor", 500_000, 3400.0, {"algo": "sac"}),
        ("lightsout-cursor", 500_000, 3400.0, {"algo": "hac"}),
    ],
)
def test_what_was_measured_on_a_core_of_its_own(
    env: str, budget: int, seconds: float, asked: dict[str, Any]
) -> None:
    counted = budget / counted_speed(configure(env, **asked))
    assert 1 / 1.5 < counted / seconds < 1.5


def test_scoring_by_a_table_costs_nothing() -> None:
    env = "lightsout-cursor-5x5"
    network, either, table = (
        1 / counted_speed(configure(env, settings={"model": model}))
        for model in ("network", "either", "table")
    )
    assert table < either < (network + table) / 2
