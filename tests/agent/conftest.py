"""Settings small enough that a whole epoch of learning takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.tiny_settings import tiny_settings

from seads.agent.settings import AgentSettings
from seads.jax_setup import prepare_jax

prepare_jax()


@pytest.fixture(scope="session")
def tiny() -> Callable[..., AgentSettings]:
    """`tiny(alpha=0.2)`: tiny settings with some of them changed."""
    return tiny_settings
