"""Tables that need no runs: boards by depth and split, and hyper-parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from seads.agent.settings import as_typed
from seads.baselines.settings import BEST_HAC, BEST_SAC
from seads.games import GAMES
from seads.games.game import Game, Split
from seads.show.report.paper import ENVIRONMENTS
from seads.show.tables.document import Table
from seads.training.configure import configure

BOARDS = {
    "lightsout": "25 300 2300 12650 53130 176176 467104 982335 1596279 1935294 1684446 1004934 "
    "383670 82614 7350 0",
    "tileswap": "12 88 470 1978 6658 18081 38936 65246 83000 76688 48316 18975 4024 382 24 1",
}
"""The paper's table S.2, depths 1 to 16."""
SPLITS = {
    ("lightsout", "train"): "7 99 785 4200 17849",
    ("lightsout", "test"): "18 201 1515 8450 35281",
    ("tileswap", "train"): "7 31 179 683 2237",
    ("tileswap", "test"): "5 57 291 1295 4421",
}
"""The paper's table S.3, depths 1 to 5."""

ROBOT = "lightsout-robot"
TUNING = "automatic entropy tuning"
ACTIONS = "distribution over actions"
_SHARED = {"learning_rate": "0.0003", "tau": "0.005", "gamma": "0.99", TUNING: "no"}
_ENTROPY = dict(
    zip((*ENVIRONMENTS, ROBOT), ("0.1", "0.1", *["0.01"] * 4, "0.1"), strict=True)
)  # fmt: skip


def _tuned(best: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, str]:
    """What the paper found best of what it only calls tuned (figures S.21 to S.32)."""
    return {env: as_typed(found[name]) for env, found in best.items()}


class Printed(NamedTuple):
    """A table of hyper-parameters as the paper has it."""

    algorithm: str
    title: str
    envs: Sequence[str]
    values: Mapping[str, Any]
    """By setting: for all environments, or for each."""


SETTINGS = {
    "S.8.4": Printed(
        "seads", "SEADS", (*ENVIRONMENTS, ROBOT),
        {**_SHARED, "hidden": "512,512", "alpha": _ENTROPY, ACTIONS: "Gaussian"},
    ),
    "S.9": Printed(
        "sac", "SAC", ENVIRONMENTS,
        {
            **_SHARED, "hidden": "512,512,512", "alpha": _tuned(BEST_SAC, "alpha"),
            "updates": _tuned(BEST_SAC, "updates"), ACTIONS: "Gaussian",
        },
    ),
    "S.10-high": Printed(
        "hac", "HAC's high level", ENVIRONMENTS,
        {
            **_SHARED, "hidden": "512,512", "alpha_high": _tuned(BEST_HAC, "alpha_high"),
            "temperature": _tuned(BEST_HAC, "temperature"), ACTIONS: "RelaxedBernoulli",
        },
    ),
    "S.10-low": Printed(
        "hac", "HAC's low level", ENVIRONMENTS,
        {
            **_SHARED, "hidden": "512,512", "alpha_low": _tuned(BEST_HAC, "alpha_low"),
            ACTIONS: "Gaussian",
        },
    ),
}  # fmt: skip
"""The paper's tables of hyper-parameters by their sections."""


def fixed_tables() -> Iterator[Table]:
    """Tables S.2 and S.3 and the four of hyper-parameters."""
    yield boards_table()
    yield split_table()
    yield from settings_tables()


def boards_table() -> Table:
    """Table S.2: boards by solution depth, counted here, up to the deepest game's."""
    counted = {name: (game.depth_counts(), BOARDS.get(name)) for name, game in _exact_games()}
    deepest = max(max(here) for here, _ in counted.values())
    return _depths_table("S.2", "Boards by solution depth", counted, deepest)


def split_table() -> Table:
    """Table S.3: start boards of depths 1 to 5 in the two splits."""
    splits: tuple[Split, ...] = ("train", "test")
    counted = {
        f"{name}, {split}": (game.depth_counts(split), SPLITS.get((name, split)))
        for name, game in _exact_games()
        for split in splits
    }
    return _depths_table("S.3", "Start boards by depth and split", counted, 5)


def _exact_games() -> Iterator[tuple[str, Game]]:
    games = ((name, game()) for name, game in GAMES.items())
    return ((name, game) for name, game in games if game.exact_depths)


def _depths_table(
    number: str,
    title: str,
    counted: Mapping[str, tuple[Mapping[int, int], str | None]],
    deepest: int,
) -> Table:
    """A column a depth; of each set of boards how many there are here, and in the paper."""
    depths = range(1, deepest + 1)
    rows = []
    for name, (here, paper) in counted.items():
        rows.append([f"{name}, here", *(str(here.get(depth, 0)) for depth in depths)])
        if paper is not None:
            theirs = dict(enumerate(paper.split(), 1))
            rows.append([f"{name}, paper", *(theirs.get(depth, "") for depth in depths)])
    return Table(number, title, ("", *map(str, depths)), rows)


def settings_tables() -> Iterator[Table]:
    """The paper's hyper-parameters (S.8.4, S.9, S.10), as the preset paper has them."""
    for number, (algorithm, title, envs, printed) in SETTINGS.items():
        found = {
            env: dataclasses.asdict(configure(env, algo=algorithm, preset="paper").settings)
            for env in envs
        }
        rows = []
        for name, said in printed.items():
            theirs = said if isinstance(said, dict) else dict.fromkeys(envs, said)
            ours = [_here(found[env], name, number) for env in envs]
            rows += [(f"{name}, here", *ours), (f"{name}, paper", *(theirs[env] for env in envs))]
        yield Table(
            f"settings-{number}",
            f"Hyper-parameters of {title}, preset paper (paper {number.partition('-')[0]})",
            ("setting", *envs),
            rows,
            ("What the paper calls tuned is what it found best (figures S.21 to S.32).",)
            if algorithm != "seads"
            else (),
        )


def _here(settings: Mapping[str, Any], name: str, number: str) -> str:
    """A setting, or what the code has no setting for."""
    if name == TUNING:  # alpha is a number; the learner of the package may lower it along a run
        return "yes" if settings.get("alpha_fall") or settings.get("entropy_share") else "no"
    if name == ACTIONS:
        return "RelaxedBernoulli" if number == "S.10-high" else "Gaussian"
    return as_typed(settings[name])
