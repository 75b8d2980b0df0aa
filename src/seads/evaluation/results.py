"""Results on disk: JSON beside the run, each with the command, seed and checkpoint that made it."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any


def write_result(run: Path, name: str, result: dict[str, Any], command: str) -> Path | None:
    """Write `eval/NAME.json` into a run directory; an agent of the package has no such place."""
    if not (run / "config.json").is_file():
        return None
    path = run / "eval" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    aside = path.with_suffix(".tmp")
    aside.write_text(json.dumps({"command": command, "made": made, **result}, indent=2) + "\n")
    aside.rename(path)
    return path


def checkpoint_agents(run: Path) -> list[Path]:
    """The agents kept along a run, in the order of their environment steps."""
    return sorted(card.parent for card in run.glob("checkpoints/step_*/agent/card.json"))
