"""A run of a study from wherever its directory stands to its last result: train, then evaluate."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

from seads.envs.own import is_own
from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.jax_setup import prepare_jax
from seads.studies.compiling import OneCompiles
from seads.studies.directory import check_same, is_trained
from seads.studies.measuring import Evaluation, carry_out
from seads.studies.runs import StudyRun
from seads.training.lock import Held
from seads.training.runner import full_disk_in_words, go_on

FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"
PATIENCE = 30.0
"""Seconds that a run's lock may be held on: a killed driver's worker lives on for a moment."""
ASK_EVERY = 0.5


def as_order(run: StudyRun, home: Path, evaluations: tuple[Evaluation, ...]) -> dict[str, Any]:
    """What a worker must know of a run, as plain values that any process can read."""
    return {
        "directory": str(home / run.name),
        "config": run.config.as_json(),
        "evaluations": [dataclasses.asdict(one) for one in evaluations],
    }


def work(order: dict[str, Any]) -> dict[str, str]:
    """Do what is left of a run; how it ended, and why if it failed.

    Whatever goes wrong is an answer, not an exception: other runs must not hear of it.
    """
    directory = Path(order["directory"])
    try:
        prepare_jax()
        with full_disk_in_words(directory):
            status = _train(order["config"], directory)
            if status == FINISHED:
                env = order["config"]["env"]
                for one in order["evaluations"]:
                    # whose code is ours to run: the user named it to the sweep
                    carry_out(Evaluation(**one), directory, env if is_own(env) else None)
        return {"status": status, "why": ""}
    except SeadsError as error:
        return {"status": FAILED, "why": str(error)}
    except Exception as error:
        told = " ".join(str(error).split())[:300]
        return {"status": FAILED, "why": f"{type(error).__name__}: {told}"}


def _train(config: dict[str, Any], directory: Path) -> str:
    """Begin or go on, once nobody else does; a run that is trained is left as it is."""
    until = time.monotonic() + PATIENCE
    while not is_trained(directory):
        if not (directory / "config.json").is_file():
            directory.mkdir(parents=True, exist_ok=True)
            write_text_aside(directory / "config.json", json.dumps(config, indent=2) + "\n")
        check_same(config, directory)
        try:
            with OneCompiles(config) as compiling:
                return go_on(directory, compiling.report)
        except Held:
            if time.monotonic() > until:
                raise
            time.sleep(ASK_EVERY)
    return FINISHED
