"""`seads envs`: the environments one can train on, and how many boards their games have."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seads.games.game import Split

from seads.tables import WIDE, table_text, terminal_width
from seads.terminal import tell_next

COLUMNS = {
    "name": "environment",
    "board": "board",
    "moves": "skills",
    "bits": "bits",
    "observation_size": "observation",
    "action_size": "action",
    "step_limit": "steps",
    "gym_id": "Gymnasium id",
}
SPLITS: tuple[Split, ...] = ("all", "train", "test")


@dataclass(frozen=True)
class Options:
    """What to show of the environments."""

    json: bool = False
    """Print a JSON list instead of a table."""
    pictures: Path | None = None
    """Write a picture of each environment, NAME.png, into this directory."""
    boards: bool = False
    """Show how many boards each game has by solution depth instead (paper, tables S.2, S.3)."""


def run(options: Options) -> list[dict[str, Any]]:
    """Show every environment; returns one description each."""
    if options.boards:
        return _run_boards(options)
    from seads.envs.registry import ENVIRONMENTS, describe

    found = [describe(name) for name in ENVIRONMENTS]
    if not options.json:
        _print_table(found)
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for one in found:
            picture = options.pictures / f"{one['name']}.png"
            _draw(one["name"], picture)
            one["picture"] = str(picture)
        print(f"{len(found)} pictures in {options.pictures}")
    if not options.json:
        tell_next("train", found[0]["name"])
    return found


def _run_boards(options: Options) -> list[dict[str, Any]]:
    """Show the paper's tables S.2 (all boards) and S.3 (train and test), for every game."""
    from seads.games import GAMES

    games = [game() for game in GAMES.values()]
    counted = [
        {
            "game": game.name,
            "shape": list(game.shape),
            "boards": {split: _from_one(game.depth_counts(split)) for split in SPLITS},
        }
        for game in games
        if game.exact_depths
    ]
    if not options.json:
        _print_boards(counted)
    return counted


def _from_one(counts: dict[int, int]) -> dict[str, int]:
    """The numbers of boards by depth, without the solved one."""
    return {str(depth): count for depth, count in counts.items() if depth}


def _print_boards(counted: list[dict[str, Any]]) -> None:
    for one in counted:
        by_split = [one["boards"][split] for split in SPLITS]
        rows = [(depth, *(f"{of[depth]:,}" for of in by_split)) for depth in by_split[0]]
        print(f"{one['game']}, {one['shape'][0]}×{one['shape'][1]}")
        print(table_text(("solution depth", *SPLITS), rows))


def _draw(name: str, picture: Path) -> None:
    """Write how an environment looks at the start of an episode."""
    from PIL import Image

    from seads.envs import make_env
    from seads.envs.render import Renderer
    from seads.streams import row_seeds

    with closing(make_env(name)) as env:
        env.reset(row_seeds(0, 1))
        with closing(Renderer(env)) as renderer:
            Image.fromarray(renderer.frame(0)).save(picture)


def _print_table(found: list[dict[str, Any]]) -> None:
    keys = [key for key in COLUMNS if key != "gym_id" or terminal_width() >= WIDE]
    words = [COLUMNS[key] for key in keys if not isinstance(found[0].get(key), int)]
    boards = [one | {"board": f"{one['shape'][0]}×{one['shape'][1]}"} for one in found]
    rows = [[str(one[key]) for key in keys] for one in boards]
    print(table_text([COLUMNS[key] for key in keys], rows, left=words))
