"""The Jaco arm: its physics against dm_control, its poses, presses and independence of rows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.envs.composer_jaco import composer_environment

from seads.envs.jaco import Jaco
from seads.envs.jaco_kinematics import hand_down
from seads.envs.jaco_scene import board_geometry
from seads.envs.physics import CONTROL_TIMESTEP, PHYSICS, PRESS_FORCE
from seads.games import LightsOut, TileSwap

LIGHTS = LightsOut()


@pytest.fixture(scope="module")
def arm():
    arm = Jaco(8, LIGHTS, threads=1)
    yield arm
    arm.close()


def joints(arm: Jaco, rows: np.ndarray) -> np.ndarray:
    return np.array([arm.pose(int(row))[:6] for row in rows])


def pushes(arm: Jaco, uniforms: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """Actions that drive each hand into the middle of a random field, with some noise."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(uniforms))
    arm.reset(rows, uniforms)
    start = joints(arm, rows)
    target = arm.geometry.world(
        rng.permuted(np.resize(arm.geometry.middles, (len(rows), 2)), axis=0)
    )
    target = np.column_stack([target, np.full(len(rows), 0.02)])
    end, _ = arm.kinematics.solve(start, target, hand_down((2 * uniforms[:, 3] - 1) * np.pi))
    limit = arm.model.actuator_ctrlrange[:6, 1]
    duration = np.abs((end - start) / limit).max(1, keepdims=True)
    actions = rng.normal(0.0, 0.1, (len(rows), steps, 9))
    actions[..., :6] += ((end - start) / duration / limit)[:, None]
    return np.clip(actions, -1.0, 1.0)


def first_presses(arm: Jaco, uniforms: np.ndarray, actions: np.ndarray) -> np.ndarray:
    rows = np.arange(len(uniforms))
    arm.reset(rows, uniforms)
    points = np.full((len(rows), 2), np.nan)
    for step in range(actions.shape[1]):
        now = arm.step(rows, actions[rows, step])
        points[rows] = now
        rows = rows[np.isnan(now[:, 0])]
    return points


@pytest.mark.parametrize("heights", ["flat", "rings"])
def test_fast_physics_presses_what_the_reference_presses(heights):
    rng = np.random.default_rng(5)
    episodes, steps = 200, 18
    reference, fast = (
        Jaco(episodes, LIGHTS, physics, heights=heights) for physics in ("reference", "fast")
    )
    uniforms = rng.random((episodes, 4))
    uniforms[:, 2] *= 0.2  # start low, so that random actions press too
    actions = rng.uniform(-1.0, 1.0, (episodes, steps, 9))
    pushed = rng.permutation(episodes)[: episodes // 2]
    reference_pushes = pushes(reference, uniforms, steps, seed=6)
    actions[pushed] = reference_pushes[pushed]
    expected, got = (first_presses(arm, uniforms, actions) for arm in (reference, fast))
    assert (~np.isnan(expected[:, 0])).mean() > 0.3
    same = ((expected == got) | (np.isnan(expected) & np.isnan(got))).all(1)
    assert same.mean() >= 0.97


def test_reference_physics_is_composers_bit_for_bit():
    arm = Jaco(1, LIGHTS, physics="reference", threads=1)
    row, rng = np.arange(1), np.random.default_rng(0)
    arm.reset(row, rng.random((1, 4)))
    environment = composer_environment(board_geometry(LIGHTS))
    environment.reset()
    physics = environment.physics
    with physics.reset_context():
        physics.data.qpos[:] = arm.pose(0)
    spec = environment.action_spec()
    for _ in range(3):
        action = rng.uniform(-1.0, 1.0, 9)
        arm.step(row, action[None])
        environment.step(spec.minimum + (action + 1.0) / 2 * (spec.maximum - spec.minimum))
        np.testing.assert_array_equal(arm.pose(0), physics.data.qpos)


def test_composer_task_ends_with_a_press():
    environment = composer_environment(board_geometry(TileSwap()))
    environment.reset()
    height = environment.physics.named.data.site_xpos["jaco_arm/jaco_hand/pinchsite", "z"]
    assert 0.19 < height < 0.41
    forward = np.zeros(9)
    for forward[1] in [0.5] * 30:
        if environment.step(forward).last():
            break
    assert environment.task.pressed == 0


def test_resets_reach_the_drawn_pose(arm):
    rng = np.random.default_rng(1)
    uniforms = rng.random((200, 4))
    low, high = np.array([-0.1, -0.1, 0.2, -np.pi]), np.array([0.1, 0.1, 0.4, np.pi])
    target = low + uniforms * (high - low)
    angles = arm.kinematics.inverse(target[:, :3], target[:, 3])
    pose = arm.kinematics.forward(angles)
    assert np.linalg.norm(pose.position - target[:, :3], axis=1).max() < 1e-3
    trace = np.einsum("rij,rij->r", pose.rotation, hand_down(target[:, 3]))
    assert np.arccos(np.clip((trace - 1) / 2, -1, 1)).max() < 1e-3
    assert (angles >= arm.kinematics.low).all()
    assert (angles <= arm.kinematics.high).all()


def test_kinematics_are_the_models(arm):
    import mujoco

    angles = np.random.default_rng(2).uniform(0, 2 * np.pi, (20, 6))
    pose, data = arm.kinematics.forward(angles), mujoco.MjData(arm.model)
    for row, q in enumerate(angles):
        data.qpos[:6] = q
        mujoco.mj_kinematics(arm.model, data)
        site = data.site("jaco_arm/jaco_hand/pinchsite")
        np.testing.assert_allclose(pose.position[row], site.xpos, atol=1e-12)
        np.testing.assert_allclose(pose.rotation[row].ravel(), site.xmat, atol=1e-12)


def test_resets_touch_nothing_and_depend_on_their_numbers_alone(arm):
    rows = np.arange(8)
    uniforms = np.random.default_rng(3).random((8, 4))
    arm.reset(rows, uniforms)
    first = arm.observe(rows)
    assert np.isnan(arm.step(rows, np.zeros((8, 9)))).all()
    arm.step(rows, np.ones((8, 9)))
    arm.after_move(rows, uniforms)
    np.testing.assert_array_equal(arm.observe(rows), first)


@pytest.mark.parametrize(("game", "heights"), [(LIGHTS, "rings"), (TileSwap(), "flat")])
def test_a_row_is_the_same_in_any_batch_and_on_any_threads(game, heights):
    rng = np.random.default_rng(4)
    uniforms = rng.random((5, 4)) * [1, 1, 0.2, 1]
    actions = pushes(Jaco(5, game, heights=heights), uniforms, 20, seed=4).swapaxes(0, 1)

    def run(num_envs, threads, rows, picked):
        arm = Jaco(num_envs, game, threads=threads, heights=heights)
        arm.reset(rows, uniforms[picked])
        trace = []
        for action in actions:
            point = arm.step(rows, action[picked])
            trace.append(np.concatenate([point, arm.observe(rows)], axis=1))
        arm.close()
        return np.array(trace)

    together = run(5, 2, np.arange(5), np.arange(5))
    assert not np.isnan(together[..., 0]).all()
    alone = run(1, 1, np.array([0]), np.array([3]))
    elsewhere = run(9, 1, np.array([8, 2]), np.array([3, 1]))
    np.testing.assert_array_equal(alone[:, 0], together[:, 3])
    np.testing.assert_array_equal(elsewhere, together[:, [3, 1]])


def test_rows_that_are_not_picked_stay(arm):
    rows = np.arange(8)
    arm.reset(rows, np.random.default_rng(5).random((8, 4)))
    before = arm.observe(rows)
    arm.step(np.array([2, 6]), np.ones((2, 9)))
    changed = (arm.observe(rows) != before).any(1)
    assert changed.tolist() == [row in (2, 6) for row in rows]
    assert arm.step(np.array([], int), np.zeros((0, 9))).shape == (0, 2)


def test_a_press_is_where_the_finger_is():
    arm = Jaco(60, LIGHTS, threads=1)
    rows, uniforms = np.arange(60), np.random.default_rng(6).random((60, 4))
    actions = pushes(arm, uniforms, 18, seed=7)
    arm.reset(rows, uniforms)
    off = []
    for step in range(18):
        points = arm.step(rows, actions[rows, step])
        hit = ~np.isnan(points[:, 0])
        tool = arm.kinematics.forward(joints(arm, rows)).position
        off += list(np.abs(arm.geometry.world(points) - tool[:, :2]).max(1)[hit])
        rows = rows[~hit]
    # A finger's tip is within a hand's width of the tool centre, a field's middle within 0.05.
    assert len(off) > 20
    assert max(off) < 0.16


def test_the_state_kept_is_the_one_at_the_press():
    arm = Jaco(30, LIGHTS, threads=1)
    rows, uniforms = np.arange(30), np.random.default_rng(11).random((30, 4)) * [1, 1, 0.2, 1]
    actions = pushes(arm, uniforms, 15, seed=12)
    arm.reset(rows, uniforms)
    substeps = []
    for step in range(15):
        before = arm._batch.bind("time").copy()
        pressed = rows[~np.isnan(arm.step(rows, actions[rows, step])[:, 0])]
        assert (arm._sensors[pressed][:, arm._touch].max(1) > PRESS_FORCE).all()
        elapsed = (arm._batch.bind("time") - before)[pressed]
        substeps += (elapsed / arm.physics.timestep).round().tolist()
        rows = np.setdiff1d(rows, pressed)
        np.testing.assert_allclose((arm._batch.bind("time") - before)[rows], CONTROL_TIMESTEP)
    # Presses come at any substep of an action, not only at its end.
    assert len(set(substeps)) > 5
    assert min(substeps) >= 1
    assert max(substeps) <= arm.physics.substeps


def test_a_contact_is_on_the_field_that_was_pressed():
    arm = Jaco(60, LIGHTS, threads=1)
    uniforms = np.random.default_rng(8).random((60, 4))
    assert arm.contact(0) is None
    points = first_presses(arm, uniforms, pushes(arm, uniforms, 18, seed=9))
    pressed = np.flatnonzero(~np.isnan(points[:, 0]))
    contacts = np.array([arm.contact(int(row)) for row in pressed])
    assert len(pressed) > 20
    off = np.abs(contacts - points[pressed]).max(1)
    assert off.max() <= 0.1 + 1e-6, "half a field's width"
    assert len(np.unique(off.round(6))) > 10, "not the middle"


def test_a_board_of_another_game_is_made_of_its_fields():
    small = Jaco(1, LightsOut(3))
    assert small.geometry.half_extent == 0.15
    assert [small.model.geom(f"field_{i}").size[0] for i in (0, 8)] == pytest.approx([0.05] * 2)
    assert board_geometry(LightsOut(9)).half_extent == 0.25
    with pytest.raises(ValueError, match="needs fields apart, and tileswap"):
        Jaco(1, TileSwap(), heights="rings")
    # Which half of a field was pressed is for the point to say.
    assert len(board_geometry(LightsOut(half_fields=True)).boxes) == 1


def test_what_a_page_draws_is_where_the_arm_is(arm):
    arm.reset(np.arange(8), np.random.default_rng(13).random((8, 4)))
    tips = arm.tips()
    for row in range(8):
        chain = arm.joints(arm.pose(row))
        assert chain[-1] == pytest.approx(tips[row].tolist())
        np.testing.assert_allclose(arm.geometry.world(np.array(chain[:1])), [[0.0, 0.4]], atol=1e-6)
    assert arm.stage.tops == (0.02,) * 25
    poses = arm.mesh_poses(arm.pose(3))
    tool = arm.kinematics.forward(arm.pose(3)[None, :6]).position[0]
    hand = poses["jaco_arm/jaco_hand/"].position
    assert np.linalg.norm(hand - tool) < 0.25
    pytest.importorskip("mjviser")
    meshes = arm.meshes()
    assert {mesh.body for mesh in meshes} <= poses.keys()
    assert len({mesh.colour for mesh in meshes}) == 3
    assert arm.meshes() is meshes, "found once"


def test_tileswap_points_are_contact_points():
    arm = Jaco(60, TileSwap(), threads=1)
    uniforms = np.random.default_rng(8).random((60, 4))
    points = first_presses(arm, uniforms, pushes(arm, uniforms, 18, seed=9))
    hit = ~np.isnan(points[:, 0])
    assert hit.sum() > 20
    assert (points[hit] >= 0).all()
    assert (points[hit] <= 1).all()
    assert len(np.unique(points[hit], axis=0)) == hit.sum()


def test_board_points_map_to_the_world():
    arm = Jaco(1, LIGHTS)
    # Top left of the board is at smallest x and next to the base (largest y).
    np.testing.assert_allclose(
        arm.geometry.world(arm.geometry.middles[[0, 4]]), [[-0.2, 0.2], [0.2, 0.2]]
    )
    np.testing.assert_allclose(arm.geometry.unit(np.array([[-0.25, 0.25]])), [[0.0, 0.0]])
    field = arm.model.geom("field_4")
    np.testing.assert_allclose(field.size, [0.05, 0.05, 0.01])
    np.testing.assert_allclose(arm.model.body("field_4").pos[:2], [0.2, 0.2])


def test_observations_are_as_the_paper_lists_them():
    scaled, raw = (Jaco(4, LIGHTS, observation=kind, threads=1) for kind in ("scaled", "raw"))
    rows, rng = np.arange(4), np.random.default_rng(10)
    uniforms = rng.random((4, 4))
    for arm in (scaled, raw):
        arm.reset(rows, uniforms)
    start = raw.observe(rows)
    np.testing.assert_allclose(start[:, 30:32], -0.1 + 0.2 * uniforms[:, :2], atol=1e-4)
    np.testing.assert_array_equal(start[:, 18:30], 0.0)
    for _ in range(10):
        action = rng.uniform(-1.0, 1.0, (4, 9))
        scaled.step(rows, action)
        raw.step(rows, action)
    one, other = scaled.observe(rows), raw.observe(rows)
    assert one.shape == other.shape == (4, scaled.observation_size)
    assert one.dtype == other.dtype == np.float32
    angles = joints(raw, rows)
    np.testing.assert_allclose(
        other[:, :12], np.hstack([np.sin(angles), np.cos(angles)]), atol=1e-6
    )
    np.testing.assert_allclose(one[:, 33:], other[:, 33:])
    assert np.abs(one).max() < 4.0
    assert np.abs(other[:, 12:18]).max() > 4.0


def test_joints_follow_the_commanded_velocities():
    arm = Jaco(1, LIGHTS, observation="raw", threads=1)
    row = np.arange(1)
    arm.reset(row, np.full((1, 4), 0.5))
    for _ in range(3):
        arm.step(row, np.array([[1.0, 0, 0, 0, 0, -0.5, 0, 0, 0]]))
    velocity = arm.observe(row)[0, 18:24]
    np.testing.assert_allclose(velocity[[0, 5]], np.deg2rad([36.0, -24.0]), atol=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heights": "hills"}, "flat, rings"),
        ({"physics": "slow"}, "reference, fast, fastest"),
        ({"observation": "pixels"}, "scaled, raw"),
        ({"threads": 0}, "at least 1"),
    ],
)
def test_bad_settings_name_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        Jaco(1, LIGHTS, **options)


def test_every_preset_fills_an_action():
    assert {name: preset.substeps for name, preset in PHYSICS.items()} == {
        "reference": 50,
        "fast": 20,
        "fastest": 10,
    }
