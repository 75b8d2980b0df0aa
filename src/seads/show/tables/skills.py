"""What skills do: where they touch, their paths (S.5 to S.8), and one at work in frames (S.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from seads.errors import SeadsError
from seads.evaluation.stored import StoredMaps
from seads.files import write_text_aside
from seads.reading import MOST_RESULT_BYTES, Name, as_kind, read_bytes
from seads.show.report import style
from seads.show.report.paper import ENVIRONMENTS
from seads.show.tables.kinds import REFERENCES
from seads.studies.results import RESULTS, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from seads.envs.embedding import EmbeddedEnv
    from seads.solving.agent import Agent

TOUCHES, TOUCHES_OF = "S.5", ("lightsout-jaco", "lightsout-reacher")
PATHS_OF = {"S.6": ENVIRONMENTS[0:2], "S.7": ENVIRONMENTS[2:4], "S.8": ENVIRONMENTS[4:6]}
"""The paper's figures and the environments that they are of."""
FRAMES_OF = "lightsout3d-jaco"
FRAMES = 5
"""Pictures of a skill, as in S.12, where they are of its steps 0, 4, 8, 12 and 14."""
PIXELS = (480, 480)
STARTS = 10
"""Starts tried until a skill presses the field in the middle of the board."""
MAPS_ARE = "an evaluation of skills"


class _Maps(TypedDict):
    """What of such a file is drawn."""

    env: Name
    skill_maps: StoredMaps


def skill_figures(
    results: Results, sources: Sequence[Path], home: Path, remarks: list[str]
) -> Iterator[tuple[str, Figure]]:
    """S.5 to S.8: where skills touch and how they get there, of the first run that has maps.

    Environments of which the paper has no such figure get one without a number. Only runs of the
    presets paper and default are shown: no ablation, no agent that comes with the package.

    What they are drawn from is kept beside them, so that they can be drawn again. A damaged file
    is a remark.
    """
    from seads.show.report.skills import draw_paths, draw_touches
    from seads.solving.boards import game_of

    done: set[str] = set()
    for path in _maps_of(results, sources):
        try:
            content = read_bytes(path, MAPS_ARE, MOST_RESULT_BYTES)
            found = as_kind(content, _Maps, f"{path} is not {MAPS_ARE}")
        except SeadsError as error:
            remarks.append(str(error))
            continue
        env = found["env"]
        game = None if env in done else game_of(env)
        if game is None:
            continue
        done.add(env)
        write_text_aside(home / f"skills-{env}.json", content.decode())
        touches = TOUCHES if env in TOUCHES_OF else "touches"
        yield f"{touches}-{env}", draw_touches(found["skill_maps"], game, env)
        paths = draw_paths(found["skill_maps"], game, env)
        if paths is not None:
            number = next((number for number, envs in PATHS_OF.items() if env in envs), "paths")
            yield f"{number}-{env}", paths


def _maps_of(results: Results, sources: Sequence[Path]) -> Iterator[Path]:
    """Files of maps: those kept beside a results.csv, then those of the runs, paper's first."""
    for source in sources:
        for kept in sorted(source.glob(f"**/{RESULTS}")):
            yield from sorted(kept.parent.glob("skills-*.json"))
    for group in REFERENCES:
        for run in (run for run in results.runs if run.group == group):
            for source in sources:
                yield from sorted(source.glob(f"**/{run.run}/eval/skills-test-*.json"))


def skill_frames(results: Results, sources: Sequence[Path]) -> Figure:
    """S.12: the skill that presses the field in the middle, from its first step to the touch.

    Of the first collected run that has its agent there, else of the one that comes with the
    package: a picture of what skills do, which counts in no table.
    """
    from seads.solving import load

    names = [run.run for run in results.runs if run.env == FRAMES_OF and run.algorithm == "seads"]
    places = [path for one in sources for name in names for path in one.glob(f"**/{name}/agent")]
    source = places[0].parent if places else FRAMES_OF
    pictures = _pressing(load(source))
    times = np.linspace(0, len(pictures) - 1, FRAMES).round().astype(int)
    with style.figure(2.6 * FRAMES, 2.6, 1, FRAMES) as (drawn, axes):
        for one, time in zip(axes.flat, times, strict=True):
            one.imshow(pictures[time])
            one.axis("off")
            one.set_title(f"T = {time}", fontsize=10)
        whose = f"run {source.name}" if isinstance(source, Path) else f"packaged agent {source}"
        drawn.suptitle(f"A skill that presses the middle field ({whose})", fontsize=11)
        return drawn


def _pressing(agent: Agent) -> list[np.ndarray]:
    """A picture of every step of that skill; the last shows the field pressed."""
    from seads.agent.rollout import run_skills
    from seads.envs.embedding import EmbeddedEnv
    from seads.envs.render import Renderer

    skills = np.arange(agent.num_skills)
    with closing(agent.make_env(len(skills), split="test")) as env:
        if not isinstance(env, EmbeddedEnv):
            raise SeadsError(f"{agent.env} has no board")
        row, seeds = _row_that_presses(env, agent)
        observations = env.reset(seeds)  # the same again, bit for bit, with pictures of that row
        with closing(Renderer(env, *PIXELS)) as renderer:
            pictures = [renderer.frame(row)]
            run_skills(
                env, agent.policy, observations, skills, len(skills), active=skills == row,
                on_step=lambda _: pictures.append(renderer.frame(row)),
            )  # fmt: skip
    return pictures


def _row_that_presses(env: EmbeddedEnv, agent: Agent) -> tuple[int, np.ndarray]:
    """The skill, a row for each, that makes the move in the middle, and the seeds of the start."""
    from seads.agent.rollout import run_skills
    from seads.streams import Purpose, row_seeds

    skills = np.arange(agent.num_skills)
    for start in row_seeds(0, STARTS, Purpose.COVERAGE_STARTS):
        seeds = np.full(len(skills), start)
        done = run_skills(env, agent.policy, env.reset(seeds), skills, len(skills))
        rows = np.flatnonzero(done.moves == env.game.num_moves // 2)
        if len(rows):
            return int(rows[0]), seeds
    raise SeadsError(f"no skill of {agent.env} presses the field in the middle")
