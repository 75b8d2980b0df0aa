"""Results on disk: JSON beside the run, each with the command, seed and checkpoint that made it."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from seads.agent.card import CARD, CARD_IS, find, packaged
from seads.checkpoints import checkpoints, steps_of
from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.reading import Count, read_json

if TYPE_CHECKING:
    from seads.evaluation.measure import Measuring


class _Schedule(Struct):
    """What of a run's config.json says when agents are kept."""

    checkpoint_every: Count = 0


class _Saved(Struct):
    """What of an agent's card says when it was kept."""

    epoch: Count = 0


PACKAGED_RESULTS = Path("runs")
"""Where results of agents that come with the package go, under their names."""


def write_result(source: str, name: str, result: dict[str, Any], command: str) -> Path | None:
    """Write `eval/NAME.json` into the run's directory, or runs/AGENT for a packaged agent.

    Nothing is written for a directory that holds an agent and no run, nor where runs/AGENT is
    a run of the user's own.
    """
    home = Path(source)
    if not (home / "config.json").is_file():
        if home.exists() or source not in packaged():
            return None
        home = PACKAGED_RESULTS / source
        if (home / "config.json").is_file():  # somebody's own run of that name
            return None
    path = home / "eval" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    content = {"command": command, "made": made, **result}
    write_text_aside(path, json.dumps(content, indent=2) + "\n")
    return path


def checkpoint_agents(run: Path) -> list[Path]:
    """The agents kept along a run, in the order of their environment steps.

    An agent saved between two of the schedule, because the run was interrupted there, is left
    out: what is measured along a run does not depend on who stopped it when.
    """
    agents = (kept / "agent" for kept in checkpoints(run / "checkpoints"))
    found = [one for one in agents if (one / CARD).is_file()]
    if not (run / "config.json").is_file():
        return found
    every = read_json(run / "config.json", _Schedule, "a run's configuration").checkpoint_every
    if not every:
        return found
    epochs = [read_json(one / CARD, _Saved, CARD_IS).epoch for one in found]
    last = max(epochs, default=0)
    return [one for one, at in zip(found, epochs, strict=True) if at % every == 0 or at == last]


def agent_at(source: str, env_steps: int | None) -> Path:
    """The agent of a run, or its last one of at most that many env steps.

    A run ends with the epoch that passes its budget; the paper evaluates the last checkpoint
    below it, and the last one that all seeds have (S.8.1).
    """
    if env_steps is None:
        return find(source)
    found = checkpoint_agents(Path(source))
    steps = [steps_of(one.parent) for one in found]
    below = [one for one, at in zip(found, steps, strict=True) if at <= env_steps]
    if below:
        return below[-1]
    find(source)  # which says what is wrong with a name that means nothing
    listed = f"the first is at {steps[0]:,}" if steps else "there is none"
    raise SeadsError(f"{source} has no checkpoint of at most {env_steps:,} env steps; {listed}")


def result_name(
    part: str, baseline: bool, how: Measuring, depths: str | None, at: int | None
) -> str:
    """Where a part's results go, without the suffix; what is not usual is beside what is."""
    words = ["skills" if part == "skill_maps" else part]
    if part == "tasks" and not baseline:
        solving = how.solving
        words += ["replan" if solving.replan else "no-replan", solving.planner, solving.minimise]
    words.append(how.split)
    if depths is not None and part in ("tasks", "model"):
        words.append(f"depths{depths.replace(' ', '')}")
    if at is not None:
        words.append(f"at{at}")
    if how.env_options:
        options = json.dumps(how.env_options, sort_keys=True)
        words.append(f"options{hashlib.sha256(options.encode()).hexdigest()[:8]}")
    return "-".join([*words, f"seed{how.seed}"])
