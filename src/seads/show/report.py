"""The report: one page for one or many runs, drawn from JSON and metrics, with nothing to fetch."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seads import __version__
from seads.errors import SeadsError
from seads.show.figures import save, to_svg
from seads.show.figures_learning import Groups, draw_coverage, draw_success, draw_wall_clock
from seads.show.figures_skills import draw_operators, draw_paths, draw_touches
from seads.show.figures_tasks import (
    draw_failures,
    draw_lengths,
    draw_planning_time,
    draw_success_by_depth,
)
from seads.show.report_page import PAGE, table
from seads.show.report_runs import RunRecord, group_runs, paper_beside, read_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = {
    "coverage": ("Coverage", draw_coverage, "coverage"),
    "success": ("Boards solved", draw_success, "tasks"),
    "success-by-depth": ("Success by depth", draw_success_by_depth, "tasks"),
    "lengths": ("Lengths", draw_lengths, "tasks"),
    "failures": ("Failures", draw_failures, "tasks"),
    "planning-time": ("Planning time", draw_planning_time, "tasks"),
    "wall-clock": ("Wall-clock time", draw_wall_clock, ""),
}
"""Name of the file, heading, what draws it, and the evaluation that it needs."""
MEASURABLE = {
    "seads": ("tasks", "coverage", "skill_maps"),
    "vic": ("coverage", "skill_maps"),  # it has no model to plan with
}
"""What can be measured of an algorithm's agents; others have no skills, but solve tasks."""
CAPTIONS = {
    "coverage": "Distinct game moves that the skills make from one start. Line: mean over seeds; "
    "band: lowest and highest seed; dashed: the paper's value at the end of its training.",
    "success": "Share of boards solved by planning with the learned forward model and running the "
    "skills; a baseline acts without a plan. Line, band and dashes as above, the paper's value "
    "with replanning.",
    "success-by-depth": "Whiskers: lowest and highest seed, or the 95 % interval of a single one. "
    "Dashed: the paper's success with replanning over the depths 1 to 5.",
    "lengths": "Boxes are quartiles, whiskers the extremes.",
    "failures": "Shares of all boards; what is missing to a full bar was solved.",
    "planning-time": "The time of one call of the planner.",
    "wall-clock": "Each line is a run.",
}


@dataclass(frozen=True)
class Section:
    """A heading with a figure, a table or both."""

    name: str
    heading: str
    caption: str = ""
    figure: Figure | None = None
    body: str = ""


def write_report(
    sources: Sequence[str], out: Path, figures: Path | None = None
) -> tuple[list[RunRecord], list[Path]]:
    """Write the page, and the figures as files if asked; returns the runs and the files."""
    if not sources:
        raise SeadsError("a report of no runs: name at least one run directory or agent")
    if out.suffix not in (".html", ".htm"):
        raise SeadsError(f"{out} is no page; its name must end in .html")
    runs = [read_run(source) for source in sources]
    sections = list(make_sections(runs))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(runs, sections))
    files = [out]
    if figures is not None:
        for section in sections:
            if section.figure is not None:
                files += save(section.figure, figures, section.name)
    return runs, files


def make_sections(runs: Sequence[RunRecord]) -> Iterator[Section]:
    """Everything there is to show of the runs, in reading order."""
    groups = group_runs(runs)
    yield Section("summary", "Results", body=summary_table(groups))
    for name, (heading, draw, _) in CURVES.items():
        drawn = draw(groups)
        if drawn is not None:
            yield Section(name, heading, CAPTIONS[name], drawn)
    for (env, label), members in groups.items():
        title = env if label == "default" else f"{env}, {label}"
        yield from skill_sections(members, title)
    yield Section("settings", "Settings", body=settings_table(runs))
    missing = missing_parts(runs)
    if missing:
        yield Section("missing", "Not in this report", body=missing)


def skill_sections(members: Sequence[RunRecord], title: str) -> Iterator[Section]:
    """Skill maps and operators of the first seed that has them."""
    from seads.evaluation.boards import game_of

    env = members[0].env
    game = game_of(env)
    slug = title.replace(", ", "-").replace(" ", "-")
    for run in members:
        found = run.newest("skill_maps")
        if found is None or game is None:
            continue
        of = f"{title}, seed {run.seed}"
        caption = f"Every skill from the same {found['starts']} starts, without exploration."
        for name, draw in (("touches", draw_touches), ("paths", draw_paths)):
            drawn = draw(found, game, of)
            if drawn is not None:
                heading = "Skill map" if name == "touches" else "Skills one by one"
                yield Section(f"skills-{name}-{slug}", f"{heading}: {title}", caption, drawn)
        break
    modelled = next((run for run in members if run.has_weights), None)
    if modelled is not None:
        yield operator_section(modelled, title, slug)


def operator_section(run: RunRecord, title: str, slug: str) -> Section:
    """What the forward model says of each skill, compiled into operators."""
    import numpy as np

    from seads.agent import load
    from seads.evaluation.boards import game_of, reader_for
    from seads.evaluation.symbolic_model import symbolic_model
    from seads.planning import compile_model, operator_rows

    agent = load(run.path)
    boards = reader_for(agent)
    zero = np.zeros(agent.architecture.num_bits, bool)
    compiled = compile_model(
        symbolic_model(agent), (zero if boards.goal is None else boards.goal)[None]
    )
    rows = [
        (
            row.skill,
            row.effect,
            "" if math.isnan(row.agreement) else f"{row.agreement:.1%}",
        )
        for row in operator_rows(compiled, boards.bit_name)
    ]
    game = game_of(run.env)
    drawn = None if game is None else draw_operators(compiled, game, f"{title}, seed {run.seed}")
    listed = table(("skill", "does", "sure"), rows, numbers=(0, 2))
    caption = (
        "The forward model's most likely outcome as an operator for planning; “sure” is how "
        "often operator and network agree on boards that were not used to find it."
    )
    body = f"<details><summary>all {len(rows)} operators in words</summary>{listed}</details>"
    return Section(f"operators-{slug}", f"Operators: {title}", caption, drawn, body)


def summary_table(groups: Groups) -> str:
    """A row per group: ours beside the paper's."""
    rows = []
    for (env, label), members in groups.items():
        paper = paper_beside(env, members)
        coverages = [found for run in members if (found := final_coverage(run)) is not None]
        shares, plain = (
            [share for run in members if (share := final_success(run, replan)) is not None]
            for replan in (True, False)
        )
        seconds = [run.wall_clock[-1][1] for run in members if run.wall_clock]
        rows.append(
            (
                env,
                label,
                len(members),
                f"{max(run.env_steps for run in members):,}",
                _spread(coverages, "{:.2f}"),
                "" if paper is None or paper.coverage is None else f"{paper.coverage:.2f}",
                _spread(shares, "{:.1%}"),
                _spread(plain, "{:.1%}"),
                "" if paper is None or paper.success is None else f"{paper.success:.1%}",
                "" if not seconds else f"{sum(seconds) / len(seconds) / 60:.1f} min",
            )
        )
    titles = (
        "environment", "settings", "seeds", "env steps", "coverage", "paper",
        "solved, replanning", "solved, first plan", "paper", "training",
    )  # fmt: skip
    listed = table(titles, rows, numbers=range(2, 10))
    note = (
        "Coverage and success are means over seeds; in brackets the lowest and highest. "
        "The paper's values are after 500k (cursor) and 10M (reacher, Jaco) env steps."
    )
    return f'{listed}<p class="caption">{note}</p>'


def final_coverage(run: RunRecord) -> float | None:
    """The newest evaluation's coverage; else what the run itself measured last; else the card's."""
    found = run.newest("coverage")
    if found is not None:
        return float(found["mean"])
    curve = run.curve("coverage")
    if curve:
        return curve[-1][1]
    on_card = run.card.get("coverage")
    return float(on_card) if isinstance(on_card, int | float) else None


def final_success(run: RunRecord, replan: bool) -> float | None:
    """The newest evaluation's share of boards solved; else the card's."""
    tasks = run.tasks(replan)
    found = run.card.get("success" if replan else "success_without_replanning")
    share = found if tasks is None else tasks["success"]
    return None if share is None else float(share)


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
    parts.append(f"<details><summary>{len(same)} settings, {common}</summary>{shared}</details>")
    return "".join(parts)


def missing_parts(runs: Sequence[RunRecord]) -> str:
    """What could be shown, had it been measured, and the command that measures it."""
    hints = []
    for run in runs:
        if not run.settings:
            continue  # an agent without its run has no place for results
        for part, what in (("tasks", "tasks"), ("coverage", "coverage"), ("skill_maps", "skills")):
            wanted = part in MEASURABLE.get(run.algorithm, ("tasks",))
            if wanted and run.newest(part) is None:
                command = f"seads evaluate {run.path} --what {what}"
                hints.append(f"<li><code>{html.escape(command)}</code></li>")
    if not hints:
        return ""
    return f"<p>To measure what is missing, run:</p><ul>{''.join(hints)}</ul>"


def page(runs: Sequence[RunRecord], sections: Sequence[Section]) -> str:
    """The whole page as text."""
    links = "".join(f'<a href="#{s.name}">{html.escape(s.heading)}</a>' for s in sections)
    remarks = "".join(
        f'<p class="remark">{html.escape(remark)}</p>' for run in runs if (remark := run.remark)
    )
    names = sorted({run.env for run in runs})
    parts = []
    for section in sections:
        drawn = "" if section.figure is None else f"<figure>{to_svg(section.figure)}</figure>"
        caption = f'<p class="caption">{section.caption}</p>' if section.caption else ""
        parts.append(
            f'<section id="{section.name}"><h2>{html.escape(section.heading)}</h2>'
            f"{drawn}{caption}{section.body}</section>"
        )
    count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    return PAGE.format(
        title=html.escape(f"{', '.join(names)}: {count}"),
        links=links,
        remarks=remarks,
        sections="".join(parts),
        version=__version__,
    )


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return ""
    mean = form.format(sum(values) / len(values))
    if len(values) == 1:
        return mean
    return f"{mean} ({form.format(min(values))} to {form.format(max(values))})"


def _flatten(run: RunRecord) -> dict[str, str]:
    found: dict[str, Any] = {}
    for key, value in run.settings.items():
        if key == "agent":
            found |= {f"agent.{name}": one for name, one in value.items()}
        else:
            found[key] = value
    for key in ("commit", "machine", "started", "status"):
        if key in run.meta:
            found[key] = run.meta[key]
    if not found:
        found = {
            key: value for key, value in run.card.items() if not isinstance(value, list | dict)
        }
    return {key: str(value) for key, value in found.items()}
