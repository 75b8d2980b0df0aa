"""The robot's environments: reckoned arms against the arm on its twin, and what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.robot.arms import free_port

from seads.envs import EmbeddedEnv, make_env
from seads.errors import SeadsError
from seads.games.game import NO_MOVE
from seads.robot import faults, served_pen
from seads.robot.board.page_client import PageScreen
from seads.robot.environment import RobotArm
from seads.robot.protocol import Dialect
from seads.robot.served_pen import ServedPen
from seads.robot.simulated import erring_calibration
from seads.robot.tablet import Tablet
from seads.robot.twin.firmware import Twin
from seads.robot.twin.schedule import Schedule
from seads.robot.twin.terminal import AS_FAST_AS_IT_GOES, TwinThread
from seads.streams import row_seeds

BOTH = ("lightsout-robot-absolute", "lightsout-robot")
SEED = np.array([11], np.uint64)


def make(name: str, rows: int = 1, **options: Any) -> EmbeddedEnv:
    env = make_env(name, rows, **options)
    assert isinstance(env, EmbeddedEnv)
    return env


def served(env: EmbeddedEnv) -> ServedPen:
    assert isinstance(env.manipulator, RobotArm)
    assert isinstance(env.manipulator.pens, ServedPen)
    return env.manipulator.pens


@contextmanager
def on_twin(
    name: str, folder: Path, faults: str = "", error: float = 0.3, dialect: Dialect = Dialect.FW4
) -> Iterator[tuple[EmbeddedEnv, Twin, PageScreen]]:
    """The environment through a pseudo-terminal, its touches through a WebSocket."""
    file, page = folder / "calibration.json", free_port()
    erring_calibration(Tablet.lying(), error).save(file)
    screen = PageScreen(f"http://127.0.0.1:{page}/")
    twin = Twin(screen, dialect, schedule=Schedule.read(faults))
    with TwinThread(twin, AS_FAST_AS_IT_GOES) as line:
        options = dict(port=line.port, calibration=str(file), board_port=page, pace=1e9)
        with closing(make(name, **options)) as env:
            yield env, twin, screen
        screen.close()


def actions(env: EmbeddedEnv, count: int, seed: int = 0) -> np.ndarray:
    low, high = np.array(env.spec.action_low), np.array(env.spec.action_high)
    drawn = np.random.default_rng(seed).random((count, 1, len(low)))
    return low + (high - low) * drawn


def lives(env: EmbeddedEnv, count: int) -> list[Any]:
    """What a row sees and does, one skill after the other."""
    told: list[Any] = [env.reset(SEED)]
    for action in actions(env, count):
        step = env.step(action)
        told.append((step.observation, step.symbol, step.move, step.done, env.touch))
        if step.done[0]:
            told.append(env.resume())
    return told


def fates(env: EmbeddedEnv, count: int) -> dict[int, str]:
    """Which pushes of a reckoned arm its screen did not see, or saw twice."""
    env.reset(SEED)
    found = {}
    for number, action in enumerate(actions(env, count)):
        step = env.step(action)
        if np.isnan(env.touch).any():
            found[number] = "missed"
        elif step.move[0] == NO_MOVE:
            found[number] = "doubled"
        if step.done[0]:
            env.resume()
    return found


@pytest.mark.parametrize("name", [*BOTH, "tileswap-robot"])
def test_reckoned_and_on_the_twin_are_the_same(name: str, tmp_path: Path) -> None:
    with on_twin(name, tmp_path) as (env, twin, _):
        file = str(tmp_path / "calibration.json")
        with closing(make(name, calibration=file)) as reckoned:
            want, got = lives(reckoned, 25), lives(env, 25)
            np.testing.assert_equal(got, want)
            assert np.array_equal(env.boards, reckoned.boards)
        assert twin.pen.touches == served(env).board.counters.touches > 0


def test_missed_and_doubled_touches_are_the_same_too(tmp_path: Path) -> None:
    name, luck = BOTH[0], dict(missed=0.2, doubled=0.15)
    file = str(tmp_path / "calibration.json")
    erring_calibration(Tablet.lying(), 0.3).save(Path(file))
    with closing(make(name, calibration=file, **luck)) as reckoned:
        struck = fates(reckoned, 25)
        want = lives(reckoned, 25)
    assert set(struck.values()) == {"missed", "doubled"}
    # one way to the start, three a push, and the second of them is the one down
    schedule = ",".join(f"{fate}@{1 + 3 * number + 2}" for number, fate in struck.items())
    with on_twin(name, tmp_path, schedule) as (env, _, _):
        np.testing.assert_equal(lives(env, 25), want)


def test_actions_and_heights_are_the_papers(tmp_path: Path) -> None:
    heights: dict[str, list[float]] = {}
    for name in BOTH:
        with on_twin(name, tmp_path, error=0.0) as (env, twin, _):
            env.reset(SEED)
            heights[name] = []
            begin = twin.body._begin

            def note(now: float, twin: Twin = twin, name: str = name, begin: Any = begin) -> None:
                begin(now)
                end = twin.body.current.end  # type: ignore[union-attr]
                tip = twin.pen.tablet.places(_tip(end))
                heights[name].append(float(tip[0, 2]))

            twin.body._begin = note  # type: ignore[method-assign]
            env.step(np.array([[0.5, 0.5]] if env.spec.action_size == 2 else [[0.1, 0.1, 0.61]]))
            if env.spec.action_size == 3:
                env.resume()
                env.step(np.array([[0.1, 0.1, 0.6]]))
    np.testing.assert_allclose(heights[BOTH[0]], [20.0, -0.6, 20.0], atol=0.05)
    np.testing.assert_allclose(heights[BOTH[1]], [30.0, -0.6, 30.0, 30.0], atol=0.05)


def _tip(joints: np.ndarray) -> np.ndarray:
    from seads.robot import kinematics

    return kinematics.forward(joints[None])


def test_a_displacement_ends_at_the_edge() -> None:
    with closing(make(BOTH[1], observation="raw")) as env:
        env.reset(SEED)
        for _ in range(7):
            seen = env.step(np.array([[-0.2, 0.2, -1.0]])).observation[0, :2]
        np.testing.assert_allclose(seen, [0.0, 1.0], atol=0.003)  # what the encoders can tell


@pytest.mark.parametrize("name", BOTH)
def test_luck_is_as_often_as_asked_for(name: str) -> None:
    options = dict(missed=0.1, doubled=0.2, calibration_error=0.5)
    with closing(make(name, 2000, **options)) as env:
        env.reset(row_seeds(0, 2000))
        push = [0.5, 0.5] if env.spec.action_size == 2 else [0.0, 0.0, 1.0]
        step = env.step(np.tile(push, (2000, 1)))
        missed = np.isnan(env.touch).any(1)
        doubled = ~missed & (step.move == NO_MOVE)
        assert 0.07 < missed.mean() < 0.13
        assert 0.16 < doubled.mean() < 0.24
        assert np.array_equal(step.terminated, ~(missed | doubled))


def test_a_wrong_calibration_shifts_the_touches() -> None:
    off = []
    for error in (0.0, 2.0):
        with closing(make(BOTH[0], 50, calibration_error=error)) as env:
            env.reset(row_seeds(1, 50))
            places = 0.1 + 0.8 * np.random.default_rng(1).random((50, 2))
            env.step(places)
            seen = ~np.isnan(env.touch).any(1)
            off.append(np.abs(env.touch[seen] - places[seen]).max() * 217)
    assert off[0] < 0.6 < 1.0 < off[1] < 12.0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (dict(missed=1.5), "missed=1.5"),
        (dict(missed=0.6, doubled=0.6), "together with missed"),
        (dict(calibration_error=9.0), "calibration_error=9.0"),
        (dict(port="/dev/nothing"), "without a calibration"),
        (dict(observation="rgb"), "unknown observation"),
        (dict(calibration="/nothing.json"), "No such file"),
    ],
)
def test_what_cannot_be_is_a_sentence(options: dict[str, Any], why: str) -> None:
    with pytest.raises((SeadsError, OSError), match=why):
        make_env(BOTH[0], 1, **options)


def test_what_one_arm_cannot_be_is_told_before_a_board_is_served(tmp_path: Path) -> None:
    file, before = tmp_path / "calibration.json", set(threading.enumerate())
    erring_calibration(Tablet.lying()).save(file)
    for rows, options in ((2, {}), (1, {"missed": 0.1}), (1, {"acceleration": 99.0})):
        with pytest.raises(SeadsError, match=r"allowed: [10]"):
            make_env(BOTH[0], rows, port="/dev/nothing", calibration=str(file), **options)
        assert set(threading.enumerate()) <= before


def test_without_a_page_the_arm_is_not_even_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    erring_calibration(Tablet.lying()).save(tmp_path / "c.json")
    monkeypatch.setattr(served_pen, "FIRST_PAGE", 0.05)
    with pytest.raises(SeadsError, match="no screen has opened http://127"):
        make_env(
            BOTH[0], 1, port="/dev/nothing", calibration=str(tmp_path / "c.json"), board_port=0
        )


@pytest.mark.parametrize(
    "fault", ["lost-reply", "reboot", "detached", "out-of-reach", "buffer-full", "garbage"]
)
def test_after_a_fault_it_goes_on_with_the_true_board(fault: str, tmp_path: Path) -> None:
    with on_twin(BOTH[0], tmp_path, f"{fault}@6") as (env, twin, _):
        env.reset(SEED)
        before = env.boards
        for action in actions(env, 5):
            last = env.boards
            step = env.step(action)
            assert np.array_equal(env.boards[0], served(env).board.board)
            # where a corner was felt for, that was no move
            assert (env.boards != last).any() == (step.move[0] != NO_MOVE)
            assert np.array_equal(step.symbol, env.game.to_bits(env.boards))
            if step.done[0]:
                env.resume()
        assert (env.boards != before).any()
        went_on = served(env).faults
        # where only the answer is lost or mangled, the position says that the move was made
        assert len(went_on) == (0 if fault in ("garbage", "lost-reply") else 1)
        # nothing was pushed twice; where a push failed there is one touch less, and after a reboot
        # one more, since a corner was felt
        failed = fault not in ("garbage", "lost-reply")
        assert twin.pen.touches == 5 - failed + (fault == "reboot")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("cable", "LineLost"), ("power", "PowerLost"), ("encoder", "EncoderFault"),
     ("slipped", "Slipped"), ("unmoved", "Slipped")],
)  # fmt: skip
def test_where_a_person_must_look_it_ends_in_a_sentence(
    fault: str, kind: str, tmp_path: Path
) -> None:
    with on_twin(BOTH[0], tmp_path, f"{fault}@6") as (env, _, _):
        env.reset(SEED)
        env.step(np.array([[0.3, 0.3]]))
        env.resume()
        with pytest.raises(getattr(faults, kind)):
            env.step(np.array([[0.7, 0.7]]))


def test_a_way_that_fails_leaves_the_pen_above_the_glass(tmp_path: Path) -> None:
    """The second way of the displacement's start is dropped: the arm stays, and goes on."""
    with on_twin(BOTH[1], tmp_path, "buffer-full@2,out-of-reach@3") as (env, twin, _):
        seen = env.reset(SEED)[0, :2]
        for _ in range(2):
            step = env.step(np.array([[0.1, 0.1, -1.0]]))
            np.testing.assert_allclose(step.observation[0, :2], seen, atol=1e-6)
        assert len(served(env).faults) == 2
        moved = env.step(np.array([[0.1, 0.1, -1.0]])).observation[0, :2]
        assert np.abs(moved - seen).min() > 0.1
        assert twin.pen.touches == 0


def test_a_page_that_goes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with on_twin(BOTH[0], tmp_path) as (env, twin, screen):
        env.reset(SEED)
        screen.close()
        pen = served(env)
        while pen.board.visible:
            pass
        monkeypatch.setattr(served_pen, "PAGE_BACK", 0.05)
        with pytest.raises(faults.NoScreen, match="open the page again"):
            env.step(np.array([[0.5, 0.5]]))
        assert twin.moves == 1  # the way to the start: nothing was sent since
        monkeypatch.setattr(served_pen, "PAGE_BACK", 20.0)
        twin.pen.screen = PageScreen(pen.board.address)
        # on a busy machine a push may be felt too late to count, as on a real screen
        assert any(env.step(np.array([[0.5, 0.5]])).move[0] != NO_MOVE for _ in range(3))
        twin.pen.screen.close()


def test_a_finger_between_skills_is_seen(tmp_path: Path) -> None:
    with on_twin(BOTH[0], tmp_path) as (env, _, screen):
        env.reset(SEED)
        env.step(np.array([[0.5, 0.5]]))
        before = env.boards
        screen.touch(0.1, 0.1)
        screen.release()
        env.resume()
        assert np.array_equal(env.boards, env.game.play(before, np.array([0])))


@pytest.mark.parametrize("name", BOTH)
def test_it_goes_on_from_where_it_stood(name: str) -> None:
    """A second environment takes over: the same life, bit for bit."""
    with closing(make(name, missed=0.2)) as env, closing(make(name, missed=0.2)) as other:
        env.reset(SEED)
        for action in actions(env, 6):
            if env.step(action).done[0]:
                env.resume()
        standing = env.standing()
        other.stand(standing)
        np.testing.assert_equal(other.resume(), env.resume())
        for action in actions(env, 8, seed=1):
            ours, theirs = env.step(action), other.step(action)
            np.testing.assert_equal(ours._asdict(), theirs._asdict())
            if ours.done[0]:
                np.testing.assert_equal(env.resume(), other.resume())


def test_board_and_pose_are_brought_back_on_the_line(tmp_path: Path) -> None:
    with on_twin(BOTH[1], tmp_path) as (env, _, _):
        env.reset(SEED)
        env.step(np.array([[0.1, 0.1, 1.0]]))
        env.resume()
        standing, board = env.standing(), env.boards
    with on_twin(BOTH[1], tmp_path) as (env, _, _):
        env.stand(standing)
        observation = env.resume()
        assert np.array_equal(served(env).board.board, board[0])
        place = (observation[0, :2] + 1) / 2
        np.testing.assert_allclose(place, standing["body_places"][0], atol=0.004)


def test_on_gymnasium_only_a_seed_starts_anew() -> None:
    import gymnasium

    env = gymnasium.make("seads/LightsOutRobotAbsolute-v0")
    first, _ = env.reset(seed=3)
    last, *_ = env.step(np.array([0.2, 0.8], np.float32))
    on, _ = env.reset()
    assert np.array_equal(on[:-1], last[:-1]), "board and pose stay"
    assert on[-1] == 1.0
    assert not np.array_equal(on[:-1], first[:-1])
    assert np.array_equal(env.reset(seed=3)[0], first)
    symbol = np.zeros(25, bool)
    assert not env.reset(options={"symbol": symbol})[1]["symbol"].any()
    env.close()
