"""The page of claims: what holds, what does not, and what was not measured well enough to say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.show.sample_results import ablations, run

from seads.show.report.paper import ENVIRONMENTS, RED_CELLS
from seads.show.tables.claims import Claim, claims, claims_page
from seads.show.tables.kinds import kinds_of
from seads.studies.results import Results, RunResult

CURSOR = "lightsout-cursor"
MOVES = f"{CURSOR}: 24.94 ± 0.06 moves, after 495,000 env steps"
EARLY = ", before the paper's budget"
BETTER = "no ablation, nor more skills than moves, is significantly better"
HARMLESS = "more skills than moves do no harm: nowhere significantly worse"
VIC = "VIC and its variants find fewer moves on the cursors"
ROBOT = "lightsout-robot: all of 25 boards"
PAPERS_BUDGET = 10_000_000


def found(runs: Sequence[RunResult]) -> dict[str, Claim]:
    return {one.says: one for one in claims(kinds_of(Results(list(runs))))}


def worse(variant: str) -> str:
    return f"{variant} is significantly worse on at least one environment"


def cells(
    variant: str, envs: Sequence[str], lost: float, seeds: int = 10, **changes: object
) -> list[RunResult]:
    """The preset paper and a variant that finds so many moves fewer."""
    return [
        run(env, group, seed, 20.0 + 0.01 * seed - (lost if group == variant else 0), **changes)
        for env in envs
        for group in ("paper", variant)
        for seed in range(seeds)
    ]


def test_claims_hold_fail_or_stay_open() -> None:
    found = {one.says: one for one in claims(kinds_of(ablations(10)))}
    assert (
        found["no-relabelling is significantly worse on at least one environment"].verdict
        == f"holds{EARLY}"
    )
    assert (
        found["no-novelty is significantly worse on at least one environment"].verdict
        == "not measured"
    )
    assert found["VIC and its variants find fewer moves on the cursors"].verdict == f"holds{EARLY}"
    assert found[MOVES].verdict == "holds"


def test_what_a_simulated_arm_shows_is_not_said_of_a_real_arm() -> None:
    for success, verdict in ((1.0, "simulated"), (0.99, "does not hold"), (None, "not measured")):
        runs = [
            run("lightsout-robot", "default", seed, 25.0, success=success, budget=200_000)
            for seed in range(3)
        ]
        one, few = (
            next(claim for says, claim in found(some).items() if says.startswith(ROBOT))
            for some in (runs, runs[:2])
        )
        assert one.question == "R4"
        assert verdict in one.verdict
        assert few.verdict == ("not measured" if success is None else "too few seeds")


@pytest.mark.parametrize(
    ("values", "budget", "verdict"),
    [
        ([20.0, 20.1, 20.2], 100_000, "not at the paper's budget"),
        ([20.0, 20.1, 20.2], 500_000, "does not hold"),
        ([25.0, 25.0, 24.99], 100_000, "holds"),
        ([25.0, 25.0, 24.0], 500_000, "no difference shown"),
        ([20.0, 20.1], 500_000, "too few seeds"),
        ([25.0], 500_000, "too few seeds"),
    ],
)
def test_a_mean_is_judged_by_its_spread_and_its_budget(
    values: list[float], budget: int, verdict: str
) -> None:
    runs = [run(CURSOR, "paper", n, value, budget=budget) for n, value in enumerate(values)]
    assert found(runs)[MOVES].verdict == verdict
    solved = [
        run(CURSOR, "paper", n, 25.0, success=value / 25, budget=budget)
        for n, value in enumerate(values)
    ]
    said = found(solved)[
        f"{CURSOR}: 100.0% of the boards solved, with replanning, after 476,000 env steps"
    ].verdict
    assert said == verdict


def test_the_papers_own_deviation_counts_before_it_is_refuted() -> None:
    # the paper's ten agents: 24.94 ± 0.06, so that its mean may be 24.90 as well
    for middle, verdict in ((24.895, "no difference shown"), (24.8, "does not hold")):
        values = [middle + 0.005 * (seed - 4.5) for seed in range(10)]
        runs = [run(CURSOR, "paper", n, value, budget=500_000) for n, value in enumerate(values)]
        assert found(runs)[MOVES].verdict == verdict


def test_whose_runs_they_are_is_said() -> None:
    told = found([run(CURSOR, "default", seed, 25.0) for seed in range(3)])[MOVES].measured
    assert told.startswith("default (not the paper's learner): 25.00 ± 0.00 (3 seeds, 100,000 env")
    assert "(1 seed, " in found([run(CURSOR, "default", 0, 25.0)])[MOVES].measured
    changed = run(CURSOR, "paper", 0, 25.0, settings="hidden=[256,256]")
    assert found([changed])[MOVES].measured.startswith("paper, hidden=[256,256]: 25.00")


def test_an_ablation_is_refuted_by_the_papers_red_cells_alone() -> None:
    variant = "no-relabelling"
    red = RED_CELLS[variant]
    elsewhere = found(cells(variant, [CURSOR], 0, budget=PAPERS_BUDGET))[worse(variant)]
    assert elsewhere.verdict.startswith("not shown; lightsout-reacher, tileswap-reacher, light")
    there = cells(variant, red, 0, budget=PAPERS_BUDGET)
    assert found(there)[worse(variant)].verdict == "does not hold"
    early = cells(variant, red, 0, budget=PAPERS_BUDGET // 10)
    assert found(early)[worse(variant)].verdict == "not at the paper's budget"
    few = cells(variant, red, 0, seeds=3, budget=PAPERS_BUDGET)
    assert found(few)[worse(variant)].verdict == "too few seeds"


def test_what_is_worse_early_on_is_not_said_of_the_papers_budget() -> None:
    variant, envs = "no-novelty", [CURSOR, "lightsout-jaco"]
    early = cells(variant, envs, 5, settings="hidden=[256,256]")
    claim = found(early)[worse(variant)]
    assert claim.verdict == f"holds{EARLY}"
    assert "worse than the preset paper: raw and after Holm on lightsout-cursor" in claim.measured
    assert "lightsout-jaco after 100,000 env steps, hidden=[256,256]; in the" in claim.measured
    late = cells(variant, envs[:1], 5, budget=500_000) + cells(variant, envs[1:], 5)
    assert found(late)[worse(variant)].verdict == "holds"
    vic = cells("vic", ENVIRONMENTS[:2], 5, budget=500_000)
    assert found(vic)[VIC].verdict == "holds"


def test_the_raw_test_and_holm_are_both_told() -> None:
    # five seeds apart in one of the paper's cells: p = 1/252 is below 0.01, 36 times that is not
    variant = "no-novelty"
    runs = cells(variant, ENVIRONMENTS[:1], 5, seeds=5) + cells(variant, ENVIRONMENTS[1:4], 0, 5)
    claim = found(runs)[worse(variant)]
    assert claim.verdict == f"holds by the raw test, not after Holm{EARLY}"
    assert "raw on lightsout-cursor, after Holm nowhere" in claim.measured
    page = claims_page(Results(runs))
    assert "the 36 cells of the paper's table S.1" in page
    assert "one-sided Mann-Whitney U" in page


def test_nothing_is_better_only_in_the_cells_that_can_say_so() -> None:
    assert found(ablations(10).runs)[BETTER].verdict == f"holds in part: 2 of 36 cells{EARLY}"
    assert found(ablations(4).runs)[BETTER].verdict == "too few seeds"
    better = cells("no-novelty", [CURSOR], -3, budget=PAPERS_BUDGET)
    assert found(better)[BETTER].verdict == "does not hold"
    assert found([])[BETTER].verdict == "not measured"


def test_more_skills_do_no_harm() -> None:
    assert found(ablations(10).runs)[HARMLESS].verdict == f"holds in part: 1 of 6 cells{EARLY}"
    early, everywhere = (
        cells("more-skills", ENVIRONMENTS, 0, budget=budget) for budget in (100_000, PAPERS_BUDGET)
    )
    assert found(early)[HARMLESS].verdict == f"holds{EARLY}"
    assert found(everywhere)[HARMLESS].verdict == "holds"
    harm = cells("more-skills", [CURSOR], 3, budget=PAPERS_BUDGET)
    assert found(harm)[HARMLESS].verdict == "does not hold"


def test_few_seeds_of_vic_refute_nothing() -> None:
    assert found(ablations(4).runs)[VIC].verdict == "too few seeds"
    same = cells("vic", ENVIRONMENTS[:2], 0, budget=PAPERS_BUDGET)
    assert found(same)[VIC].verdict == "does not hold"
    early = cells("vic", ENVIRONMENTS[:2], 0)
    assert found(early)[VIC].verdict == "not at the paper's budget"


def boards(group: str, success: Sequence[float], budget: int) -> list[RunResult]:
    algorithm = group if group == "sac" else "seads"
    return [
        run(CURSOR, group, seed, None, algorithm=algorithm, success=share, budget=budget)
        for seed, share in enumerate(success)
    ]


def test_baselines_are_beside_the_first_that_was_measured() -> None:
    paper = [run(CURSOR, "paper", seed, 25.0, success=None) for seed in range(3)]
    ours, theirs = boards("default", [0.8] * 3, 500_000), boards("sac", [0.5] * 3, 500_000)
    says = f"{CURSOR}: SEADS is similar to sac or outperforms it"
    claim = found([*paper, *ours, *theirs])[says]
    assert claim.verdict == "holds"
    assert claim.measured.startswith("default (not the paper's learner): 80.0%")
    assert found([*paper, *theirs])[says].verdict == "not measured"


EARLY_ON, PAPERS = 100_000, 500_000


@pytest.mark.parametrize(
    ("ours", "theirs", "budgets", "verdict"),
    [
        ([0.8] * 3, [0.5] * 3, (PAPERS, PAPERS), "holds"),
        ([0.8] * 3, [0.8] * 3, (PAPERS, PAPERS), "holds"),
        ([0.8] * 3, [0.5] * 3, (EARLY_ON, PAPERS), "holds"),
        ([0.8] * 3, [0.5] * 3, (EARLY_ON, EARLY_ON), f"holds{EARLY}"),
        ([0.8] * 3, [0.5] * 3, (PAPERS, EARLY_ON), "not at the paper's budget"),
        ([0.1, 0.2, 0.9], [0.5, 0.6, 0.7], (PAPERS, PAPERS), "no difference shown"),
        ([0.8] * 3, [0.9] * 3, (PAPERS, PAPERS), "does not hold"),
        ([0.8] * 3, [0.9] * 3, (EARLY_ON, EARLY_ON), "not at the paper's budget"),
        ([0.8] * 3, [0.9] * 3, (PAPERS, 2 * PAPERS), "not at the paper's budget"),
        ([0.8] * 2, [0.5] * 3, (PAPERS, PAPERS), "too few seeds"),
    ],
)
def test_a_baseline_refutes_nothing_before_the_papers_budget(
    ours: list[float], theirs: list[float], budgets: tuple[int, int], verdict: str
) -> None:
    runs = [*boards("default", ours, budgets[0]), *boards("sac", theirs, budgets[1])]
    assert found(runs)[f"{CURSOR}: SEADS is similar to sac or outperforms it"].verdict == verdict


def test_baselines_that_are_not_there_are_open() -> None:
    open_ones = found(ablations(3).runs)
    for algorithm in ("sac", "hac"):
        assert open_ones[f"SEADS is similar to {algorithm} or outperforms it"].verdict == (
            "not measured"
        )


def test_trials_of_searches_are_no_evidence() -> None:
    trial = [
        run(CURSOR, "sac-updates=2.0-alpha=0.1", seed, None, algorithm="sac",
            settings="updates=2.0 alpha=0.1")
        for seed in range(3)
    ]  # fmt: skip
    assert not [says for says in found([*ablations(3).runs, *trial]) if "updates" in says]
