"""One place that prepares JAX: compiled programs are kept on disk, since compiling is slow here."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """Where what can be made again is kept: `SEADS_CACHE`, or the user's usual place."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "seads")
    return Path(os.environ.get("SEADS_CACHE") or usual)


def prepare_jax() -> None:
    """Call before the first compilation, so that its result is kept."""
    import jax

    jax.config.update("jax_compilation_cache_dir", str(cache_home() / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
