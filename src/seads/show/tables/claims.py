"""What the paper claims, claim by claim, what was measured here, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seads.show.report.paper import ENVIRONMENTS, SEADS, SUCCESS, TABLE_S1
from seads.show.tables.kinds import Kinds, compare, kinds_of, mean_text, values_of
from seads.studies.results import Results

OPEN = "not measured"
HOLDS, FAILS, PARTLY = "holds", "does not hold", "holds in part"
REHEARSED = "holds for the arm's twin; no real arm was at hand"
ROBOT = {
    "lightsout-robot-absolute": "all of 100 boards after 5,000 pushes of a real arm",
    "lightsout-robot": "all of 25 boards after about 165,000 displacements of a real arm",
}
"""What the paper says of its robot (S.5)."""


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
    lines = ["# The paper's claims, and what came out here", ""]
    lines += ["| | the paper | here | |", "|---|---|---|---|"]
    for one in claims(kinds_of(results)):
        lines.append(f"| {one.question} | {one.says} | {one.measured or '–'} | {one.verdict} |")
    lines += [
        "",
        "R1: are all moves learned? R2: what do the design choices contribute? R3: how are tasks "
        "solved, beside flat and hierarchical learning? R4: does it work on a real robot? Agents "
        "that come with the package are not counted.",
        "",
    ]
    return "\n".join(lines)


def claims(kinds: Kinds) -> Iterator[Claim]:
    """Every claim of the paper that runs can confirm or refute."""
    yield from _moves(kinds)
    yield from _ablations(kinds)
    yield _no_ablation_is_better(kinds)
    yield _vic(kinds)
    yield from _success(kinds)
    yield from _baselines(kinds)
    yield from _robot(kinds)


def _moves(kinds: Kinds) -> Iterator[Claim]:
    printed = dict(zip(ENVIRONMENTS, TABLE_S1[SEADS].split(", "), strict=True))
    for env in ENVIRONMENTS:
        for group in ("paper", "default"):
            values = values_of(kinds.get((env, group), []), "coverage")
            if values:
                theirs = float(printed[env].split()[0])
                reached = float(np.mean(values)) >= theirs - 0.005
                steps = kinds[env, group][0].budget
                yield Claim(
                    "R1",
                    f"{env}: {printed[env]} moves",
                    f"{group}: {mean_text(values)} ({len(values)} seeds, {steps:,} env steps)",
                    HOLDS if reached else FAILS,
                )


def _ablations(kinds: Kinds) -> Iterator[Claim]:
    """Each ablation is significantly worse somewhere, says the paper."""
    tests = [
        one for one in compare(kinds, take=lambda g: g in TABLE_S1) if one.reference == "paper"
    ]
    for variant in TABLE_S1:
        if variant in (SEADS, "more-skills"):
            continue
        found = [one for one in tests if one.group == variant]
        worse = [one.env for one in found if one.verdict == "worse"]
        told = f"worse on {', '.join(worse)}" if worse else "nowhere shown to be worse"
        decided = any(one.decidable for one in found)
        yield Claim(
            "R2",
            f"{variant} is significantly worse on at least one environment",
            f"{told}, of {', '.join(one.env for one in found)}" if found else "",
            HOLDS if worse else FAILS if decided else OPEN,
        )


def _no_ablation_is_better(kinds: Kinds) -> Claim:
    tests = [
        one for one in compare(kinds, take=lambda g: g in TABLE_S1) if one.reference == "paper"
    ]
    better = [f"{one.group} on {one.env}" for one in tests if one.verdict == "better"]
    says = "no ablation, nor more skills than moves, is significantly better"
    told = f"better: {', '.join(better)}" if better else f"none in {len(tests)} cells"
    decided = any(one.decidable for one in tests)
    return Claim("R2", says, told if tests else "", FAILS if better else HOLDS if decided else OPEN)


def _vic(kinds: Kinds) -> Claim:
    found = [one for one in compare(kinds) if one.group.startswith("vic")]
    worse = [one for one in found if one.verdict == "worse"]
    verdict = (
        OPEN if not found else HOLDS if len(worse) == len(found) else PARTLY if worse else FAILS
    )
    told = f"significantly worse in {len(worse)} of {len(found)} cells" if found else ""
    return Claim("R1", "VIC and its variants find fewer moves on the cursors", told, verdict)


def _success(kinds: Kinds) -> Iterator[Claim]:
    for env, theirs in SUCCESS.items():
        for group in ("paper", "default"):
            values = values_of(kinds.get((env, group), []), "success")
            if values:
                yield Claim(
                    "R3",
                    f"{env}: {theirs:.1%} of the boards solved, with replanning",
                    f"{group}: {np.mean(values):.1%} ({len(values)} seeds)",
                    HOLDS if float(np.mean(values)) >= theirs - 0.0005 else FAILS,
                )


def _baselines(kinds: Kinds) -> Iterator[Claim]:
    for (env, group), runs in kinds.items():
        if runs[0].algorithm not in ("sac", "hac"):
            continue
        ours = next((kinds[env, one] for one in ("paper", "default") if (env, one) in kinds), [])
        mine, theirs = values_of(ours, "success"), values_of(runs, "success")
        if mine and theirs:
            no_worse = float(np.mean(mine)) >= float(np.mean(theirs))
            yield Claim(
                "R3",
                f"{env}: SEADS is similar to {group} or outperforms it",
                f"{np.mean(mine):.1%} (at {ours[0].budget:,} env steps) against "
                f"{np.mean(theirs):.1%} (at {runs[0].budget:,})",
                HOLDS if no_worse else FAILS,
            )


def _robot(kinds: Kinds) -> Iterator[Claim]:
    for env, says in ROBOT.items():
        runs = kinds.get((env, "default"), [])
        values = values_of(runs, "success")
        if not values:
            yield Claim("R4", f"{env}: {says}", "", OPEN)
            continue
        measured = f"default: {np.mean(values):.1%} after {runs[0].budget:,} ({len(values)} seeds)"
        yield Claim("R4", f"{env}: {says}", measured, REHEARSED if min(values) == 1.0 else FAILS)
