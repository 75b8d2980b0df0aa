"""`seads robot`: the arm, its calibration and its twin."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from seads.errors import SeadsError
from seads.robot.twin.program import TwinSettings
from seads.terminal import tell_next

if TYPE_CHECKING:
    from seads.robot.guard import Envelope

PORT = "/dev/ttyACM0"
FILE = Path("calibration.json")
QUESTIONS = 50
OPENED_WITHIN = 300.0
"""Seconds to open a page on the tablet."""


@dataclass(frozen=True)
class Check:
    """Connect to the arm, ask it everything, and say whether it is ready. Nothing moves."""

    port: str = PORT
    """The serial line of the arm, or of its twin."""
    calibration: Path | None = None
    """Also check this calibration: is the whole screen within reach?"""
    json: bool = False
    """Print a JSON object."""


@dataclass(frozen=True)
class Calibrate:
    """Find where the tablet lies, and write it to a file.

    By hand: you lead the pen's tip to the four corners. By touches: the arm feels for the screen
    at nine places by itself, downwards by half a millimetre at a time, never below the floor.
    """

    port: str = PORT
    """The serial line of the arm, or of its twin."""
    out: Path = FILE
    """The file to write."""
    by: Literal["hand", "touches"] = "hand"
    """Who leads the pen to the screen."""
    host: str = "127.0.0.1"
    """By touches: address to serve the page on that the tablet opens."""
    board_port: int = 8090
    """By touches: port of that page; if it is taken, the next free one."""
    floor: float = 0.0
    """By touches: the height in mm that the tip never goes below; the table under the tablet."""
    start: float = 40.0
    """By touches: the height in mm from which the pen first comes down."""
    near: float = 160.0
    """By touches: about how far, in mm, the screen's near edge is from the arm's middle."""
    wait: float = 0.03
    """By touches: how many seconds each step down waits for the screen."""
    json: bool = False
    """Print a JSON object."""


@dataclass(frozen=True)
class Twin(TwinSettings):
    """A twin of the arm on a pseudo-terminal, to try everything without one."""

    json: bool = False
    """Print a JSON object at the end."""


@dataclass(frozen=True)
class Board:
    """Serve the board on a page for a touch screen: for the arm, or for a finger."""

    host: str = "127.0.0.1"
    """Address to listen on; another than loopback asks for the code in the printed address."""
    port: int = 8090
    """Port to listen on; if it is taken, the next free one."""
    size: int = 5
    """Fields on a side of the board."""
    depth: int = 5
    """Moves that the boards need."""
    seed: int = 0
    """Seed of the boards."""


@dataclass(frozen=True)
class Stop:
    """Stop the arm at once, whichever program moves it."""

    port: str = PORT
    """The serial line of the arm."""
    json: bool = False
    """Print a JSON object."""


@dataclass(frozen=True)
class Hours:
    """How long the arm itself needs for the steps of a run, by its planner, beside the paper."""

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Run directory; its newest checkpoint keeps the steps."""
    at: int | None = None
    """Only of this many env steps from the beginning, such as those until all was learned."""
    json: bool = False
    """Print a JSON object."""


Options = Check | Calibrate | Board | Twin | Stop | Hours


def run(options: Options) -> dict[str, Any]:
    """Do what the word after `seads robot` says; returns what came of it."""
    match options:
        case Check():
            return _check(options)
        case Calibrate():
            return _calibrate(options)
        case Board():
            from seads.robot.board.play import run_board

            run_board(options.host, options.port, options.size, options.depth, options.seed)
            return {}
        case Twin():
            return _twin(options)
        case Stop():
            return _stop(options)
        case Hours():
            return _hours(options)


def _check(options: Check) -> dict[str, Any]:
    from seads.robot.calibration import Calibration
    from seads.robot.guarded_arm import GuardedArm
    from seads.robot.pushing import HOVER

    found: dict[str, Any] = {"port": options.port}
    known = Calibration.load(options.calibration) if options.calibration is not None else None
    with GuardedArm(options.port, _widest()) as arm:
        begin = time.perf_counter()
        for _ in range(QUESTIONS):
            position = arm.get_observation().position
        rate = QUESTIONS / (time.perf_counter() - begin)
        found |= {
            "firmware": arm.version,
            "position_mm": position.round(2).tolist(),
            "questions_per_second": round(rate),
        }
    print(f"firmware {arm.version}, power on, motors on, {rate:.0f} questions a second")
    print(f"the pen is at {found['position_mm']} mm")
    if known is not None:
        missing = known.unreachable(HOVER)
        found["calibration"] = {"residuals_mm": known.residuals, "unreachable": missing}
        if missing:
            raise SeadsError(
                f"{options.calibration}: the arm cannot reach the places {missing} of the screen; "
                "move the tablet and calibrate again"
            )
        print(f"the whole screen is within reach; residuals {_millimetres(known.residuals)}")
    if known is None:
        tell_next("robot", "calibrate")
    else:
        print("ready")
    return found | {"verdict": "ready" if known is not None else "not calibrated"}


def _calibrate(options: Calibrate) -> dict[str, Any]:
    import numpy as np

    from seads.robot.board.server import BoardServer
    from seads.robot.calibration import NINE
    from seads.robot.guard import Envelope
    from seads.robot.guarded_arm import GuardedArm
    from seads.robot.tablet import HEIGHT, WIDTH
    from seads.robot.touching import calibrate_by_hand, calibrate_by_touches

    floor = Envelope.above(options.floor)
    if options.by == "hand":
        with _nothing_written(), GuardedArm(options.port, _widest()) as arm:
            found = calibrate_by_hand(arm, _ask_for_enter)
    else:
        x, y = np.array(NINE).T
        ahead, aside = options.near + HEIGHT * (1 - y), WIDTH * (0.5 - x)
        above = list(np.column_stack([ahead, aside, np.full(len(NINE), options.start)]))
        with BoardServer(host=options.host, port=options.board_port) as screen:
            print(f"open on the touch screen: {screen.address}", flush=True)
            if not screen.wait_for_page(OPENED_WITHIN):
                raise SeadsError(f"no screen has opened {screen.address}; open it and start again")
            with _nothing_written(), screen.not_playing(), GuardedArm(options.port, floor) as arm:
                found = calibrate_by_touches(arm, screen, above, options.wait)
    found.save(options.out)
    print(f"{options.out}: {len(found.touches)} touches, {_millimetres(found.residuals)}")
    tell_next("robot", "check", "--calibration", options.out)
    return {"file": str(options.out), **found.as_json()}


def _ask_for_enter(words: str) -> None:
    try:
        input(f"{words}, then press Enter: ")
    except (EOFError, RuntimeError):  # stdin is at its end, or closed
        raise SeadsError("no terminal to press Enter at; use --by touches") from None


@contextmanager
def _nothing_written() -> Iterator[None]:
    """A fault while the tablet is looked for says what became of that."""
    from seads.robot.faults import RobotFault

    try:
        yield
    except RobotFault as fault:
        raise type(fault)(f"{fault}; no calibration was written, start it again") from fault


def _twin(options: Twin) -> dict[str, Any]:
    from seads.robot.twin.program import run_twin

    done = run_twin(options, lambda words: print(words, flush=True))
    print(f"{done['moves']} moves, {done['touches']} touches")
    return done


def _stop(options: Stop) -> dict[str, Any]:
    from seads.robot.guarded_arm import ask_for_stop

    stands = ask_for_stop(options.port)
    where = None if stands is None else stands.round(2).tolist()
    unseen = "told to stop; nobody held its line, so see that the arm stands still"
    print(unseen if where is None else f"stopped; the pen is at {where} mm")
    return {"port": options.port, "stopped": where is not None, "position_mm": where}


def _hours(options: Hours) -> dict[str, Any]:
    from seads.envs import EmbeddedEnv, make_env
    from seads.envs.own import is_own
    from seads.envs.registry import lasting_options
    from seads.robot.environment import RobotArm
    from seads.robot.hours import hours_on_the_arm, kept_steps
    from seads.training.kept import kept_episodes
    from seads.training.runner import check_run

    config = check_run(options.run)
    other = SeadsError(f"{options.run} was trained on {config.env}; allowed: an arm with a pen")
    if is_own(config.env):  # whose code a file of somebody else's may name
        raise other
    env = make_env(config.env, 1, **lasting_options(config.env, config.env_options))
    with closing(env):
        arm = env.manipulator if isinstance(env, EmbeddedEnv) else None
        if not isinstance(arm, RobotArm):
            raise other
        episodes, made = kept_episodes(options.run)
        until = made if options.at is None else options.at
        if not 1 <= until <= made:
            raise SeadsError(f"--at {until}; allowed: 1 to {made}, which the run has made")
        seen, acted = kept_steps(episodes.observations, episodes.actions, episodes.lengths)
        found = hours_on_the_arm(arm, arm.observed(seen), env.spec.scaled(acted), made, until)
    print(found)
    return {"run": str(options.run), "env": config.env, **found.to_json()}


def _widest() -> Envelope:
    """For what does not move the arm: wherever it stands is fine."""
    from seads.robot.guard import LARGEST, Envelope

    low, high = (tuple(corner) for corner in LARGEST.tolist())
    return Envelope(low=low, high=high, floor=(0.0, 0.0, 1.0, low[2]))


def _millimetres(residuals: dict[str, float]) -> str:
    plane, along = residuals["plane"], residuals["map"]
    return f"{plane:.2f} mm off the plane and {along:.2f} mm along it at most"
