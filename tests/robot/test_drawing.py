"""The arm as capsules: they join up, end at the pen's tip, and the tip is over its place."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from seads.envs import EmbeddedEnv, make_env
from seads.envs.render import Renderer
from seads.robot import kinematics
from seads.robot.drawing import GLASS, PARTS, Drawing, capsule
from seads.robot.simulated import erring_calibration
from seads.robot.tablet import Tablet


def made() -> EmbeddedEnv:
    env = make_env("lightsout-robot-absolute", 1)
    assert isinstance(env, EmbeddedEnv)
    env.reset(np.array([1], np.uint64))
    return env


def test_the_skeleton_ends_at_the_tip() -> None:
    angles = np.random.default_rng(0).uniform([-80, 30, 0], [80, 100, 60], (50, 3))
    tips = np.array([kinematics.skeleton(one)[-1] for one in angles])
    np.testing.assert_allclose(tips, kinematics.forward(angles), atol=1e-9)


@pytest.mark.parametrize("place", [(0.0, 0.0), (1.0, 0.0), (0.5, 0.5), (0.2, 0.9)])
def test_capsules_join_up_and_end_over_the_place(place: tuple[float, float]) -> None:
    with closing(made()) as env:
        env.step(np.array([place]))
        arm = env.manipulator
        poses, ends = arm.mesh_poses(arm.pose(0)), []
        for mesh in arm.meshes() or ():
            length = mesh.vertices[:, 0].max() + mesh.vertices[:, 0].min()
            position, wxyz = poses[mesh.body]
            ends.append(position + Rotation.from_quat(np.roll(wxyz, -1)).apply([length, 0, 0]))
        starts = [poses[name].position for name, _, _ in PARTS]
        np.testing.assert_allclose(ends[:-1], starts[1:], atol=1e-6)
        width, depth = arm.stage.size
        assert (width, depth) == pytest.approx((0.217, 0.136), abs=0.001)
        wanted = [(place[0] - 0.5) * width, (0.5 - place[1]) * depth, GLASS + 0.02]
        np.testing.assert_allclose(ends[-1], wanted, atol=0.0005)


def test_a_push_is_shown_down_to_the_glass_and_up_again() -> None:
    with closing(made()) as env:
        arm = env.manipulator
        before = arm.pose(0)
        env.step(np.array([[0.7, 0.3]]))
        after = arm.pose(0)
        way = arm.way(before, after, 6, touching=True)
        heights = [arm.mesh_poses(pose)["pen"].position[2] for pose in way]
        assert np.array_equal(way[-1], after)
        assert heights[5] - min(heights) == pytest.approx(0.02, abs=0.0005)
        assert len(arm.way(before, after, 6, touching=False)) == 6


def test_a_capsule_is_closed_and_round() -> None:
    vertices, faces = capsule(0.1, 0.01)
    assert vertices[:, 0].min() == pytest.approx(-0.01)
    assert vertices[:, 0].max() == pytest.approx(0.11)
    off = vertices.copy()
    off[:, 0] -= np.clip(vertices[:, 0], 0.0, 0.1)
    np.testing.assert_allclose(np.linalg.norm(off, axis=1), 0.01)
    assert faces.max() == len(vertices) - 1


@pytest.mark.parametrize("field", [0, 4, 20, 24, 12])
def test_a_lit_field_is_where_it_belongs_in_the_picture(field: int) -> None:
    """Seen by the page's camera, with the arm away from it."""
    with closing(made()) as env:
        arm, size = env.manipulator, (320, 240)
        env.step(np.array([[0.98, 0.98] if field % 5 < 3 else [0.02, 0.98]]))
        x, y = env.game.point_of(field)
        width, depth = arm.stage.size
        place = np.array([(x - 0.5) * width, (0.5 - y) * depth, GLASS])
        ahead = np.subtract(arm.look_at, arm.camera)
        seen = Rotation.align_vectors([[0, 0, 1], [0, -1, 0]], [ahead, _up(ahead)])[0].apply(
            place - arm.camera
        )
        focus = size[1] / 2 / np.tan(np.radians(21.5))
        column, row = (seen[:2] / seen[2] * focus + np.array(size) / 2).astype(int)
        boards = np.zeros((2, env.game.num_fields), np.uint8)
        boards[1, field] = 1
        view = arm.view(*size)
        dark, lit = (view.frame(board, arm.pose(0), False) for board in boards)
        changed = np.argwhere((dark != lit).any(2))
        assert lit[row, column, 0] > lit[row, column, 1] + 100  # red
        assert np.ptp(dark[row, column].astype(int)) < 20
        np.testing.assert_allclose(changed.mean(0), [row, column], atol=6)


def _up(ahead: np.ndarray) -> np.ndarray:
    """The upward direction that is square to where one looks."""
    return np.cross(np.cross(ahead, [0.0, 0.0, 1.0]), ahead)


def test_a_pen_that_has_touched_is_drawn_on_the_glass() -> None:
    with closing(made()) as env:
        arm = env.manipulator
        env.step(np.array([[0.7, 0.3]]))
        pose = arm.pose(0)
        view = arm.view(160, 120)
        above, below = (view.frame(env.boards[0], pose, touching) for touching in (False, True))
        assert (above != below).any()
        lowered = Drawing(erring_calibration(Tablet.lying())).on_glass(pose)
        assert np.array_equal(view.frame(env.boards[0], lowered, False), below)
        assert arm.mesh_poses(lowered)["pen"].position[2] < arm.mesh_poses(pose)["pen"].position[2]


def test_a_film_shows_the_way_and_the_board_changes_with_the_touch() -> None:
    with closing(made()) as env, closing(Renderer(env, 160, 120)) as renderer:
        arm, view = env.manipulator, env.manipulator.view(160, 120)
        renderer.frame()
        old, start = env.boards[0].copy(), arm.pose(0)
        env.step(np.array([[0.7, 0.3]]))
        shown = renderer.step_frames()
        way = arm.way(start, arm.pose(0), 6, touching=True)
        heights = [arm.mesh_poses(pose)["pen"].position[2] for pose in way]
        touch = int(np.argmin(heights))
        assert len(shown) == len(way) == touch + 4 == 12
        for number, (frame, pose) in enumerate(zip(shown, way, strict=True)):
            board = env.boards[0] if number >= touch else old
            assert np.array_equal(frame, view.frame(board, pose, False)), number
