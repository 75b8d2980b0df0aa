"""One call that measures an agent: which moves, which boards, how right a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seads.baselines.agent import BaselineAgent, is_baseline, load_baseline
from seads.checkpoints import steps_of
from seads.envs.own import is_own
from seads.errors import SeadsError, unknown
from seads.evaluation.baselines import BaselineScores, measure_baseline
from seads.evaluation.coverage import Coverage, measure_coverage
from seads.evaluation.model import ModelScores, measure_model
from seads.evaluation.partly import PartlyMeasured
from seads.evaluation.results import checkpoint_agents
from seads.evaluation.skill_maps import SkillMaps, measure_skill_maps
from seads.evaluation.tasks import OnPlan, TaskScores, measure_tasks
from seads.games.game import Split
from seads.planning.costs import Minimise
from seads.solving.agent import Agent, load
from seads.solving.solver import Solving

AnyAgent = Agent | BaselineAgent
Result = Coverage | TaskScores | BaselineScores | ModelScores | SkillMaps


@dataclass(frozen=True)
class Measuring:
    """How an agent is measured; the defaults are the paper's protocol."""

    starts: int = 100
    """Start states from which every skill is run."""
    split: Split = "test"
    """Boards to start from."""
    depths: tuple[int, ...] | None = None
    """Solution depths of the boards; those of training by default, all there are for the model."""
    episodes_per_depth: int = 20
    """Boards of each depth to solve."""
    boards_per_depth: int = 300
    """Boards of each depth on which the model is asked."""
    seed: int = 0
    """Seed of the start states and boards."""
    solving: Solving = field(default_factory=Solving)
    """How boards are planned and solved."""
    env_options: dict[str, Any] = field(default_factory=dict)
    """Options of the environment beside those that the agent was made with: a real arm's line."""


Measure = Callable[[Agent, Measuring, OnPlan | None], Result]
MEASURES: dict[str, Measure] = {
    "coverage": lambda agent, how, _: measure_coverage(agent, how.starts, how.split, how.seed),
    "tasks": lambda agent, how, on_plan: measure_tasks(
        agent, how.depths, how.episodes_per_depth, how.split, how.seed, how.solving, on_plan
    ),
    "model": lambda agent, how, _: measure_model(
        agent, how.depths, how.boards_per_depth, how.starts, how.split, how.seed
    ),
    "skill_maps": lambda agent, how, _: measure_skill_maps(agent, how.starts, how.split, how.seed),
}
"""What can be measured, by its name in the results."""
PROTOCOL_SECONDS = 60.0
"""The paper's limit of planning for one board."""
ALONG_SECONDS = 1.0
"""The same for points of a curve: an agent on its way finds plans at once, or after minutes."""
ALL = ("coverage", "tasks")
"""What `all` stands for."""


@dataclass(frozen=True)
class Scores:
    """What was measured of an agent; `print` shows the tables."""

    env: str
    env_steps: int | None
    algorithm: str
    coverage: Coverage | None = None
    tasks: TaskScores | BaselineScores | None = None
    model: ModelScores | None = None
    skill_maps: SkillMaps | None = None

    @property
    def parts(self) -> dict[str, Result]:
        """What there is, by name."""
        return {name: found for name in MEASURES if (found := getattr(self, name)) is not None}

    def to_json(self) -> dict[str, Any]:
        """As `seads evaluate --json` prints it."""
        facts = {"env": self.env, "env_steps": self.env_steps, "algorithm": self.algorithm}
        return {**facts, **{name: one.to_json() for name, one in self.parts.items()}}

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts.values()))


def evaluate(
    agent: AnyAgent | str | Path,
    what: str | Sequence[str] = "all",
    *,
    starts: int = 100,
    split: Split = "test",
    depths: Sequence[int] | None = None,
    episodes_per_depth: int = 20,
    boards_per_depth: int = 300,
    seed: int = 0,
    planner: str = "auto",
    replan: bool = True,
    minimise: Minimise = "length",
    seconds: float | None = None,
    memory_mb: float = 1024.0,
    allow: str | None = None,
) -> Scores:
    """Measure coverage and boards solved (`all`), or any of coverage, tasks, model, skill_maps.

    An agent is given as it was loaded, by its name, or by its run directory. What cannot be
    measured is left out of `all`, and raises where it is asked for by name. Without `seconds` a
    board is planned for as the protocol has it, 60 s, for as long as such searches find plans.
    `allow` is as for `seads.load`.
    """
    solving = solving_of(planner, replan, minimise, seconds, memory_mb)
    asked = None if depths is None else tuple(depths)
    how = Measuring(starts, split, asked, episodes_per_depth, boards_per_depth, seed, solving)
    agent = open_agent(agent, allow) if isinstance(agent, str | Path) else agent
    wanted = ALL if what == "all" else (what,) if isinstance(what, str) else tuple(what)
    scores = {}
    for name in ("skill_maps" if name == "skills" else name for name in wanted):
        missing = obstacle(agent, name)
        if missing is None:
            scores[name] = measure(agent, name, how)
        elif what != "all":
            raise SeadsError(missing)
    return Scores(**facts_of(agent), **scores)


def solving_of(
    planner: str, replan: bool, minimise: Minimise, seconds: float | None, memory_mb: float
) -> Solving:
    """How boards are solved; without a limit the protocol's, as long as that makes sense."""
    limit = PROTOCOL_SECONDS if seconds is None else seconds
    return Solving(planner, replan, minimise, limit, memory_mb, give_up=seconds is None)


def open_agent(source: str | Path, allow: str | None = None) -> AnyAgent:
    """An agent with skills or a baseline, whichever the source holds."""
    opened = load_baseline if is_baseline(source) else load
    return opened(source, allow=allow)


def facts_of(agent: AnyAgent) -> dict[str, Any]:
    """Whose results they are."""
    return {
        "env": agent.env,
        "env_steps": agent.card.get("env_steps"),
        "algorithm": agent.architecture.algorithm,
    }


def obstacle(agent: AnyAgent, part: str) -> str | None:
    """Why this part cannot be measured for the agent, or None."""
    if part not in MEASURES:
        raise unknown("measurement", part, [*MEASURES, "all"])
    algorithm = agent.architecture.algorithm
    if isinstance(agent, BaselineAgent):
        missing = {"coverage": "skills whose moves could be counted", "model": "forward model"}
        missing["skill_maps"] = "skills to draw maps of"
        has_not = missing.get(part)
        return (
            None if has_not is None else f"a {algorithm} agent has no {has_not}: it is a baseline"
        )
    needs_boards = part in ("tasks", "model")
    if needs_boards and algorithm == "vic":
        purpose = "plan with" if part == "tasks" else "ask"
        return f"the agent has no forward model to {purpose}: VIC learns none"
    if needs_boards and is_own(agent.env):
        return f"boards and solution depths of {agent.env!r} are not known"
    return None


def measure(agent: AnyAgent, part: str, how: Measuring, on_plan: OnPlan | None = None) -> Result:
    """One part, for an agent that has no `obstacle` to it."""
    if isinstance(agent, BaselineAgent):
        return measure_baseline(agent, how.depths, how.episodes_per_depth, how.split, how.seed)
    return MEASURES[part](agent.with_options(how.env_options), how, on_plan)


def measure_along(
    run: Path,
    part: str,
    how: Measuring,
    on_plan: OnPlan | None = None,
    allow: str | None = None,
) -> Iterator[dict[str, Any]]:
    """One part at every checkpoint of a run, as points of a curve against env steps.

    A board's limit is `ALONG_SECONDS` where none was asked for.
    """
    if how.solving.give_up:
        seconds = min(how.solving.seconds, ALONG_SECONDS)
        how = replace(how, solving=replace(how.solving, seconds=seconds))
    for directory in checkpoint_agents(run):
        agent = open_agent(directory, allow)
        try:
            found = measure(agent, part, how, on_plan)
        except PartlyMeasured:
            raise KeyboardInterrupt from None  # a point of some boards would mislead
        yield {"env_steps": steps_of(directory.parent), **found.point()}
