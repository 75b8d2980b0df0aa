"""The report: one page for one or many runs, drawn from JSON and metrics, with nothing to fetch."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seads.envs.own import is_own
from seads.errors import SeadsError
from seads.files import write_text_aside
from seads.show.report.learning import draw_curves, draw_wall_clock
from seads.show.report.page import Section, details, page, table
from seads.show.report.reading import Groups, group_runs, read_run
from seads.show.report.records import Measured, RunRecord
from seads.show.report.skills import draw_operators, draw_paths, draw_pushes, draw_touches
from seads.show.report.style import save, steps_text
from seads.show.report.tasks import (
    draw_failures,
    draw_planning,
    draw_skill_lengths,
    draw_solution_lengths,
    draw_success_by_depth,
)

_BOXES = (
    "Boxes are the quartiles and the median over the boards of all seeds, whiskers reach to the "
    "farthest value within 1.5 times the box, circles are outliers (of evaluations that list no "
    "single boards: median quartiles of the seeds, and extremes)."
)
FIGURES = (
    ("coverage", "Coverage", partial(draw_curves, part="coverage"),
     "Distinct game moves that the skills make from one start (paper: figure 3, top; larger "
     "boards: figure S.15). Line: mean over seeds; band: lowest and highest seed. “Test boards” is "
     "the paper's protocol; “training boards” is what a run measures itself, from fewer starts, "
     "and is drawn until the run's checkpoints are evaluated (`--checkpoints`). Dashed: the "
     "paper's final value (table S.1; larger boards: section S.4.2)."),
    ("success", "Boards solved", partial(draw_curves, part="tasks"),
     "Share of boards solved by planning with the learned forward model and running the skills; a "
     "baseline acts without a plan (paper: figure 3, bottom). Line and band as above. Dashed: the "
     "paper's final value with replanning (section 4)."),
    ("success-by-depth", "Success by depth", draw_success_by_depth,
     "Whiskers: lowest and highest seed, or the 95 % interval of a single one. Dashed: the paper's "
     "success with replanning over the depths 1 to 5 together (section 4)."),
    ("solution-length", "Solution length", draw_solution_lengths,
     f"Environment steps of whole solutions, on solved boards (paper: figure S.9). {_BOXES}"),
    ("skill-length", "Skill length", draw_skill_lengths,
     f"Environment steps of single skills on solved boards (paper: figure S.10). {_BOXES}"),
    ("failures", "Why boards were not solved", draw_failures,
     "Shares of all boards; what is missing to a full bar was solved."),
    ("planning", "Planning", draw_planning,
     "First plans: for how many boards one was found, and the time of those (paper: figure S.11). "
     "Line: mean; band: lowest and highest agent. Older evaluations give the mean time of all "
     "plans."),
    ("wall-clock", "Wall-clock time", draw_wall_clock, "Each line is a run."),
)  # fmt: skip
"""Name of the file, heading, what draws it, and caption."""
MAPS = (
    ("touches", "Skill map", draw_touches,
     "Where each skill touches the board when it makes a move, with its own colour and marker "
     "(paper: figure S.5); the number is the skill's."),
    ("paths", "Skills one by one", draw_paths,
     "Lines: the tool's paths, dots at their starts; black: pushes without effect; green: touches "
     "that make a move, as a dot where it is the skill's usual one, else a cross (paper: figures "
     "S.6 to S.8). Percentages: starts from which the skill makes its usual move."),
)  # fmt: skip


PUSHES = (
    "Where the board was touched by the first and by the last skills of the training, exploration "
    "included; colour and marker are the skill's (paper S.5.1)."
)


def write_report(
    sources: Sequence[str], out: Path, figures: Path | None = None, results: Path = Path("runs")
) -> tuple[list[RunRecord], list[Path]]:
    """Write the page, and the figures as files if asked; returns the runs and the files.

    `results` is where evaluations of packaged agents are looked for (see `read_run`).
    """
    if not sources:
        raise SeadsError("a report of no runs: name at least one run directory or agent")
    if out.suffix not in (".html", ".htm"):
        raise SeadsError(f"{out} is no page; its name must end in .html")
    runs = [read_run(source, results) for source in sources]
    sections = list(make_sections(runs))
    names = ", ".join(sorted({run.env for run in runs}))
    title = f"{names}: {len(runs)} run{'' if len(runs) == 1 else 's'}"
    out.parent.mkdir(parents=True, exist_ok=True)
    remarks = [remark for run in runs for remark in run.remarks]
    write_text_aside(out, page(title, remarks, sections))
    files = [out]
    if figures is not None:
        for section in sections:
            if section.figure is not None:
                files += save(section.figure, figures, section.name)
    return runs, files


def make_sections(runs: Sequence[RunRecord]) -> Iterator[Section]:
    """Everything there is to show of the runs, in reading order."""
    groups = group_runs(runs)
    yield summary_section(groups)
    for name, heading, draw, caption in FIGURES:
        drawn = draw(groups)
        if drawn is not None:
            yield Section(name, heading, caption, drawn)
    for (env, label), members in groups.items():
        yield from skill_sections(members, env if label == "default" else f"{env}, {label}")
    yield Section("settings", "Settings", body=settings_table(runs))
    missing = missing_parts(runs)
    if missing:
        yield Section("missing", "Not in this report", body=missing)


def summary_section(groups: Groups) -> Section:
    """A row per group: ours beside the paper's, each with the env steps of the agent it is of."""
    rows = []
    for (env, label), members in groups.items():
        paper = members[0].paper
        seconds = [run.wall_clock[-1][1] for run in members if run.wall_clock]
        rows.append(
            (
                env,
                label,
                len(members),
                f"{max(run.env_steps for run in members):,}",
                _spread([run.final("coverage") for run in members], "{:.2f}"),
                "" if paper is None or paper.coverage is None else paper.coverage.text,
                _spread([run.final("tasks") for run in members], "{:.1%}"),
                _spread([run.final("tasks", replan=False) for run in members], "{:.1%}"),
                "" if paper is None or paper.success is None else paper.success.text,
                "" if not seconds else f"{sum(seconds) / len(seconds) / 60:.1f} min",
            )
        )
    titles = (
        "environment", "settings", "seeds", "env steps", "coverage", "paper",
        "solved, replanning", "solved, no replanning", "paper", "training",
    )  # fmt: skip
    note = (
        "Coverage and success are means over seeds; in brackets the lowest and highest; after “at” "
        "the env steps of the agents that were measured. The paper's coverage (table S.1; larger "
        "boards: section S.4.2) is that of the last checkpoints below 500k (cursor; larger boards: "
        "1.5M) or 10M env steps (reacher, Jaco), its success (section 4) that of the last ones "
        "common to all seeds (section S.8.1); `seads evaluate RUN --at 500000` measures such a "
        "checkpoint."
    )
    return Section("summary", "Results", note, body=table(titles, rows, numbers=range(2, 10)))


def _spread(found: Sequence[Measured | None], form: str) -> str:
    """Mean, lowest and highest of what was measured, and the env steps at which."""
    known = [one for one in found if one is not None]
    if not known:
        return ""
    values = [one.value for one in known]
    text = form.format(sum(values) / len(values))
    if len(values) > 1:
        text += f" ({form.format(min(values))} to {form.format(max(values))})"
    steps = [one.env_steps for one in known if one.env_steps is not None]
    if steps:
        text += " at " + " to ".join(dict.fromkeys(map(steps_text, (min(steps), max(steps)))))
    return text + ", training boards" * any(one.on_training_boards for one in known)


def skill_sections(members: Sequence[RunRecord], title: str) -> Iterator[Section]:
    """Skill maps and operators of the first seed that has them."""
    from seads.solving.boards import game_of

    game = game_of(members[0].env)
    slug = re.sub(r"[^\w.=-]+", "-", title)
    mapped = next((run for run in members if run.newest("skill_maps") is not None), None)
    if mapped is not None and game is not None:
        found = mapped.newest("skill_maps") or {}
        for name, heading, draw, caption in MAPS:
            drawn = draw(found, game, f"{title}, seed {mapped.seed}")
            if drawn is not None:
                caption += f" The same {found['starts']} starts for every skill, no exploration."
                yield Section(f"skills-{name}-{slug}", f"{heading}: {title}", caption, drawn)
    pushed = next(((run.seed, run.pushes) for run in members if run.pushes is not None), None)
    if pushed is not None and game is not None:
        drawn = draw_pushes(pushed[1], game, f"{title}, seed {pushed[0]}")
        yield Section(f"pushes-{slug}", f"Pushes in training: {title}", PUSHES, drawn)
    modelled = next((run for run in members if run.has_weights), None)
    if modelled is not None:
        yield operator_section(modelled, game, title, slug)


def operator_section(run: RunRecord, game: Any, title: str, slug: str) -> Section:
    """What the forward model says of each skill, compiled into operators."""
    import numpy as np

    from seads.solving import load
    from seads.solving.operators import list_operators
    from seads.solving.symbolic_model import symbolic_model

    agent = load(run.path)
    operators = list_operators(agent)
    drawn = None
    if game is not None:
        goal = np.repeat(game.to_bits(game.goal[None]), len(operators), axis=0)
        after = symbolic_model(agent).successor(goal, np.arange(len(operators)))
        kinds = [one.kind for one in operators]
        drawn = draw_operators(kinds, after, game, f"{title}, seed {run.seed}")
    rows = [
        (
            one.skill,
            one.move_name or "",
            one.effect,
            "" if one.agreement is None else f"{one.agreement:.1%}",
        )
        for one in operators
    ]
    caption = (
        "The forward model's most likely outcome as an operator for planning. Drawn: what it says "
        "of the solved board; “agreement” is how often operator and network say the same of boards "
        "that were not used to find it."
    )
    listed = table(("skill", "is the move", "does", "agreement"), rows, numbers=(0, 3))
    body = details(f"all {len(rows)} operators in words", listed)
    return Section(f"operators-{slug}", f"Operators: {title}", caption, drawn, body)


def settings_table(runs: Sequence[RunRecord]) -> str:
    """Every setting once; a column per run only where runs differ."""
    flat = [_flatten(run) for run in runs]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    same = [key for key in keys if len({one.get(key, "") for one in flat}) == 1]
    differ = [key for key in keys if key not in same]
    parts = []
    if differ:
        rows = [(run.name, *(one.get(key, "") for key in differ))
                for run, one in zip(runs, flat, strict=True)]  # fmt: skip
        parts.append(table(("run", *differ), rows))
    shared = table(("setting", "value"), [(key, flat[0][key]) for key in same])
    common = "the same for all runs" if len(runs) > 1 else "all"
    parts.append(details(f"{len(same)} settings, {common}", shared))
    return "".join(parts)


def _flatten(run: RunRecord) -> dict[str, str]:
    found = {key: value for key, value in run.settings.items() if key != "agent"}
    found |= {f"agent.{key}": value for key, value in run.settings.get("agent", {}).items()}
    found |= {k: run.meta[k] for k in ("commit", "machine", "started", "status") if k in run.meta}
    if not found:
        found = {k: value for k, value in run.card.items() if not isinstance(value, list | dict)}
    return {key: str(value) for key, value in found.items()}


def missing_parts(runs: Sequence[RunRecord]) -> str:
    """What could be shown, had it been measured, and the command that measures it."""
    from seads.evaluation.results import checkpoint_agents

    hints = []
    for run in runs:
        if run.evaluate_as is None or is_own(run.env):  # no place for results, or no known boards
            continue
        plans, has_skills = run.algorithm == "seads", run.algorithm in ("seads", "vic")
        along = " --checkpoints" if checkpoint_agents(run.path) else ""
        curve = any("coverage" in one and "curve" in one for one in run.results)
        counted = curve if along else run.newest("coverage") is not None
        for missing, what, options in (
            (run.algorithm != "vic" and run.tasks(replan=True) is None,
             "boards solved, their lengths, planning", "tasks"),
            (plans and run.tasks(replan=False) is None,
             "the same without replanning", "tasks --no-replan"),
            (has_skills and not counted, "coverage on test boards", f"coverage{along}"),
            (has_skills and run.newest("skill_maps") is None, "maps of the skills", "skills"),
        ):  # fmt: skip
            if missing:
                command = html.escape(f"seads evaluate {run.evaluate_as} --what {options}")
                hints.append(f"<li>{what}: <code>{command}</code></li>")
    return f"<p>To measure what is missing, run:</p><ul>{''.join(hints)}</ul>" if hints else ""
