"""Every number of the baselines, and what the paper found best for each environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from seads.envs.interface import EnvSpec
from seads.envs.registry import Environment
from seads.errors import require, unknown


@dataclass(frozen=True)
class BaselineSettings:
    """What soft actor-critic on replayed transitions needs, in either baseline."""

    algorithm: str
    """The baseline that these settings are of."""
    hidden: tuple[int, ...] = (512, 512, 512)
    """Hidden layers of policy and critics (on both levels of HAC)."""
    gamma: float = 0.99
    """Discount a step, or an action of a level."""
    tau: float = 0.005
    """How far the target critics move to the critics an update."""
    learning_rate: float = 3e-4
    """Adam's rate for policies and critics."""
    learning_rate_end: float = 3e-4
    """The rate at the end of the run; falls linearly over the last half."""
    updates: float = 1.0
    """Updates an epoch (N), of each level; 0.5 updates in every second epoch."""
    batch: int = 256
    """Transitions an update."""
    replay_transitions: int = 1_000_000
    """Newest transitions that are kept, of each level."""
    warmup_transitions: int = 1_000
    """Updates start once this many records are stored (by the low level)."""

    def __post_init__(self) -> None:
        sizes = self.hidden
        good = 1 <= len(sizes) <= 64 and all(1 <= size <= 16384 for size in sizes)
        require(self, good, "hidden", "1 to 64 positive sizes, up to 16384")
        for name in ("batch", "replay_transitions"):
            require(self, getattr(self, name) <= 10**8, name, "up to 10**8")
        for name in ("learning_rate", "learning_rate_end", "updates"):
            require(self, getattr(self, name) > 0, name, "above 0")
        require(self, 0 <= self.gamma <= 1, "gamma", "0 to 1")
        require(self, 0 < self.tau <= 1, "tau", "above 0, up to 1")
        require(self, self.batch >= 1, "batch", "1 or more")


@dataclass(frozen=True)
class SACSettings(BaselineSettings):
    """All that shapes what flat soft actor-critic learns; the paper's values (S.9)."""

    algorithm: str = "sac"
    """sac."""
    alpha: float = 0.1
    """Entropy weight, for densities in the units of the environment's actions."""
    num_envs: int = 1
    """Environments that run side by side."""
    steps_per_env: int = 8
    """Steps an epoch in each environment."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.algorithm == "sac", "algorithm", "sac")
        require(self, self.alpha >= 0, "alpha", "0 or more")
        for name in ("num_envs", "steps_per_env"):
            require(self, getattr(self, name) >= 1, name, "1 or more")
        require(
            self,
            self.replay_transitions > self.num_envs,
            "replay_transitions",
            f"more than num_envs ({self.num_envs})",
        )
        require(
            self,
            self.num_envs < self.warmup_transitions <= self.replay_transitions,
            "warmup_transitions",
            f"above num_envs ({self.num_envs}), up to replay_transitions "
            f"({self.replay_transitions})",
        )

    def longest_epoch(self, spec: EnvSpec | None = None) -> int:
        """The env steps of an epoch, wherever it is."""
        return self.num_envs * self.steps_per_env


@dataclass(frozen=True)
class HACSettings(BaselineSettings):
    """All that shapes what Hierarchical Actor-Critic learns on its two levels (S.10)."""

    algorithm: str = "hac"
    """hac."""
    hidden: tuple[int, ...] = (512, 512)
    updates: float = 64.0
    alpha_low: float = 0.1
    """Entropy weight of the low level, for densities in the units of the actions."""
    alpha_high: float = 0.001
    """Entropy weight of the high level, for densities of the relaxed subgoals."""
    temperature: float = 0.1
    """Temperature of the relaxed Bernoulli distribution over subgoals (the paper's tau)."""
    horizon_low: int = 10
    """Steps in which the low level may reach a subgoal."""
    horizon_high: int = 10
    """Subgoals that the high level may set in an episode."""
    subgoal_tests: float = 0.3
    """Share of the subgoals that are tested: the low level does not explore."""
    hindsight_goals: int = 3
    """Copies of a transition with a goal that was reached later, for each one without."""
    episodes_per_epoch: int = 16
    """Boards played an epoch, each in its own environment."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.algorithm == "hac", "algorithm", "hac")
        for name in ("alpha_low", "alpha_high"):
            require(self, getattr(self, name) >= 0, name, "0 or more")
        require(self, self.temperature > 0, "temperature", "above 0")
        for name in ("horizon_low", "horizon_high", "episodes_per_epoch"):
            require(self, getattr(self, name) >= 1, name, "1 or more")
        require(self, 0 <= self.subgoal_tests <= 1, "subgoal_tests", "0 to 1")
        require(self, self.hindsight_goals >= 0, "hindsight_goals", "0 or more")
        longest = self.horizon_low * self.horizon_high + 1
        require(
            self,
            self.replay_transitions >= longest,
            "replay_transitions",
            f"horizon_low × horizon_high + 1 ({longest}), so that an episode fits, or more",
        )
        require(
            self,
            1 <= self.warmup_transitions <= self.replay_transitions,
            "warmup_transitions",
            f"1 to replay_transitions ({self.replay_transitions})",
        )

    def longest_epoch(self, spec: EnvSpec | None = None) -> int:
        """The most env steps that an epoch can take, wherever it is."""
        return self.episodes_per_epoch * self.horizon_low * self.horizon_high


Settings = SACSettings | HACSettings
Kind = TypeVar("Kind")


class RunConfig(Protocol[Kind]):
    """What a baseline's trainer must know of a run."""

    env: str
    env_options: dict[str, Any]
    settings: Kind
    seed: int
    env_steps: int
    """The budget."""

    def learning_rate(self, env_steps: int, took: int) -> float:
        """The rate of an epoch that took so many steps and ends after so many."""
        ...


def updates_due(updates: float, epoch: int) -> int:
    """How many updates belong to an epoch (counted from 1); a fraction skips epochs."""
    return int(epoch * updates) - int((epoch - 1) * updates)


def check_updates(settings: Settings, env_steps: int) -> None:
    """Raise where a run of so many env steps may end before its first update is due."""
    epochs = -(-env_steps // settings.longest_epoch())  # or more
    require(
        settings,
        int(settings.updates * epochs) >= 1,
        "updates",
        f"{1 / epochs:.2g} or more, or a run of {env_steps} env steps may never update",
    )


KINDS: dict[str, type[Settings]] = {"sac": SACSettings, "hac": HACSettings}

# paper S.13: the best of its searches, written in bold there
BEST_SAC: dict[str, dict[str, Any]] = {
    "lightsout-cursor": dict(updates=1.0, alpha=0.1),
    "tileswap-cursor": dict(updates=1.0, alpha=0.1),
    "lightsout-reacher": dict(updates=0.5, alpha=0.001),
    "tileswap-reacher": dict(updates=0.25, alpha=0.001),
    "lightsout-jaco": dict(updates=0.5, alpha=0.0001),
    "tileswap-jaco": dict(updates=0.5, alpha=0.0001),
}
BEST_HAC: dict[str, dict[str, Any]] = {
    "lightsout-cursor": dict(temperature=0.1, alpha_low=0.1, alpha_high=0.001),
    "tileswap-cursor": dict(temperature=0.5, alpha_low=0.5, alpha_high=0.001),
    "lightsout-reacher": dict(temperature=0.1, alpha_low=0.0001, alpha_high=0.0001),
    "tileswap-reacher": dict(temperature=0.1, alpha_low=0.0001, alpha_high=0.0001),
    "lightsout-jaco": dict(temperature=0.1, alpha_low=0.001, alpha_high=0.001),
    "tileswap-jaco": dict(temperature=0.1, alpha_low=0.0001, alpha_high=0.001),
}
PRESETS = ("paper",)


def preset(algorithm: str, name: str = "paper", row: Environment | None = None) -> Settings:
    """The settings of a named preset for a row of the table of environments.

    Variants of a board share what was best for it; without a row, the class defaults.
    """
    if name not in PRESETS:
        raise unknown(f"preset of {algorithm}", name, PRESETS)
    if algorithm not in KINDS:
        raise unknown("baseline", algorithm, KINDS)
    values: dict[str, Any] = {}
    if row is not None:
        best = BEST_SAC if algorithm == "sac" else BEST_HAC
        values |= best.get(f"{row.game}-{row.manipulator}", {})
        if algorithm == "hac":
            values["horizon_low"] = row.manipulator_row.step_limit
    return KINDS[algorithm](**values)
