"""A game of `seads play` without a browser: every button, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.exact_agent import exact_agent

from seads.errors import SeadsError
from seads.show.play.session import HISTORY, PlaySession, Status
from seads.solving.execution import skill_limit


@pytest.fixture(scope="module")
def shared() -> Iterator[PlaySession]:
    session = PlaySession(exact_agent())
    yield session
    session.close()


@pytest.fixture
def session(shared: PlaySession) -> PlaySession:
    """A solved board, everything as at the beginning."""
    shared.clear()
    shared.replan = True
    shared.choose_planner("auto")
    return shared


@pytest.mark.parametrize("depth", [1, 3, 5, 15])
def test_boards_are_drawn_planned_and_solved(session: PlaySession, depth: int) -> None:
    session.draw(depth)
    assert session.status is Status.READY
    assert session.make_plan()
    assert len(session.plan_left) == depth
    assert all(one.name.startswith("press row") for one in session.plan_left)
    session.solve()
    assert session.busy
    assert session.run_to_end() is Status.SOLVED
    assert session.solved
    assert session.message == (
        f"solved with {depth} skill{'' if depth == 1 else 's'} "
        f"and {session.env_steps} environment steps"
    )


def test_a_tick_is_one_environment_step(session: PlaySession) -> None:
    session.draw(5)
    session.solve()
    steps = []
    while session.busy:
        session.tick()
        steps.append(session.env_steps)
    assert max(np.diff(steps)) == 1
    session.tick()
    assert session.env_steps == steps[-1]


def test_a_board_set_by_hand(session: PlaySession) -> None:
    session.set_board(".#... ###.. .#... ..... .....")
    assert session.make_plan()
    assert [one.move for one in session.plan_left] == [6]
    session.touch_field(0)
    assert session.plan_left == []
    session.touch_field(0)
    assert session.make_plan()
    assert [one.move for one in session.plan_left] == [6]


def test_an_unsolvable_board_says_so(session: PlaySession) -> None:
    session.touch_field(0)
    session.solve()
    assert session.run_to_end() is Status.UNSOLVABLE
    assert "no solution" in session.message
    assert session.env_steps == 0
    # what it advises is true
    row, column = map(int, re.findall(r"row (\d), column (\d)", session.message)[0])
    session.touch_field((row - 1) * 5 + column - 1)
    assert session.make_plan() or session.solved


def test_a_press_by_hand_keeps_the_board_solvable(session: PlaySession) -> None:
    for field in (0, 7, 24):
        session.press_field(field)
    assert session.make_plan()
    assert sorted(move for one in session.plan_left if (move := one.move) is not None) == [0, 7, 24]
    with pytest.raises(SeadsError, match="field 25 is not there"):
        session.press_field(25)
    session.solve()
    assert session.run_to_end() is Status.SOLVED
    session.reset()
    assert session.env.boards[0].sum() == 11


def test_reset_brings_the_same_board_back(session: PlaySession) -> None:
    session.draw(4)
    start = session.symbol
    session.solve()
    session.run_to_end()
    session.reset()
    assert (session.symbol == start).all()
    assert session.status is Status.READY


def test_a_disturbance_leads_to_another_plan(session: PlaySession) -> None:
    session.draw(5)
    session.solve()
    session.tick()
    session.tick()
    before = session.symbol
    session.disturb()
    assert (session.symbol != before).any()
    assert session.run_to_end() is Status.SOLVED
    assert "someone changed the board" in session.log
    assert "that was not the plan: planning again" in session.log


def test_a_miss_is_told_until_something_goes_as_planned() -> None:
    session = PlaySession(exact_agent(presses={12: 0}))
    session.set_board("..... ..#.. .###. ..#.. .....")
    session.solve()
    notices = []
    while session.busy and session.skills_run < 1:
        session.tick()
        notices.append(session.notice)
    assert notices[0] == ""
    assert session.notice == "skill 12 missed: not as predicted; planned again"
    session.clear()
    assert session.notice == ""
    session.close()


def test_a_skill_tried_again_acts_in_another_way() -> None:
    session = PlaySession(exact_agent(hesitant=[12]))
    session.set_board("..... ..#.. .###. ..#.. .....")
    session.solve()
    assert session.run_to_end() is Status.SOLVED  # this skill presses only when it varies
    assert session.skills_run > 1
    session.close()


def test_without_replanning_a_disturbed_board_fails(session: PlaySession) -> None:
    session.draw(5)
    session.replan = False
    session.solve()
    session.tick()
    session.tick()
    session.disturb()
    assert session.run_to_end() is Status.FAILED
    assert session.message == "a skill had another effect than predicted"


def test_a_field_flipped_during_a_skill(session: PlaySession) -> None:
    session.draw(3)
    session.solve()
    session.tick()
    session.tick()
    pose = session.env.manipulator.pose(0)
    session.touch_field(12)
    session.touch_field(12)
    np.testing.assert_array_equal(session.env.manipulator.pose(0), pose)
    assert session.run_to_end() is Status.SOLVED


def test_one_skill_at_a_time(session: PlaySession) -> None:
    session.draw(2)
    for left in (1, 0):
        session.step_one_skill()
        session.run_to_end()
        assert len(session.plan_left) == left
    assert session.status is Status.SOLVED
    assert session.skills_run == 2


def test_a_skill_by_hand(session: PlaySession) -> None:
    session.run_skill(12)
    assert session.run_to_end() is Status.READY
    assert session.message.startswith("skill 12: press row 3, column 3 (")
    assert session.env.boards[0].sum() == 5
    session.run_skill(12)
    with pytest.raises(SeadsError, match="a skill is running"):
        session.run_skill(3)
    assert session.run_to_end() is Status.SOLVED


def test_stopping_in_the_middle(session: PlaySession) -> None:
    session.draw(5)
    session.solve()
    session.tick()
    session.tick()
    session.stop()
    assert not session.busy
    assert session.status is Status.READY
    session.solve()
    assert session.run_to_end() is Status.SOLVED


@pytest.mark.parametrize("planner", ["bfs", "bidirectional", "astar", "gf2"])
def test_every_planner_can_be_chosen(session: PlaySession, planner: str) -> None:
    session.choose_planner(planner)
    session.draw(2)
    assert session.make_plan()
    assert session.message.endswith(f" by {planner}")


def test_an_agent_that_always_misses_gives_up() -> None:
    session = PlaySession(exact_agent(presses={12: 0}))
    session.set_board("..... ..#.. .###. ..#.. .....")
    session.solve()
    assert session.run_to_end() is Status.FAILED
    assert session.message == "the limit on the number of skills was reached"
    assert len(session.log) <= HISTORY
    session.close()


def test_a_poor_model_knows_no_way() -> None:
    session = PlaySession(exact_agent(knowing=False))
    session.draw(1)
    session.solve()
    assert session.run_to_end() is Status.FAILED
    assert session.message == "the model knows no way to the goal"
    session.close()
    session.close()


def test_sessions_do_not_share_boards(session: PlaySession) -> None:
    other = PlaySession(session.agent)
    before = other.symbol
    session.draw(3)
    session.solve()
    session.run_to_end()
    assert (other.symbol == before).all()
    other.close()


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda s: s.draw(16), "depth 16 is not possible; choose from 1 to 15"),
        (lambda s: s.run_skill(25), "skill 25 is not there; choose 0 to 24"),
        (lambda s: s.touch_field(25), "field 25 is not there; choose 0 to 24"),
        (lambda s: s.choose_planner("magic"), "unknown planner 'magic'"),
    ],
)
def test_bad_requests_change_nothing(
    session: PlaySession, action: Callable[[PlaySession], None], sentence: str
) -> None:
    session.draw(3)
    before = session.symbol
    with pytest.raises(SeadsError, match=sentence):
        action(session)
    assert (session.symbol == before).all()
    assert session.planner == "auto"
    with pytest.raises(SeadsError, match="board"):
        session.set_board(".#")


def test_poses_on_the_way(session: PlaySession) -> None:
    way = session.env.manipulator.way
    np.testing.assert_allclose(way(np.zeros(2), np.array([0.3, 0.0]), 3, False)[0], [0.1, 0.0])
    assert len(way(None, np.zeros(2), 3, False)) == 1
    assert len(way(np.zeros(2), np.ones(2), 3, True)) == 1


def test_skills_run_by_hand_do_not_use_up_the_next_step(session: PlaySession) -> None:
    """The limit on skills ends a solution that goes nowhere, not what a person does."""
    session.draw(3)
    session.make_plan()
    for _ in range(skill_limit(3) + 1):
        session.run_skill(0)
        session.run_to_end()
    session.step_one_skill()
    assert session.run_to_end() is not Status.FAILED
