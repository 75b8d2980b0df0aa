"""Whether a claim holds: measured values and tests as a verdict, with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from seads.evaluation import comparing
from seads.show.report.paper import RED_CELLS, PaperValue, paper_result
from seads.show.tables.kinds import TOO_FEW, Comparison, Kinds, budget_of

OPEN = "not measured"
HOLDS, FAILS, PARTLY = "holds", "does not hold", "holds in part"
SIMILAR = "no difference shown"
BELOW = "not at the paper's budget"
RAW_ONLY = "holds by the raw test, not after Holm"
HOLM_ONLY = "holds after Holm, not by the raw test"
EARLY = ", before the paper's budget"
"""Of two kinds of runs beside each other: what they will be like at that budget is not known."""
FEWEST = 3
"""Seeds; fewer decide nothing."""


def beside(values: Sequence[float], theirs: PaperValue, rounding: float, budget: int) -> str:
    """Runs of a budget beside a mean of the paper, which is printed with so much rounding.

    It holds where the whole interval (of few runs the range) is not below it. It fails where all
    of it is below the paper's own interval, after as many env steps as the paper's.
    """
    spread = comparing.mean_spread(values)
    if spread is None or len(values) < FEWEST:
        return TOO_FEW
    if spread[0] >= theirs.value - rounding:
        return HOLDS
    if spread[1] >= theirs.value - rounding - theirs.unsure:
        return SIMILAR
    return FAILS if budget >= theirs.env_steps else BELOW


def beside_baseline(
    ours: Sequence[float], theirs: Sequence[float], budgets: tuple[int, int], papers: int
) -> str:
    """SEADS similar to a baseline or better; `budgets` are ours and theirs beside the paper's.

    Who had fewer env steps is no argument against it.
    """
    our_budget, their_budget = budgets
    if min(len(ours), len(theirs)) < FEWEST:
        return TOO_FEW
    low, high = comparing.difference_spread(ours, theirs)
    if high < 0:
        return FAILS if our_budget >= max(their_budget, papers) else BELOW
    if their_budget < our_budget:
        return BELOW
    return (HOLDS if low >= 0 else SIMILAR) + _early(their_budget >= papers)


def shown(cells: Sequence[Comparison], variant: str, kinds: Kinds) -> str:
    """An ablation is worse somewhere; refuted only by all the cells that the paper has in red."""
    if not cells:
        return OPEN
    worse = [one for one in cells if one.verdict == "worse"]
    worse_raw = [one for one in cells if one.raw_verdict == "worse"]
    if worse or worse_raw:
        at_budget = any(at_papers_budget(one, kinds) for one in worse or worse_raw)
        return (HOLDS if worse else RAW_ONLY) + _early(at_budget)
    red = [one for one in cells if one.env in RED_CELLS[variant]]
    if all(one.raw_verdict == TOO_FEW for one in cells):
        return TOO_FEW
    missing = [env for env in RED_CELLS[variant] if env not in [one.env for one in red]]
    if missing:
        return f"not shown; {', '.join(missing)}, red in the paper: {OPEN}"
    if any(one.raw_verdict == TOO_FEW for one in red):
        return TOO_FEW
    return FAILS if all(at_papers_budget(one, kinds) for one in red) else BELOW


def never(
    cells: Sequence[Comparison], what: Literal["worse", "better"], kinds: Kinds, wanted: int
) -> str:
    """Nothing is worse, or better, in any of so many cells of the paper."""
    if not cells:
        return OPEN
    against = [one for one in cells if one.verdict == what]
    if against:
        return FAILS if any(at_papers_budget(one, kinds) for one in against) else BELOW
    decided = [one for one in cells if one.decidable]
    early = _early(all(at_papers_budget(one, kinds) for one in decided or cells))
    if any(one.raw_verdict == what for one in cells):
        return HOLM_ONLY + early
    if not decided:
        return TOO_FEW
    if len(decided) < wanted:
        return f"{PARTLY}: {len(decided)} of {wanted} cells{early}"
    return HOLDS + early


def everywhere_worse(cells: Sequence[Comparison], kinds: Kinds) -> str:
    """All groups are worse in all cells."""
    if not cells:
        return OPEN
    worse = [one for one in cells if one.verdict == "worse"]
    if worse:
        early = _early(all(at_papers_budget(one, kinds) for one in worse))
        return (HOLDS if len(worse) == len(cells) else PARTLY) + early
    if not all(one.decidable for one in cells):
        return TOO_FEW
    return FAILS if all(at_papers_budget(one, kinds) for one in cells) else BELOW


def _early(at_budget: bool) -> str:
    return "" if at_budget else EARLY


def at_papers_budget(cell: Comparison, kinds: Kinds) -> bool:
    """Whether both sides had as many env steps as the paper's, where it says how many."""
    said = paper_result(cell.env, cell.group)
    if said is None or said.coverage is None:
        return False
    return all(
        budget_of(kinds[cell.env, group]) >= said.coverage.env_steps
        for group in (cell.group, cell.reference)
    )
