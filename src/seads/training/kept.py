"""What a run has kept of its own past: the episodes in its newest checkpoint."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from seads.agent.buffer import Episodes
from seads.errors import SeadsError
from seads.training.checkpoint import newest_checkpoint


def kept_episodes(directory: Path) -> tuple[Episodes, int]:
    """The stored episodes of a run, oldest first, and the environment steps that it has made."""

    def take(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> tuple[Episodes, int]:
        order = arrays.get(".buffer.order")
        names = {field.name: f".buffer.stored.{field.name}" for field in fields(Episodes)}
        if order is None or not arrays.keys() >= set(names.values()):
            raise SeadsError("it keeps no skill episodes")
        # earlier versions of seads stored slots that were never filled, as -1
        used = np.argsort(order)[np.count_nonzero(order < 0) :]
        stored = Episodes(**{name: arrays[key] for name, key in names.items()})
        return stored.pick(used), int(facts["env_steps"])

    found = newest_checkpoint(directory / "checkpoints", take)
    if found is None:
        raise SeadsError(f"{directory} has no checkpoint to learn its episodes from")
    return found[0]
