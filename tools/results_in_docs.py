"""Write tables of README.md and docs/ from the results and the agents that are committed.

    python tools/results_in_docs.py           # after `seads tables DIR --out results/NAME`
    python tools/results_in_docs.py --check   # says which page is not up to date, and fails

A table stands between two comments, `<!-- results: NAME -->` and `<!-- end of results -->`; all
between them is this program's.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from seads.evaluation import comparing
from seads.show.report.paper import paper_result
from seads.show.tables.document import markdown
from seads.show.tables.kinds import Measure, ablation_cells, kinds_of, values_of
from seads.show.tables.lengths import length_tables
from seads.show.tables.tables import all_tables, steps_table
from seads.studies.collecting import collect
from seads.studies.results import Point, Results, RunResult

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "learning.md", ROOT / "docs" / "results.md")
AGENTS = ROOT / "src" / "seads" / "agents"
PLACE = re.compile(r"(<!-- results: ([\w-]+) -->\n).*?(<!-- end of results -->)", re.DOTALL)
GROUP = "default"
STEPS = (15_000, 25_000, 50_000, 100_000, 200_000, 300_000, 400_000, 600_000, 800_000)


def beside_the_paper(results: Results) -> list[Sequence[str]]:
    """A line for each environment: the paper's values, then means over runs with their spread."""
    lines: list[Sequence[str]] = [
        ("environment", "moves learned", "boards solved", "by the first plan", "env steps", "runs")
    ]
    for env, runs in _environments(results).items():
        said = paper_result(env, GROUP)
        coverage, success = (said.coverage, said.success) if said else (None, None)
        theirs = coverage or success
        solved = success.text.replace(".0%", "%").replace("%", " %") if success else ""
        moves = _averaged(values_of(runs, "coverage"), "**{:.2f}**", f" of {runs[0].moves}")
        lines.append(
            (
                env,
                _then(str(coverage.value) if coverage else "", moves),
                _then(solved, _averaged(_percents(runs, "success"), "**{:.4g} %**")),
                _averaged(_percents(runs, "success_no_replan"), "{:.4g} %"),
                _then(_power(theirs.env_steps) if theirs else "", _power(runs[0].budget)),
                str(len(runs)),
            )
        )
    return lines


def every_seed(results: Results) -> list[Sequence[str]]:
    """A line for each environment: every run's last agent, in the order of the seeds."""
    lines: list[Sequence[str]] = [
        ("environment", "seeds", "env steps", "moves", "model right", "first plan", "replanning")
    ]
    for env, runs in _environments(results).items():
        lines.append(
            (
                env,
                ", ".join(str(run.seed) for run in runs),
                _power(runs[0].budget),
                _each([run.coverage for run in runs], "{:.2f}"),
                _each([_percent(run.model_accuracy) for run in runs], "{:.1f}", " %"),
                _each([_percent(run.success_no_replan) for run in runs], "{:.3g}", " %"),
                _each([_percent(run.success) for run in runs], "{:.3g}", " %"),
            )
        )
    return lines


def along(results: Results) -> list[Sequence[str]]:
    """A line for so many env steps: moves on ten training boards, mean over the runs."""
    environments = _environments(results)
    lines: list[Sequence[str]] = [("env steps", *environments)]
    for steps in STEPS:
        cells = [_moves_at(results.points, runs, steps) for runs in environments.values()]
        lines.append((f"{steps:,}", *cells))
    return lines


def lengths(results: Results) -> list[Sequence[str]]:
    """A line for each environment: medians of the preset's runs, with replanning."""
    table = next(length_tables(kinds_of(results), results))
    own = [row for row in table.rows if row[1] == GROUP]
    return [[row[0], *row[2:]] for row in (table.columns, *own)]


def times(_: Results) -> list[Sequence[str]]:
    """A line for each study and kind of environment: how long its runs took."""
    lines: list[Sequence[str]] = [("study", "environment", "runs", "minutes a run", "hours in all")]
    for home in sorted(path.parent for path in (ROOT / "results").glob("*/results.csv")):
        runs = collect([home]).runs
        for env in dict.fromkeys(run.env for run in runs):
            found = [run.seconds for run in runs if run.env == env and run.seconds is not None]
            if not found:
                continue
            middle, whole = np.median(found) / 60, np.sum(found) / 3600
            lines.append((home.name, env, str(len(found)), f"{middle:.1f}", f"{whole:.1f}"))
    return lines


def left_out(results: Results) -> list[Sequence[str]]:
    """A line for the preset and for each rule left out of it: every run's moves, and their mean."""
    kinds = kinds_of(results)
    envs = list(dict.fromkeys(env for env, _ in kinds))
    lines: list[Sequence[str]] = [("runs", "settings", *envs)]
    for group in dict.fromkeys(group for _, group in kinds):
        found = {env: _in_order(kinds.get((env, group), [])) for env in envs}
        given = {run.settings for runs in found.values() for run in runs}
        settings = " or ".join(sorted(given))
        cells = []
        for runs in found.values():
            moves = values_of(runs, "coverage")
            every = _each(moves, "{:.2f}")
            cells.append(f"**{np.mean(moves):.2f}** ({every})" if moves else "")
        lines.append((group, " ".join(f"`{one}`" for one in settings.split()), *cells))
    return lines


def ablations(results: Results) -> list[Sequence[str]]:
    """The paper's table S.1 beside ours, of the environments that were measured here."""
    [table] = [one for one in all_tables(results) if one.number == "S.1"]
    return [table.columns, *table.rows]


def differences(results: Results) -> list[Sequence[str]]:
    """A line for each ablation: how many moves more than the preset paper, and the interval."""
    cells = ablation_cells(kinds_of(results))
    return _by_environment(
        [(one.env, one.group, f"{one.difference:+.2f} ({one.spread})") for one in cells]
    )


def steps_needed(results: Results) -> list[Sequence[str]]:
    """A line for each group: env steps to 95 % of the moves, and how many runs got there."""
    table = steps_table(kinds_of(results), results)
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return _by_environment(
        [
            (one["environment"], one["runs"], f"{one['median']} ({one['got there']} runs)")
            for one in found
        ]
    )


def _by_environment(cells: Sequence[tuple[str, str, str]]) -> list[Sequence[str]]:
    """A column for each environment, a line for each group."""
    texts = {(env, group): text for env, group, text in cells}
    envs, groups = (list(dict.fromkeys(names)) for names in zip(*texts, strict=True))
    return [
        ("runs", *envs),
        *([group, *(texts.get((env, group), "") for env in envs)] for group in groups),
    ]


def packaged(results: Results) -> list[Sequence[str]]:
    """A line for each agent that comes with the package, as its card says; no run counts."""
    lines: list[Sequence[str]] = [
        (
            "agent", "moves, paper", "moves", "model right", "first plan", "replanning",
            "env steps", "commit",
        )
    ]  # fmt: skip
    for path in sorted(AGENTS.glob("*/card.json")):
        card = json.loads(path.read_bytes())
        said = paper_result(card["env"], GROUP)
        lines.append(
            (
                path.parent.name,
                said.coverage.text if said and said.coverage else "",
                f"{card['coverage']:.2f} of {card['coverage_of']}",
                f"{100 * card['model_accuracy']:.1f} %",
                f"{100 * card['success_without_replanning']:.4g} %",
                f"{100 * card['success']:.4g} %",
                f"{card['env_steps']:,}",
                re.sub(r"^(.{7})[0-9a-f]*", r"\1", card["commit"]),
            )
        )
    return lines


def _environments(results: Results) -> dict[str, list[RunResult]]:
    """The runs of the preset by environment, in the order of their seeds."""
    kinds = kinds_of(results)
    return {env: _in_order(runs) for (env, group), runs in kinds.items() if group == GROUP}


def _in_order(runs: Sequence[RunResult]) -> list[RunResult]:
    return sorted(runs, key=lambda run: run.seed)


def _moves_at(points: Sequence[Point], runs: Sequence[RunResult], steps: int) -> str:
    """The mean over runs, between two looks in proportion; nothing before or after all looks."""
    found = []
    for run in runs:
        looks = [one for one in points if one.run == run.run and one.measure == "coverage_train"]
        seen = [one.env_steps for one in looks]
        if not seen or not seen[0] <= steps <= seen[-1]:
            return ""
        found.append(np.interp(steps, seen, [one.value for one in looks]))
    return f"{np.mean(found):.1f}"


def _averaged(values: Sequence[float], form: str, unit: str = "") -> str:
    """The mean, and its interval where that shows; of fewer than five runs their range."""
    if not values:
        return ""
    plain = form.replace("*", "").replace(" %", "")
    low, high = (plain.format(one) for one in comparing.mean_spread(values) or (0, 0))
    few = "range " if len(values) < comparing.FEWEST_TO_RESAMPLE else ""
    mean = form.format(comparing.mean_std(values)[0]) + unit
    return mean if low == high else f"{mean} ({few}{low} to {high})"


def _then(theirs: str, ours: str) -> str:
    """The paper's, a dash where it tells none, and ours."""
    return f"{theirs or '–'} → {ours}"


def _percents(runs: Sequence[RunResult], measure: Measure) -> list[float]:
    return [100 * share for share in values_of(runs, measure)]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _each(values: Sequence[float | None], form: str, unit: str = "") -> str:
    """In their order, with a dash for what was not measured; nothing where nothing was."""
    if all(value is None for value in values):
        return ""
    return ", ".join("–" if value is None else form.format(value) for value in values) + unit


def _power(steps: int) -> str:
    """Up to three digits and a power of ten."""
    digits, exponent = f"{steps:.2e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    factor = digits.rstrip("0").rstrip(".")
    return f"10{raised}" if factor == "1" else f"{factor}·10{raised}"


PRESET = ("main", "robot")
"""Studies of the preset in every environment."""
TABLES: dict[str, tuple[Sequence[str], Callable[[Results], list[Sequence[str]]]]] = {
    "beside-the-paper": (PRESET, beside_the_paper),
    "every-seed": (PRESET, every_seed),
    "along": (PRESET, along),
    "larger-boards": (("larger-boards",), every_seed),
    "left-out": (("rules",), left_out),
    "ablations": (("ablations",), ablations),
    "ablation-differences": (("ablations",), differences),
    "ablation-steps": (("ablations",), steps_needed),
    "clipped-novelty": (("clipped-novelty",), left_out),
    "lengths": (("main",), lengths),
    "times": ((), times),
    "packaged": ((), packaged),
}
"""Of which studies' results each is made, and how."""


def up_to_date(text: str) -> str:
    """A page with its tables written anew."""

    def table(found: re.Match[str]) -> str:
        studies, make = TABLES[found[2]]
        lines = make(collect([ROOT / "results" / study for study in studies]))
        return f"{found[1]}{markdown(lines)}\n{found[3]}"

    return PLACE.sub(table, text)


def main(check: bool) -> None:
    """Write the pages, or say which would change."""
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = up_to_date(before)
        if before == after:
            continue
        if check:
            sys.exit(f"{page.name}: run tools/results_in_docs.py, results/ has other numbers")
        page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the docs' tables from results/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one is old")
    main(parser.parse_args().check)
