"""Every environment by name: one table, one row each; physics is imported when one is made."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seads.envs.checks import check_count
from seads.envs.embedding import EmbeddedEnv, Mode
from seads.envs.interface import IN_A_ROW, BatchedEnv
from seads.envs.manipulator import Manipulator
from seads.envs.own import is_own, make_own
from seads.envs.render_gl import setting_checked
from seads.errors import unknown
from seads.games import GAMES, make_game
from seads.games.checks import check_options
from seads.games.game import Game, Split

_CURSOR_SCHEDULE = dict(env_steps=99_500, checkpoint_every=100, coverage_every=10_000)
_ARM_SCHEDULE = dict(env_steps=998_000, checkpoint_every=200, coverage_every=25_000)
_CURSOR_BASELINES = {
    "sac": dict(env_steps=500_000, log_every=250, checkpoint_every=2_500),
    "hac": dict(env_steps=500_000, log_every=5, checkpoint_every=50),
}
_ARM_BASELINES = {
    "sac": dict(env_steps=1_000_000, log_every=1_250, checkpoint_every=12_500),
    "hac": dict(env_steps=1_000_000, log_every=5, checkpoint_every=50),
}
_REAL: dict[str, Any] = dict(
    continuing=True,
    real_with="port",
    of_machine=("port", "calibration", "host", "board_port", "pace", "acceleration"),
)
# A real arm takes hours: save every few minutes of them.
_PUSH_SCHEDULE = dict(env_steps=4_990, checkpoint_every=25, coverage_every=500)
_PEN_SCHEDULE = dict(env_steps=164_900, checkpoint_every=100, coverage_every=10_000)


@dataclass(frozen=True)
class ManipulatorRow:
    """A manipulator's class, and all that must be known of it without importing its physics.

    What a row leaves out is as with the cursor.
    """

    home: str | Callable[..., Manipulator]
    """Its class, as module:class where importing it brings physics."""
    observation_size: int
    action_size: int
    step_limit: int
    entropy_weight: float = 0.1
    """The paper's entropy weight of soft actor-critic (S.8.4), for its presets and baselines."""
    schedule: dict[str, int] = field(default_factory=lambda: dict(_CURSOR_SCHEDULE))
    """How long a run lasts by default, and how often it saves and measures its coverage.

    An epoch short of a round number, since the last epoch goes past the budget.
    """
    baseline_schedule: dict[str, dict[str, int]] = field(
        default_factory=lambda: dict(_CURSOR_BASELINES)
    )
    """The same for each baseline, whose epochs are of another size: 8 steps, or 16 boards."""
    paper_options: dict[str, Any] = field(default_factory=dict)
    """The options with which it is the paper's own."""
    continuing: bool = False
    """Whether a run collects in one row that is never reset."""
    real_with: str | None = None
    """The option with which it is a real one, of one row."""
    of_machine: tuple[str, ...] = ()
    """Options that say where it runs and not what it is: an agent does not keep them."""

    def load(self) -> Callable[..., Manipulator]:
        """Its class, imported."""
        if not isinstance(self.home, str):
            return self.home
        module, _, class_name = self.home.partition(":")
        return getattr(importlib.import_module(module), class_name)


@dataclass(frozen=True)
class Environment:
    """One row of the table: a game, a manipulator, and what is special about this pair."""

    game: str
    manipulator: str
    game_options: dict[str, Any] = field(default_factory=dict)
    manipulator_options: dict[str, Any] = field(default_factory=dict)
    special_depths: tuple[int, int] | None = None
    gym_name: str | None = None
    """The name in its Gymnasium id, where that is not its own in capitals."""

    def make_game(self) -> Game:
        return make_game(self.game, **self.game_options)

    @property
    def depths(self) -> tuple[int, int]:
        """The lowest and highest depth of start boards by default."""
        return self.special_depths or self.make_game().start_depths

    @property
    def manipulator_row(self) -> ManipulatorRow:
        """The manipulator's row."""
        return MANIPULATORS[self.manipulator]


MANIPULATORS: dict[str, ManipulatorRow] = {
    "cursor": ManipulatorRow(
        "seads.envs.cursor:Cursor",
        observation_size=2,
        action_size=3,
        step_limit=10,
        paper_options={"observation": "raw"},
    ),
    "reacher": ManipulatorRow(
        "seads.envs.reacher:Reacher",
        observation_size=6,
        action_size=3,
        step_limit=50,
        entropy_weight=0.01,
        schedule=_ARM_SCHEDULE,
        baseline_schedule=_ARM_BASELINES,
        paper_options={"observation": "raw"},
    ),
    "jaco": ManipulatorRow(
        "seads.envs.jaco:Jaco",
        observation_size=42,
        action_size=9,
        step_limit=50,
        entropy_weight=0.01,
        schedule=_ARM_SCHEDULE,
        baseline_schedule=_ARM_BASELINES,
        paper_options={"observation": "raw", "physics": "reference"},
    ),
    "robot-absolute": ManipulatorRow(
        "seads.robot.environment:AbsolutePushes",
        observation_size=2,
        action_size=2,
        step_limit=3,
        schedule=_PUSH_SCHEDULE,
        paper_options={"observation": "raw"},
        **_REAL,
    ),
    "robot": ManipulatorRow(
        "seads.robot.environment:Displacements",
        observation_size=2,
        action_size=3,
        step_limit=10,
        schedule=_PEN_SCHEDULE,
        paper_options={"observation": "raw"},
        **_REAL,
    ),
}
"""Every manipulator by name."""


def _tiles(size: int, spacing: float) -> Environment:
    """A board whose tiles are a thirteenth wide whatever its size (paper S.4.2)."""
    options = {"size": size, "tile_width": 1 / 13, "relative_spacing": spacing}
    return Environment("lightsout", "cursor", options)


VARIANTS: dict[str, Environment] = {
    "lightsout3d-jaco": Environment(
        "lightsout", "jaco", {}, {"heights": "rings"}, gym_name="LightsOut3DJaco"
    ),
    "lightsout-cursor-2x2": Environment("lightsout", "cursor", {"size": 2}, {}, (1, 3)),
    "lightsout-cursor-half": Environment("lightsout", "cursor", {"half_fields": True}),
    "lightsout-cursor-5x5": _tiles(5, 0.0),
    "lightsout-cursor-7x7": _tiles(7, 0.0),
    "lightsout-cursor-9x9": _tiles(9, 0.0),
    "lightsout-cursor-13x13": _tiles(13, 0.0),
    "lightsout-cursor-5x5-spaced": _tiles(5, 1.0),
    "lightsout-cursor-7x7-spaced": _tiles(7, 1.0),
    "lightsout-cursor-9x9-spaced": _tiles(9, 1.0),
    "lightsout-cursor-13x13-spaced": _tiles(13, 1.0),
}
"""Environments that are more than a game and a manipulator."""


class _Environments(Mapping[str, Environment]):
    """Every game with every manipulator, as the tables of both are now, and the variants."""

    def _rows(self) -> dict[str, Environment]:
        pairs = [(game, manipulator) for manipulator in MANIPULATORS for game in GAMES]
        return {f"{game}-{body}": Environment(game, body) for game, body in pairs} | VARIANTS

    def __getitem__(self, name: str) -> Environment:
        return self._rows()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows())

    def __len__(self) -> int:
        return len(self._rows())


ENVIRONMENTS: Mapping[str, Environment] = _Environments()
"""Every environment by name."""


def gym_id(name: str) -> str:
    """The Gymnasium id of a table entry: 'lightsout-cursor' is 'seads/LightsOutCursor-v0'."""
    words = {game: GAMES[game].__name__ for game in GAMES}
    spelled = "".join(words.get(word, word.capitalize()) for word in name.split("-"))
    return f"seads/{lookup(name).gym_name or spelled}-v0"


def register() -> None:
    """Make every id known to Gymnasium, for `gymnasium.make` and `gymnasium.make_vec`.

    `import seads.envs` does so; call it again after adding a game or a manipulator.
    """
    import gymnasium

    for name in ENVIRONMENTS:
        if gym_id(name) not in gymnasium.registry:
            gymnasium.register(
                id=gym_id(name),
                entry_point="seads.envs.to_gymnasium:SeadsEnv",
                vector_entry_point="seads.envs.to_gymnasium:SeadsVectorEnv",
                kwargs={"name": name},
            )


def make_env(
    name: str,
    num_envs: int = 1,
    *,
    split: Split = "train",
    depths: tuple[int, int] | None = None,
    mode: Mode = "skill",
    **options: Any,
) -> BatchedEnv:
    """A batch of environments, from the table or from a user's `module:factory`.

    `depths` is the range of start boards' solution depths, by default the table's (1 to 5
    except on tiny boards). `options` go to the manipulator, such as `observation="raw"`.

    A user's factory is called as `factory(num_envs=..., **options)` and returns a
    `BatchedEnv` (see `seads.envs.wrap`); `split`, `depths` and `mode` reach it only if it
    has parameters of these names. Its module is looked for in the working directory too.
    """
    check_count("num_envs", num_envs)
    if is_own(name):
        return make_own(name, num_envs, {"split": split, "depths": depths, "mode": mode}, options)
    entry = lookup(name)
    game, fixed = entry.make_game(), entry.manipulator_options
    with setting_checked():
        make_manipulator = entry.manipulator_row.load()
        check_options(name, make_manipulator, options, ("num_envs", "game", *fixed))
        manipulator = make_manipulator(num_envs, game, **fixed, **options)
    try:
        return EmbeddedEnv(game, manipulator, name, num_envs, depths or entry.depths, split, mode)
    except BaseException:
        manipulator.close()  # a real one holds a line and a page
        raise


def lasting_options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options without those that say where an environment runs, such as a serial line."""
    left_out = () if is_own(name) else lookup(name).manipulator_row.of_machine
    return {key: value for key, value in options.items() if key not in left_out}


def most_rows(name: str, options: dict[str, Any], wanted: int) -> int:
    """As many rows as wanted, or the one that there is with these options: a real arm."""
    real = None if is_own(name) else lookup(name).manipulator_row.real_with
    return 1 if real is not None and options.get(real) is not None else wanted


def training_rows(name: str, episodes: int) -> int:
    """How many rows a run builds that collects so many episodes an epoch, or more.

    Of an environment that is never reset one, as there is of a real one; of a user's own a quarter,
    since skills follow each other there.
    """
    if is_continuing(name):
        return 1
    return -(-episodes // IN_A_ROW) if is_own(name) else episodes


def is_continuing(name: str) -> bool:
    """Whether a run in this environment collects in one row that is never reset."""
    return not is_own(name) and lookup(name).manipulator_row.continuing


def lookup(name: str) -> Environment:
    """The table's entry; an unknown name raises with the nearest known one."""
    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name]
    raise unknown("environment", name, [*ENVIRONMENTS, "module:factory"])


def describe(name: str) -> dict[str, Any]:
    """What `seads envs` shows of a table entry; builds no physics."""
    entry = lookup(name)
    manipulator, game = entry.manipulator_row, entry.make_game()
    return {
        "name": name,
        "gym_id": gym_id(name),
        "game": entry.game,
        "size": game.size,
        "shape": list(game.shape),
        "manipulator": entry.manipulator,
        "moves": game.num_moves,
        "bits": game.num_bits,
        "observation_size": manipulator.observation_size + game.num_bits + 1,
        "action_size": manipulator.action_size,
        "step_limit": manipulator.step_limit,
    }
