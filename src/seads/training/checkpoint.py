"""Checkpoints that survive: written aside, read back and compared, then renamed into place."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from seads.agent.arrays import read_arrays, write_arrays
from seads.checkpoints import checkpoint_at, checkpoints, steps_of
from seads.errors import SeadsError
from seads.files import flush
from seads.reading import Count, Name, read_json

RESUMABLE = "learner.safetensors"
MANIFEST = "manifest.json"
MANIFEST_IS = "a checkpoint's manifest"
LAYOUT = 2
"""Which names the arrays have: since 2, those of the progress as a pytree."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Found = TypeVar("Found")


class Manifest(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """manifest.json of a checkpoint."""

    sha256: Name
    env_steps: Count
    layout: int = 1
    epoch: Count = 0
    config: Name | None = None
    """Fingerprint of the config.json that it was made with."""


def write_checkpoint(
    home: Path,
    env_steps: int,
    arrays: dict[str, np.ndarray],
    facts: dict[str, Any],
    keep: int,
) -> Path:
    """Write `step_N`, then thin out older ones: of all up to it but `keep` only the agent stays.

    `facts` (epoch and the like) go to the manifest beside the file's SHA-256. When writing
    fails nothing of the new checkpoint remains and the older ones are untouched. Nobody else may
    write to `home` meanwhile.
    """
    home.mkdir(parents=True, exist_ok=True)
    final = checkpoint_at(home, env_steps)
    aside = home / f".{final.name}.tmp"
    for left in home.glob(".*.tmp"):  # by kills, each at a step that may never come again
        shutil.rmtree(left, ignore_errors=True)
    try:
        aside.mkdir()
        digest = write_arrays(aside / RESUMABLE, arrays)
        manifest = {**facts, "env_steps": env_steps, "layout": LAYOUT, "sha256": digest}
        (aside / MANIFEST).write_bytes(json.dumps(manifest, indent=2).encode() + b"\n")
        for path in (aside / RESUMABLE, aside / MANIFEST, aside):
            flush(path)
        if _digest(aside / RESUMABLE) != digest:
            raise SeadsError(f"{aside / RESUMABLE} reads back differently; is the disk failing?")
        shutil.rmtree(final, ignore_errors=True)
        aside.rename(final)
        flush(home)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    # what is newer could not be used, or the run would not be here again
    ours = [one for one in checkpoints(home) if steps_of(one) <= env_steps]
    for old in ours[:-keep]:
        (old / RESUMABLE).unlink(missing_ok=True)
        (old / MANIFEST).unlink(missing_ok=True)
    return final


def newest_checkpoint(
    home: Path, take: Callable[[dict[str, np.ndarray], dict[str, Any]], Found]
) -> tuple[Found, Path, list[str]] | None:
    """The newest checkpoint that verifies and that `take(arrays, facts)` takes.

    Returns what `take` made of it, where it is, and what was wrong with newer ones; None
    where there is no checkpoint at all; raises if there are some but none is good.
    """
    complaints: list[str] = []
    for directory in reversed(checkpoints(home)):
        if not (directory / RESUMABLE).exists() and not (directory / MANIFEST).exists():
            continue
        try:
            facts = read_json(directory / MANIFEST, Manifest, MANIFEST_IS)
            if _digest(directory / RESUMABLE) != facts.sha256:
                raise SeadsError("its contents do not match its checksum")
            if facts.layout != LAYOUT:
                raise SeadsError(
                    "another version of seads wrote it, and only that one can continue this run; "
                    "its agents still load"
                )
            arrays = read_arrays(directory / RESUMABLE)
            return take(arrays, msgspec.to_builtins(facts)), directory, complaints
        except (OSError, SeadsError) as error:
            complaints.append(f"{directory.name} cannot be used ({error})")
    if complaints:
        raise SeadsError(f"no good checkpoint in {home}: {'; '.join(complaints)}")
    return None


def manifests(home: Path) -> list[Manifest]:
    """What the checkpoints that can be resumed from say of themselves, where they can be read."""
    found = []
    for directory in checkpoints(home):
        with suppress(OSError, SeadsError):
            found.append(read_json(directory / MANIFEST, Manifest, MANIFEST_IS))
    return found


def disk_full(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that the disk or the quota is used up."""
    caused: BaseException | None = error
    while caused is not None:
        if isinstance(caused, OSError) and caused.errno in _FULL:
            return True
        caused = caused.__cause__
    return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
