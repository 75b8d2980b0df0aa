"""Whether an environment is ready to be learned: measured, judged, and put into words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from seads.cores import cores
from seads.envs.checks import FARTHEST
from seads.envs.from_gymnasium import KINDS, GymBatch
from seads.envs.gymnasium_rows import Vectorise
from seads.envs.interface import EnvSpec
from seads.envs.own import check_env_options
from seads.envs.pace import Pace, available_megabytes, built, measure
from seads.envs.probing import Probe, probe
from seads.envs.registry import most_rows, training_rows
from seads.errors import SeadsError
from seads.tables import table_text

MOST_ROWS = 8
"""Rows that are enough for measuring; a run has more."""
WILD = 100.0
"""Observations beyond this are of a wild scale."""
RARE = 1.0
"""Changes in 1,000 steps below which learning waits long for anything to learn from."""
SHOWN_EFFECTS = 64
"""Effects that are listed, the most frequent first."""


@dataclass(frozen=True)
class Readiness:
    """What `seads check` found; `print` shows the table, the verdict and what to heed."""

    env: str
    spec: EnvSpec
    rows: int
    training_rows: int
    """How many rows a run builds."""
    found: Probe
    paces: dict[str, Pace | None]
    """By how the rows are run; None where that is not possible."""
    chosen: str
    """How the factory runs them."""
    refusals: list[str] = field(default_factory=list)
    """Why some of the ways are not possible."""

    @property
    def verdict(self) -> str:
        """'ready', or why this cannot be learned."""
        found, places = self.found, np.flatnonzero(self.found.not_finite).tolist()
        if places:
            return f"observations are not finite in {_listed('place', places)}"
        if beyond := self._beyond(FARTHEST):
            return (
                f"observations go beyond {FARTHEST:.0e} in {_listed('place', beyond)}, too far to "
                "be learned from; scale them"
            )
        if found.hidden_bits:
            return (
                f"phi depends on more than the observation: asked again about the same one, it "
                f"gives {_listed('bit', found.hidden_bits)} otherwise"
            )
        if not found.changes and not found.enough:
            return (
                f"no bit changed in {found.steps:,} random steps, which are too few to tell; there "
                f"were no more in {found.seconds:.0f} s: give it more --seconds, or start nearer "
                "to where something happens"
            )
        if not found.changes:
            return (
                f"no bit ever changes: not once in {found.steps:,} random steps, so there is "
                "nothing to learn from; start nearer to where something happens, or choose another "
                "phi"
            )
        return "ready"

    @property
    def ready(self) -> bool:
        """Whether it can be learned."""
        return self.verdict == "ready"

    @property
    def changes_per_1000_steps(self) -> float:
        """How often random actions change the symbolic state."""
        return 1000 * self.found.changes / self.found.steps

    @property
    def step_limit(self) -> int | None:
        """A limit to begin with: within it come three of four changes under random actions."""
        if not self.found.times:
            return None
        within = float(np.quantile(self.found.times, 0.75))
        return max(10, 5 * math.ceil(within / 5))

    @property
    def still_bits(self) -> list[int]:
        """Bits that never changed."""
        moved = {bit for effect in self.found.effects for bit in effect}
        return [bit for bit in range(self.spec.num_bits) if bit not in moved]

    @property
    def constant(self) -> list[int]:
        """Places of the environment's own observation that never changed."""
        own = self._own
        return np.flatnonzero(self.found.low[own] >= self.found.high[own]).tolist()

    @property
    def wild(self) -> list[int]:
        """Places of the environment's own observation that went beyond the usual scale."""
        return self._beyond(WILD)

    def _beyond(self, far: float) -> list[int]:
        own = self._own
        largest = np.maximum(np.abs(self.found.low[own]), np.abs(self.found.high[own]))
        return np.flatnonzero(largest > far).tolist()

    @property
    def _own(self) -> slice:
        return slice(self.spec.own_size)

    @cached_property
    def notes(self) -> list[str]:
        """What the user should know though it may be learned."""
        found, spec = self.found, self.spec
        said = []
        if found.changes and not found.enough:
            said.append(
                f"only {found.steps:,} random steps in {found.seconds:.0f} s: what is said of them "
                "is rough; --seconds for more"
            )
        if found.changes and self.changes_per_1000_steps < RARE:
            said.append("changes are rare: learning will wait long for the first ones")
        if self.still_bits and found.changes:
            said.append(f"{_listed('bit', self.still_bits)} never changed")
        if spec.num_moves is not None and len(found.effects) > spec.num_moves:
            said.append(
                f"{len(found.effects)} sets of bits change together, more than the "
                f"{spec.num_moves} moves there are said to be: effects depend on the state, or "
                "some steps do two things at once"
            )
        limit = self.step_limit
        if limit is not None and not limit / 2 <= spec.step_limit <= 8 * limit:
            said.append(f"step_limit is {spec.step_limit}; try {limit}")
        if found.ended:
            said.append(
                f"the environment ended {found.ended / found.skills:.0%} of the skills by itself: "
                "skills cannot follow each other there without a reset; max_episode_steps=-1 "
                "takes away a time limit"
            )
        if not found.repeats and not found.hidden_bits:  # which end skills sooner or later
            said.append(
                "equal seeds and actions gave different observations: runs will not repeat bit "
                "for bit, nor go on so after an interruption"
            )
        if self.constant:
            said.append(f"observations are constant in {_listed('place', self.constant)}")
        if self.wild:
            said.append(f"observations go beyond {WILD:.0f} in {_listed('place', self.wild)}")
        return [*said, *self._costs(), *self.refusals]

    def _costs(self) -> list[str]:
        """What is said of speed and memory."""
        said = []
        possible = {name: pace for name, pace in self.paces.items() if pace is not None}
        fastest = max(possible, key=lambda name: possible[name].env_steps_per_second)
        ours = possible[self.chosen]
        if possible[fastest].env_steps_per_second > 1.2 * ours.env_steps_per_second:
            said.append(f"vectorise={fastest!r} is faster here than {self.chosen!r}")
        # few rows in worker processes pay for the processes, which many rows share
        each = min(pace.megabytes_per_row for pace in possible.values())
        needed, there = self.training_rows * each, available_megabytes()
        if needed > there:
            said.append(
                f"{self.training_rows} rows need {needed:,.0f} MB, and {there:,.0f} MB are free: "
                "fewer with --set episodes_per_epoch=N"
            )
        return said

    def to_json(self) -> dict[str, Any]:
        """As `seads check --json` prints it."""
        found, spec = self.found, self.spec
        paces = {name: self.paces.get(name) for name in KINDS}
        listed = found.effects.most_common(SHOWN_EFFECTS)
        quantiles = np.quantile(found.times, (0.5, 0.75, 0.9)) if found.times else [None] * 3
        return {
            "env": self.env,
            "verdict": self.verdict,
            "notes": self.notes,
            "bits": spec.num_bits,
            "effects_seen": len(found.effects),
            "changes_per_1000_steps": self.changes_per_1000_steps,
            "step_limit": self.step_limit,
            "env_steps_per_second": {k: p and p.env_steps_per_second for k, p in paces.items()},
            "megabytes_per_row": {k: p and p.megabytes_per_row for k, p in paces.items()},
            "seconds_per_row": {k: p and p.seconds_per_row for k, p in paces.items()},
            "vectorise": self.chosen,
            "rows": self.rows,
            "step_limit_now": spec.step_limit,
            "steps_until_change": dict(zip(("median", "q75", "q90"), quantiles, strict=True)),
            "effects": [{"bits": list(bits), "times": times} for bits, times in listed],
            "never_changed": self.still_bits,
            "phi_differs": found.hidden_bits,
            "ended_by_itself": found.ended / found.skills,
            "repeats": found.repeats,
            "observations": {
                "size": spec.observation_size,
                "constant": self.constant,
                "not_finite": np.flatnonzero(found.not_finite).tolist(),
                "wild": self.wild,
            },
            "action_size": spec.action_size,
            "moves": spec.num_moves,
            "steps": found.steps,
        }

    def __str__(self) -> str:
        found, spec = self.found, self.spec
        soon = "none came"
        if found.times:
            soon = f"{np.median(found.times):.0f}, {np.quantile(found.times, 0.9):.0f}"
        facts = [
            ("bits of the symbolic state", spec.num_bits),
            (
                "size of an observation, an action",
                f"{spec.observation_size}, {spec.action_size}",
            ),
            ("random steps", f"{found.steps:,}"),
            ("changes in 1,000 steps", f"{self.changes_per_1000_steps:.1f}"),
            ("different effects seen", len(found.effects)),
            ("steps until a change: median, 90 %", soon),
            ("step limit now, to begin with", f"{spec.step_limit}, {self.step_limit or 'unknown'}"),
            ("the next skill without a reset", "works" if not found.ended else "not always"),
            ("equal seeds, equal observations", "yes" if found.repeats else "no"),
        ]
        costs = [
            (
                f"{name}{' (as it is)' if name == self.chosen else ''}",
                f"{pace.env_steps_per_second:,.0f}",
                f"{pace.seconds_per_row:.2f}",
                f"{pace.megabytes_per_row:.0f}",
            )
            for name in KINDS
            if (pace := self.paces.get(name)) is not None
        ]
        titles = ("rows run by", "env steps/s", "seconds to build one", "MB each")
        lines = [
            table_text(
                (self.env, ""), [(one, str(value)) for one, value in facts], left=[self.env]
            ),
            table_text(titles, costs, left=titles[:1]),
            *(f"note: {note}" for note in self.notes),
            f"verdict: {self.verdict}",
        ]
        return "\n".join(lines)


def check(
    name: str,
    options: dict[str, Any] | None = None,
    *,
    seconds: float = 30.0,
    seed: int = 0,
    episodes: int = 32,
) -> Readiness:
    """Look at an environment, a user's own or one of the table, as a run would meet it.

    `episodes` is how many a run collects an epoch, from which follows how many rows it builds.
    """
    if not seconds > 0:
        raise SeadsError(f"seconds={seconds}; allowed: more than 0")
    options = options or {}
    check_env_options(options)
    rows = most_rows(name, options, min(MOST_ROWS, 2 * cores()))
    of_a_run = training_rows(name, episodes)
    with built(name, rows, options) as (env, costs):
        found, wrapped = probe(env, seconds, seed), isinstance(env, GymBatch)
        chosen = env.vectorise if isinstance(env, GymBatch) else "none"
        paces: dict[str, Pace | None] = {chosen: measure(env, *costs)}
        readiness = Readiness(name, env.spec, rows, of_a_run, found, paces, chosen)
    del env  # which would hold its rows while others are built
    if not wrapped or not readiness.ready:
        return readiness
    others: list[Vectorise] = ["processes", "threads", "none"]
    for other in others:
        if other == chosen:
            continue
        try:
            paces[other] = _pace(name, rows, options, other)
        except SeadsError as error:
            paces[other] = None
            readiness.refusals.append(f"not with vectorise={other!r}: {error}")
    return readiness


def _pace(name: str, rows: int, options: dict[str, Any], vectorise: Vectorise) -> Pace:
    """In a call of its own: once it returns nothing holds these rows while others are built."""
    with built(name, rows, options, vectorise) as (env, costs):
        return measure(env, *costs)


def _listed(kind: str, numbers: list[int]) -> str:
    """'bit 3', 'places 0, 4 and 2 more'."""
    shown = ", ".join(map(str, numbers[:8]))
    more = f" and {len(numbers) - 8} more" if len(numbers) > 8 else ""
    return f"{kind}{'s' if len(numbers) > 1 else ''} {shown}{more}"
