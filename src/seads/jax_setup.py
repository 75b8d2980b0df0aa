"""One place that prepares JAX: compiled programs are kept on disk, since compiling is slow here."""

from __future__ import annotations

import os
from pathlib import Path


def prepare_jax() -> None:
    """Call before the first compilation; `SEADS_CACHE` says where compiled programs are kept."""
    import jax

    home = os.environ.get("SEADS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "seads"
    )
    jax.config.update("jax_compilation_cache_dir", str(Path(home) / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
