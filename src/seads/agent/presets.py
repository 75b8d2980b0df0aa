"""The named presets: the paper's, its ablations, and where the package's own leaves it."""

from __future__ import annotations

import math
from typing import Any

from seads.agent.settings import AgentSettings
from seads.agent.skill_model import WITHOUT_XOR
from seads.envs.registry import Environment
from seads.errors import SeadsError, unknown

DEFAULT: dict[str, Any] = dict(
    hidden=(256, 256),
    entropy_in_action_units=False,
    n_step=4,
    learning_rate_end=1e-4,
    sac_steps=32,
    model_steps=16,
    model_batch=128,
    clip_novelty=True,
    skip_explained=True,
    score_again=False,
    balanced_buffer=True,
    shared_sample=True,
    noisy_episodes=0.25,
    average_rate=0.02,
    model="either",
    surprise=True,
    honest_labels=1.0,
    policy_sees_symbol=False,
    scale_observations=True,
    entropy_share=0.32,
    alpha_fall=2.0,
    gamma_fall=2.0,
    weaker_rivals=False,
    free_tries=True,
    updates_per_step=0.16,
    buffer_episodes=16384,
    sampled_episodes=1024,
)
"""Where the preset default leaves the paper, whatever the manipulator and the game."""

# paper S.11: the discriminator's input (ii), with the xor; the paper saw only that one succeed
_VIC: dict[str, Any] = dict(
    algorithm="vic", novelty_bonus=False, second_best=False, relabel_model=0.0, relabel_sac=0.0
)
_RELABELLED: dict[str, Any] = dict(relabel_model=1.0, relabel_sac=0.5)

PRESETS: dict[str, dict[str, Any]] = {
    "default": DEFAULT,
    "paper": {},
    "no-second-best": dict(second_best=False),
    "no-novelty": dict(novelty_bonus=False),
    "no-relabelling": dict(relabel_model=0.0, relabel_sac=0.0),
    "no-model-relabelling": dict(relabel_model=0.0),
    "no-sac-relabelling": dict(relabel_sac=0.0),
    "more-skills": {},
    "vic": _VIC,
    "vic-sbn": _VIC | dict(second_best=True),
    "vic-rl": _VIC | _RELABELLED,
    "vic-sbn-rl": _VIC | dict(second_best=True) | _RELABELLED,
    "vic-without-xor": _VIC | dict(model=WITHOUT_XOR),
}
"""How each preset differs from the paper; the ablations are the paper's own."""


def preset(
    name: str = "default", row: Environment | None = None, num_moves: int | None = None
) -> AgentSettings:
    """The settings of a named preset for a row of the table of environments.

    The preset default is the same everywhere. The others have the paper's entropy weight, which
    is the manipulator's (S.8.4).
    """
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    values = dict(PRESETS[name])
    if row is not None and name != "default":
        values["alpha"] = row.manipulator_row.entropy_weight
    if name == "more-skills":
        if num_moves is None:
            raise SeadsError("preset 'more-skills' needs an environment whose moves are known")
        values["num_skills"] = math.ceil(1.2 * num_moves)  # 30 and 15 in the paper's games
    return AgentSettings(**values)
