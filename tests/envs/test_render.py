"""Pictures: what is pressed is what changes under the tip, and what is said without OpenGL."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from seads.envs.embedding import EmbeddedEnv
from seads.envs.from_gymnasium import GymBatch
from seads.envs.registry import ENVIRONMENTS, gym_id, make_env
from seads.envs.render import Renderer
from seads.envs.render_board import OFF, ON
from seads.envs.render_gl import osmesa_loads
from seads.errors import SeadsError
from seads.games.game import NO_MOVE
from seads.streams import row_seeds

YELLOW = (255, 190, 0)
SEEDS = row_seeds(5, 64)


def like(frame: np.ndarray, colour: tuple[int, int, int], within: int = 30) -> np.ndarray:
    """Which pixels are about this colour."""
    return (abs(frame.astype(int) - np.array(colour)) <= within).all(axis=-1)


def middle(mask: np.ndarray) -> np.ndarray:
    """The mean (x, y) of the pixels of a mask."""
    return np.argwhere(mask).mean(axis=0)[::-1]


def make(name: str, num_envs: int) -> EmbeddedEnv:
    env = make_env(name, num_envs)
    assert isinstance(env, EmbeddedEnv)
    return env


def pushed_rows(env: EmbeddedEnv, symbols: np.ndarray) -> list[tuple[int, int]]:
    """Push once where each body starts; the rows that hit something, each with another move."""
    env.reset(SEEDS, symbols=np.tile(symbols, (len(SEEDS), 1)))
    push = np.zeros((len(SEEDS), env.spec.action_size))
    push[:, -1] = 1.0
    moves = env.step(push).move
    first = {int(move): row for row, move in enumerate(moves) if move != NO_MOVE}
    return [(row, move) for move, row in first.items()][:6]


@pytest.mark.parametrize("name", ["lightsout-cursor", "lightsout-reacher", "lightsout-cursor-9x9"])
def test_the_pressed_field_lies_under_the_tip_and_turns_red(name: str) -> None:
    env = make(name, len(SEEDS))
    dark = np.zeros(env.spec.num_bits, bool)
    with closing(env), closing(Renderer(env)) as renderer:
        pushed = pushed_rows(env, dark)
        assert len(pushed) >= 3
        after = {row: renderer.frame(row) for row, _ in pushed}
        for row, move in pushed:
            only = dark.copy()
            only[move] = True
            pictures = []
            for bits in (dark, only):
                env.reset(SEEDS[[row]], rows=np.array([row]), symbols=bits[None])
                pictures.append(renderer.frame(row))
            before, field = pictures[0], like(pictures[1], ON)
            (top, left), (bottom, right) = np.argwhere(field).min(0), np.argwhere(field).max(0)
            x, y = middle(like(after[row], YELLOW))
            gap = 4  # a tile is drawn a little smaller than it is
            assert left - gap <= x <= right + gap, (row, move)
            assert top - gap <= y <= bottom + gap, (row, move)
            assert like(before, OFF)[field].all()
            assert like(after[row], ON)[field].mean() > 0.6, "but for where the arm swung to"


def test_only_a_touch_lights_the_tip_up() -> None:
    env = make("lightsout-cursor", 1)
    with closing(env), closing(Renderer(env)) as renderer:
        env.reset(row_seeds(0, 1))
        assert not like(renderer.frame(), YELLOW).any()
        env.step(np.array([[0.0, 0.0, 0.5]]))
        assert not like(renderer.frame(), YELLOW).any()
        env.step(np.array([[0.0, 0.0, 0.7]]))
        assert like(renderer.frame(), YELLOW).any()


@pytest.mark.parametrize("name", ["tileswap-cursor", "tileswap-reacher"])
def test_the_tip_is_in_the_rhombus_between_the_chips_it_swaps(name: str) -> None:
    env = make(name, len(SEEDS))
    start = env.game.to_bits(env.game.goal[None])[0]
    with closing(env), closing(Renderer(env)) as renderer:
        pushed = pushed_rows(env, start)
        assert len(pushed) >= 3
        half_field = {"tileswap-cursor": 0.92, "tileswap-reacher": 0.58}[name] * 480 / 3 / 2
        for row, move in pushed:
            tip = middle(like(renderer.frame(row), YELLOW))
            swapped = env.game.to_bits(env.game.play(env.game.goal[None], np.array([move])))[0]
            pictures = []
            # both from the same pose elsewhere, so that the chips alone differ
            for bits in (start, swapped):
                env.reset(SEEDS[[0]], rows=np.array([row]), symbols=bits[None])
                pictures.append(renderer.frame(row).astype(int))
            changed = np.argwhere(abs(pictures[0] - pictures[1]).max(-1) > 100)
            between = ((changed.min(0) + changed.max(0)) / 2)[::-1]
            assert abs(tip - between).sum() <= half_field + 8, (row, move)


@pytest.fixture(scope="module", params=["lightsout-jaco", "lightsout3d-jaco"])
def jaco_fields(request: pytest.FixtureRequest) -> tuple[np.ndarray, list[np.ndarray]]:
    """Small pictures of a dark board and of each field lit alone, the arm in one pose."""
    env = make(request.param, 1)
    with closing(env), closing(Renderer(env, 160, 120)) as renderer:
        frames = []
        for bits in np.vstack([np.zeros(25, bool), np.eye(25, dtype=bool)]):
            env.reset(row_seeds(2, 1), symbols=bits[None])
            frames.append(renderer.frame())
    return frames[0], frames[1:]


def test_jaco_shows_each_field_at_its_place(
    jaco_fields: tuple[np.ndarray, list[np.ndarray]],
) -> None:
    dark, lit = jaco_fields
    assert not like(dark, ON, 60).any()
    places = np.full((25, 2), np.nan)
    for field, frame in enumerate(lit):
        red = like(frame, ON, 60)
        if red.sum() > 8:  # the arm hides a field or two
            places[field] = middle(red)
    grid = places.reshape(5, 5, 2)
    assert np.isfinite(places[:, 0]).sum() >= 20
    for i in range(5):
        x, y = grid[i, :, 0], grid[:, i, 1]
        assert (np.diff(x[np.isfinite(x)]) > 4).all(), "columns run to the right"
        assert (np.diff(y[np.isfinite(y)]) > 3).all(), "rows run towards the camera"


def test_jaco_shows_chips_and_the_arm_where_they_are() -> None:
    env = make("tileswap-jaco", 2)
    with closing(env), closing(Renderer(env, 160, 120)) as renderer:
        board = env.game.goal[None]
        swapped = env.game.play(board, np.array([3]))
        env.reset(row_seeds(2, 2), symbols=env.game.to_bits(np.vstack([board, swapped])))
        ordered = renderer.frame(0)
        assert (renderer.frame(1) != ordered).any()
        assert (renderer.frame(0) == ordered).all(), "pictures of other rows leave no trace"
        env.reset(row_seeds(2, 1), rows=np.array([0]), symbols=env.game.to_bits(swapped))
        changed = np.argwhere((renderer.frame(0) != ordered).any(-1))
        assert 0 < len(changed) < 400, "two chips, not the whole picture"
        env.reset(row_seeds(3, 1), rows=np.array([0]), symbols=env.game.to_bits(board))
        assert (renderer.frame(0) != ordered).any(-1).sum() > 400, "the arm is elsewhere"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_gymnasium_id_renders(name: str) -> None:
    env = gymnasium.make(gym_id(name), render_mode="rgb_array")
    env.reset(seed=0)
    frame = np.asarray(env.render())
    assert frame.shape == (480, 640, 3)
    assert frame.dtype == np.uint8
    assert like(frame, OFF).sum() > 1000 or "tileswap" in name
    assert frame[0, 0].min() > 240, "a light background"
    frame[:] = 0
    assert np.asarray(env.render()).any(), "a frame is the caller's own"
    env.close()


def test_bad_requests_say_what_is_allowed() -> None:
    env = make("lightsout-cursor", 2)
    with pytest.raises(SeadsError, match="0x480 pixels; choose at least 16x16"):
        Renderer(env, width=0)
    own = GymBatch(lambda: gymnasium.make("Pendulum-v1"), lambda seen: seen[:1] > 0, 1)
    with closing(own), pytest.raises(SeadsError, match="pictures are made of those"):
        Renderer(own)
    renderer = Renderer(env)
    for row in (-1, 2):
        with pytest.raises(SeadsError, match=f"row {row} is not there; choose from 0 to 1"):
            renderer.frame(row)
    renderer.close()
    renderer.close()
    with pytest.raises(SeadsError, match="closed"):
        renderer.frame()


DRAW = """
from seads.envs.from_gymnasium import GymBatch
from seads.envs.registry import make_env
from seads.envs.render import Renderer
from seads.errors import SeadsError
from seads.streams import row_seeds
try:
    env = make_env("lightsout-jaco")
    env.reset(row_seeds(0, 1))
    view = Renderer(env, 32, 32)
    view.frame()
    print("drawn")
except SeadsError as error:
    print(error)
"""


def draw_without(libraries: list[str], folder: Path, **setting: str) -> str:
    """What a fresh process prints that draws an arm where these libraries cannot be loaded."""
    for library in libraries:
        (folder / library).write_text("not a library")
    unset = ("MUJOCO_GL", "PYOPENGL_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    environment |= {"LD_LIBRARY_PATH": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", DRAW],
        env=environment | setting,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert not done.stderr, done.stderr
    return done.stdout.strip()


EGL = ["libEGL.so.1", "libEGL.so"]
OSMESA = ["libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"]
PACKAGES = "install the Debian packages libegl1 and libgl1-mesa-dri, or libosmesa6"


@pytest.mark.parametrize(
    ("missing", "setting", "said"),
    [
        (EGL + OSMESA, {}, "EGL and OSMesa do not work here"),
        (EGL, {"MUJOCO_GL": "egl"}, "MUJOCO_GL=egl does not work here"),
        (OSMESA, {"MUJOCO_GL": "osmesa"}, "MUJOCO_GL=osmesa does not work here"),
        ([], {"MUJOCO_GL": "glfw"}, "MUJOCO_GL=glfw does not work here"),
    ],
)
def test_missing_opengl_is_one_sentence_that_names_the_packages(
    missing: list[str], setting: dict[str, str], said: str, tmp_path: Path
) -> None:
    answer = draw_without(missing, tmp_path, **setting)
    assert answer.startswith(said)
    assert answer.endswith(PACKAGES)
    assert "\n" not in answer


def test_a_wrong_mujoco_gl_is_named(tmp_path: Path) -> None:
    answer = draw_without([], tmp_path, MUJOCO_GL="vulkan")
    assert (
        answer == "MUJOCO_GL=vulkan draws no pictures; choose from egl, osmesa, glfw, glx, or unset"
    )


def test_osmesa_takes_over_where_egl_is_missing(tmp_path: Path) -> None:
    if not osmesa_loads():
        pytest.skip("libosmesa6 is not installed")
    assert draw_without(EGL, tmp_path) == "drawn"
