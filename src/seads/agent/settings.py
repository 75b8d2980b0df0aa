"""Every number of the learner, and the named presets that set them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

from seads import errors
from seads.errors import SeadsError, unknown

MODELS = ("network", "linear")
"""Kinds of forward models."""


@dataclass(frozen=True)
class AgentSettings:
    """All that shapes what a SEADS (or VIC) agent learns; the defaults are the default preset."""

    algorithm: str = "seads"
    """seads learns a symbolic forward model; vic a skill discriminator in its place."""
    num_skills: int = 0
    """K; 0 takes the number of moves of the environment's game."""

    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of policy and critics."""
    layer_norm: bool = False
    """Normalise the hidden layers of the critics."""
    policy_sees_symbol: bool = True
    """False hides the symbolic state from the policy, not from the critics."""
    critics: int = 2
    """How many critics; the smallest value counts."""
    alpha: float = 0.1
    """Entropy weight of soft actor-critic."""
    alpha_fall: float = 0.0
    """The entropy weight falls with this power of the learning rate; 0: not at all."""
    gamma: float = 0.99
    """Discount a step."""
    n_step: int = 4
    """Steps of an episode that a critic's target looks ahead before it bootstraps."""
    tau: float = 0.005
    """How far the target critics move to the critics an update."""
    learning_rate: float = 3e-4
    """Adam's rate for policy and critics."""
    learning_rate_end: float = 1e-4
    """The rate at the end of the run; falls linearly over the last half."""
    sac_steps: int = 32
    """Updates of policy and critics an epoch."""
    sac_batch: int = 128
    """Transitions an update."""

    model: str = "network"
    """network learns any effect; linear also unseen boards, where single bits decide effects."""
    model_hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of the skill model, if it is a network."""
    model_learning_rate: float = 1e-3
    """Adam's rate for a skill model that is a network."""
    board_decay: float = 0.0
    """Share of a network's weights on the board that each update forgets; 0.03 on large boards."""
    linear_learning_rate: float = 1.5
    """Rate of gradient descent for a linear forward model."""
    model_steps: int = 16
    """Updates of the skill model an epoch."""
    model_batch: int = 128
    """Episodes an update of the skill model."""

    second_best: bool = True
    """Second-best normalisation of the reward."""
    novelty_bonus: bool = True
    """Reward transitions that the model expects of no skill."""
    clip_novelty: bool = True
    """Keep the novelty bonus in [0, log K]."""
    relabel_model: float = 1.0
    """Share of the episodes that may be relabelled for the skill model."""
    skip_explained: bool = True
    """The skill model learns from changes only, and not from those that another skill explains."""
    surprise: bool = False
    """The skill model learns most from the episodes that it explains worst."""
    relabel_sac: float = 0.5
    """Share of the changed episodes that may be relabelled for soft actor-critic."""

    episodes_per_epoch: int = 32
    """Episodes collected an epoch, one in each row of the environment."""
    recent_episodes: int = 256
    """Newest episodes, all of which are learned from in every epoch."""
    buffer_episodes: int = 2048
    """Episodes in the long-term buffer."""
    sampled_episodes: int = 256
    """Episodes drawn from the long-term buffer an epoch, with replacement."""
    balanced_buffer: bool = True
    """Evict the oldest episode of the most frequent effect instead of the oldest of all."""
    shared_sample: bool = True
    """Model and policy learn from one draw of episodes an epoch instead of a draw each."""

    noisy_episodes: float = 0.25
    """Share of the collected episodes with correlated exploration noise on the actions."""
    noise_scale: float = 0.5
    """Standard deviation of that noise, in units of half the action range."""
    noise_correlation: float = 0.85
    """How much of the noise carries over to the next step."""
    average_rate: float = 0.02
    """How far the averages of policy and model, which are shipped, move an epoch; 1: no average."""
    act_with_average: bool = False
    """Collect with the averaged policy."""

    def __post_init__(self) -> None:
        require = partial(errors.require, self)
        require(self.algorithm in ("seads", "vic"), "algorithm", "seads, vic")
        require(self.model in MODELS, "model", ", ".join(MODELS))
        require(
            self.num_skills == 0 or self.num_skills >= 2,
            "num_skills",
            "2 or more, or 0 for the game's",
        )
        for name in ("hidden", "model_hidden"):
            sizes = getattr(self, name)
            require(
                len(sizes) >= 1 and all(n >= 1 for n in sizes), name, "one or more positive sizes"
            )
        for name in ("critics", "n_step", "sac_steps", "sac_batch", "model_steps", "model_batch"):
            require(getattr(self, name) >= 1, name, "1 or more")
        for name in ("episodes_per_epoch", "recent_episodes", "buffer_episodes"):
            require(getattr(self, name) >= 1, name, "1 or more")
        require(self.sampled_episodes >= 0, "sampled_episodes", "0 or more")
        for name in ("alpha", "alpha_fall"):
            require(getattr(self, name) >= 0, name, "0 or more")
        for name in (
            "learning_rate",
            "learning_rate_end",
            "model_learning_rate",
            "linear_learning_rate",
        ):
            require(getattr(self, name) > 0, name, "above 0")
        for name in (
            "gamma",
            "relabel_model",
            "relabel_sac",
            "noisy_episodes",
            "noise_correlation",
        ):
            require(0 <= getattr(self, name) <= 1, name, "0 to 1")
        require(0 <= self.board_decay < 1, "board_decay", "0 or more, below 1")
        require(
            not self.board_decay or (self.algorithm == "seads" and self.model == "network"),
            "board_decay",
            "0 without a forward model that is a network",
        )
        for name in ("tau", "average_rate"):
            require(0 < getattr(self, name) <= 1, name, "above 0, up to 1")
        require(self.noise_scale >= 0, "noise_scale", "0 or more")
        require(
            self.buffer_episodes >= self.recent_episodes,
            "buffer_episodes",
            f"recent_episodes ({self.recent_episodes}) or more",
        )
        require(
            self.recent_episodes >= self.episodes_per_epoch,
            "recent_episodes",
            f"episodes_per_epoch ({self.episodes_per_epoch}) or more",
        )
        require(
            not (self.algorithm == "vic" and self.novelty_bonus),
            "novelty_bonus",
            "False with algorithm='vic', whose discriminator knows no novelty",
        )
        require(
            not (self.algorithm == "vic" and self.model == "linear"),
            "model",
            "network with algorithm='vic', which has no forward model",
        )

    @property
    def rate_of_model(self) -> float:
        """The learning rate that fits the kind of skill model."""
        linear = self.model == "linear"
        return self.linear_learning_rate if linear else self.model_learning_rate

    @property
    def warmup_episodes(self) -> int:
        """Learning starts once this many episodes are stored."""
        return self.recent_episodes


# paper S.8: the loop as published; hidden 512, 16 SAC steps, 4 model steps of 32
PAPER: dict[str, Any] = dict(
    hidden=(512, 512),
    alpha_fall=0.0,
    learning_rate_end=3e-4,
    policy_sees_symbol=True,
    relabel_model=1.0,
    n_step=1,
    sac_steps=16,
    model="network",
    board_decay=0.0,
    model_steps=4,
    model_batch=32,
    clip_novelty=False,
    buffer_episodes=2048,
    sampled_episodes=256,
    balanced_buffer=False,
    shared_sample=False,
    skip_explained=False,
    surprise=False,
    noisy_episodes=0.0,
    average_rate=1.0,
)
_VIC: dict[str, Any] = PAPER | dict(
    algorithm="vic", novelty_bonus=False, second_best=False, relabel_model=0.0, relabel_sac=0.0
)

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": PAPER,
    "no-second-best": PAPER | dict(second_best=False),
    "no-novelty": PAPER | dict(novelty_bonus=False),
    "no-relabelling": PAPER | dict(relabel_model=0.0, relabel_sac=0.0),
    "no-model-relabelling": PAPER | dict(relabel_model=0.0),
    "no-sac-relabelling": PAPER | dict(relabel_sac=0.0),
    "more-skills": PAPER,
    "vic": _VIC,
    "vic-sbn": _VIC | dict(second_best=True),
    "vic-rl": _VIC | dict(relabel_model=1.0, relabel_sac=0.5),
    "vic-sbn-rl": _VIC | dict(second_best=True, relabel_model=1.0, relabel_sac=0.5),
}
"""What each preset changes; the ablations are the paper's, on the paper's loop."""

MANIPULATORS: dict[str, dict[str, Any]] = {
    "cursor": dict(alpha=0.1, alpha_fall=2.0, buffer_episodes=8192),
    "reacher": dict(alpha=0.01),
    "jaco": dict(alpha=0.01),
}
"""Entropy weights of the paper (S.8.4), and what the default preset adds to them."""

GAMES: dict[str, dict[str, Any]] = {
    "tileswap": dict(
        model="linear",
        surprise=True,
        relabel_model=0.5,
        policy_sees_symbol=False,
        buffer_episodes=16384,
        sampled_episodes=1024,
    ),
}
"""What the default preset adds for a game."""

MORE_SKILLS = {25: 30, 12: 15}
"""K of the preset more-skills for the games of the paper, by their number of moves."""


def preset(
    name: str = "default", manipulator: str = "", game: str = "", num_moves: int | None = None
) -> AgentSettings:
    """The settings of a named preset for a manipulator and a game."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    values = MANIPULATORS.get(manipulator, {}) | GAMES.get(game, {})
    values = values | PRESETS[name]
    if name == "more-skills":
        if num_moves is None:
            raise SeadsError("preset 'more-skills' needs an environment whose moves are known")
        values = values | dict(num_skills=MORE_SKILLS.get(num_moves, round(1.2 * num_moves)))
    return AgentSettings(**values)


def changes(values: dict[str, Any], kind: type = AgentSettings) -> dict[str, Any]:
    """Named values as fields of a class of settings; unknown names and wrong types raise."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    result = {}
    for name, value in values.items():
        if name not in fields:
            raise unknown("setting", name, fields)
        default = fields[name].default
        if isinstance(default, tuple):
            value = tuple(value) if isinstance(value, list | tuple) else (value,)
            fits = all(type(v) is int for v in value)
        elif isinstance(default, float):
            fits = isinstance(value, int | float) and not isinstance(value, bool)
            value = float(value) if fits else value
        else:
            fits = type(value) is type(default)
        if not fits:
            wanted = "integers" if isinstance(default, tuple) else type(default).__name__
            raise SeadsError(f"setting {name}={value!r}; allowed: {wanted}, such as {default!r}")
        result[name] = value
    return result


def from_dict(values: dict[str, Any], kind: type = AgentSettings) -> Any:
    """Settings as read from JSON."""
    return kind(**changes(values, kind))


def as_typed(value: Any) -> str:
    """A setting's value as one types it after --set."""
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
