"""Every number of the learner: what it means, what it may be, and how one is read."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from seads import errors
from seads.agent.model_kinds import MODELS
from seads.envs.interface import EnvSpec
from seads.errors import SeadsError, unknown


@dataclass(frozen=True)
class AgentSettings:
    """All that shapes what a SEADS (or VIC) agent learns; the defaults are the paper's (S.8)."""

    algorithm: str = "seads"
    """seads learns a symbolic forward model; vic a skill discriminator in its place."""
    num_skills: int = 0
    """K; 0 takes the game's number of moves, or two for each bit where that is not known."""

    hidden: tuple[int, ...] = (512, 512)
    """Hidden layers of policy and critics."""
    layer_norm: bool = False
    """Normalise the hidden layers of the critics."""
    policy_sees_symbol: bool = True
    """False hides the symbolic state from the policy, and from the critics."""
    scale_observations: bool = False
    """Scale observations by the statistics of all that was collected."""
    critics: int = 2
    """How many critics; the smallest value counts."""
    alpha: float = 0.1
    """Entropy weight of soft actor-critic."""
    entropy_in_action_units: bool = True
    """Measure the policy's density in the environment's action units, not in [-1, 1]."""
    entropy_share: float = 0.0
    """alpha is at most this share of 2 log K over the entropy of a random skill; 0: no matter."""
    alpha_fall: float = 0.0
    """The entropy weight falls with this power of the learning rate; 0: not at all."""
    gamma: float = 0.99
    """Discount a step."""
    gamma_fall: float = 0.0
    """What gamma lacks of 1 falls with this power of the learning rate; 0: not at all."""
    n_step: int = 1
    """Steps of an episode that a critic's target looks ahead before it bootstraps."""
    tau: float = 0.005
    """How far the target critics move to the critics an update."""
    learning_rate: float = 3e-4
    """Adam's rate for policy and critics."""
    learning_rate_end: float = 3e-4
    """The rate at the end of the run; falls linearly over the last half."""
    sac_steps: int = 16
    """Updates of policy and critics an epoch."""
    updates_per_step: float = 0.0
    """Updates for each environment step, in rounds of sac_steps, and a round an epoch at least."""
    sac_batch: int = 128
    """Transitions an update."""

    model: str = "network"
    """seads: network, linear, table, or either (the best); vic: network, network-without-xor."""
    model_hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of the skill model, if it is a network."""
    model_learning_rate: float = 1e-3
    """Adam's rate for a skill model that is a network."""
    board_decay: float = 0.0
    """Share of a network's weights on the board that an update forgets; model=either needs none."""
    linear_learning_rate: float = 0.12
    """Rate of gradient descent for a linear forward model, times the number of skills."""
    model_steps: int = 4
    """Updates of the skill model an epoch."""
    model_batch: int = 32
    """Episodes an update of the skill model."""

    second_best: bool = True
    """Second-best normalisation of the reward."""
    weaker_rivals: bool = True
    """Skills that are less reliable than an episode's own count as second best, too."""
    free_tries: bool = False
    """Failing costs a skill nothing while it has an effect to learn; what it copies is not it."""
    novelty_bonus: bool = True
    """Reward transitions that the model expects of no skill."""
    clip_novelty: bool = False
    """Keep the novelty bonus in [0, log K]."""
    relabel_model: float = 1.0
    """Share of the episodes that may be relabelled for the skill model."""
    honest_labels: float = 0.0
    """Share of a working skill's newest episodes that keep their label, for the model."""
    skip_explained: bool = False
    """The skill model learns from changes only, and not from those that another skill explains."""
    surprise: bool = False
    """The model learns most from what it explains worst; what is unknown is for free skills."""
    relabel_sac: float = 0.5
    """Share of the changed episodes that may be relabelled for soft actor-critic."""
    score_again: bool = True
    """Relabel and reward soft actor-critic's episodes with the skill model after its update."""

    episodes_per_epoch: int = 32
    """Rows of the environment: an episode in each an epoch, or more, until there is one a skill."""
    episodes_going_on: int = 4
    """Episodes an epoch, one after the other, where the environment is never reset (paper S.5)."""
    recent_episodes: int = 256
    """Newest episodes, all of which are learned from in every epoch."""
    buffer_episodes: int = 2048
    """Episodes in the long-term buffer; fewer where they would take more than 512 MB."""
    sampled_episodes: int = 256
    """Episodes drawn from the long-term buffer an epoch, with replacement."""
    balanced_buffer: bool = False
    """Evict the oldest episode of the most frequent effect instead of the oldest of all."""
    shared_sample: bool = False
    """Model and policy learn from one draw of episodes an epoch instead of a draw each."""

    noisy_episodes: float = 0.0
    """Share of the collected episodes with correlated exploration noise on the actions."""
    noise_scale: float = 0.5
    """Standard deviation of that noise, in units of half the action range."""
    noise_correlation: float = 0.85
    """How much of the noise carries over to the next step."""
    average_rate: float = 1.0
    """How far the shipped averages move a round; first more, in long runs less; 1: no average."""
    act_with_average: bool = False
    """Collect with the averaged policy."""

    def __post_init__(self) -> None:
        require = partial(errors.require, self)

        def require_all(names: str, fits: Callable[[Any], bool], allowed: str) -> None:
            for name in names.split():
                require(fits(getattr(self, name)), name, allowed)

        vic = self.algorithm == "vic"
        require(self.algorithm in MODELS, "algorithm", ", ".join(MODELS))
        kinds = MODELS[self.algorithm]
        require(
            self.model in kinds, "model", f"{', '.join(kinds)} with algorithm={self.algorithm!r}"
        )
        require(
            self.num_skills == 0 or self.num_skills >= 2,
            "num_skills",
            "2 or more, or 0 for the game's",
        )
        require_all(
            "hidden model_hidden",
            lambda sizes: len(sizes) >= 1 and all(size >= 1 for size in sizes),
            "one or more positive sizes",
        )
        # what a file asks for is built: so large that no computer has room for it is a mistake
        for name, most in (("num_skills", 4096), ("critics", 64), ("buffer_episodes", 10**7)):
            require(getattr(self, name) <= most, name, f"up to {most}")
        require_all(
            "hidden model_hidden",
            lambda sizes: len(sizes) <= 64 and max(sizes) <= 16384,
            "up to 64 layers of up to 16384",
        )
        require_all(
            "episodes_per_epoch sac_steps sac_batch model_steps model_batch sampled_episodes",
            lambda value: value <= 10**6,
            "up to 1000000",
        )
        require_all(
            "critics n_step sac_steps sac_batch model_steps model_batch episodes_per_epoch "
            "episodes_going_on "
            "recent_episodes buffer_episodes",
            lambda value: value >= 1,
            "1 or more",
        )
        require_all(
            "sampled_episodes alpha entropy_share alpha_fall gamma_fall updates_per_step "
            "noise_scale",
            lambda value: value >= 0,
            "0 or more",
        )
        require_all(
            "learning_rate learning_rate_end model_learning_rate linear_learning_rate",
            lambda value: value > 0,
            "above 0",
        )
        require_all(
            "gamma relabel_model honest_labels relabel_sac noisy_episodes noise_correlation",
            lambda value: 0 <= value <= 1,
            "0 to 1",
        )
        require_all("tau average_rate", lambda value: 0 < value <= 1, "above 0, up to 1")
        require(0 <= self.board_decay < 1, "board_decay", "0 or more, below 1")
        require(
            not self.board_decay or (not vic and self.model in ("network", "either")),
            "board_decay",
            "0 without a forward model that is a network",
        )
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
        without_forward_model = dict(
            novelty_bonus=False,
            surprise=False,
            skip_explained=False,
            weaker_rivals=True,
            free_tries=False,
        )
        for name, only in without_forward_model.items():
            require(
                not vic or getattr(self, name) is only,
                name,
                f"{only} with algorithm='vic', whose discriminator foresees nothing",
            )

    def skills_in(self, spec: EnvSpec) -> int:
        """How many skills are learned in an environment: one for each move, where they are known.

        Else by the bits; what is too many turns out to be spare.
        """
        return self.num_skills or max(spec.num_moves or skills_by_bits(spec.num_bits), 2)

    def episodes_in(self, spec: EnvSpec, rows: int, num_skills: int) -> int:
        """Episodes an epoch: the rows go round until there is one for each skill, on average."""
        rounds = -(-max(self.episodes_per_epoch, num_skills) // rows)
        return self.episodes_going_on if spec.continuing else rounds * rows

    def longest_epoch(self, spec: EnvSpec) -> int:
        """The most env steps that an epoch can take."""
        episodes = self.episodes_in(spec, self.episodes_per_epoch, self.skills_in(spec))
        return episodes * spec.step_limit

    def for_environment(self, spec: EnvSpec, num_skills: int) -> AgentSettings:
        """With the entropy weight that `entropy_share` means in an environment.

        A skill of random actions earns alpha times its entropy, at most log 2 an action and step;
        one that works 2 log K. What counts is how these compare. In short skills that would allow
        so much that it pays to miss: `alpha` is the most there is.
        """
        if not self.entropy_share:
            return self
        random = spec.step_limit * spec.action_size * math.log(2)
        alpha = self.entropy_share * 2 * math.log(num_skills) / random
        return dataclasses.replace(self, alpha=min(alpha, self.alpha))

    def rounds(self, env_steps: int) -> int:
        """How many rounds of `sac_steps` updates follow so many new environment steps."""
        return max(1, round(self.updates_per_step * env_steps / self.sac_steps))

    def discount(self, learning_rate: float) -> float:
        """Gamma where the learning rate has fallen to this: skills need not hurry any more."""
        share = min(learning_rate / self.learning_rate, 1.0)
        return 1 - share**self.gamma_fall * (1 - self.gamma)

    @property
    def warmup_episodes(self) -> int:
        """Learning starts once this many episodes are stored."""
        return self.recent_episodes


def skills_by_bits(num_bits: int) -> int:
    """How many skills there are where nobody knows how many moves: to switch each bit on and off.

    At most 64: more have to be asked for.
    """
    return min(max(2 * num_bits, 4), 64)


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
            number = isinstance(value, int | float) and not isinstance(value, bool)
            fits = number and abs(value) < 1e300  # which nan and inf are not
            value = float(value) if fits else value
        else:
            fits = type(value) is type(default)
        if not fits:
            wanted = "integers" if isinstance(default, tuple) else type(default).__name__
            raise SeadsError(f"setting {name}={value!r}; allowed: {wanted}, such as {default!r}")
        result[name] = value
    return result


def as_typed(value: Any) -> str:
    """A setting's value as one types it after --set."""
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def described(kind: type) -> dict[str, str]:
    """The line below each field of a class of settings, which is its help."""
    found: dict[str, str] = {}
    for one in reversed([c for c in kind.__mro__ if dataclasses.is_dataclass(c)]):
        [body] = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(body, ast.ClassDef)
        for field, line in itertools.pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(line, ast.Expr):
                found[ast.unparse(field.target)] = ast.literal_eval(line.value)
    return found
