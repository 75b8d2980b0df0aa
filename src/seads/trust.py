"""Whose code may be imported: a file can name `module:factory`, but only its user can mean it.

A run that is trained here gets a seal: a keyed hash of the factory, its options and the place that
its module comes from. The key lies in the user's state directory, outside of every run, so a run
can be moved and stays ours, and nobody who makes a directory elsewhere can make its seal.
"""

from __future__ import annotations

import contextlib
import hmac
import importlib.util
import json
import os
import secrets
from collections.abc import Collection
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from seads.errors import SeadsError

KEY_BYTES = 32


def state_directory() -> Path:
    """What belongs to the user and to no run; `SEADS_STATE` says where it is."""
    given = os.environ.get("SEADS_STATE")
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(given) if given else Path(home) / "seads"


def seal(factory: str, options: dict[str, Any]) -> str | None:
    """What marks a run as trained here with this factory; None where no key can be kept."""
    try:
        return _seal(_key(make=True), factory, options)
    except OSError:
        return None


def refusal(
    source: str | Path, factory: str, options: dict[str, Any], sealed: str | None, allow: str | None
) -> str | None:
    """Why the factory that the files of `source` name may not be imported; None if it may.

    It may where the user named it, or where the files bear this user's seal.
    """
    if allow == factory:
        return None
    with contextlib.suppress(OSError):
        ours = _seal(_key(make=False), factory, options)
        if sealed is not None and hmac.compare_digest(ours.encode(), sealed.encode()):
            return None
    named = "" if allow is None else f", and not {allow!r}, which you allow"
    return (
        f"{source} {_would_import(factory, named)}, and this run was not trained here with it; if "
        f"you trust it, add --allow {factory} (from Python: allow={factory!r})"
    )


def study_refusal(factory: str, allow: Collection[str]) -> str | None:
    """Why the factory that a study's file names may not be imported; None if the user named it."""
    if factory in allow:
        return None
    named = f", and not {', '.join(map(repr, allow))}, which you allow" if allow else ""
    return f"the study {_would_import(factory, named)}; if you trust it, add --allow {factory}"


def _would_import(factory: str, named: str) -> str:
    return f"names the environment {factory!r}{named}: using it would import and run that code"


def _seal(key: bytes, factory: str, options: dict[str, Any]) -> str:
    facts = json.dumps([factory, options, _place(factory)], sort_keys=True)
    return hmac.digest(key, facts.encode(), "sha256").hex()


def _place(factory: str) -> str:
    """Where the module would be imported from; empty where it would not be found."""
    package = factory.partition(":")[0].partition(".")[0]
    spec: ModuleSpec | None = None
    with contextlib.suppress(ValueError, ImportError):  # neither of them has run any code
        spec = importlib.util.find_spec(package)
    spec = spec or PathFinder.find_spec(package, [str(Path.cwd())])
    if spec is None:
        return ""
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [""])
    return str(Path(places[0]).resolve())


def _key(make: bool) -> bytes:
    """The user's key, made on first use."""
    path = state_directory() / "key"
    if make and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f".key.{os.getpid()}")
        aside.touch(mode=0o600)
        aside.write_bytes(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):  # another process was first: its key counts
            os.link(aside, path)
        aside.unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise SeadsError(f"{path} is damaged; delete it, and name factories with --allow")
    return key
