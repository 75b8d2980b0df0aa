"""A real arm on the command line: the options that make an environment real."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any


def env_options(
    env_set: Iterable[str], port: str | None, calibration: Path | None
) -> dict[str, Any]:
    """Options of an environment from NAME=VALUE texts, an arm's line and its calibration."""
    from seads.training.configure import named_values

    options = named_values(env_set)
    if port is not None:
        options["port"] = port
    if calibration is not None:  # a run may be resumed from another place
        options["calibration"] = str(calibration.resolve())
    return options
