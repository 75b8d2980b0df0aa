"""What the paper claims, claim by claim, what was measured here, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from seads.evaluation import comparing
from seads.show.report.paper import (
    ENVIRONMENTS,
    RED_CELLS,
    ROBOT,
    SUCCESS,
    paper_result,
)
from seads.show.tables.kinds import (
    CELLS_OF_S1,
    REFERENCES,
    SIGNIFICANT,
    TOO_FEW,
    Comparison,
    Kinds,
    Measure,
    ablation_cells,
    budget_of,
    compare,
    difference_text,
    kinds_of,
    mean_text,
    seeds_text,
    values_of,
    without_trials,
)
from seads.show.tables.verdicts import (
    BELOW,
    FAILS,
    FEWEST,
    OPEN,
    beside,
    beside_baseline,
    everywhere_worse,
    never,
    shown,
)
from seads.studies.results import Results, RunResult

REHEARSED = "holds for the simulated arm; no real arm was at hand"
BASELINES = ("sac", "hac")
MORE_SKILLS = "more-skills"
MOST_NAMED = 4
"""Cells; more are counted."""


@dataclass(frozen=True)
class Claim:
    """A claim with what was measured of it."""

    question: str
    """R1 to R4."""
    says: str
    measured: str
    verdict: str


def claims_page(results: Results) -> str:
    """The page, as Markdown."""
    kinds = kinds_of(results)
    lines = ["# The paper's claims, and what came out here", ""]
    lines += ["| | the paper | here | |", "|---|---|---|---|"]
    for one in claims(kinds):
        lines.append(f"| {one.question} | {one.says} | {one.measured or '–'} | {one.verdict} |")
    lines += [
        "",
        "R1: are all moves learned? R2: what do the design choices contribute? R3: how are tasks "
        "solved, beside flat and hierarchical learning? R4: does it work on a real robot? Agents "
        "that come with the package and trials of searches are not counted.",
        "",
        "The preset `paper` is the paper's learner, with such settings changed as are named; "
        "`default` is this package's, and not the paper's.",
        "",
        "A mean beside the paper's holds where its 95 % bootstrap interval (below five seeds: the "
        "range of the runs) does not reach below the paper's, and does not hold where all of it is "
        "below the paper's own interval (of ten agents, where it tells their deviation), after as "
        "many env steps as the paper's; in between no difference is shown. Below "
        f"{FEWEST} seeds nothing is decided.",
        "",
        "SEADS beside a baseline: it holds where the interval of the difference does not reach "
        "below 0, against a baseline that had as many env steps, and does not hold where all of it "
        "is below 0 after as many as the paper's; in between no difference is shown.",
        "",
        "Worse and better: one-sided Mann-Whitney U, exact with ties, in each direction, "
        f"p < {SIGNIFICANT}, raw as in the paper and after Holm. The family of the ablations is "
        f"the {CELLS_OF_S1} cells of the paper's table S.1, that of VIC its own cells. An "
        "ablation's claim is refuted only where all cells that the paper has in red were measured. "
        "Before the paper's budget: one learns more slowly, or none does; how they end is open.",
        "",
    ]
    return "\n".join(lines)


def claims(kinds: Kinds) -> Iterator[Claim]:
    """Every claim of the paper that runs can confirm or refute."""
    kinds = without_trials(kinds)
    cells = ablation_cells(kinds)
    yield from _beside_paper("R1", "coverage", kinds)
    yield _vic(kinds)
    for variant in RED_CELLS:
        yield _ablation(variant, [one for one in cells if one.group == variant], kinds)
    yield _more_skills([one for one in cells if one.group == MORE_SKILLS], kinds)
    yield _no_ablation_is_better(cells, kinds)
    yield from _beside_paper("R3", "success", kinds)
    yield from _baselines(kinds)
    yield from _robot(kinds)


def _beside_paper(question: str, measure: Measure, kinds: Kinds) -> Iterator[Claim]:
    """What the paper prints of its agent in each environment."""
    moves = measure == "coverage"
    for env in ENVIRONMENTS if moves else SUCCESS:
        said = paper_result(env, "paper")
        value = said and (said.coverage if moves else said.success)
        if value is None:
            continue
        of = "moves" if moves else "of the boards solved, with replanning"
        says = f"{env}: {value.text} {of}, after {value.env_steps:,} env steps"
        found = _measured(kinds, env, measure)
        for group, runs in found.items():
            values = values_of(runs, measure)
            mean = mean_text(values) if moves else f"{np.mean(values):.1%}"
            verdict = beside(values, value, 0.005 if moves else 0.0005, budget_of(runs))
            yield Claim(question, says, _told(group, runs, values, mean), verdict)
        if not found:
            yield Claim(question, says, "", OPEN)


def _measured(kinds: Kinds, env: str, measure: Measure) -> dict[str, list[RunResult]]:
    """The presets paper and default, if they have values there."""
    found = {group: kinds.get((env, group), []) for group in REFERENCES}
    return {group: runs for group, runs in found.items() if values_of(runs, measure)}


def _told(group: str, runs: Sequence[RunResult], values: Sequence[float], mean: str) -> str:
    """Whose values, how many, after how many env steps; and what of it is not the paper's."""
    whose = f"{group} (not the paper's learner)" if group == "default" else group
    own = f", {runs[0].settings}" if runs[0].settings else ""
    return f"{whose}{own}: {mean} ({seeds_text(len(values))}, {budget_of(runs):,} env steps)"


def _ablation(variant: str, cells: Sequence[Comparison], kinds: Kinds) -> Claim:
    """Each ablation is significantly worse somewhere, says the paper."""
    says = f"{variant} is significantly worse on at least one environment"
    red = f"in the paper on {', '.join(RED_CELLS[variant])}"
    measured = f"{_outcome(cells, 'worse', kinds)}; {red}" if cells else ""
    return Claim("R2", says, measured, shown(cells, variant, kinds))


def _more_skills(cells: Sequence[Comparison], kinds: Kinds) -> Claim:
    says = "more skills than moves do no harm: nowhere significantly worse"
    measured = _outcome(cells, "worse", kinds)
    return Claim("R2", says, measured, never(cells, "worse", kinds, len(ENVIRONMENTS)))


def _no_ablation_is_better(cells: Sequence[Comparison], kinds: Kinds) -> Claim:
    says = "no ablation, nor more skills than moves, is significantly better"
    measured = _outcome(cells, "better", kinds)
    return Claim("R2", says, measured, never(cells, "better", kinds, CELLS_OF_S1))


def _vic(kinds: Kinds) -> Claim:
    of_vic = {kind: runs for kind, runs in kinds.items() if kind[0] in ENVIRONMENTS[:2]}
    cells = compare(of_vic, take=lambda group: group.startswith("vic"))
    says = "VIC and its variants find fewer moves on the cursors"
    measured = _outcome(cells, "worse", kinds)
    return Claim("R1", says, measured, everywhere_worse(cells, kinds))


def _outcome(cells: Sequence[Comparison], what: str, kinds: Kinds) -> str:
    """Where the two tests say so, of which cells, after how many env steps."""
    if not cells:
        return ""
    groups = {one.group for one in cells}

    def places(verdicts: Sequence[str]) -> str:
        found = [one for one, said in zip(cells, verdicts, strict=True) if said == what]
        names = [one.env if len(groups) == 1 else f"{one.group} on {one.env}" for one in found]
        if len(names) > MOST_NAMED:
            return f"in {len(names)} cells"
        return f"on {', '.join(names)}" if names else "nowhere"

    raw, holm = places([one.raw_verdict for one in cells]), places([one.verdict for one in cells])
    tests = f"raw and after Holm {raw}" if raw == holm else f"raw {raw}, after Holm {holm}"
    where = ", ".join(
        f"{env} after {min(budget_of(kinds[env, one.group]) for one in cells if one.env == env):,} "
        "env steps"
        for env in dict.fromkeys(one.env for one in cells)
    )
    against = ", ".join(dict.fromkeys(one.reference for one in cells))
    given = dict.fromkeys(kinds[one.env, one.group][0].settings for one in cells)
    own = "".join(f", {settings}" for settings in given if settings)
    return f"{what} than the preset {against}: {tests}; measured: {where}{own}"


def _baselines(kinds: Kinds) -> Iterator[Claim]:
    for algorithm in BASELINES:
        found = [kind for kind, runs in kinds.items() if runs[0].algorithm == algorithm]
        if not found:
            says = f"SEADS is similar to {algorithm} or outperforms it"
            yield Claim("R3", says, "", OPEN)
        for env, group in found:
            yield _baseline(kinds, env, group)


def _baseline(kinds: Kinds, env: str, group: str) -> Claim:
    """Beside the first of paper and default that was measured on boards."""
    says = f"{env}: SEADS is similar to {group} or outperforms it"
    runs = kinds[env, group]
    theirs = values_of(runs, "success")
    ours = _measured(kinds, env, "success")
    if not ours or not theirs:
        return Claim("R3", says, "", OPEN)
    name, own = next(iter(ours.items()))
    mine = values_of(own, "success")
    measured = (
        f"{_told(name, own, mine, f'{np.mean(mine):.1%}')} against "
        f"{_told(group, runs, theirs, f'{np.mean(theirs):.1%}')}; difference "
        f"{comparing.hodges_lehmann(mine, theirs):+.3f}, {difference_text(mine, theirs, 3)}"
    )
    said = paper_result(env, "paper")
    papers = said.success.env_steps if said and said.success else 0
    verdict = beside_baseline(mine, theirs, (budget_of(own), budget_of(runs)), papers)
    return Claim("R3", says, measured, verdict)


def _robot(kinds: Kinds) -> Iterator[Claim]:
    for env, (boards, after, steps) in ROBOT.items():
        says = f"all of {boards} boards after about {after:,} {steps} of a real arm"
        runs = kinds.get((env, "default"), [])
        values = values_of(runs, "success")
        if not values:
            yield Claim("R4", f"{env}: {says}", "", OPEN)
            continue
        measured = _told("default", runs, values, f"{np.mean(values):.1%}")
        missed = FAILS if budget_of(runs) >= after else BELOW
        verdict = REHEARSED if min(values) == 1.0 else missed
        enough = len(values) >= FEWEST
        yield Claim("R4", f"{env}: {says}", measured, verdict if enough else TOO_FEW)
